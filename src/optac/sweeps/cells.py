"""A study: many small runs ("cells"), each a function of plain arguments that gives one row, in parallel over cores.

Its folder is a run's folder: config.json first, one row a finished cell in metrics.jsonl. Rows are written by
the launcher alone, each in one write, so a study that was killed resumes with the cells it lacks and ends
with the same rows as one that was not. Workers end with their launcher.

Every row says which commit of the source made it: a study may be resumed at another one. config.json has the
commit of its start.
"""

import os
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from dataclasses import dataclass, field
from importlib import import_module
from multiprocessing import active_children, get_context
from pathlib import Path
from typing import Any

from optac.provenance import source_commit
from optac.registry import add_paths, paths
from optac.runs.folder import RunFolder
from optac.runs.json_files import Row
from optac.runs.running import at_work
from optac.settings import read
from optac.sweeps.launcher_watch import MOST_JOBS, end_with


@dataclass(frozen=True)
class Cell:
    """One run: a readable id, and a function "package.module:name" with arguments that JSON can hold."""

    id: str
    function: str
    arguments: Mapping[str, Any] = field(default_factory=dict)

    def __call__(self) -> Row:
        module, name = self.function.split(":")
        started = time.perf_counter()
        row = getattr(import_module(module), name)(**self.arguments)
        return {"cell": self.id, **row, "time/cell": time.perf_counter() - started}


def cell(function: Callable[..., Row], name: str, **arguments: Any) -> Cell:
    """The cell of a function at the top of its module."""
    return Cell(name, f"{function.__module__}:{function.__name__}", arguments)


def run_study(
    path: Path,
    config: Mapping[str, Any],
    cells: Sequence[Cell],
    *,
    jobs: int = 1,
    progress: Callable[[int, str], None] | None = None,
    minutes: int | float | None = None,
) -> list[Row]:
    """The rows of the cells in their order; those already in the folder are not run again.

    After `minutes` no cell is started any more, and only the rows there are come back.
    """
    read("jobs", jobs, int, least=1, most=MOST_JOBS)
    read("minutes", minutes, float | None, least=0)
    commit = source_commit()
    with RunFolder.open_or_create(path, {**config, "commit": commit, "path": paths()}) as folder:
        folder.cut(lambda row: True)
        finished = {row["cell"]: row for row in folder.rows()}
        missing = [cell for cell in cells if cell.id not in finished]
        with at_work(folder) as work:
            for row in _rows(missing, jobs, None if minutes is None else time.monotonic() + 60 * minutes):
                row["commit"] = commit
                folder.append(row)
                finished[row["cell"]] = row
                if progress:
                    progress(sum(cell.id in finished for cell in cells), row["cell"])
            there = [finished[cell.id] for cell in cells if cell.id in finished]
            if len(there) < len(cells):
                work.unfinished = f"time was up with {len(there)} of {len(cells)} cells finished"
    return there


def _rows(cells: Sequence[Cell], jobs: int, deadline: float | None) -> Iterator[Row]:
    """Rows as they come: in this process for one job, else in a pool of fresh interpreters.

    The pool is given no more cells than it has workers: what it was given it runs, past the deadline too.
    """
    if jobs == 1 or len(cells) <= 1:
        for cell in cells:
            if _is_past(deadline):
                return
            yield cell()
        return
    # One thread a worker: the runs are small, and BLAS threads would only fight over the cores.
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    os.environ["PYTHONSAFEPATH"] = "1"  # a fresh interpreter would import from the working folder
    workers, others = min(jobs, len(cells)), set(active_children())
    pool = ProcessPoolExecutor(
        max_workers=workers,
        mp_context=get_context("spawn"),
        initializer=_begin,
        initargs=(os.getpid(), paths()),
    )
    try:
        waiting, running = list(reversed(cells)), set[Future[Row]]()
        while True:
            while waiting and len(running) < workers and not _is_past(deadline):
                running.add(pool.submit(waiting.pop()))
            if not running:
                return
            done, running = wait(running, return_when=FIRST_COMPLETED)
            yield from (future.result() for future in done)
    except BaseException:
        # Python waits at its end for what a pool has under way; nobody would take those rows.
        for worker in set(active_children()) - others:
            worker.terminate()
        raise
    finally:
        pool.shutdown(wait=False, cancel_futures=True)


def _begin(launcher: int, folders: Sequence[str]) -> None:
    """The first act of a worker: watch its launcher, and look for code in the same folders."""
    end_with(launcher)
    add_paths(folders)


def _is_past(deadline: float | None) -> bool:
    return deadline is not None and time.monotonic() > deadline
