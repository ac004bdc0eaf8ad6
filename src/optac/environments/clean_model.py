"""MuJoCo models read without the deprecated `settotalmass`, the physics unchanged, and no log file left behind."""

import mujoco


def clean_model(path: str) -> mujoco.MjModel:
    """The model in the file at `path`, bit for bit what MuJoCo compiles from it, without its warning.

    MuJoCo 4 warns on every load of a file with `settotalmass` and writes the warning to MUJOCO_LOG.TXT in the
    working directory. The compiler's scaling of masses and inertias is done here, after compilation, instead.
    """
    spec = mujoco.MjSpec.from_file(path)
    total_mass = spec.compiler.settotalmass
    spec.compiler.settotalmass = -1.0
    model = spec.compile()
    if total_mass > 0:
        mujoco.mj_setTotalmass(model, total_mass)
        mujoco.mj_setConst(model, mujoco.MjData(model))
    return model


def keep_log_on_the_console() -> None:
    """Have MuJoCo print its warnings (an unstable simulation, say) without leaving MUJOCO_LOG.TXT where it runs."""
    log = mujoco.MjLogConfig.get()
    log.logto_file = False
    log.set()


def initialise(path: str, width: int, height: int) -> tuple[mujoco.MjModel, mujoco.MjData]:
    """A clean model with an offscreen buffer of at least width × height, and data for it."""
    keep_log_on_the_console()
    model = clean_model(path)
    model.vis.global_.offwidth = max(model.vis.global_.offwidth, width)
    model.vis.global_.offheight = max(model.vis.global_.offheight, height)
    return model, mujoco.MjData(model)
