"""Rep-UCB in its finite-horizon form (Uehara, Zhang and Sun, "Representation learning for online and offline RL
in low-rank MDPs", ICLR 2022, arXiv:2110.04652).

Each round explores as Opt-AC does, fits the model by maximum likelihood and plans in it with an elliptical
bonus. It calls SL once and PP once a round: SL (1 + H)N and PP N for N rounds. It returns the uniform
mixture of the policies played; the last one is kept beside it.

Differs from the paper:

- The original is discounted and draws its states by geometric stopping; here every step h has its own
  roll-in RI(π, h), so a round plays H episodes, as in the finite-horizon form the Opt-AC paper compares with.
- The last step has no Gram matrix and no bonus, its transitions enter no value (see Opt-AC).
- `gram`, `untried`, `optimistic_ties` and `whole_trajectories` mean what they mean in Opt-AC. Without the last the fit
  takes both tuples of a roll-in whose action is uniform, D ∪ D', but that D of the last step, which would need
  RI(π, H + 1).
- Constants of the theorem were not at hand to the letter: the preset `theory` has its orders,
  α = √((|A| + d²) log(|M|N/δ)), λ = d log(|M|N/δ), the bonus times H, every hidden constant 1. The paper's α_n and
  λ_n grow with n; these are held at n = N.
- The preset `practical` is Opt-AC's rule times the ratio of the two theorems' α, √((d² + |A|)/|A|):
  α = 0.02√(1 + d²/|A|), λ = α², the bonus times the largest reward still to come. With `alpha` 0.02 and `lam` 0.0004
  only the oracle differs.
- Where only observations are seen, bonus, plan and policy are tables over learnt latents, and rewards and start are
  learnt (`models.rich`). α = λ = 1 and the bonus in units of 1, as Opt-AC has them there: only the oracle differs.
"""

from dataclasses import dataclass
from math import log, sqrt
from typing import Literal

import numpy as np

from optac.algorithms.loop.handle import Handle, Sizes
from optac.algorithms.loop.states import RollInState as State
from optac.algorithms.loop.states import default_iterations as default_iterations
from optac.algorithms.opt_ac import Info
from optac.algorithms.parts.elliptical import (
    PRACTICAL_ALPHA,
    RICH_ALPHA,
    TABLES_ONLY,
    BonusSettings,
    elliptical_bonus,
    reward_range,
)
from optac.algorithms.protocol import Traits
from optac.models import TransitionData
from optac.oracles import maximum_likelihood, plan


@dataclass(frozen=True, kw_only=True)
class Settings(BonusSettings):
    """The constants of Rep-UCB."""

    bonus_max: float
    """the bonus is cut off here before it is scaled; the paper's 2"""
    bonus_scale: float
    """multiplies the bonus; the value range H in the theorem"""
    bonus_range: Literal["one", "rewards"]
    """the bonus is in units of 1, or of the largest reward that later steps can still pay"""


def practical(sizes: Sizes) -> Settings:
    """Opt-AC's practical rule with this theorem's α, √(d² + |A|) in place of √|A|; on learnt latents Opt-AC's own."""
    alpha = RICH_ALPHA if sizes.rich else practical_alpha(sizes)
    return Settings(
        alpha=alpha,
        bonus_max=2.0,
        bonus_scale=1.0,
        bonus_range="one" if sizes.rich else "rewards",
        lam=alpha**2,
        gram="latents",
        beta=1e-2,
        whole_trajectories=True,
        untried="nowhere",
        optimistic_ties=False,
    )


def practical_alpha(sizes: Sizes) -> float:
    """√((d² + |A|)/|A|) times Opt-AC's, shared with RAFFLE, whose theorem has the same α."""
    return PRACTICAL_ALPHA * sqrt((sizes.rank**2 + sizes.actions) / sizes.actions)


def theory(sizes: Sizes) -> Settings:
    """The theorem's orders with every hidden constant 1 and δ = 0.1."""
    confidence = log(sizes.iterations / 0.1) + sizes.log_class_size
    return Settings(
        alpha=sqrt((sizes.actions + sizes.rank**2) * confidence),
        bonus_max=2.0,
        bonus_scale=float(sizes.horizon),
        bonus_range="one",
        lam=sizes.rank * confidence,
        gram="phi",
        beta=0.0,
        whole_trajectories=False,
        untried="uniform",
        optimistic_ties=False,
    )


PRESETS = {"practical": practical, "theory": theory}
TRAITS = Traits(rich=True, rich_without=TABLES_ONLY)


def init(settings: Settings, handle: Handle) -> State:
    return State.first(handle)


def step(settings: Settings, state: State, handle: Handle, rng: np.random.Generator) -> tuple[State, Info]:
    """Roll in, fit, add the bonus, plan; ties are broken at random, or symmetric bonuses would all pick action 0."""
    played = handle.roll_in(state.policy)
    data = state.data.add_roll_ins(played, whole_trajectories=settings.whole_trajectories)
    if isinstance(data, TransitionData) and not settings.whole_trajectories:
        data = data.add_steps_before(played)
    model, sl_bill = maximum_likelihood(
        handle.model_class, data.evidence, state.model, slack=settings.beta, rng=rng
    )
    bonus, bonus_bill = elliptical_bonus(settings, model, data, ceiling=settings.bonus_max)
    rewards = handle.rewards_in(model)
    scale = settings.bonus_scale * (reward_range(rewards) if settings.bonus_range == "rewards" else 1.0)
    planned_in = model.settled() if settings.untried == "nowhere" else model
    planned, pp_bill = plan(planned_in, rewards + scale * bonus, rng=rng)
    info = Info(
        log_likelihood=float(model.log_likelihood.sum()),
        mean_bonus=float(bonus.mean()),
        optimistic_value=float(handle.initial_in(model) @ planned.q_values[0].max(axis=-1)),
    )
    bill = state.bill + sl_bill + bonus_bill + pp_bill
    return State(policy=model.policy(planned.policy), data=data, model=model, bonus=bonus, bill=bill), info
