"""Every mutation of tests/mutations still fits the code, and names a test file that is there."""

import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[1]


def test_each_mutation_fits_one_place_in_the_sources() -> None:
    mutations = tomllib.loads((ROOT / "tests/mutations/mutations.toml").read_text())["mutation"]
    for mutation in mutations:
        assert (ROOT / mutation["file"]).read_text().count(mutation["old"]) == 1, mutation["name"]
        assert (ROOT / mutation["test"].partition("::")[0]).exists(), mutation["name"]
