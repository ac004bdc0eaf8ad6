"""The count of code lines: what holds code, and what is new since another commit."""

import pytest

from scripts import count_lines

SOURCE = '''"""A docstring."""

# a comment
LIMIT = 3


class Old:
    """Another."""

    kept: int = 1

    def grown(self):
        first = 1
        second = 2
        return first + second


def new():
    return LIMIT
'''
BEFORE = """class Old:
    kept: int = 1

    def grown(self):
        return 1
"""


def test_blanks_comments_and_docstrings_are_no_code():
    assert len(count_lines.code_lines(SOURCE)) == 9


def test_a_definition_has_the_code_lines_of_its_name():
    found = count_lines.definitions(SOURCE)
    sizes = {name: len(lines) for name, lines in found.items()}
    assert sizes == {"LIMIT": 1, "Old": 6, "Old.kept": 1, "Old.grown": 4, "new": 2}


@pytest.mark.parametrize(
    ("key", "new"),
    [
        ("src/optac/room/part.py", 9),
        ("src/optac/room", 9),
        ("src/optac/room/part.py new LIMIT", 3),
        ("src/optac/room/part.py Old.grown+", 2),
        ("src/optac/room/part.py new+", 2),
        ("src/optac/room/part.py Old+Old.grown", 4),
        ("src/optac/room/part.py Old.grown+Old.kept+Old.grown", 1),
        ("src/optac/room/part.py gone", 0),
        ("src/optac/room/part.py new+gone", 2),
    ],
)
def test_only_what_the_list_names_is_new(key, new, tmp_path, monkeypatch, capsys):
    for tree, text in (("now", SOURCE), ("then", BEFORE)):
        file = tmp_path / tree / "src/optac/room/part.py"
        file.parent.mkdir(parents=True)
        file.write_text(text)
    monkeypatch.setattr(count_lines, "NEW", tmp_path / "new.toml")
    (tmp_path / "new.toml").write_text(f'"{key}" = "why"\n')
    assert count_lines.new_lines(tmp_path / "now", tmp_path / "then") == {"room": new}
    said = capsys.readouterr().err
    assert ("has no gone any more" in said, "had no gone then" in said) == (" gone" in key, "+gone" in key)


def test_every_line_of_the_list_is_of_a_place_and_of_names_that_are_there():
    gone = []
    for key in count_lines.tomllib.loads(count_lines.NEW.read_text(encoding="utf-8")):
        place, *names = key.split()
        path = count_lines.ROOT / place
        there = count_lines.definitions(path.read_text(encoding="utf-8")) if path.is_file() else {}
        gone += (
            [key] if not path.exists() else [f"{place} {n}" for n in names if n.split("+")[0] not in there]
        )
    assert gone == []
