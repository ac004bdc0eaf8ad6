"""Environments: the paper's six control tasks for Gymnasium, and what the agents ask of any environment.

Importing this package registers the ids with Gymnasium; MuJoCo loads when one of them is made.
"""

from optac.environments.checks import check_environment
from optac.environments.layers import class_names, made_as
from optac.environments.registration import SPARSE, TASKS, environment_name, make, register_tasks
from optac.environments.simulator_state import (
    UnsavableState,
    can_save,
    model_hashes,
    restore_state,
    save_state,
    unsaved_part,
)
from optac.environments.state_difference import made_difference, standing, state_difference
from optac.environments.surroundings import changed_surroundings, code_hashes, surroundings

register_tasks()

__all__ = [
    "SPARSE",
    "TASKS",
    "UnsavableState",
    "can_save",
    "changed_surroundings",
    "check_environment",
    "class_names",
    "code_hashes",
    "environment_name",
    "made_as",
    "made_difference",
    "make",
    "model_hashes",
    "register_tasks",
    "restore_state",
    "save_state",
    "standing",
    "state_difference",
    "surroundings",
    "unsaved_part",
]
