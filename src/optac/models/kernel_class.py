"""A finite list Θ of kernels s' = m_θ(s,a) + ξ on a continuous space, fitted exactly, with Fourier features.

What a learner remembers of its episodes is, for every candidate, the log-likelihood and the Gram matrix of its
features: sufficient for every fit and every bonus, and of a size that does not grow with the episodes.
"""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float, Int

from optac.array_types import Array
from optac.errors import InvalidInput
from optac.mdp.families.smooth_walk import RADIUS, Drift, SmoothWalk, draw_theta
from optac.mdp.grid import Grid
from optac.mdp.noise import Noise
from optac.mdp.sampling import Trajectories
from optac.models.kernel_features import FourierChoice, KernelFeatures
from optac.models.low_rank import LowRankModel
from optac.settings import require_memory

FLOOR = 1e-6
TIE = 1e-9


@dataclass(frozen=True)
class KernelModel(LowRankModel):
    """A fitted kernel tabulated on the grid: T̂_h(s'|s,a)·weight(s') = ⟨φ_h(s,a), μ_h(s')⟩; `at` leaves the grid."""

    kernels: "KernelClass | None" = None
    within: Bool[np.ndarray, "candidate horizon"] | None = None

    def contested(self) -> tuple[Float[np.ndarray, "horizon state action"], int]:
        """Where the candidates that the slack lets pass disagree; each of them is looked at."""
        assert self.kernels is not None and self.within is not None and self.choice is not None
        steps = [
            self.kernels.contested(h, self.within[:, h], int(chosen)) for h, chosen in enumerate(self.choice)
        ]
        return np.stack(steps).astype(float), int(self.within.sum())

    def at(self, h: int, samples: Float[np.ndarray, "batch columns"]) -> Float[np.ndarray, "batch rank"]:
        """φ̂_h(s,a) at pairs given as rows (s, a)."""
        assert self.kernels is not None and self.choice is not None
        theta = self.kernels.thetas[self.choice[h], h]
        states, actions = samples[:, :-1], samples[:, -1].astype(int)
        means = self.kernels.drift.means(theta, states)
        return self.kernels.features.phi(means[np.arange(len(states)), actions])


@dataclass(frozen=True)
class KernelData:
    """For every candidate and step: its log-likelihood so far, and Σ φφᵀ over the pairs of the Gram matrix."""

    kernels: "KernelClass"
    log_likelihoods: Float[np.ndarray, "candidate horizon"]
    products: Float[np.ndarray, "candidate horizon rank rank"]

    @property
    def evidence(self) -> Float[np.ndarray, "candidate horizon"]:
        """The input of a fit."""
        return self.log_likelihoods

    def second_moments(self, model: LowRankModel) -> Float[np.ndarray, "horizon rank rank"]:
        """Σ_n φ̂_h(s_h, a_h) φ̂_h(s_h, a_h)ᵀ under the model's features."""
        assert model.choice is not None
        return self.products[model.choice, np.arange(len(model.choice))]

    def add_roll_ins(self, played: Trajectories, *, whole_trajectories: bool) -> "KernelData":
        """The data with one roll-in RI(π, h) for every step h, used as `TransitionData.add_roll_ins` does."""
        states, actions = played
        steps = np.arange(len(actions))
        chosen = np.tile(steps, (len(steps), 1)) if whole_trajectories else steps[:, None]
        here = steps[:, None], chosen
        fitted = self.kernels.log_densities(states[here], actions[here], states[steps[:, None] + 1, chosen])
        before_last = steps[:-1], steps[:-1] + 1
        features = self.kernels.visited_features(states[before_last], actions[before_last])
        products = self.products.copy()
        products[:, :-1] += features[..., :, None] * features[..., None, :]
        return KernelData(self.kernels, self.log_likelihoods + fitted.sum(axis=-1), products)


