"""Rows of metrics as TensorBoard events, beside metrics.jsonl; needs the extra `tensorboard`."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from optac.errors import InvalidInput


def event_writer(folder: Path, first_step: int) -> Callable[[Mapping[str, Any]], None]:
    """Writes a row's numbers to `folder`; events of steps past `first_step`, left by a kill, are dropped."""
    try:
        from tensorboardX import SummaryWriter
    except ImportError as error:
        raise InvalidInput(
            "--tensorboard needs tensorboardX; install it with: pip install 'optac[tensorboard]'"
        ) from error
    writer = SummaryWriter(str(folder), purge_step=first_step + 1, flush_secs=10)

    def write(row: Mapping[str, Any]) -> None:
        for name, value in row.items():
            writer.add_scalar(name, value, row["time/total_timesteps"])
        writer.flush()

    return write
