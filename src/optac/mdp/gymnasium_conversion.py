"""Between Gymnasium and problems: a toy-text environment's table in, any problem out."""

from typing import TYPE_CHECKING, Any, SupportsInt

import gymnasium
import numpy as np

from optac.array_types import Array
from optac.errors import InvalidInput, InvalidProblem
from optac.mdp.exact_problem import ExactProblem
from optac.mdp.low_rank import LowRankMDP
from optac.mdp.rich_problem import RichProblem
from optac.mdp.tabular import simplex_factors
from optac.registry import imported
from optac.settings import read

if TYPE_CHECKING:
    BaseEnv = gymnasium.Env[Any, Any]
else:
    BaseEnv = gymnasium.Env


class ProblemEnv(BaseEnv):
    """A problem as a Gymnasium environment: terminated after step H, never truncated."""

    metadata = {"render_modes": []}  # noqa: RUF012 (Gymnasium's own attribute)

    def __init__(self, problem: ExactProblem, observations: gymnasium.Space[Any]) -> None:
        self.observation_space = observations
        self.action_space = gymnasium.spaces.Discrete(problem.actions)
        self._horizon, self._actions, self._step = problem.horizon, problem.actions, 0

    def _taken(self, action: SupportsInt) -> int:
        """The action of the step that begins; refused where there is no such step or no such action."""
        if self._step >= self._horizon:
            raise InvalidInput("the episode is over after step H; call reset() before the next step")
        if not self.action_space.contains(action):
            raise InvalidInput(f"action {action!r} is not one of 0 … {self._actions - 1}")
        return int(action)

    @property
    def _row(self) -> int:
        """The step that an observation is of: after the last one there is no other, so it stays the last."""
        return min(self._step, self._horizon - 1)


class TabularEnv(ProblemEnv):
    """States as observations, with the step where `time` says so."""

    def __init__(self, problem: LowRankMDP, *, time: bool = True) -> None:
        size = problem.horizon * problem.states if time else problem.states
        super().__init__(problem, gymnasium.spaces.Discrete(size))
        self.problem, self.time = problem, time
        self._state = 0

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[int, dict[str, Any]]:
        super().reset(seed=seed)
        self._step = 0
        self._state = int(self.np_random.choice(self.problem.states, p=self.problem.initial))
        return self._observation(), self._info()

    def step(self, action: SupportsInt) -> tuple[int, float, bool, bool, dict[str, Any]]:
        here = self._step, self._state, self._taken(action)
        reward = float(self.problem.rewards[here])
        self._state = int(self.np_random.choice(self.problem.states, p=self.problem.transitions[here]))
        self._step += 1
        return self._observation(), reward, self._step == self._horizon, False, self._info()

    def _observation(self) -> int:
        return self._row * self.problem.states + self._state if self.time else self._state

    def _info(self) -> dict[str, Any]:
        return {"state": self._state, "step": self._step}


class RichEnv(ProblemEnv):
    """Observations in R^D; the latent is not shown."""

    def __init__(self, problem: RichProblem) -> None:
        super().__init__(problem, gymnasium.spaces.Box(-np.inf, np.inf, (problem.dim,), np.float32))
        self.problem = problem
        self._latent = np.zeros(1, dtype=np.int64)

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Array, dict[str, Any]]:
        super().reset(seed=seed)
        self._step = 0
        self._latent = self.problem.simulator.first(1, self.np_random)
        return self._observation(), {"step": 0}

    def step(self, action: SupportsInt) -> tuple[Array, float, bool, bool, dict[str, Any]]:
        pair = self._latent, np.array([self._taken(action)])
        self._latent, reward = self.problem.simulator.step(self._step, *pair, self.np_random)
        self._step += 1
        over = self._step == self._horizon
        return self._observation(), float(reward[0]), over, False, {"step": self._step}

    def _observation(self) -> Array:
        return np.asarray(self.problem.emission.draw(self._row, self._latent, self.np_random)[0])


