"""Give the committed records of runs the names that their configurations have now.

A run's id covers what determines its result and differs from its preset. When that rule changes, so do the names of the
folders under results/ that are ids; names given by hand stay. Run it from the clone's root, then commit.

    python scripts/rename_results.py results
"""

import argparse
import re
from pathlib import Path

from optac.runs.json_files import read_json_object
from optac.runs.kinds import TRAIN, kind_of
from optac.runs.training_config import training_id

ID = re.compile(r"-[0-9a-f]{8}-s\d+$")


def renamed(results: Path) -> dict[Path, Path]:
    """Folders that have another name now, and which."""
    found = {}
    for file in sorted(results.rglob("config.json")):
        config = read_json_object(file)
        if kind_of(config) is TRAIN and ID.search(file.parent.name):
            found[file.parent] = file.parent.with_name(training_id(config))
    return {old: new for old, new in found.items() if old != new}


def main() -> None:
    """Rename what has another name now."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("results", type=Path, metavar="DIR")
    for old, new in renamed(parser.parse_args().results).items():
        old.rename(new)
        print(f"{old} -> {new.name}")


if __name__ == "__main__":
    main()
