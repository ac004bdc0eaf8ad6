"""The paper's Table 1, measured: every algorithm on three problems, to ε = 0.1, each tuned once and then held.

Every algorithm is given the same finite class, the truth among 64 candidates; the model-based ones also run with
the simplex class, fitted by EM. `rep-ucb-alpha` is Rep-UCB with Opt-AC's α and λ: only the oracle differs then. The
seed draws the instance and the learner both.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from optac.algorithms.loop.run import prepare
from optac.mdp import make_problem
from optac.runs.json_files import Row
from optac.sweeps.cells import Cell, cell
from optac.sweeps.measuring import measured

EPSILON = 0.1
SEEDS = 10
DEAR_SEEDS = 5

PROBLEMS: Mapping[str, Mapping[str, Any]] = {
    "combination-lock": {"horizon": 6, "actions": 5},
    "observed-lock": {"horizon": 5, "actions": 4, "observations": 5},
    "random-simplex": {"states": 20, "actions": 4, "horizon": 5, "rank": 3},
}


@dataclass(frozen=True)
class Variant:
    """An algorithm with a model class and a budget."""

    algorithm: str
    model_class: str | None = "finite"
    episodes: int = 10_000
    rungs: int = 11
    seeds: int = SEEDS
    opt_ac_alpha: bool = False
    label: str = ""

    @property
    def group(self) -> str:
        """The model class it is given: a finite class, the simplex class fitted by EM, or none."""
        return {"finite": "finite", "simplex": "EM", None: "reference"}[self.model_class]


VARIANTS: dict[str, Variant] = {
    "opt-ac": Variant("opt-ac"),
    "rep-ucb": Variant("rep-ucb"),
    "rep-ucb-alpha": Variant("rep-ucb", opt_ac_alpha=True, label="rep-ucb with Opt-AC's α"),
    "raffle": Variant("raffle", episodes=20_000),
    "flambe": Variant("flambe", episodes=20_000),
    "spanrl": Variant("spanrl", episodes=160_000, rungs=9, seeds=DEAR_SEEDS),
    "moffle": Variant("moffle", episodes=160_000, rungs=9, seeds=DEAR_SEEDS),
    "opt-ac EM": Variant("opt-ac", "simplex"),
    "rep-ucb EM": Variant("rep-ucb", "simplex"),
    "rep-ucb-alpha EM": Variant("rep-ucb", "simplex", opt_ac_alpha=True, label="rep-ucb with Opt-AC's α, EM"),
    "raffle EM": Variant("raffle", "simplex", episodes=20_000),
    "flambe EM": Variant("flambe", "simplex", episodes=20_000),
    "lsvi-ucb": Variant("lsvi-ucb", None, label="lsvi-ucb (features known)"),
    "ucbvi": Variant("ucbvi", None, label="ucbvi (tabular)"),
    "epsilon-greedy": Variant("epsilon-greedy", None, label="epsilon-greedy (control)"),
}


def cells() -> list[Cell]:
    """One cell per seed, problem and variant, the seeds outermost: a part is a smaller table, not a torn one."""
    return [
        cell(measure, f"{problem} {variant} s{seed}", problem=problem, variant=variant, seed=seed)
        for seed in range(SEEDS)
        for problem in PROBLEMS
        for variant, chosen in VARIANTS.items()
        if seed < chosen.seeds
    ]


def measure(problem: str, variant: str, seed: int) -> Row:
    """One run, or one ladder, to ε."""
    chosen = VARIANTS[variant]
    instance = make_problem(problem, **PROBLEMS[problem], seed=seed)
    settings = {}
    if chosen.opt_ac_alpha:
        opt_ac = prepare(instance, "opt-ac").settings
        settings = {"alpha": opt_ac.alpha, "lam": opt_ac.lam}
    row = measured(
        instance,
        chosen.algorithm,
        seed=seed,
        episodes=chosen.episodes,
        epsilon=EPSILON,
        rungs=chosen.rungs,
        stop_at="both",
        model_class=chosen.model_class,
        **settings,
    )
    del row["curve"]
    return {
        "problem": problem,
        "variant": variant,
        "algorithm": chosen.algorithm,
        "seed": seed,
        "budget": chosen.episodes,
        **row,
    }
