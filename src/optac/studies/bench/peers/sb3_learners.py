"""SAC of Stable-Baselines3, SAC and CrossQ of SBX, at their own defaults, for `optac bench returns`."""

from importlib import import_module

import torch
from stable_baselines3.common.callbacks import BaseCallback

LEARNERS = {"sb3-sac": "stable_baselines3:SAC", "sbx-sac": "sbx:SAC", "sbx-crossq": "sbx:CrossQ"}


class Looking(BaseCallback):
    """Asks after every step whether there is CPU time left."""

    def __init__(self, goes_on):
        super().__init__()
        self.goes_on = goes_on

    def _on_step(self):
        return self.goes_on(self.num_timesteps, self._act)

    def _act(self, obs):
        return self.model.predict(obs, deterministic=True)[0]


def learn(training, goes_on):
    """Train the named learner until there is no CPU time left."""
    torch.set_num_threads(1)
    library, name = LEARNERS[training.contender].split(":")  # nobody pays for the import of another's
    learner = getattr(import_module(library), name)
    model = learner("MlpPolicy", training.task, seed=training.seed, device="cpu")
    model.learn(10**9, callback=Looking(goes_on))
