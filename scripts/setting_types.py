"""Write the settings of our agents as types, from where they are defined: `python -m scripts.setting_types`.

Editors and type checkers complete and check `optac.SAC(..., batch_size=…)` by these; a test compares them with the
settings.
"""

import dataclasses
import re
import typing
from pathlib import Path

from optac.agents import crffsac
from optac.agents.settings import AgentSettings

FILE = Path(__file__).parents[1] / "src" / "optac" / "agents" / "setting_types.py"
HEAD = '''"""The settings as types, for editors and type checkers: written by `scripts/setting_types.py`, not by hand.

Each is defined once, in `agents/settings.py` or in the agent's own file.
"""

from typing import Literal, TypedDict
'''


def written() -> str:
    """The module's text."""
    shared = {field.name for field in dataclasses.fields(AgentSettings)}
    own = [
        field.name for field in dataclasses.fields(crffsac.Settings) if field.name not in shared | {"bonus"}
    ]
    return "\n\n".join(
        [
            HEAD,
            _typed(
                "AgentSettingTypes", "TypedDict", "Settings of every agent.", AgentSettings, sorted(shared)
            ),
            _typed(
                "FeatureSettingTypes", "AgentSettingTypes", "And those of cRFFSAC.", crffsac.Settings, own
            ),
        ]
    )


def _typed(name: str, base: str, text: str, settings: type[AgentSettings], names: list[str]) -> str:
    kinds = typing.get_type_hints(settings)
    lines = [f"class {name}({base}, total=False):", f'    """{text}"""', ""]
    for one, _, meaning in settings.described():
        if one in names:
            lines += [f"    {one}: {_source(kinds[one])}", f'    """{meaning.replace(chr(34), chr(39))}"""']
    return "\n".join(lines) + "\n"


def _source(kind: object) -> str:
    """An annotation as it is written."""
    text = kind.__name__ if isinstance(kind, type) else str(kind)
    return re.sub(r"'(\w+)'", r'"\1"', text.replace("typing.", ""))


if __name__ == "__main__":
    FILE.write_text(written())
