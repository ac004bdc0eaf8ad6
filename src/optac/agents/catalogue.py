"""The agents by name, and the settings a name stands for; loads no JAX."""

from collections.abc import Mapping
from typing import Any

from optac.agents.settings import CRFFSACSettings, SACSettings, choose
from optac.errors import InvalidInput, unknown_name

AGENTS: Mapping[str, str] = {
    "sac": "soft actor-critic, the baseline",
    "crffsac": "its critic on features that predict the next state",
    "crffsac-bonus": "the same with the elliptical bonus in the critic's target",
}


def settings_of(agent: str, given: Mapping[str, Any]) -> SACSettings:
    """The full settings of a named agent."""
    if agent not in AGENTS:
        raise unknown_name("agent", agent, AGENTS)
    if agent == "sac":
        return choose(SACSettings, given)
    bonus = agent == "crffsac-bonus"
    chosen = choose(CRFFSACSettings, {"bonus": bonus, **given})
    if chosen.bonus != bonus:
        raise InvalidInput(
            f"bonus={chosen.bonus} contradicts the agent {agent!r}; choose the agent by its name"
        )
    return chosen
