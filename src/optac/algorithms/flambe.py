"""FLAMBE (Agarwal, Kakade, Krishnamurthy and Sun, "FLAMBE: structural complexity and representation learning of
low rank MDPs", NeurIPS 2020, arXiv:2006.10814): reward-free exploration by covering the fitted features.

Each round j rolls in with the last mixture, n episodes for every step, with a uniform action at the step;
fits the model; then for every step the elliptical planner builds, inside the model, a mixture of policies
whose features leave no direction uncovered. Any reward is planned in the last model. It calls SL once a
round and PP once a planner's step: SL J + H·PP.

Differs from the paper:

- The last step's transitions enter no value: it gets no planner and no episodes of its own.
- `whole_trajectories`: the fit uses every transition of an episode, not only the one at the roll-in's step.
- Orders of the theorem, with every hidden constant 1 and ε = δ = 0.1: β = ε²/(d|A|⁴H⁴). The n and J that go
  with it are beyond any machine (10⁹ episodes on a small lock), and so is the planner's bound: the preset
  `theory` keeps β, takes n from the budget, and lets `planner_cap` end the planner, which the rows then say.
- The preset `practical`: β = 1/(4d), since features on the simplex have squared norms in [1/d, 1] and on
  flat ones the planner would stop at once above 1/d; J = 2H rounds; n = 20|A| episodes per step and round, or
  what the cap on episodes allows.
- A run explores, then commits: its rows carry no gap before the last, and a curve of it is a ladder of budgets.
"""

from dataclasses import dataclass

import numpy as np

from optac.algorithms.loop.handle import Handle, Sizes
from optac.algorithms.loop.learnt import Learnt, learnt_model
from optac.algorithms.loop.states import AlgorithmState
from optac.algorithms.parts.elliptical_planner import elliptical_planner
from optac.algorithms.parts.policy_cover import Cover, play_cover, uniform_after
from optac.algorithms.protocol import Traits
from optac.errors import InvalidInput
from optac.mdp.policies import uniform_policy
from optac.models import TransitionData
from optac.oracles import maximum_likelihood

ACCURACY = 0.1


@dataclass(frozen=True)
class Settings:
    """The constants of FLAMBE."""

    samples: int
    """n, episodes per step and round"""
    beta: float
    """β, the planner stops once no policy's features are worth more"""
    planner_cap: int
    """the planner's steps at most; a row says when it was reached"""
    slack: float
    """how far the fit may stay below the largest likelihood"""
    whole_trajectories: bool
    """fit every transition of an episode, not only the one at the roll-in's step"""


def practical(sizes: Sizes) -> Settings:
    """β = 1/(4d), n = 20|A| or the budget's share."""
    return Settings(
        samples=_share(sizes),
        beta=1.0 / (4 * sizes.rank),
        planner_cap=1000,
        slack=1e-2,
        whole_trajectories=True,
    )


def theory(sizes: Sizes) -> Settings:
    """β = ε²/(d|A|⁴H⁴); n is the budget's share."""
    return Settings(
        samples=_share(sizes),
        beta=ACCURACY**2 / (sizes.rank * sizes.actions**4 * sizes.horizon**4),
        planner_cap=200,
        slack=0.0,
        whole_trajectories=False,
    )


def default_iterations(horizon: int) -> int:
    """J = 2H rounds: each carries the known steps at least one further."""
    return 2 * horizon


PRESETS = {"practical": practical, "theory": theory}
TRAITS = Traits(commits=True)


@dataclass(frozen=True, kw_only=True)
class State(AlgorithmState):
    """The cover that the next round rolls in with, the data, and P̂ of the round before."""

    cover: Cover
    """for every step h < H the planner's policies, uniform after h"""
    data: TransitionData


@dataclass(frozen=True)
class Info:
    """Numbers of a round for a row of the history."""

    log_likelihood: float
    planner_steps: int
    planner_capped: bool
    """a planner stopped at its cap, with directions left uncovered"""


def init(settings: Settings, handle: Handle) -> State:
    shape = handle.horizon, handle.states, handle.actions
    if settings.samples < 1:
        raise InvalidInput(
            f"flambe plays n episodes for each of {max(1, handle.horizon - 1)} steps a round; "
            "the cap on episodes leaves n < 1: raise it, or lower iterations"
        )
    return State(cover=(uniform_policy(*shape)[None],), data=handle.model_class.empty_data(*shape))


def step(settings: Settings, state: State, handle: Handle, rng: np.random.Generator) -> tuple[State, Info]:
    """One round j: collect, fit, cover."""
    steps, data = range(max(1, handle.horizon - 1)), state.data
    for h in steps:
        played = play_cover(handle, state.cover, settings.samples, uniform_steps=(h,), rng=rng)
        data = data.add_steps(played, range(handle.horizon) if settings.whole_trajectories else (h,))
    model, bill = maximum_likelihood(
        handle.model_class, data.evidence, state.model, slack=settings.slack, rng=rng
    )
    bill = state.bill + bill
    cover, planner_steps, capped = [], 0, False
    for h in steps:
        covered = elliptical_planner(
            model, h, handle.initial, beta=settings.beta, cap=settings.planner_cap, rng=rng
        )
        bill, planner_steps = bill + covered.bill, planner_steps + covered.steps
        capped = capped or covered.capped
        cover.append(uniform_after(covered.policies, h))
    info = Info(float(model.log_likelihood.sum()), planner_steps, capped)
    return State(cover=tuple(cover), data=data, model=model, bill=bill), info


def learnt(settings: Settings, state: State) -> Learnt:
    """The model, in which any reward is planned by one PP call, and the planner's policies."""
    return learnt_model("flambe", state.model, state.cover)


def _share(sizes: Sizes) -> int:
    """n such that J rounds of n episodes per step spend the budget; 20|A| without one."""
    if sizes.episodes is None:
        return 20 * sizes.actions
    return sizes.episodes // (sizes.iterations * max(1, sizes.horizon - 1))
