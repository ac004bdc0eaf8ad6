"""SpanRL (Mhammedi, Block, Foster and Rakhlin, "Efficient model-free exploration in low-rank MDPs", NeurIPS 2023,
arXiv:2307.03997): reward-free exploration by barycentric spanners, with a class of features and no model.

Step after step it learns a feature by a min-max regression, then finds d policies whose expected features
span all that can be reached (RobustSpanner); with one uniform action more they cover the states two steps
on. Its linear optimiser is PSDP: policy search by dynamic programming, one regression per step, on episodes
that roll in with the covers. An adversarial round is a CP call, priced by its fits, a PSDP a PP call, priced at H.

The first version of the paper assumes a weak reachability, η‖μ_h(s)‖ ≤ max_π d^π_h(s), which factors that are all
reachable (η_min > 0) imply: the problem's η_min is checked before anything is played, and 0 is refused. The later
version (VoX) replaces the assumption by an optimal design and is not built here.

Differs from the paper:

- The discriminators are means over actions of linear functions, for which the min-max regression over a
  finite list of features is exact; the paper has maxima.
- PSDP's last stage needs no episodes: its reward ⟨φ̂_h(s,a), θ⟩ is known.
- Any reward given afterwards is planned by fitted Q-iteration on the data of the covers, so that
  `plan(rewards)` plays no more episodes; the paper runs PSDP with fresh ones. A regression's predictions are cut off
  to the range of their targets.
- The last step's transitions enter no value: it is not explored, nor are covers built that would serve only it.
- Constants: the theorem's sample sizes (|A|⁴d⁹-like) are taken from the budget instead. `theory` has
  tolerance d² log|Φ|/n, C = 2 and ε = 0.01; `practical` tolerance d/(100n), C = 2, ε = 0.05, n = 20|A|² episodes
  a stage: one uniform action after a cover's policy, and one before the fit.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from jaxtyping import Float

from optac.algorithms.loop.handle import Handle, Sizes
from optac.algorithms.parts.class_regression import class_regression
from optac.algorithms.parts.layers import LayerInfo
from optac.algorithms.parts.layers import LayerState as State
from optac.algorithms.parts.layers import default_iterations as default_iterations
from optac.algorithms.parts.layers import learnt as learnt
from optac.algorithms.parts.policy_cover import play_cover, uniform_after
from optac.algorithms.parts.robust_spanner import Spanner, robust_spanner
from optac.algorithms.protocol import Traits
from optac.array_types import Probabilities
from optac.mdp.policies import uniform_policy
from optac.oracles import Bill
from optac.oracles.planning import greedy
from optac.settings import within


@dataclass(frozen=True, kw_only=True)
class Settings:
    """The constants of SpanRL."""

    samples: int
    """n_rep, episodes per step for the feature"""
    psdp_samples: int
    """n, episodes per stage of PSDP"""
    estimate_samples: int
    """episodes that estimate a policy's expected feature"""
    spanner_constant: float
    """C, how much a swap must gain"""
    nudge: float = within(above=0.0)
    """ε, keeps the spanner's determinant away from 0"""
    spanner_calls: int
    """calls of PSDP a spanner at most; a row says when it was reached"""
    tolerance: float
    """the min-max regression stops once no discriminator gains more"""
    max_rounds: int = within(least=1)
    """adversarial rounds at most; a row says when it was reached"""


def practical(sizes: Sizes) -> Settings:
    """C = 2, ε = 0.05, tolerance d/(100n), n = 20|A|² or the budget's share."""
    settings = _shared(sizes)
    return replace(settings, tolerance=sizes.rank / (100 * max(settings.samples, 1)))


def theory(sizes: Sizes) -> Settings:
    """C = 2, ε = 0.01, tolerance d² log|Φ|/n."""
    settings = _shared(sizes)
    log_features = max(1.0, sizes.log_class_size / sizes.horizon)
    return replace(settings, nudge=0.01, tolerance=sizes.rank**2 * log_features / max(settings.samples, 1))


PRESETS = {"practical": practical, "theory": theory}
TRAITS = Traits(finite_class=True, needs_reachability=True, commits=True)


@dataclass(frozen=True)
class Info(LayerInfo):
    """A step's round."""

    spanner_swaps: int = 0
    spanner_rank: int = 0
    spanner_capped: bool = False


def init(settings: Settings, handle: Handle) -> State:
    """`cover` holds Ψ_h, the policies that cover the states of step h: of the first two steps the uniform one."""
    uniform = uniform_policy(handle.horizon, handle.states, handle.actions)[None]
    fewest = min(settings.samples, settings.psdp_samples, settings.estimate_samples)
    return State.first("spanrl", handle, (uniform, uniform), fewest_episodes=fewest)


