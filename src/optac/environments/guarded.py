"""Calls into an environment's own code, which may raise anything."""

from typing import Any

from optac.errors import RunFailed


def guarded(call: Any, step: int, *arguments: Any, **named: Any) -> Any:
    """The environment's answer; what it raises becomes a RunFailed that carries its words."""
    try:
        return call(*arguments, **named)
    except RunFailed:
        raise
    except (Exception, SystemExit) as error:
        raise RunFailed(f"the environment raised {type(error).__name__} at step {step}: {error}") from error
