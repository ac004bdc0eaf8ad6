"""rlberry-scool's UCBVI on a problem's arrays, timed until its greedy policy's exact gap is small enough.

Run as a script by an interpreter that has rlberry-scool: PROBLEM.npz TARGET_GAP MAX_EPISODES SEED.
Prints one JSON object. Valuing the policy is not in the time.
"""

import json
import sys
import time

import gymnasium
import numpy as np
from rlberry.spaces import Discrete
from rlberry_scool.agents import UCBVIAgent

CHECK_EVERY = 50


class ArrayEnv(gymnasium.Env):
    """The time-dependent problem; the agent counts the steps itself."""

    reward_range = (0.0, 1.0)

    def __init__(self, transitions, rewards, initial, seed):
        self._cumulative = transitions.cumsum(-1)
        self._rewards = rewards
        self._initial = initial.cumsum()
        self._rng = np.random.default_rng(seed)
        self.observation_space = Discrete(rewards.shape[1])
        self.action_space = Discrete(rewards.shape[2])

    def reset(self, seed=None, options=None):
        self._step = 0
        self._state = int(np.searchsorted(self._initial, self._rng.random(), side="right"))
        return self._state, {}

    def step(self, action):
        reward = float(self._rewards[self._step, self._state, action])
        thresholds = self._cumulative[self._step, self._state, action]
        last = len(thresholds) - 1
        self._state = min(int(np.searchsorted(thresholds, self._rng.random(), side="right")), last)
        self._step += 1
        return self._state, reward, self._step == len(self._rewards), False, {}


def greedy_value(q_values, transitions, rewards, initial):
    """The exact value of playing the largest q_values."""
    value = np.zeros(rewards.shape[1])
    for h in reversed(range(len(rewards))):
        action = q_values[h].argmax(-1)
        state = np.arange(len(action))
        value = rewards[h, state, action] + transitions[h, state, action] @ value
    return float(initial @ value)


def main(path, target_gap, max_episodes, seed):
    with np.load(path) as arrays:
        transitions, rewards = arrays["transitions"], arrays["rewards"]
        initial, optimal = arrays["initial"], float(arrays["optimal_value"])
    agent = UCBVIAgent(
        ArrayEnv(transitions, rewards, initial, seed), horizon=len(rewards), stage_dependent=True, seeder=seed
    )
    agent.fit(1)  # its numba code compiles on the first episode, which is not timed
    agent.reset()
    seconds, episodes, gap = 0.0, 0, optimal
    while gap > target_gap and episodes < max_episodes:
        started = time.perf_counter()
        agent.fit(CHECK_EVERY)
        seconds += time.perf_counter() - started
        episodes += CHECK_EVERY
        gap = optimal - greedy_value(agent.Q, transitions, rewards, initial)
    print(json.dumps({"episodes": episodes, "seconds": seconds, "gap": gap}))


if __name__ == "__main__":
    main(sys.argv[1], float(sys.argv[2]), int(sys.argv[3]), int(sys.argv[4]))
