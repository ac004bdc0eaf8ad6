"""Problems with rich observations: a small latent table behind observations in R^D, which are all that a learner sees.

At step h the latent z shows an observation x ~ o_h(·|z); (z, a) leads to the next latent and pays. Latents can be told
from observations (a block MDP), so the best policy on observations is as good as the best on latents.

A policy on observations is worth what its average over emissions given the latent is worth, exactly; the averages are
taken over one fixed sample of emissions a problem, which no learner ever sees.
"""

from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, runtime_checkable

import numpy as np
from jaxtyping import Bool, Float, Int

from optac.array_types import Array, Probabilities
from optac.errors import InvalidInput
from optac.mdp.exact_problem import ExactProblem
from optac.mdp.low_rank import LowRankMDP
from optac.mdp.policies import MixturePolicy, policy_members
from optac.mdp.values import occupancies, policy_q_values, policy_values

if TYPE_CHECKING:
    from optac.mdp.gymnasium_conversion import RichEnv

HELD_OUT = 200
"""emissions of every latent and step in the fixed sample"""
HELD_OUT_STREAM = 7_081


@runtime_checkable
class ObservationPolicy(Protocol):
    """A policy that reads observations."""

    def probabilities_at(
        self, h: int, observations: Float[np.ndarray, "batch obs"]
    ) -> Float[np.ndarray, "batch action"]:
        """π_h(·|x)."""
        ...


@runtime_checkable
class Emission(Protocol):
    """How latents show themselves."""

    @property
    def dim(self) -> int: ...

    def draw(
        self, h: int, latents: Int[np.ndarray, " batch"], rng: np.random.Generator
    ) -> Float[np.ndarray, "batch obs"]:
        """One observation of every latent, in single precision."""
        ...


@runtime_checkable
class Decodes(Protocol):
    """What tells learnt latents from an observation, such as the decoders of a fitted model."""

    @property
    def steps(self) -> Sequence[Any]:
        """Every step's decoder, the same object for as long as it does not change."""
        ...

    def decode(self, h: int, observations: Float[np.ndarray, "batch obs"]) -> Float[np.ndarray, "batch rank"]:
        """q_h(·|x)."""
        ...


@runtime_checkable
class ReadsLatents(Protocol):
    """A policy that is a table over learnt latents: π_h(a|x) = Σ_z q_h(z|x) π_h(a|z)."""

    @property
    def decoders(self) -> Decodes: ...

    @property
    def table(self) -> Probabilities: ...


class RichTrajectories(NamedTuple):
    """Observations x_0 … x_{H-1}, actions and rewards of a batch of episodes, the step first."""

    observations: Float[np.ndarray, "horizon batch obs"]
    actions: Int[np.ndarray, "horizon batch"]
    rewards: Float[np.ndarray, "horizon batch"]

    @property
    def episodes(self) -> int:
        return self.actions.shape[1]


