"""The recipe's ingredients, one at a time, as a sweep: three tasks, two seeds.

The recipe is what the default preset has and "plain" has not; it is read from the two, so that a new ingredient is
ablated without a word here. The bonus has its own.
"""

from collections.abc import Iterator, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any, Final

from optac.errors import require_known
from optac.settings import changed

if TYPE_CHECKING:
    from optac.agents.settings import AgentSettings
    from optac.sweeps.plan import Sweep

SEEDS: Final = 2
FIRST: Final = 50
"""seeds 50 and 51, which confirmed the recipe; on the seeds it was chosen on it would look better than it is"""
STEPS: Final = {
    "optac/HalfCheetah-v0": 50_000,
    "optac/Hopper-v0": 50_000,
    "optac/InvertedPendulum-v0": 35_000,
}
RECIPE: Final = "default"
FROZEN: Final = {"feature_learning_rate": 0.0}
"""the control: φ as it was drawn"""
TRIED: Final = ({"n_step": 3}, {"target_entropy": 0.0})
"""what might be added: returns of three steps, and a policy more random than the usual −dim(A)"""


def variants(recipe: str = RECIPE) -> Iterator[tuple[str, dict[str, Any]]]:
    """Agent and settings of every variant: both agents with the whole recipe and without it, then one thing changed.

    What is changed is first what φ learns, then each ingredient, then what might be added.
    """
    from optac.agents import crffsac
    from optac.agents.settings import AgentSettings

    for agent in ("crffsac", "sac"):
        yield agent, {"preset": recipe}
        yield agent, {"preset": "plain"}
    yield "crffsac", {"preset": recipe, **FROZEN}
    for name, (_, plain) in ingredients(crffsac.Settings, recipe).items():
        if not name.startswith("bonus"):
            yield "crffsac", {"preset": recipe, name: plain}
    for name, (value, _) in ingredients(AgentSettings, recipe).items():
        yield "sac", {"preset": "plain", name: value}
    for tried in TRIED:
        yield "crffsac", {"preset": recipe, **tried}


def ingredients(settings: "type[AgentSettings]", recipe: str = RECIPE) -> dict[str, tuple[Any, Any]]:
    """What the preset and "plain" differ by: each setting's value in the one and in the other."""
    own, plain = (asdict(settings.choose({"preset": preset})) for preset in (recipe, "plain"))
    return {name: (own[name], plain[name]) for name in changed(own, plain) if name != "preset"}


def sweep(
    *,
    environments: Sequence[str] | None = None,
    seeds: int = SEEDS,
    steps: int | None = None,
    preset: str = RECIPE,
) -> "Sweep":
    """All of it, or less: these tasks, seeds 50 … 49 + seeds, so many steps; or another preset's ingredients."""
    from optac.agents import crffsac
    from optac.studies.published_runs import planned

    require_known("preset", [preset], crffsac.Settings.PRESETS)
    return planned(
        "agent-ablations",
        STEPS,
        variants(preset),
        environments=environments,
        seeds=seeds,
        steps=steps,
        first=FIRST,
    )