def step(settings: Settings, state: State, handle: Handle, rng: np.random.Generator) -> tuple[State, Info]:
    """One step h: collect D_h with Ψ_h, learn φ̂_h, span it, which gives Ψ_{h+2}."""
    h = state.layer
    played = play_cover(handle, (state.cover[h],), settings.samples, uniform_steps=(h,), rng=rng)
    explored, chosen = state.learn(played, tolerance=settings.tolerance, max_rounds=settings.max_rounds)
    bill, cover = state.bill + chosen.bill, state.cover
    info = Info(h, chosen.gap, chosen.rounds, chosen.capped)
    if h + 2 <= handle.horizon - 2:
        spanner, spanner_bill = _span(settings, state, explored.features[h], handle, rng)
        bill = bill + spanner_bill
        cover = (*cover, uniform_after(np.stack(spanner.policies), h))
        swaps, rank = spanner.swaps, spanner.effective_rank
        info = replace(info, spanner_swaps=swaps, spanner_rank=rank, spanner_capped=spanner.capped)
    return replace(explored, cover=cover, bill=bill), info


def _span(
    settings: Settings,
    state: State,
    phi: Float[np.ndarray, "state action rank"],
    handle: Handle,
    rng: np.random.Generator,
) -> tuple[Spanner, Bill]:
    """The spanner of step h's features, with PSDP for its optimiser and episodes for its estimates."""
    h = state.layer
    bills: list[Bill] = []

    def optimise(theta: Float[np.ndarray, " rank"]) -> Probabilities:
        policy, bill = psdp(
            handle, state.candidates, state.cover, phi @ theta, h, samples=settings.psdp_samples, rng=rng
        )
        bills.append(bill)
        return policy

    def estimate(policy: Probabilities) -> Float[np.ndarray, " rank"]:
        played = handle.play_one(policy, settings.estimate_samples)
        return phi[played.states[h], played.actions[h]].mean(axis=0)

    spanner = robust_spanner(
        optimise,
        estimate,
        phi.shape[-1],
        C=settings.spanner_constant,
        epsilon=settings.nudge,
        max_calls=settings.spanner_calls,
    )
    return spanner, sum(bills, Bill())


def psdp(
    handle: Handle,
    candidates: Float[np.ndarray, "candidate horizon state action rank"],
    cover: Sequence[np.ndarray],
    rewards: Float[np.ndarray, "state action"],
    h: int,
    *,
    samples: int,
    rng: np.random.Generator,
) -> tuple[Probabilities, Bill]:
    """A policy for the reward of step h alone: for t = h … 1, the greedy step of a regression on what followed.

    Episodes of stage t roll in with Ψ_t, take a uniform action at t and go on with the steps built so far.
    One PP call, at the price of any other: H.
    """
    policy = uniform_policy(handle.horizon, handle.states, handle.actions)
    policy[h] = greedy(rewards[None], rng)[0]
    for t in reversed(range(h)):
        roll_in = cover[t].copy()
        roll_in[:, t + 1 :] = policy[t + 1 :]
        played = play_cover(handle, (roll_in,), samples, uniform_steps=(t,), rng=rng)
        state, action = played.states[t], played.actions[t]
        visits = np.zeros((handle.states, handle.actions))
        totals = np.zeros_like(visits)
        np.add.at(visits, (state, action), 1.0)
        np.add.at(totals, (state, action), rewards[played.states[h], played.actions[h]])
        fit = class_regression(candidates[:, t], visits, totals / np.maximum(visits, 1.0))
        policy[t] = greedy(fit.prediction[None], rng)[0]
    return policy, Bill(SL=handle.horizon, PP=1, accuracy=0.0)


def _shared(sizes: Sizes) -> Settings:
    """The budget, as if every spanner made all the calls it may: n a stage of PSDP, 2n a step, n/2 an estimate."""
    calls = 8 * sizes.rank
    layers = default_iterations(sizes.horizon)
    spanned = range(max(0, sizes.horizon - 3))
    stages = 2 * layers + calls * sum(h + 0.5 for h in spanned)
    n = 20 * sizes.actions**2 if sizes.episodes is None else int(sizes.episodes / stages)
    return Settings(
        samples=2 * n,
        psdp_samples=n,
        estimate_samples=n // 2,
        spanner_constant=2.0,
        nudge=0.05,
        spanner_calls=calls,
        tolerance=0.0,
        max_rounds=10 * sizes.rank,
    )