class RichProblem(ExactProblem):
    """A latent table and its emissions. Step h pays `pays[h, z, a]` with probability `chances[h, z, a]`, else 0."""

    def __init__(
        self,
        name: str,
        parameters: dict[str, Any],
        transitions: Float[np.ndarray, "horizon latent action latent"],
        pays: Float[np.ndarray, "horizon latent action"],
        chances: Float[np.ndarray, "horizon latent action"],
        initial: Float[np.ndarray, " latent"],
        emission: Emission,
    ) -> None:
        self.name, self.parameters, self.emission = name, parameters, emission
        self.horizon, self.states, self.actions = pays.shape
        self.dim = emission.dim
        self.transitions, self.initial = transitions, initial
        self.pays, self.chances = pays, chances
        self.rewards = pays * chances
        self._decoded: list[tuple[Any, Array]] = [(None, np.empty(0))] * self.horizon

    def __repr__(self) -> str:
        settings = ", ".join(f"{key}={value}" for key, value in self.parameters.items())
        return (
            f"<{self.name}({settings}): horizon {self.horizon}, observations in R^{self.dim}, "
            f"{self.actions} actions, {self.states} latents a step>"
        )

    @cached_property
    def simulator(self) -> "RichSimulator":
        """Plays many episodes at once."""
        return RichSimulator(self)

    @cached_property
    def held_out(self) -> Float[np.ndarray, "horizon latent sample obs"]:
        """The fixed sample of emissions by which policies are valued."""
        rng = np.random.default_rng([HELD_OUT_STREAM, int(self.parameters.get("seed", 0))])
        latents = np.repeat(np.arange(self.states), HELD_OUT)
        drawn = [self.emission.draw(h, latents, rng) for h in range(self.horizon)]
        return np.stack(drawn).reshape(self.horizon, self.states, HELD_OUT, self.dim)

    def policy(self, probabilities: Any) -> Any:
        """The policy itself: one that reads observations is no table."""
        return probabilities

    def on_latents(self, policy: Any) -> Probabilities:
        """π̄_h(a|z), the policy's mean over the fixed emissions of z; a table over latents is itself, checked."""
        if isinstance(policy, ReadsLatents):
            return np.asarray(self.confusion(policy.decoders) @ policy.table)
        if not isinstance(policy, ObservationPolicy):
            (table,) = policy_members(policy, self.shape)
            return table
        return np.stack([self._shown(policy, h).mean(axis=1) for h in range(self.horizon)])

    def tables(self, policy: Any) -> Iterator[Probabilities]:
        """What a policy that reads observations, or a table over latents, does on latents; of a mixture each member."""
        several = isinstance(policy, MixturePolicy)
        if several and not len(policy):
            raise InvalidInput("a mixture without members has no value")
        return map(self.on_latents, policy if several else [policy])

    def values(self, policies: Sequence[Any]) -> np.ndarray:
        """V^π of many policies."""
        tables = np.stack([self.on_latents(policy) for policy in policies])
        return policy_values(self.transitions, self.rewards, tables, self.initial)

    def standard_error(self, policy: ObservationPolicy) -> float:
        """Of a policy's value, from its spread over the fixed sample, to first order."""
        table = self.on_latents(policy)
        q_values = policy_q_values(self.transitions, self.rewards, table)
        reached = occupancies(self.transitions, table, self.initial)
        variance = 0.0
        for h in range(self.horizon):
            worth = np.einsum("zna,za->zn", self._shown(policy, h), q_values[h])
            variance += float((reached[h] ** 2 * worth.var(axis=1)).sum()) / HELD_OUT
        return float(np.sqrt(variance))

    def _shown(self, policy: ObservationPolicy, h: int) -> Float[np.ndarray, "latent sample action"]:
        """π_h(·|x) over the fixed sample of step h."""
        flat = self.held_out[h].reshape(-1, self.dim)
        return policy.probabilities_at(h, flat).reshape(self.states, HELD_OUT, -1)

    def confusion(self, decoders: Decodes) -> Float[np.ndarray, "horizon latent rank"]:
        """Learnt latents beside the true ones: the mean of q_h(·|x) over the fixed emissions of every latent.

        The means of the last decoders are kept: from one round to the next few steps have new ones.
        """
        for h, step in enumerate(decoders.steps):
            if self._decoded[h][0] is not step:
                shares = decoders.decode(h, self.held_out[h].reshape(-1, self.dim))
                means = shares.reshape(self.states, HELD_OUT, -1).mean(axis=1, dtype=float)
                self._decoded[h] = step, means
        return np.stack([means for _, means in self._decoded])

    def latent_problem(self) -> LowRankMDP:
        """The table behind the observations, with the true features e_z ⊗ e_a, mean rewards and the start known.

        What a learner can do here bounds what one can do that has to find the latents.
        """
        pairs = self.states * self.actions
        one_hot = np.eye(pairs).reshape(self.states, self.actions, pairs)
        phi = np.broadcast_to(one_hot, (self.horizon, *one_hot.shape))
        mu = self.transitions.reshape(self.horizon, pairs, self.states)
        return LowRankMDP(phi, mu, self.rewards, self.initial, name=self.name, parameters=self.parameters)

    def as_gymnasium(self) -> "RichEnv":
        """The problem as a Gymnasium environment: observations in a Box, discrete actions."""
        from optac.mdp.gymnasium_conversion import RichEnv

        return RichEnv(self)

    @cached_property
    def facts(self) -> dict[str, Any]:
        """What is known of this instance; `standard_error` is that of the best policy read by the nearest mean."""
        from optac.mdp.nearest_mean import NearestMean

        return {
            "horizon": self.horizon,
            "dim": self.dim,
            "latents": self.states,
            "actions": self.actions,
            "optimal_value": self.optimal_value,
            "uniform_value": self.uniform_value,
            "held_out": HELD_OUT,
            "standard_error": self.standard_error(NearestMean(self)),
        }


class RichSimulator:
    """Many episodes at once: latents by inverting cumulative distributions, observations by the emission."""

    def __init__(self, problem: RichProblem) -> None:
        self._problem = problem
        self._next = problem.transitions.cumsum(axis=-1)
        self._first = problem.initial.cumsum()

    def play(
        self,
        policy: ObservationPolicy | None,
        rng: np.random.Generator,
        *,
        uniform: Bool[np.ndarray, "horizon batch"],
    ) -> RichTrajectories:
        """A batch that follows the policy, with uniform actions where `uniform` is true; None plays uniformly."""
        problem = self._problem
        horizon, batch = uniform.shape
        observations = np.empty((horizon, batch, problem.dim), dtype=np.float32)
        actions = np.empty((horizon, batch), dtype=np.int64)
        rewards = np.empty((horizon, batch))
        latents = self.first(batch, rng)
        for h in range(horizon):
            observations[h] = problem.emission.draw(h, latents, rng)
            actions[h] = rng.integers(problem.actions, size=batch)
            if policy is not None:
                chosen = drawn(policy.probabilities_at(h, observations[h]).cumsum(axis=-1), rng)
                actions[h] = np.where(uniform[h], actions[h], chosen)
            latents, rewards[h] = self.step(h, latents, actions[h], rng)
        return RichTrajectories(observations, actions, rewards)

    def first(self, batch: int, rng: np.random.Generator) -> Array:
        """Latents to start from."""
        return drawn(np.broadcast_to(self._first, (batch, len(self._first))), rng)

    def step(self, h: int, latents: Array, actions: Array, rng: np.random.Generator) -> tuple[Array, Array]:
        """The next latents and the rewards of a batch of pairs."""
        pays, chances = self._problem.pays[h, latents, actions], self._problem.chances[h, latents, actions]
        rewards = np.where(rng.random(len(latents)) < chances, pays, 0.0)
        return drawn(self._next[h, latents, actions], rng), rewards


def drawn(cumulative: Float[np.ndarray, "batch choice"], rng: np.random.Generator) -> Array:
    """A choice for every row of cumulative probabilities."""
    noise = rng.random((len(cumulative), 1)) * cumulative[:, -1:]
    return np.asarray((cumulative <= noise).sum(axis=-1))
