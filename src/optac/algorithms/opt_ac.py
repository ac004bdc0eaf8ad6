"""Opt-AC: optimistic actor-critic with representation learning (the paper's Algorithm 1, Theorem 2).

Each iteration explores, fits the model by maximum likelihood, adds an elliptical bonus, evaluates the
current policy optimistically and improves it by mirror descent. It calls SL and PE, once each an
iteration: SL 2K and PE K for K iterations, no planning.

Differs from the paper:

- Steps are counted from 0. Iteration k fits the data of iterations n ≤ k (the paper's sums stop at n < k, so
  its round 0 would fit nothing), and K iterations play π⁽⁰⁾ … π⁽ᴷ⁻¹⁾, the members of the mixture; π⁽ᴷ⁾ is
  the last policy.
- The first step has no action before it: RI(π, 1) has one uniform action. The last step's Gram matrix would
  need RI(π, H + 1); its transitions never enter a value, so its bonus is 0 and no episode is added.
- The mirror-descent lemma needs critics in [0, 2H], which the paper secures on a "good set" of iterations
  only: here the critic is clipped to [0, `critic_max`] after its evaluation, unless that is 0.
- After step h the roll-in RI(π, h) goes on with π to the end. With `whole_trajectories` the fit uses every
  transition of an episode; without, only the one at step h, as in Eq. (2).
- `gram`: the paper's Gram matrix is over φ̂(s,a), which knows nothing of pairs never tried. With `gram="latents"` it is
  over q(·|s) ⊗ e_a, q the decoder of the fitted model, and falls back to counts where a class takes no states together
  (`parts.elliptical`); with `whole_trajectories` its sum is over all that the fit uses.
- What no datum touches can have any transitions at the same likelihood. With `untried="nowhere"` it leads nowhere in
  the model that is evaluated, so that nothing draws a policy there but the bonus; with `"uniform"` it has the uniform
  feature, which is optimism for free. `optimistic_ties`, an ablation, gives the bonus 1 to every pair on which models
  of the same likelihood differ.
- The preset `practical` drops the theorem's orders. Its one rule is α = 0.02, λ = α², η = 1, and the bonus times the
  largest reward still to come (`bonus_range`) in place of 3H: an untried pair is worth exactly that, one tried n times
  a fiftieth of it over √n.
- Where states are continuous the summed critic, rewards and bonus are kept on a grid and interpolated, so that an
  action costs the same in every iteration; PE is the regression over samples from ρ, no table being at hand.
- Where only observations are seen the model is a table over learnt latents, and so are bonus, critic and policy.
  Rewards and start are learnt. When a fit changes the decoders the summed critic is carried over by regression
  (`models.rich`). The preset has α = λ = 1 and η = 2: a latent must be tried often before it can be told from others.
"""

from dataclasses import dataclass
from math import inf, log, sqrt
from typing import Literal

import numpy as np

from optac.algorithms.loop.handle import Handle, Sizes
from optac.algorithms.loop.states import RollInState
from optac.algorithms.loop.states import default_iterations as default_iterations
from optac.algorithms.parts.elliptical import (
    PRACTICAL_ALPHA,
    RICH_ALPHA,
    TABLES_ONLY,
    BonusSettings,
    elliptical_bonus,
    reward_range,
)
from optac.algorithms.protocol import Traits
from optac.array_types import Probabilities, QValues
from optac.models import LowRankModel
from optac.oracles import Bill, Evaluation, evaluate, evaluate_by_regression, maximum_likelihood


@dataclass(frozen=True, kw_only=True)
class Settings(BonusSettings):
    """The constants of Algorithm 1."""

    bonus_scale: float
    """multiplies the clipped bonus; the paper's 3H"""
    bonus_range: Literal["one", "rewards"]
    """the clipped bonus is in units of 1, or of the largest reward that later steps can still pay"""
    eta: float
    """η, the step of mirror descent"""
    pe: Literal["exact", "regression"]
    """policy evaluation by the exact recursion, or by one regression over samples from ρ"""
    pe_accuracy: float
    """accuracy asked of policy evaluation; the paper's 1/√K"""
    pe_samples: int
    """samples from ρ a regression"""
    critic_max: float
    """the critic is clipped to [0, critic_max]; the lemma's 2H; 0 leaves it unclipped, as Algorithm 1 prints it"""


def practical(sizes: Sizes) -> Settings:
    """The default: α = 0.02, λ = α², η = 1 and the bonus in units of the largest reward still to come.

    On learnt latents α = λ = 1, η = 2 and the bonus in units of 1.
    """
    alpha, eta = (RICH_ALPHA, 2.0) if sizes.rich else (PRACTICAL_ALPHA, 1.0)
    return Settings(
        alpha=alpha,
        bonus_scale=1.0,
        bonus_range="one" if sizes.rich else "rewards",
        lam=alpha**2,
        gram="phi" if sizes.continuous else "latents",
        eta=eta,
        beta=1e-2,
        pe="regression" if sizes.continuous else "exact",
        pe_accuracy=1.0 / sqrt(sizes.iterations),
        pe_samples=_enough_samples(sizes),
        critic_max=2.0 * sizes.horizon,
        whole_trajectories=True,
        untried="nowhere",
        optimistic_ties=False,
    )


