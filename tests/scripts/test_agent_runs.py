"""The pages about the committed training runs say what the runs' rows say."""

from pathlib import Path
from typing import Any

from scripts.agent_runs import draw_beside, write_ablations, write_agents
from scripts.confirmation import TASKS, write_confirmation
from tests.report.training_runs import write_run


def run(folder: Path, agent: str, seed: int, *returns: float, **settings: Any) -> None:
    folder.mkdir(exist_ok=True)
    (folder / "README.md").write_text("About.\n<!-- runs --><!-- /runs -->\n")
    name = "-".join(map(str, [agent, seed, *settings.values()]))
    write_run(folder / name, agent, seed, returns, environment="optac/Hopper-v0", **settings)


def test_the_table_has_each_seed_its_last_evaluation_and_the_mean_of_its_last_three(tmp_path: Path) -> None:
    run(tmp_path, "sac", 1, 0.0, 1.0, 2.0, 3.0)
    run(tmp_path, "sac", 0, 0.0, 3.0, 4.0, 5.0)
    run(tmp_path, "crffsac", 0, 1.0, 9.0)
    text = write_agents(tmp_path).read_text()
    assert "| sac | 0 | 20,000 | 3 | 5 | 4 |  |" in text
    assert "| sac | 1 | 20,000 | 1 | 3 | 2 | 4 |" in text
    assert "| crffsac | 0 | 10,000 | 1 | 9 | 5 |  |" in text
    assert all((tmp_path / f"Hopper-v0.{kind}").exists() for kind in ("png", "svg"))


def test_a_variant_is_named_by_its_settings_and_the_default_is_read_as_far_as_it_went(tmp_path: Path) -> None:
    defaults, ablated = tmp_path / "agents", tmp_path / "agent-ablations"
    run(defaults, "crffsac", 0, 0.0, 3.0, 6.0, 9.0, 900.0)
    run(ablated, "crffsac", 1, 2.0, 2.0, 2.0, 2.0, batch_size=256)
    run(ablated, "crffsac", 0, 0.0, 4.0, 4.0, 4.0, batch_size=256)
    lines = write_ablations(ablated, defaults).read_text().splitlines()
    assert "| crffsac | plain | 0 | 9 | 9 | 6 | 6 | 4 |" in lines
    assert "| crffsac | batch_size=256 | 0, 1 | 4, 2 | 3 | 4, 2 | 3 | 2 |" in lines
    assert all((ablated / f"Hopper-v0-crffsac.{kind}").exists() for kind in ("png", "svg"))


def test_runs_are_drawn_beside_others_of_the_same_length(tmp_path: Path) -> None:
    run(tmp_path / "mine", "td7sac", 0, 0.0, 3.0)
    run(tmp_path / "others", "sac", 0, 0.0, 4.0)
    run(tmp_path / "others", "crffsac", 0, 0.0, 4.0, 5.0)
    (figure,) = draw_beside(tmp_path / "mine", tmp_path / "others")
    drawn = figure.with_suffix(".svg").read_text()
    assert "<!-- td7sac -->" in drawn and "<!-- SAC -->" in drawn and "<!-- cRFFSAC -->" not in drawn


def test_fresh_seeds_are_compared_in_pairs_by_the_mean_over_the_curve(tmp_path: Path) -> None:
    runs = tmp_path / "fourth-candidate"
    returns = {  # the second seed is ahead by its mean and behind at its end; the third has no pair; the last is even
        ("crffsac", 50): (0.0, 200.0, 400.0, 600.0, 800.0),
        ("sac", 50): (0.0, 100.0, 200.0, 300.0, 400.0),
        ("crffsac", 51): (0.0, 900.0, 900.0, 900.0, -200.0),
        ("sac", 51): (0.0, 100.0, 200.0, 300.0, 400.0),
        ("crffsac", 52): (0.0, 9.0, 9.0, 9.0, 9_000.0),
        ("crffsac", 53): (0.0, 100.0, 200.0, 300.0, 400.0),
        ("sac", 53): (0.0, 100.0, 200.0, 300.0, 400.0),
    }
    for task in TASKS:
        for (agent, seed), values in returns.items():
            write_run(runs / f"{agent}-{task[6:]}-{seed}", agent, seed, values, environment=task)
    for page, places in (
        (tmp_path / "README.md", ("tasks", "seeds")),
        (tmp_path / "main.md", ("confirmation",)),
    ):
        page.write_text("".join(f"<!-- {name} --><!-- /{name} -->\n" for name in places))
    seeds, readme = (page.read_text() for page in write_confirmation(tmp_path, tmp_path / "main.md"))
    # Means 400, 500 and 200 against 200 three times: 167 ± 4.303 · 152.8/√3, Student's t with two degrees of freedom.
    difference = "167 [−213, 546] | 2 of 3"
    assert f"| HalfCheetah | 367 (478) | 200 (300) | {difference} | 1 of 12 | 0 of 12 |" in readme
    assert "| HalfCheetah | 51 | 500 (−200) | 200 (400) |" in seeds
    assert "52" not in seeds and (tmp_path / "Hopper-v0.png").exists()
