"""What made a committed result: the command, the versions, the commit."""

import subprocess
from pathlib import Path
from typing import Any

from optac.experiments.run_folder import versions


def provenance(command: str) -> dict[str, Any]:
    """The command that regenerates a result, the versions it ran with, the source's commit (None outside a clone)."""
    return {"command": command, "commit": source_commit(), "versions": versions()}


def source_commit() -> str | None:
    """The commit of the source tree this package runs from, marked when files differ from it."""
    here = Path(__file__).parent
    try:
        asked = ["git", "-C", str(here), "describe", "--always", "--dirty", "--abbrev=12"]
        answer = subprocess.run(asked, capture_output=True, text=True, check=True, timeout=10)
    except (OSError, subprocess.SubprocessError):
        return None
    return answer.stdout.strip() or None