def from_gymnasium(environment: str | BaseEnv, horizon: int | float, **options: Any) -> LowRankMDP:
    """The problem of an environment with a transition table `P` (FrozenLake-v1, CliffWalking-v1, Taxi-v3).

    Terminal states absorb with reward 0, rewards are mapped affinely into [0, 1] (`original` undoes it)
    and features lie on the simplex: over reachable next states, or over distinct next-state
    distributions, whichever are fewer. Every step shares one table.
    """
    horizon = int(read("horizon", horizon, int, least=1))
    env = _made(environment, options)
    table = getattr(env.unwrapped, "P", None)
    if not isinstance(table, dict):
        raise InvalidInput(
            f"{environment} has no transition table; from_gymnasium takes environments whose `unwrapped.P` "
            "maps state and action to (probability, next state, reward, terminated), as toy-text ones do"
        )
    known_initial = _initial_distribution(env)
    transitions, rewards = _absorbing_table(table, known_initial)
    initial = np.zeros(len(transitions))
    initial[: len(known_initial)] = known_initial
    low, scale = _reward_map(table)
    phi, mu = simplex_factors(transitions)
    return LowRankMDP(
        np.broadcast_to(phi, (horizon, *phi.shape)),
        np.broadcast_to(mu, (horizon, *mu.shape)),
        np.broadcast_to((rewards - low) / scale, (horizon, *rewards.shape)),
        initial,
        name=environment if isinstance(environment, str) else type(env.unwrapped).__name__,
        parameters={"horizon": horizon, **options},
        reward_scale=scale,
        reward_offset=low,
    )


def _made(environment: str | BaseEnv, options: dict[str, Any]) -> BaseEnv:
    if not isinstance(environment, str):
        if options:
            raise InvalidInput(
                f"options ({', '.join(options)}) go with an environment's id, not with a made one"
            )
        return environment
    module = environment.rpartition(":")[0]
    if module:  # Gymnasium would import it from anywhere
        imported(module, f"the module that is to register {environment!r}")
    try:
        return gymnasium.make(environment, **options)
    except Exception as error:  # the environment's own code
        raise InvalidInput(
            f"Gymnasium cannot make {environment!r}: {type(error).__name__}: {error}"
        ) from None


def _absorbing_table(table: dict[int, Any], initial: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """T (S,A,S) and mean rewards (S,A); what ends an episode leads to a state that absorbs and pays 0.

    The terminal state itself serves where episodes enter it only to end; should one also pass through it,
    one more state is appended for the endings.
    """
    states, actions = len(table), len(table[0])
    entries = [
        (s, a, probability, target, reward, bool(terminated))
        for s in range(states)
        for a in range(actions)
        for probability, target, reward, terminated in table[s][a]
        if probability > 0
    ]
    ends = np.zeros(states, dtype=bool)
    passed = initial > 0
    while True:
        before = passed.copy()
        for s, _a, _probability, target, _reward, terminated in entries:
            if passed[s]:
                ends[target] |= terminated
                passed[target] |= not terminated
        if (passed == before).all():
            break
    twin = bool((ends & passed).any())
    absorbing = np.concatenate([ends & ~passed, np.ones(int(twin), dtype=bool)])
    size = len(absorbing)
    transitions, rewards = np.zeros((size, actions, size)), np.zeros((size, actions))
    for s, a, probability, target, reward, terminated in entries:
        if not absorbing[s]:
            transitions[s, a, states if terminated and passed[target] else target] += probability
            rewards[s, a] += probability * reward
    transitions[absorbing, :, absorbing] = 1.0
    return transitions, rewards


def _reward_map(table: dict[int, Any]) -> tuple[float, float]:
    """(low, scale) with (reward − low)/scale in [0, 1]; rewards that already are stay as they are."""
    rewards = [entry[2] for row in table.values() for entries in row.values() for entry in entries]
    low, high = float(min(*rewards, 0.0)), float(max(*rewards, 0.0))
    return (0.0, 1.0) if low >= 0 and high <= 1 else (low, high - low)


def _initial_distribution(env: BaseEnv) -> np.ndarray:
    known = getattr(env.unwrapped, "initial_state_distrib", None)
    if known is None:
        raise InvalidProblem(f"{env} has a transition table but no `initial_state_distrib`")
    return np.asarray(known, dtype=float)