def theory(sizes: Sizes) -> Settings:
    """The theorem's orders with every hidden constant 1 and δ = 0.1.

    λ = 1/d, β = log(K|Θ|/δ), α = √(dλ + |A|β), η = √(log|A| / (H²K)), bonus 3H·min(α‖φ̂‖, 1), PE to 1/√K.
    """
    lam = 1.0 / sizes.rank
    beta = log(sizes.iterations / 0.1) + sizes.log_class_size
    return Settings(
        alpha=sqrt(sizes.rank * lam + sizes.actions * beta),
        bonus_scale=3.0 * sizes.horizon,
        bonus_range="one",
        lam=lam,
        gram="phi",
        eta=sqrt(log(sizes.actions) / sizes.iterations) / sizes.horizon,
        beta=beta,
        pe="regression",
        pe_accuracy=1.0 / sqrt(sizes.iterations),
        pe_samples=_enough_samples(sizes),
        critic_max=2.0 * sizes.horizon,
        whole_trajectories=False,
        untried="uniform",
        optimistic_ties=False,
    )


PRESETS = {"practical": practical, "theory": theory}
TRAITS = Traits(continuous=True, rich=True, rich_without=TABLES_ONLY)


@dataclass(frozen=True, kw_only=True)
class State(RollInState):
    """π⁽ᵏ⁾, the data, θ̂ and b̃ of the iteration before, and the critics' sum."""

    critic_sum: QValues
    """Σ_{n<k} Q̂_n: with η it is the policy"""


@dataclass(frozen=True)
class Info:
    """Numbers of an iteration for a row of the history."""

    log_likelihood: float
    mean_bonus: float
    optimistic_value: float


def init(settings: Settings, handle: Handle) -> State:
    return State.first(handle, critic_sum=np.zeros((handle.horizon, handle.states, handle.actions)))


def step(settings: Settings, state: State, handle: Handle, rng: np.random.Generator) -> tuple[State, Info]:
    """Lines 3 to 7 of Algorithm 1."""
    played = handle.roll_in(state.policy)  # line 3
    data = state.data.add_roll_ins(played, whole_trajectories=settings.whole_trajectories)
    model, sl_bill = maximum_likelihood(  # line 4
        handle.model_class, data.evidence, state.model, slack=settings.beta, rng=rng
    )
    bonus, bonus_bill = elliptical_bonus(settings, model, data)  # line 5
    rewards = handle.rewards_in(model)
    scale = settings.bonus_scale * (reward_range(rewards) if settings.bonus_range == "rewards" else 1.0)
    evaluated = model.settled() if settings.untried == "nowhere" else model
    critic_sum = model.carried(state.critic_sum)
    current = mirror_descent(critic_sum, settings.eta)
    critic, pe_bill = policy_evaluation(  # line 6
        settings, evaluated, current, rewards + scale * bonus, handle, rng
    )
    critic_sum = critic_sum + np.clip(critic.q_values, 0.0, settings.critic_max or inf)
    policy = model.policy(mirror_descent(critic_sum, settings.eta))  # line 7
    info = Info(
        log_likelihood=float(model.log_likelihood.sum()),
        mean_bonus=float(bonus.mean()),
        optimistic_value=float(handle.initial_in(model) @ (current[0] * critic.q_values[0]).sum(axis=-1)),
    )
    bill = state.bill + sl_bill + bonus_bill + pe_bill
    return State(policy=policy, critic_sum=critic_sum, data=data, model=model, bonus=bonus, bill=bill), info


def mirror_descent(critic_sum: QValues, eta: float) -> Probabilities:
    """π⁽ᵏ⁺¹⁾(a|s) ∝ π⁽ᵏ⁾(a|s) exp(η Q̂_k(s,a)) ∝ exp(η Σ_{n≤k} Q̂_n(s,a)), Eq. (6)."""
    with np.errstate(over="ignore"):  # a huge η makes the policy greedy: exp(−∞) = 0
        weights = np.exp(eta * (critic_sum - critic_sum.max(axis=-1, keepdims=True)))
    return np.asarray(weights / weights.sum(axis=-1, keepdims=True))


def policy_evaluation(
    settings: Settings,
    model: LowRankModel,
    policy: Probabilities,
    rewards: QValues,
    handle: Handle,
    rng: np.random.Generator,
) -> tuple[Evaluation, Bill]:
    if settings.pe == "exact":
        return evaluate(model, policy, rewards, accuracy=settings.pe_accuracy)
    samples = handle.draw_pairs(settings.pe_samples, rng)
    return evaluate_by_regression(
        model, policy, rewards, rho=handle.rho, samples=samples, accuracy=settings.pe_accuracy
    )


def _enough_samples(sizes: Sizes) -> int:
    """So many draws that a uniform ρ misses a pair (s,a) about once in a hundred calls; for R^D 10 a feature."""
    if sizes.continuous:
        return 10 * sizes.rank
    pairs = sizes.states * sizes.actions
    return int(pairs * (log(pairs) + 5)) + 1
