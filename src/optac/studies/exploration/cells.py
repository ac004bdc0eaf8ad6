"""Two sparse tasks as a sweep: cRFFSAC with and without the bonus, and SAC with three targets for its entropy.

Tasks, thresholds, steps and the bonus, which is the preset's, stood here before any of these seeds was run. The
controls were added when a part of the others was in: what comes with the bonus but is not the bonus, and a SAC whose
values nothing bounds.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from optac.sweeps.plan import Sweep

SEEDS: Final = 5
FIRST: Final = 10
"""seeds 10 to 14; lower ones are for choosing the bonus, and 10 was one of the search for other defaults"""
SOLVED: Final = {"MountainCarContinuous-v0": 90.0, "optac/SparseSwingUp-v0": 100.0}
"""the mean return of an evaluation that counts as solved: Gymnasium's own; upright for half of an episode"""
STEPS: Final = dict.fromkeys(SOLVED, 50_000)
PRESET: Final = "default"
VARIANTS: Final[Sequence[tuple[str, dict[str, Any]]]] = (
    ("crffsac-bonus", {}),
    ("crffsac", {}),
    ("sac", {}),
    ("sac", {"target_entropy": 0.0}),
    ("sac", {"target_entropy": 0.5}),
)
"""both tasks have one action: SAC's own target is −1, and uniform actions have 0.69"""
CONTROLS: Final[Sequence[tuple[str, dict[str, Any]]]] = (
    ("crffsac-bonus", {"bonus_alpha": 0.0}),
    ("sac", {"return_bound": False}),
    ("sac", {"return_bound": False, "target_entropy": 0.5}),
)
"""a bonus of 0 under the bound that allows for one; and entropy to come, which the bound cuts where nothing pays"""


def sweep(
    *,
    environments: Sequence[str] | None = None,
    seeds: int = SEEDS,
    steps: int | None = None,
    preset: str = PRESET,
) -> "Sweep":
    """All of it, or less: these tasks, seeds 10 … 9 + seeds, so many steps."""
    from optac.studies.published_runs import planned

    variants = [(agent, {"preset": preset, **settings}) for agent, settings in (*VARIANTS, *CONTROLS)]
    return planned(
        "exploration", STEPS, variants, environments=environments, seeds=seeds, steps=steps, first=FIRST
    )
