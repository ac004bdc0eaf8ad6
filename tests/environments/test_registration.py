"""An environment has one name, from which it is made again as it was."""

import pytest

from optac.environments import environment_name, registration


@pytest.mark.parametrize("value", ["007", "true", "my dir/ant.xml", 'say "so"', "[1", "a"])
def test_text_among_an_environments_arguments_stays_text_in_its_one_form(value: str) -> None:
    quote = "'" if '"' in value else '"'
    name = environment_name(f"Some-v0 x={quote}{value}{quote}")
    assert environment_name(name) == name
    assert registration._parted(name) == ("Some-v0", {"x": value})
