"""Compiled updates are kept on disk, so that the second start of an agent need not compile again.

JAX's persistent cache, in the user's cache folder, apart for every version of JAX and kind of processor. The variable
OPTAC_COMPILATION_CACHE names another folder, or says `off`; a cache that the user has given JAX is left as it is. A
process seals an entry with its hash once it is compiled, and checks all seals when it starts: what is damaged is
removed and compiled again. One without a seal may be in another process's hands: it is left alone, not sealed, and
removed once it is a minute old; JAX compiles again what it can't read. What is written after the start is not checked.
"""

import atexit
import hashlib
import os
import platform
import time
from contextlib import suppress
from functools import cache, partial
from pathlib import Path
from typing import Any, Final, cast

import jax
import jax.monitoring

from optac.provenance import instructions

VARIABLE: Final = "OPTAC_COMPILATION_CACHE"
MOST_BYTES: Final = 256 << 20
_ENTRY: Final = "-cache"
_SEAL: Final = ".sha256"
_SECONDS_TO_SEAL: Final = 60.0
_COMPILED: Final = "/jax/core/compile/backend_compile_duration"
"""what JAX tells its listeners when a program is compiled and, where it is kept, written"""


@cache
def use_compilation_cache() -> Path | None:
    """Have JAX keep what it compiles, from the first call on; the folder, or None where there is none of ours."""
    folder, config = _chosen_folder(), cast(Any, jax.config)
    if folder is None or config.jax_compilation_cache_dir is not None:
        return None
    try:
        folder.mkdir(parents=True, exist_ok=True)
        remove_unsound(folder)
    except OSError:  # a home that cannot be written to: compiling takes its time there
        return None
    config.update("jax_compilation_cache_dir", str(folder))
    config.update("jax_persistent_cache_min_compile_time_secs", 0.0)
    config.update("jax_persistent_cache_min_entry_size_bytes", -1)
    seen = {entry.name for entry in folder.glob(f"*{_ENTRY}")}
    jax.monitoring.register_event_duration_secs_listener(partial(_seal_compiled, folder, seen))
    atexit.register(seal, folder, seen)
    return folder


def _seal_compiled(folder: Path, seen: set[str], event: str, seconds: float, **about: Any) -> None:
    if event == _COMPILED:
        seal(folder, seen)


def remove_unsound(folder: Path) -> None:
    """Remove entries that are not what their seal says, and the oldest where all together are too large."""
    left = MOST_BYTES
    ages = {}
    for entry in filter(Path.is_file, folder.glob(f"*{_ENTRY}")):
        with suppress(FileNotFoundError):  # another process may remove it now
            ages[entry] = time.time() - entry.stat().st_mtime
    for entry, age in sorted(ages.items(), key=lambda item: item[1]):
        with suppress(FileNotFoundError):
            content, sealed = entry.read_bytes(), entry.with_name(entry.name + _SEAL)
            left -= len(content)
            if sealed.is_file():
                sound = sealed.read_text() == hashlib.sha256(content).hexdigest()
            else:
                sound = age < _SECONDS_TO_SEAL
            if not sound or left < 0:
                entry.unlink(missing_ok=True)
                sealed.unlink(missing_ok=True)


def seal(folder: Path, seen: set[str]) -> None:
    """Write down the hash of every entry that is not among those `seen` before, and is from now on."""
    with suppress(OSError):  # another process may have removed the folder
        new = [entry for entry in folder.glob(f"*{_ENTRY}") if entry.name not in seen]
        for entry in filter(Path.is_file, new):
            seen.add(entry.name)
            sealed = entry.with_name(entry.name + _SEAL)
            if not sealed.exists():
                aside = sealed.with_name(f"{sealed.name}.{os.getpid()}")
                aside.write_text(hashlib.sha256(entry.read_bytes()).hexdigest())
                aside.replace(sealed)


def _chosen_folder() -> Path | None:
    """The folder for this JAX on this kind of processor; None where the user wants none."""
    said = os.environ.get(VARIABLE, "")
    if said.lower() in ("off", "0", "no", "false"):
        return None
    home = os.environ.get("XDG_CACHE_HOME") or "~/.cache"
    try:
        above = Path(said or f"{home}/optac/compiled").expanduser()
    except RuntimeError:  # a user whom the system does not know has no home
        return None
    kind = hashlib.sha256(f"{platform.machine()} {instructions()}".encode()).hexdigest()[:8]
    return above / f"jax-{jax.__version__}-{kind}"
