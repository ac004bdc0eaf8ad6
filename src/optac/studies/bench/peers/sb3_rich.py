"""DQN or PPO of Stable-Baselines3 on a problem with rich observations.

The settings are the library's own, but that DQN explores during half of its steps (`exploration_fraction=0.5`).

Run as a script by an interpreter that has it and optac, with {learner, problem, parameters, episodes, seed} in JSON.
Observations are scaled to unit variance by one number. A hundred times in a run the greedy policy is valued exactly, as
our own policies are. The last line says the smallest and the last gap, and the episodes from which the gap stayed
at most 0.05.
"""

import json
import sys
import time

import gymnasium
import numpy as np
import stable_baselines3
import torch
from stable_baselines3.common.callbacks import BaseCallback

import optac

asked = json.loads(sys.argv[1])
torch.set_num_threads(1)
problem = optac.make_problem(asked["problem"], **asked["parameters"], seed=asked["seed"])
scale = float(problem.held_out.std())
env = gymnasium.wrappers.TransformObservation(
    problem.as_gymnasium(), lambda x: x / scale, problem.as_gymnasium().observation_space
)
steps = asked["episodes"] * problem.horizon
started = time.process_time()


class Greedy:
    """The learner's deterministic policy as one on observations."""

    def __init__(self, model):
        self.model = model

    def probabilities_at(self, h, observations):
        actions, _ = self.model.predict(observations / scale, deterministic=True)
        return np.eye(problem.actions)[actions]


class Valued(BaseCallback):
    """The gap of the greedy policy a hundred times."""

    def __init__(self):
        super().__init__()
        self.rows = []

    def _on_step(self):
        if self.num_timesteps >= (len(self.rows) + 1) * steps / 100:
            gap = problem.optimal_value - problem.value(Greedy(self.model))
            self.rows.append((self.num_timesteps // problem.horizon, gap))
        return True


valued = Valued()
own = {"exploration_fraction": 0.5} if asked["learner"] == "DQN" else {}
learner = getattr(stable_baselines3, asked["learner"])
learner("MlpPolicy", env, seed=asked["seed"], device="cpu", **own).learn(steps, callback=valued)
solved = None
for episodes, gap in reversed(valued.rows):
    if gap > 0.05:
        break
    solved = episodes
print(
    json.dumps(
        {
            "episodes": valued.rows[-1][0],
            "solved": solved,
            "last_gap": valued.rows[-1][1],
            "best_gap": min(gap for _, gap in valued.rows),
            "time/cpu": time.process_time() - started,
            "stable_baselines3": stable_baselines3.__version__,
        }
    )
)
