"""MOFFLE (Modi, Chen, Krishnamurthy, Jiang and Agarwal, "Model-free representation learning and exploration in
low-rank MDPs", JMLR 2024, arXiv:2102.07035): reward-free exploration with a class of features and no model.

Step after step it learns a feature by a min-max regression (LearnRep), then covers it: an elliptical
planner whose plans are made by fitted Q-iteration on the data so far and judged by fresh episodes. Any
reward is planned by fitted Q-iteration on all the data with the features learnt. An adversarial round of
LearnRep is a CP call, priced by its fits, a fitted Q-iteration a PP call, priced at H.

Needs reachability: every factor of every step must be reached by some policy with probability η_min > 0. The
problem's η_min is checked before anything is played, and 0 is refused.

Differs from the paper:

- The discriminators are means over actions of linear functions, without clipping: for a finite list of
  features LearnRep is then exact (`min_max_features`). The paper also has maxima, and clips.
- The planner's fitted Q-iteration regresses on the whole list Φ, whose best member it picks a stage: its rewards are
  quadratic in φ̂. The last one, for the rewards given, uses φ̂ alone. The second LearnRep of the paper, with
  discriminators made for those rewards, is left out. Predictions are cut off to the range of their targets.
- The last step's transitions enter no value: it is not explored. The first three steps have no cover before them
  and use uniform actions.
- Constants: the theorem's sample sizes (d¹¹|A|¹⁴/min(ε²η_min, η_min⁵)-like) are beyond any machine; both presets
  take n from the budget. `theory` has a tolerance of order d² log|Φ|/n and the planner's β = 1/(16d);
  `practical` d/(100n), since what a rare state shows weighs little, β = 1/(2d), and without a budget n = 32|A|³
  episodes per step for LearnRep: three uniform actions make a wanted triple one in |A|³.
"""

from dataclasses import dataclass, replace

import numpy as np

from optac.algorithms.loop.handle import Handle, Sizes
from optac.algorithms.loop.learnt import Learnt, PlanOnData
from optac.algorithms.parts.class_regression import fitted_q_iteration
from optac.algorithms.parts.layers import LayerInfo
from optac.algorithms.parts.layers import LayerState as State
from optac.algorithms.parts.layers import default_iterations as default_iterations
from optac.algorithms.parts.policy_cover import Policies, play_cover, uniform_after
from optac.algorithms.protocol import Traits
from optac.array_types import Probabilities
from optac.mdp.policies import uniform_policy
from optac.oracles import Bill
from optac.oracles.planning import greedy
from optac.settings import within

LEARNREP_SHARE = 0.6


@dataclass(frozen=True)
class Settings:
    """The constants of MOFFLE."""

    samples: int
    """n_rep, episodes per step for LearnRep"""
    rollouts: int
    """n_plan, episodes that judge one plan of the planner"""
    beta: float
    """β, the planner stops once a plan is worth at most 3β/4"""
    planner_cap: int
    """the planner's steps at most; a row says when it was reached"""
    tolerance: float
    """LearnRep stops once no discriminator gains more"""
    max_rounds: int = within(least=1)
    """LearnRep's adversarial rounds at most; a row says when it was reached"""


def practical(sizes: Sizes) -> Settings:
    """β = 1/(2d), tolerance d/(100n), n = 32|A|³ or the budget's share."""
    settings = _shared(sizes, planner_cap=8 * sizes.rank)
    return replace(settings, tolerance=sizes.rank / (100 * max(settings.samples, 1)))


def theory(sizes: Sizes) -> Settings:
    """β = 1/(16d), tolerance d² log|Φ|/n."""
    settings = _shared(sizes, planner_cap=64 * sizes.rank)
    log_features = max(1.0, sizes.log_class_size / sizes.horizon)
    return replace(
        settings,
        beta=1.0 / (16 * sizes.rank),
        tolerance=sizes.rank**2 * log_features / max(settings.samples, 1),
    )


