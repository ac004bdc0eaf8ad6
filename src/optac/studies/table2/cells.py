"""The paper's Table 2 and training curves as a sweep: six tasks, three agents, four seeds, the most telling first."""

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from optac.studies.table2.paper import AGENTS

if TYPE_CHECKING:
    from optac.sweeps.plan import Sweep, SweptRun

SEEDS: Final = range(50, 54)
"""the first four that confirmed the defaults; docs/results/table2.md says what was known of them before"""
STEPS: Final = {
    "optac/HalfCheetah-v0": 200_000,
    "optac/Hopper-v0": 200_000,
    "optac/Ant-v0": 200_000,
    "optac/Reacher-v0": 200_000,
    "optac/Pendulum-v0": 50_000,
    "optac/InvertedPendulum-v0": 50_000,
}
"""The two pendulums are learnt long before: a quarter of the steps shows it."""
FIRST: Final = ("optac/HalfCheetah-v0", "optac/Hopper-v0", "optac/Ant-v0")
"""tasks whose runs without the bonus come before everything else"""


def sweep(
    *,
    environments: Sequence[str] | None = None,
    seeds: int = len(SEEDS),
    steps: int | None = None,
    preset: str = "default",
) -> "Sweep":
    """All of it, or less: these tasks, so many of the seeds, so many steps."""
    from optac.studies.published_runs import planned

    variants = [(agent, {"preset": preset}) for agent in AGENTS]
    whole = planned(
        "table2", STEPS, variants, environments=environments, seeds=seeds, steps=steps, first=SEEDS[0]
    )
    given = {"study": {**whole.given["study"], "preset": preset}}
    return replace(whole, given=given, runs=tuple(sorted(whole.runs, key=_turn)))


def _turn(run: "SweptRun") -> tuple[bool, int]:
    """What is most telling first, then seed by seed over tasks: the table is balanced wherever it stops."""
    config = run.config
    return config["environment"] not in FIRST or config["agent"] == "crffsac-bonus", config["seed"]
