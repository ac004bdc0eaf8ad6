"""`smooth-walk`: a walk on [0, 1]^D whose transition densities are smooth and vanish on the boundary.

The walker at s plays a and moves by a full step in the direction 2πa/|A| + phase_h + twist_h·Σ_j s_j (in R¹ only
the cosine of it counts): s' = m(s,a) + ξ with m(s,a) kept a noise radius away from the boundary and ξ the noise. The
parameters θ_h = (phase_h, twist_h) are unknown, the reward for being near the goal is known. So a learner must find
which action leads where, at every step anew.

With `misspecification` ζ > 0 the truth leaves every such family: a bold action, one that leads towards the goal,
throws the walker back home with a probability that grows with its boldness, so that the true density and the one of
θ* differ by at most ζ, and by ζ where the boldest action is played away from home.

The truth is computed on a grid of vertices by the trapezoid rule, which is accurate far beyond its order for densities
that vanish smoothly. Values are those of the grid; halving its cell changes V* by less than 1e-3.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from jaxtyping import Bool, Float, Int

from optac.array_types import Array, Pairs, Probabilities, Transitions
from optac.errors import InvalidInput, require_known
from optac.mdp.exact_problem import ExactProblem
from optac.mdp.grid import Grid, GridPolicy, interpolated_probabilities
from optac.mdp.noise import BumpNoise, GaussianNoise, Noise
from optac.mdp.sampling import Trajectories
from optac.settings import require_at_least, require_memory

RADIUS = 0.25
DEVIATION = 0.09
STEP = 0.2
HOME = 0.25
GOAL = 0.75
GOAL_WIDTH = 0.12
CELLS = {1: 128, 2: 24}
TWIST = np.pi
KERNELS = ("bump", "gaussian")


@dataclass(frozen=True)
class Drift:
    """The family of means m_θ(s,a), θ = (phase, twist)."""

    dim: int
    actions: int

    def directions(
        self, theta: Float[np.ndarray, "*#batch 2"], states: Float[np.ndarray, "*#batch dim"]
    ) -> Float[np.ndarray, "... action dim"]:
        """Where each action points: (cos, sin) of its angle, in R¹ the cosine alone."""
        turned = theta[..., 0] + theta[..., 1] * states.sum(axis=-1)
        angles = turned[..., None] + 2 * np.pi * np.arange(self.actions) / self.actions
        return np.stack([np.cos(angles), np.sin(angles)][: self.dim], axis=-1)

    def means(
        self, theta: Float[np.ndarray, "*#batch 2"], states: Float[np.ndarray, "*#batch dim"]
    ) -> Float[np.ndarray, "... action dim"]:
        """m_θ(s,a) for every action, kept a noise radius away from the boundary."""
        moved = states[..., None, :] + STEP * self.directions(theta, states)
        return np.clip(moved, RADIUS, 1.0 - RADIUS)


class SmoothWalk(ExactProblem):
    """The walk with parameters θ* (H, 2), its noise, and the probability that its boldest action slips."""

    def __init__(
        self,
        theta: Float[np.ndarray, "horizon 2"],
        noise: Noise,
        *,
        dim: int,
        actions: int,
        slip: float = 0.0,
        cells: int | None = None,
    ) -> None:
        self.name = "smooth-walk"
        self.parameters = {}
        self.theta, self.noise, self.dim, self.slip = theta, noise, dim, slip
        self.drift = Drift(dim, actions)
        self.grid = Grid(dim, cells or CELLS[dim])
        self.horizon, self.states, self.actions = len(theta), len(self.grid), actions
        self.start = np.full(dim, HOME)
        self.goal = np.full(dim, GOAL)
        self.rewards = np.broadcast_to(
            self.reward(self.grid.points)[:, None], (self.horizon, self.states, actions)
        )
        self.initial = np.eye(self.states)[self.grid.index(self.start)]
        self.transitions = self._tabulated_transitions()

    def __repr__(self) -> str:
        settings = ", ".join(f"{key}={value}" for key, value in self.parameters.items())
        return (
            f"<{self.name}({settings}): horizon {self.horizon}, states in [0, 1]^{self.dim} "
            f"({self.states} grid points), {self.actions} actions>"
        )

    def reward(self, states: Float[np.ndarray, "*batch dim"]) -> Float[np.ndarray, "*batch"]:
        """r(s) = exp(−‖s − goal‖²/2w²), the same at every step and for every action."""
        distance = ((states - self.goal) ** 2).sum(axis=-1)
        return np.asarray(np.exp(-distance / (2 * GOAL_WIDTH**2)))

    def slip_probabilities(
        self, h: int, states: Float[np.ndarray, "batch dim"]
    ) -> Float[np.ndarray, "batch action"]:
        """slip · max(0, cosine of the angle between the action's move and the diagonal towards the goal)²."""
        directions = self.drift.directions(self.theta[h], states)
        cosine = directions.sum(axis=-1) / np.sqrt(self.dim)
        return self.slip * np.maximum(cosine, 0.0) ** 2

    def density(
        self, h: int, states: Float[np.ndarray, "batch dim"], following: Float[np.ndarray, "next dim"]
    ) -> Float[np.ndarray, "batch action next"]:
        """T_h(s'|s,a), a density in s'."""
        means = self.drift.means(self.theta[h], states)
        walked = self.noise.density(following - means[..., None, :])
        slipped = self.noise.density(following - self.start)
        slip = self.slip_probabilities(h, states)[..., None]
        return (1.0 - slip) * walked + slip * slipped

    def value(self, policy: Any) -> float:
        """V^π at the start, of a table on the grid, a result's policy, or a function (h, states) ↦ π_h(·|states)."""
        if callable(policy):
            policy = np.stack([policy(h, self.grid.points) for h in range(self.horizon)])
        return super().value(policy)

    def uniform_pairs(self) -> Float[np.ndarray, "state action"]:
        """The uniform distribution over [0, 1]^D × A, as the mass of every vertex's cell."""
        return np.repeat(self.grid.weights[:, None], self.actions, axis=1) / self.actions

    def pairs(self, drawn: Int[np.ndarray, " batch"], rng: np.random.Generator) -> Pairs:
        """Rows (s, a): a draw of a vertex stands for its cell, in which the state is uniform."""
        vertex, action = np.unravel_index(drawn, (self.states, self.actions))
        jitter = self.grid.cell * (rng.random((len(drawn), self.dim)) - 0.5)
        states = 1.0 - np.abs(1.0 - np.abs(self.grid.points[vertex] + jitter))
        return np.concatenate([states, action[:, None]], axis=-1)

    def policy(self, probabilities: Probabilities) -> GridPolicy:
        """The policy that is this table on the grid and interpolates its logits between."""
        return GridPolicy(probabilities, self.grid)

    @cached_property
    def simulator(self) -> "WalkSimulator":
        """Plays many episodes at once."""
        return WalkSimulator(self)

    @cached_property
    def facts(self) -> dict[str, Any]:
        """The facts of this instance; `zeta` is the sup over the grid of |T − T_θ*|."""
        return {
            "horizon": self.horizon,
            "dim": self.dim,
            "grid_points": self.states,
            "cell": self.grid.cell,
            "actions": self.actions,
            "optimal_value": self.optimal_value,
            "uniform_value": self.uniform_value,
            "density_bound": self.noise.peak,
            "slip": self.slip,
            "zeta": self.zeta(),
        }

    def zeta(self) -> float:
        """sup over h, s, a, s' on the grid of |T_h(s'|s,a) − T_θ*,h(s'|s,a)|, the misspecification as it is."""
        points = self.grid.points
        largest = 0.0
        for h in range(self.horizon):
            means = self.drift.means(self.theta[h], points)
            difference = self.noise.density(points - self.start) - self.noise.density(
                points - means[..., None, :]
            )
            slip = self.slip_probabilities(h, points)[..., None]
            largest = max(largest, float((slip * np.abs(difference)).max()))
        return largest

    def _tabulated_transitions(self) -> Transitions:
        """The densities on the grid times the trapezoid weights, rows normalised."""
        tables = np.empty((self.horizon, self.states, self.actions, self.states))
        for h in range(self.horizon):
            tables[h] = self.density(h, self.grid.points, self.grid.points) * self.grid.weights
        tables /= tables.sum(axis=-1, keepdims=True)
        tables.flags.writeable = False
        return tables


class WalkSimulator:
    """Plays many episodes of a walk at once, in continuous space, from one seeded generator."""

    def __init__(self, walk: SmoothWalk) -> None:
        self._walk = walk

    def play(
        self,
        policies: Float[np.ndarray, "member horizon state action"],
        rng: np.random.Generator,
        *,
        member: Int[np.ndarray, " batch"],
        uniform: Bool[np.ndarray, "horizon batch"] | None = None,
    ) -> Trajectories:
        """Episode i follows policies[member[i]] between the grid's points too, uniform where `uniform` is true."""
        walk, batch = self._walk, len(member)
        states = np.empty((walk.horizon + 1, batch, walk.dim))
        chosen = np.empty((walk.horizon, batch), dtype=np.int64)
        states[0] = walk.start
        for h in range(walk.horizon):
            probabilities = np.full((batch, walk.actions), 1.0 / walk.actions)
            for k in np.unique(member):
                follows = (member == k) if uniform is None else (member == k) & ~uniform[h]
                if follows.any():
                    table = policies[k, h]
                    probabilities[follows] = interpolated_probabilities(table, walk.grid, states[h, follows])
            chosen[h] = _drawn(probabilities, rng)
            states[h + 1] = self._next(h, states[h], chosen[h], rng)
        return Trajectories(states, chosen)

    def _next(self, h: int, states: Array, actions: Array, rng: np.random.Generator) -> Array:
        walk, row = self._walk, np.arange(len(states))
        means = walk.drift.means(walk.theta[h], states)[row, actions]
        slips = rng.random(len(states)) < walk.slip_probabilities(h, states)[row, actions]
        means[slips] = walk.start
        return means + walk.noise.sample(rng, len(states))


def _drawn(probabilities: Float[np.ndarray, "batch action"], rng: np.random.Generator) -> Array:
    thresholds = np.cumsum(probabilities, axis=-1)
    thresholds[:, -1] = 1.0
    return (thresholds <= rng.random((len(probabilities), 1))).sum(axis=-1)


def smooth_walk(
    *,
    dim: int = 1,
    horizon: int = 5,
    actions: int = 4,
    kernel: str = "bump",
    misspecification: float = 0.0,
    seed: int = 0,
) -> SmoothWalk:
    """A walk in [0, 1]^dim with smooth transition densities and a goal to reach; states are continuous.

    kernel=bump: (1 − ‖ξ‖²/ρ²)^m with m = dim + 2, smooth and 0 at the boundary. kernel=gaussian: a Gaussian cut off at
    ρ, for which the smoothness assumption (A2) fails formally. `misspecification` is ζ of the approximate setting.
    """
    require_at_least(1, horizon=horizon)
    require_at_least(2, actions=actions)
    require_at_least(0, misspecification=misspecification)
    if dim not in CELLS:
        raise InvalidInput(
            f"dim={dim} is not valid; smooth-walk has dim 1 or 2, the ones its grid can resolve"
        )
    require_known("kernel of smooth-walk", [kernel], KERNELS)
    noise: Noise = (
        BumpNoise(dim, RADIUS, dim + 2) if kernel == "bump" else GaussianNoise(dim, RADIUS, DEVIATION)
    )
    if misspecification > noise.peak / 2:
        raise InvalidInput(
            f"misspecification={misspecification} is too large; a density here is at most {noise.peak:.3g} "
            f"and ζ at most half of that, {noise.peak / 2:.3g}"
        )
    require_memory(8 * horizon * CELLS[dim] ** dim * actions, "a policy", "horizon or actions")
    theta = draw_theta(np.random.default_rng([seed, dim]), horizon)
    return SmoothWalk(theta, noise, dim=dim, actions=actions, slip=misspecification / noise.peak)


def draw_theta(rng: np.random.Generator, horizon: int) -> Float[np.ndarray, "horizon 2"]:
    """θ_h = (phase, twist) of every step: a phase in [0, 2π), a twist in [−π, π)."""
    return np.stack([rng.uniform(0, 2 * np.pi, horizon), rng.uniform(-TWIST, TWIST, horizon)], axis=-1)
