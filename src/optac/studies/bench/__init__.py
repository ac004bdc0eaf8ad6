"""Side by side with what a user would pick instead: each bench is a module with `measure` and `show`."""

BENCHES = {
    "theory": "Opt-AC's cost an iteration and its memory as k grows; seconds to open a lock beside UCBVI",
    "size": "an iteration of Opt-AC with ten thousand states; problems with three thousand solved",
    "agents": "steps per second of the agents beside Stable-Baselines3 and SBX; the machine's limit; two cores",
    "returns": "return after twenty CPU-minutes on one core beside the same two; ten hours, so only by name",
    "sweep": "a sweep's throughput with two jobs on two cores over that with one",
    "start": "CPU seconds of a first and a second start of an agent, and of an evaluation",
}
BY_NAME_ALONE = ("returns",)
"""those that `optac bench` leaves out where none is named"""


def spread(values: list[float], digits: int) -> str:
    """Median, least and most."""
    from statistics import median

    return f"{median(values):.{digits}f} ({min(values):.{digits}f}–{max(values):.{digits}f})"
