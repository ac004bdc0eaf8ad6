"""Writes rliable.json: what rliable says of a small data set. Run by hand, in an environment of its own.

    python3 -m venv /tmp/rliable
    /tmp/rliable/bin/pip install rliable==1.2.0 'pandas<3'
    /tmp/rliable/bin/python tests/report/reference/rliable_reference.py

rliable is no dependency: with pandas 3 its import fails.
"""

import json
from importlib.metadata import version
from pathlib import Path

import numpy as np
from rliable import library, metrics

REPETITIONS = 20_000
FEWER = 5_000  # its Mann-Whitney statistic is slow
THRESHOLDS = [-1.0, -0.5, 0.0, 0.5, 1.0, 1.5, 2.0]


def main() -> None:
    """Ten runs of five tasks, for two agents."""
    rng = np.random.default_rng(7)
    old = np.round(rng.normal(size=(10, 5)), 3)
    new = np.round(0.4 + rng.normal(size=(10, 5)), 3)
    runs = {"old": old, "new": new}
    iqm, iqm_ends = library.get_interval_estimates(
        runs, lambda x: np.array([metrics.aggregate_iqm(x)]), reps=REPETITIONS
    )
    better, better_ends = library.get_interval_estimates(
        {"new,old": (new, old)}, metrics.probability_of_improvement, reps=FEWER
    )
    profiles, profile_ends = library.create_performance_profile(runs, np.array(THRESHOLDS), reps=2_000)
    said = {
        "made_by": f"rliable {version('rliable')}, numpy {version('numpy')}, pandas {version('pandas')}, "
        f"arch {version('arch')}: python tests/report/reference/rliable_reference.py",
        "repetitions": {"iqm": REPETITIONS, "probability_of_improvement": FEWER, "profile": 2_000},
        "scores": {name: values.T.tolist() for name, values in runs.items()},
        "iqm": {name: [float(iqm[name][0]), *map(float, iqm_ends[name].ravel())] for name in runs},
        "probability_of_improvement": [
            float(np.ravel(better["new,old"])[0]),
            *map(float, better_ends["new,old"].ravel()),
        ],
        "thresholds": THRESHOLDS,
        "profile": {
            name: {
                "estimate": profiles[name].tolist(),
                "low": profile_ends[name][0].tolist(),
                "high": profile_ends[name][1].tolist(),
            }
            for name in runs
        },
    }
    lines = ",\n".join(f"{json.dumps(key)}: {json.dumps(value)}" for key, value in said.items())
    Path(__file__).with_name("rliable.json").write_text(f"{{\n{lines}\n}}\n")


if __name__ == "__main__":
    main()