class KernelClass:
    """Candidates θ (H, 2), one of which is chosen at every step apart, as in `FiniteClass`."""

    def __init__(
        self,
        thetas: Float[np.ndarray, "candidate horizon 2"],
        drift: Drift,
        noise: Noise,
        grid: Grid,
        features: KernelFeatures,
    ) -> None:
        self.thetas, self.drift, self.noise, self.grid, self.features = thetas, drift, noise, grid, features
        self.rank = features.rank

    def check(self, states: int, actions: int) -> None:
        """The grid and the actions are the problem's."""
        if (states, actions) != (len(self.grid), self.drift.actions):
            raise InvalidInput(
                f"this class of kernels has {len(self.grid)} grid points and {self.drift.actions} actions; "
                f"the problem has {states} and {actions}"
            )

    def log_size(self, horizon: int, states: int, actions: int, samples: int) -> float:
        """log |Θ|, one choice per step."""
        return horizon * float(np.log(len(self.thetas)))

    def empty_data(self, horizon: int, states: int, actions: int) -> KernelData:
        """Where a learner's memory starts."""
        candidates = len(self.thetas)
        return KernelData(
            self,
            np.zeros((candidates, horizon)),
            np.zeros((candidates, horizon, self.rank, self.rank)),
        )

    def log_densities(
        self,
        states: Float[np.ndarray, "horizon batch dim"],
        actions: Int[np.ndarray, "horizon batch"],
        following: Float[np.ndarray, "horizon batch dim"],
    ) -> Float[np.ndarray, "candidate horizon batch"]:
        """log T_θ,h(s'|s,a) of every candidate; a density below 1e-6 counts as 1e-6."""
        means = self.drift.means(self.thetas[:, :, None], states)
        taken = np.take_along_axis(means, actions[None, :, :, None, None], axis=3)[..., 0, :]
        return np.log(np.maximum(self.noise.density(following - taken), FLOOR))

    def visited_features(
        self, states: Float[np.ndarray, "step dim"], actions: Int[np.ndarray, " step"]
    ) -> Float[np.ndarray, "candidate step rank"]:
        """φ_θ,h(s_h,a_h) of every candidate for the first steps of the horizon, one pair per step."""
        means = self.drift.means(self.thetas[:, : len(states)], states)
        return self.features.phi(np.take_along_axis(means, actions[None, :, None, None], axis=2)[..., 0, :])

    def fit(
        self,
        evidence: Float[np.ndarray, "candidate horizon"],
        previous: LowRankModel | None,
        *,
        slack: float,
        rng: np.random.Generator,
    ) -> KernelModel:
        """A candidate within `slack` of the likeliest at every step: the previous while it is, else the likeliest."""
        steps = np.arange(evidence.shape[1])
        chosen = evidence.argmax(axis=0)
        within = evidence >= evidence[chosen, steps] - slack
        if previous is not None and previous.choice is not None:
            chosen = np.where(within[previous.choice, steps], previous.choice, chosen)
        return KernelModel(
            self._tabulated(chosen, previous),
            np.broadcast_to(self.features.mu, (len(steps), *self.features.mu.shape)),
            evidence[chosen, steps],
            np.zeros((len(steps), len(self.grid), self.drift.actions), dtype=bool),
            chosen,
            kernels=self,
            within=within,
        )

    def _tabulated(self, chosen: Array, previous: LowRankModel | None) -> Array:
        """φ of the chosen candidates on the grid; a step whose candidate stays keeps its table."""
        if previous is None or previous.choice is None:
            tables = np.empty((len(chosen), len(self.grid), self.drift.actions, self.rank))
            changed = np.ones(len(chosen), dtype=bool)
        else:
            changed = chosen != previous.choice
            if not changed.any():
                return previous.phi
            tables = previous.phi.copy()
        for h in np.flatnonzero(changed):
            tables[h] = self.features.phi(self._grid_means(self.thetas[chosen[h], h]))
        return tables

    def contested(self, h: int, within: Array, chosen: int) -> Array:
        """The pairs on which candidates of the same likelihood, up to the slack, disagree."""
        own = self._grid_means(self.thetas[chosen, h])
        free = np.zeros(own.shape[:2], dtype=bool)
        for rival in np.flatnonzero(within):
            if rival != chosen:
                free |= (np.abs(self._grid_means(self.thetas[rival, h]) - own) > TIE).any(axis=-1)
        return free

    def _grid_means(self, theta: Array) -> Array:
        return self.drift.means(theta, self.grid.points)


def walk_among_decoys(walk: SmoothWalk, size: int, choice: FourierChoice) -> KernelClass:
    """The walk's θ* and size − 1 others of the same family at shuffled places, drawn from the instance's seed.

    With misspecification the class holds θ*, which is then only near the truth.
    """
    if size < 1:
        raise InvalidInput(f"candidates={size} is too small; the class holds at least the walk's own kernel")
    require_memory(8 * size * walk.theta.size, "the candidates", "candidates or horizon")
    instance = int(walk.parameters.get("seed", 0))
    rng = np.random.default_rng([instance, size])
    thetas = np.stack([walk.theta, *(draw_theta(rng, walk.horizon) for _ in range(size - 1))])
    features = KernelFeatures(walk.noise, walk.grid, (RADIUS, 1.0 - RADIUS), choice, instance)
    return KernelClass(thetas[rng.permutation(size)], walk.drift, walk.noise, walk.grid, features)
