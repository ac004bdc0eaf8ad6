"""RAFFLE (Cheng, Huang, Yang and Liang, "Improved sample complexity for reward-free RL under low-rank MDPs",
ICLR 2023, arXiv:2303.10859): reward-free exploration by planning for the bonus alone.

Each round rolls in with the last policy, fits the model and plans for the bonus, with Q cut off at 1 inside
the recursion. V̂_1 bounds the model's error; when it is small enough the model is returned, and any reward is
planned in it. It calls SL once and PP once a round, and PP once more for each reward planned: SL (1 + H)N + H
and PP N + 1.

Differs from the paper:

- Steps, roll-ins, the last step's bonus, `whole_trajectories`, `gram`, `untried` and `optimistic_ties`: as in
  Opt-AC. An untried pair is worth 1, the cut-off.
- Constants of the theorem were not at hand to the letter: the preset `theory` has its orders,
  α = √((d² + |A|) log), λ = d log, ζ_n = log/n with log = log(|M|NH/δ) throughout, where the paper's grows with n,
  every hidden constant 1, ε = 0.1.
- The stopping test 2√(|A|V̂_1) + 2√(|A|ζ_n) ≤ ε needs V̂_1 ≈ ε²/(4|A|), which small runs never reach. The
  preset `practical` has ε = 0, that is no test: a fixed number of rounds, V̂_1 in every row.
- The second, offline routine that turns the model into a feature with a guarantee of its own is left out:
  the features returned are the model's.
"""

from dataclasses import dataclass
from math import log, sqrt

import numpy as np

from optac.algorithms.loop.handle import Handle, Sizes
from optac.algorithms.loop.learnt import Learnt, learnt_model
from optac.algorithms.loop.states import RollInState
from optac.algorithms.loop.states import default_iterations as default_iterations
from optac.algorithms.parts.elliptical import BonusSettings, elliptical_bonus
from optac.algorithms.rep_ucb import practical_alpha
from optac.oracles import maximum_likelihood, plan


@dataclass(frozen=True, kw_only=True)
class Settings(BonusSettings):
    """The constants of RAFFLE."""

    epsilon: float
    """ε of the stopping test; 0 for no test"""
    zeta: float
    """log(|M|NH/δ), the numerator of ζ_n"""


def practical(sizes: Sizes) -> Settings:
    """Rep-UCB's practical rule, whose theorem has the same α; no stopping test."""
    return Settings(
        alpha=practical_alpha(sizes),
        lam=practical_alpha(sizes) ** 2,
        gram="latents",
        beta=1e-2,
        epsilon=0.0,
        zeta=0.0,
        whole_trajectories=True,
        untried="nowhere",
        optimistic_ties=False,
    )


def theory(sizes: Sizes) -> Settings:
    """The theorem's orders with every hidden constant 1, δ = 0.1 and ε = 0.1."""
    confidence = log(sizes.iterations * sizes.horizon / 0.1) + sizes.log_class_size
    return Settings(
        alpha=sqrt((sizes.rank**2 + sizes.actions) * confidence),
        lam=sizes.rank * confidence,
        gram="phi",
        beta=0.0,
        epsilon=0.1,
        zeta=confidence,
        whole_trajectories=False,
        untried="uniform",
        optimistic_ties=False,
    )


PRESETS = {"practical": practical, "theory": theory}


@dataclass(frozen=True, kw_only=True)
class State(RollInState):
    """π_{n−1}, the data, P̂ and the bonus of the round before, and n − 1; `finished` once the test said yes."""

    rounds: int = 0


@dataclass(frozen=True)
class Info:
    """Numbers of a round for a row of the history."""

    log_likelihood: float
    mean_bonus: float
    error_bound: float
    """V̂_1, which bounds the model's error and stands at 1 until the first steps are known"""


def init(settings: Settings, handle: Handle) -> State:
    return State.first(handle)


def step(settings: Settings, state: State, handle: Handle, rng: np.random.Generator) -> tuple[State, Info]:
    """Roll in, fit, plan for the bonus with Q ≤ 1, test."""
    played = handle.roll_in(state.policy)
    data = state.data.add_roll_ins(played, whole_trajectories=settings.whole_trajectories)
    model, sl_bill = maximum_likelihood(
        handle.model_class, data.evidence, state.model, slack=settings.beta, rng=rng
    )
    bonus, bonus_bill = elliptical_bonus(settings, model, data)
    planned_in = model.settled() if settings.untried == "nowhere" else model
    planned, pp_bill = plan(planned_in, bonus, ceiling=1.0, rng=rng)
    error_bound = float(handle.initial @ planned.q_values[0].max(axis=-1))
    rounds = state.rounds + 1
    width = 2 * sqrt(handle.actions * error_bound) + 2 * sqrt(handle.actions * settings.zeta / rounds)
    finished = settings.epsilon > 0 and width <= settings.epsilon
    info = Info(float(model.log_likelihood.sum()), float(bonus.mean()), error_bound)
    return State(
        policy=planned.policy,
        data=data,
        model=model,
        bonus=bonus,
        rounds=rounds,
        finished=finished,
        bill=state.bill + sl_bill + bonus_bill + pp_bill,
    ), info


def learnt(settings: Settings, state: State) -> Learnt:
    """The model, in which any reward is planned by one PP call."""
    return learnt_model("raffle", state.model)