PRESETS = {"practical": practical, "theory": theory}
TRAITS = Traits(finite_class=True, needs_reachability=True, commits=True)


@dataclass(frozen=True)
class Info(LayerInfo):
    """A step's round."""

    planner_steps: int = 0
    planner_capped: bool = False


def init(settings: Settings, handle: Handle) -> State:
    """Nothing is covered yet: `cover` holds for every step explored the planner's policies, uniform after it."""
    fewest = min(settings.samples, settings.rollouts)
    return State.first("moffle", handle, (), fewest_episodes=fewest)


def step(settings: Settings, state: State, handle: Handle, rng: np.random.Generator) -> tuple[State, Info]:
    """One step h: collect D_h, learn φ̂_h, cover it."""
    h = state.layer
    played = play_cover(
        handle,
        (state.cover[h - 3],) if h >= 3 else (_uniform(handle),),
        settings.samples,
        uniform_steps=range(max(0, h - 2), h + 1),
        rng=rng,
    )
    explored, chosen = state.learn(played, tolerance=settings.tolerance, max_rounds=settings.max_rounds)
    bill = state.bill + chosen.bill
    last_cover = handle.horizon - 5  # step h's cover serves step h + 3, and the last step explored is H − 2
    found, info = list[Probabilities](), Info(h, chosen.gap, chosen.rounds, chosen.capped)
    if h <= last_cover:
        found, capped, planner_bill = _cover(settings, explored, h, handle, rng)
        bill = bill + planner_bill
        info = replace(info, planner_steps=len(found), planner_capped=capped)
    covering = np.stack(found) if found else _uniform(handle)
    return replace(explored, cover=(*state.cover, uniform_after(covering, h)), bill=bill), info


def learnt(settings: Settings, state: State) -> Learnt:
    """Features, covers, and for any reward fitted Q-iteration on the covers' data with the features learnt."""
    return Learnt(PlanOnData(state.features[None], state.counts), features=state.features, cover=state.cover)


def _cover(
    settings: Settings, explored: State, h: int, handle: Handle, rng: np.random.Generator
) -> tuple[list[Probabilities], bool, Bill]:
    """The elliptical planner with plans by fitted Q-iteration; the policies, whether the cap ended it, the bill."""
    phi = explored.features[h]
    gamma = np.eye(phi.shape[-1])
    found: list[Probabilities] = []
    bill = Bill()
    while len(found) < settings.planner_cap:
        rewards = np.zeros((h + 1, handle.states, handle.actions))
        rewards[h] = np.einsum("sad,de,sae->sa", phi, np.linalg.inv(gamma), phi)
        q_values, cost = fitted_q_iteration(explored.candidates, explored.counts, rewards)
        bill = bill + cost
        policy = uniform_policy(handle.horizon, handle.states, handle.actions)
        policy[: h + 1] = greedy(q_values, rng)
        played = handle.play_one(policy, settings.rollouts)
        state, action = played.states[h], played.actions[h]
        if float(rewards[h, state, action].mean()) <= 0.75 * settings.beta:
            return found, False, bill
        found.append(policy)
        gamma = gamma + phi[state, action].T @ phi[state, action] / settings.rollouts
    return found, True, bill


def _uniform(handle: Handle) -> Policies:
    return uniform_policy(handle.horizon, handle.states, handle.actions)[None]


def _shared(sizes: Sizes, planner_cap: int) -> Settings:
    """The budget: 60 % of a step's share for LearnRep, the rest for the planner at its cap."""
    layers = default_iterations(sizes.horizon)
    share = 32 * sizes.actions**3 / LEARNREP_SHARE if sizes.episodes is None else sizes.episodes / layers
    return Settings(
        samples=int(LEARNREP_SHARE * share),
        rollouts=int((1 - LEARNREP_SHARE) * share / planner_cap),
        beta=1.0 / (2 * sizes.rank),
        planner_cap=planner_cap,
        tolerance=0.0,
        max_rounds=10 * sizes.rank,
    )
