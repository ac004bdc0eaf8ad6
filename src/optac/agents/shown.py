"""An agent as a notebook shows it: its learning curve, and a card with the facts."""

from collections.abc import Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING

from optac.agents.settings import AgentSettings
from optac.agents.training.loop import Row
from optac.errors import InvalidInput
from optac.notebook import card
from optac.settings import changed

if TYPE_CHECKING:
    from optac.figures import Picture


def learning_curve(title: str, rows: Sequence[Row]) -> "Picture":
    """The mean return of every evaluation against the steps taken."""
    from optac.figures import COLOURS, picture

    rows = [row for row in rows if "eval/mean_reward" in row]
    if not rows:
        raise InvalidInput(f"<{title}> has not been evaluated yet; learn for eval_every steps first")
    steps = [row["time/total_timesteps"] for row in rows]
    with picture(size=(6, 3.4), title=title) as (drawn, axis):
        marker = "o" if len(rows) < 8 else None
        axis.plot(steps, [row["eval/mean_reward"] for row in rows], color=COLOURS[0], marker=marker)
        axis.set(xlabel="steps", ylabel="mean return of an evaluation")
    return drawn


def shown(title: str, settings: AgentSettings, rows: Sequence[Row]) -> str:
    """Its settings, its last evaluation and the curve up to there, as HTML."""
    scores = [row["eval/mean_reward"] for row in rows if "eval/mean_reward" in row]
    usual = type(settings).choose({"preset": settings.preset})
    own = changed(asdict(settings), asdict(usual))
    facts = {
        "preset": settings.preset,
        "other settings": ", ".join(f"{name}={value}" for name, value in own.items()) or "none",
        "last evaluation": f"{scores[-1]:.4g}" if scores else "none yet",
    }
    return card(title, facts, learning_curve(title, rows) if scores else None)
