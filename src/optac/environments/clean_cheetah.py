"""Gymnasium's HalfCheetah-v4 and -v5 on a model that loads without a warning and writes no file."""

import mujoco
from gymnasium.envs.mujoco import half_cheetah_v4, half_cheetah_v5

from optac.environments.clean_model import initialise


class HalfCheetahV4(half_cheetah_v4.HalfCheetahEnv):
    """HalfCheetah-v4; only the reading of the model file differs."""

    def _initialize_simulation(self) -> tuple[mujoco.MjModel, mujoco.MjData]:
        return initialise(self.fullpath, self.width, self.height)


class HalfCheetahV5(half_cheetah_v5.HalfCheetahEnv):
    """HalfCheetah-v5; only the reading of the model file differs."""

    def _initialize_simulation(self) -> tuple[mujoco.MjModel, mujoco.MjData]:
        return initialise(self.fullpath, self.width, self.height)
