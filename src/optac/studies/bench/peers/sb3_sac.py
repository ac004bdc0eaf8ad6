"""SAC of Stable-Baselines3 or of SBX as a contender in `optac bench agents`.

Run as a script by an interpreter that has them: sb3|sbx|sbx-10 ENVIRONMENT CORE WARM_UP. Says {"ready": …} once it
has trained for WARM_UP steps; then, for every number of steps read from standard input, trains for as many, one
update a step, and says how many seconds they took. sbx-10 plays ten steps and then makes their ten updates in one
compiled call. One thread, pinned to one core.
"""

import json
import os
import sys
import time
from importlib.metadata import version

contender, environment, core, warm_up = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
library = contender.removesuffix("-10")
updates_a_dispatch = 10 if contender.endswith("-10") else 1
os.sched_setaffinity(0, {core})

import torch  # noqa: E402

torch.set_num_threads(1)
if library == "sb3":
    from stable_baselines3 import SAC
else:
    from sbx import SAC

PACKAGES = {
    "sb3": ("stable-baselines3", "torch"),
    "sbx": ("sbx-rl", "stable-baselines3", "jax", "flax"),
}
UPDATES_BEFORE_TIMING = 200


def say(**message):
    print(json.dumps(message), flush=True)


agent = SAC(
    "MlpPolicy",
    environment,
    batch_size=256,
    learning_starts=warm_up - UPDATES_BEFORE_TIMING,
    train_freq=updates_a_dispatch,
    gradient_steps=updates_a_dispatch,
    policy_kwargs={"net_arch": [256, 256]},
    device="cpu",
    seed=0,
)
agent.learn(warm_up)
say(ready=True, versions={name: version(name) for name in PACKAGES[library]})
for line in sys.stdin:
    steps = int(line)
    started = time.perf_counter()
    agent.learn(steps, reset_num_timesteps=False)
    say(steps=steps, seconds=time.perf_counter() - started)
