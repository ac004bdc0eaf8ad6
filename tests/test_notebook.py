"""A notebook shows problems, results, agents and comparisons with numbers and a figure, and a bar for work."""

import sys
import types
from typing import Any

import numpy as np
import pytest

import optac
from optac import figures
from optac.errors import InvalidInput
from optac.notebook import card
from optac.terminal import progress
from tests.random_problems import random_problem


@pytest.fixture(scope="module")
def result() -> Any:
    problem = optac.make_problem("combination-lock", horizon=3, actions=3)
    return optac.solve(problem, "opt-ac", iterations=40, seed=0)


@pytest.fixture
def notebook(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The outputs of a Jupyter kernel: what was displayed, and how each was renewed."""
    shown: list[str] = []

    class Handle:
        def update(self, html: str) -> None:
            shown.append(html)

    def display(html: str, *, display_id: bool) -> Handle:
        shown.append(html)
        return Handle()

    ipython = types.ModuleType("IPython")
    ipython.get_ipython = lambda: types.SimpleNamespace(kernel=object())  # type: ignore[attr-defined]
    module = types.ModuleType("IPython.display")
    module.HTML, module.display = str, display  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "IPython", ipython)
    monkeypatch.setitem(sys.modules, "IPython.display", module)
    return shown


def lines_of(picture: Any) -> dict[str, Any]:
    return {line.get_label(): line for line in picture.axes[0].get_lines()}


def test_a_results_plot_draws_its_history(result: Any) -> None:
    drawn = lines_of(result.plot())
    for label, name in {"the mixture returned": "gap", "the last policy": "last_gap"}.items():
        assert list(drawn[label].get_xdata()) == [row["episodes"] for row in result.history]
        assert list(drawn[label].get_ydata()) == [row[name] for row in result.history]


def test_a_reward_free_result_is_one_point_at_its_end() -> None:
    planned = optac.solve(random_problem(1, horizon=2), "raffle", episodes=40, seed=0)
    drawn = lines_of(planned.plot())
    assert list(drawn["the policy returned"].get_ydata()) == [planned.gap] and "the last policy" not in drawn


def test_a_result_says_its_gap_and_bill_in_text_and_in_a_card(result: Any) -> None:
    assert f"gap {result.gap:.4f}" in repr(result) and "SL=80" in repr(result)
    html = result._repr_html_()
    assert f"{result.gap:.4f}" in html and "SL 80, PE 40, PP 0, CP 0" in html and html.count("<svg") == 1


def test_a_problems_card_has_its_values_and_where_the_optimal_policy_goes() -> None:
    problem = random_problem(0)
    html = problem._repr_html_()
    assert f"{problem.optimal_value:.4f}" in html and f"{problem.uniform_value:.4f}" in html
    (image,) = problem.plot().axes[0].get_images()
    np.testing.assert_allclose(image.get_array().T, problem.occupancy(problem.optimal_policy))


def test_a_large_problem_is_shown_without_solving_it(monkeypatch: pytest.MonkeyPatch) -> None:
    problem = random_problem(0)
    monkeypatch.setattr("optac.mdp.exact_problem.SHOWN", 10)
    monkeypatch.setattr(type(problem), "optimal", property(lambda self: pytest.fail("it was solved")))
    assert "4, 5, 3" in problem._repr_html_()


def test_an_agent_shows_its_evaluations_and_what_was_set() -> None:
    agent = optac.SAC("Pendulum-v1", width=8)
    assert repr(agent) == "<sac on Pendulum-v1: 0 steps>"
    assert "none yet" in agent._repr_html_() and "width=8" in agent._repr_html_()
    with pytest.raises(InvalidInput, match="not been evaluated yet"):
        agent.plot()
    agent.rows = [{"time/total_timesteps": n, "eval/mean_reward": -1.5 * n} for n in (1, 2)]
    (line,) = lines_of(agent.plot()).values()
    assert list(line.get_ydata()) == [-1.5, -3.0] and "-3" in agent._repr_html_()


def test_a_card_escapes_what_others_wrote() -> None:
    assert "<script>" not in card("<script>", {"<script>": "<script>"})


def test_pictures_leave_the_notebooks_own_backend_alone() -> None:
    import matplotlib

    before = matplotlib.rcParams["backend"]
    with figures.picture(size=(2, 2)) as (drawn, axis):
        axis.plot([0, 1])
    assert drawn._repr_svg_().startswith("<svg")
    assert matplotlib.rcParams["backend"] == before


def test_work_in_a_notebook_shows_a_bar_that_ends_full(notebook: list[str]) -> None:
    with progress("training", 1000, quiet=False, lines=False) as advance:
        for step in range(1, 1001):
            advance(step, "<fast>")
    assert "value=0 max=1000" in notebook[0] and "value=1000 max=1000" in notebook[-1]
    assert "&lt;fast&gt;" in notebook[-1] and len(notebook) < 100


def test_solving_in_a_notebook_shows_a_bar_and_changes_nothing(notebook: list[str], result: Any) -> None:
    problem = optac.make_problem("combination-lock", horizon=3, actions=3)
    again = optac.solve(problem, "opt-ac", iterations=40, seed=0)
    assert again.gap == result.gap and "value=40 max=40" in notebook[-1] and "gap" in notebook[-1]
    with progress("quiet", 3, quiet=True) as advance:
        advance(3)
    assert "quiet" not in "".join(notebook)
