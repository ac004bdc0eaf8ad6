"""The snapshot of a solve in its folder, so that a long one that is killed goes on to the same result.

One file, replaced whole, every half minute at most and so seldom that writing takes a twentieth of the time; gone when
the solve is finished. A snapshot that is damaged, whose rows are, or that another version of the source made, is not
used: the solve starts again. A learner of a user's own class leaves none.
"""

import time
from collections.abc import Callable
from itertools import count

from optac.plain_files import is_there, read_plain, remove, rename, write_plain
from optac.provenance import made_by
from optac.runs.folder import RunFolder
from optac.runs.json_files import Row
from optac.runs.sealed_config import refuse_changed, sealed_config
from optac.runs.snapshots import NotPacked, packed, unpacked

SECONDS = 30.0
SHARE = 20.0
"""seconds of work for every second that a snapshot took"""


class FolderSnapshots:
    """The one snapshot of a folder."""

    def __init__(self, folder: RunFolder) -> None:
        self._folder = folder
        self._path = folder.checkpoints / "solve.npz"
        self._source = f"{made_by()['commit']} {made_by()['versions']['optac']}"
        self._due = time.monotonic() + SECONDS
        self._possible = True

    def found(self) -> Row | None:
        """The snapshot, its rows kept in the metrics and no others."""
        found = unpacked(read_plain(self._path)) if is_there(self._path) else None
        if isinstance(found, dict) and found.get("source") == self._source:
            refuse_changed(self._folder, found["config"], self._folder.config)
            if self._folder.rows_seal(found["rows"]["size"]) == found["rows"]:
                number, known = count(1), found["row_count"]
                self._folder.cut(lambda row: next(number) <= known)
                return dict(found["run"])
        self._folder.cut(lambda row: False)
        return None

    def offer(self, make: Callable[[], Row]) -> None:
        """Keep it if it is time."""
        if not self._possible or time.monotonic() < self._due:
            return
        started = time.monotonic()
        self._folder.check()
        self._folder.flush_rows()
        try:
            data = packed({**self._about(), "run": make()})
        except NotPacked:
            self._possible = False
            return
        new = self._path.with_suffix(".tmp")
        write_plain(new, data)
        rename(new, self._path)
        took = time.monotonic() - started
        self._due = time.monotonic() + max(SECONDS, SHARE * took)

    def _about(self) -> Row:
        """The source, the configuration and the rows that a snapshot belongs to."""
        return {
            "source": self._source,
            "config": sealed_config(self._folder.config),
            "rows": self._folder.rows_seal(),
            "row_count": len(self._folder.rows()),
        }

    def remove(self) -> None:
        """The solve is finished."""
        remove(self._path)
