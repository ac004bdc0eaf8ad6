"""Everything there is by name, each with one line: what `optac list` prints."""


def everything() -> dict[str, dict[str, str]]:
    """Sections of name → one line. Loads neither JAX nor MuJoCo."""
    from optac.agents.catalogue import AGENTS
    from optac.algorithms.catalogue import ALGORITHMS
    from optac.environments.registration import TASKS
    from optac.mdp import FAMILIES, family_parameters, family_summary
    from optac.studies.catalogue import EXPERIMENTS, SWEPT

    return {
        "problems": {
            name: f"{family_summary(name)} [{_defaults(family_parameters(name))}]" for name in FAMILIES
        },
        "algorithms": {name: line for name, (_, line) in ALGORITHMS.items()},
        "agents": dict(AGENTS),
        "environments": {name: task.summary for name, task in TASKS.items()},
        "experiments": {name: experiment.summary for name, experiment in EXPERIMENTS.items()}
        | {name: experiment.summary for name, experiment in SWEPT.items()},
        "benches": {
            "theory": "Opt-AC's cost an iteration and its memory as k grows; seconds to open a lock beside UCBVI",
            "agents": "steps a second of the agents beside Stable-Baselines3 and SBX; the machine's limit; two cores",
            "sweep": "a sweep's throughput with two jobs on two cores over that with one",
        },
    }


def _defaults(parameters: dict[str, object]) -> str:
    return " ".join(f"{name}={value}" for name, value in parameters.items())
