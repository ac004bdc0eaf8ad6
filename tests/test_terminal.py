import io

from optac.agents.training.progress import Progress, training_progress
from optac.terminal import progress, rich_table, show_table


def test_table_in_a_pipe_is_aligned_plain_text(capsys) -> None:
    show_table("Title", ["name", "value"], [["a", "1"], ["long name", "22"]])
    assert capsys.readouterr().out.splitlines() == [
        "Title",
        "name       value",
        "a              1",
        "long name     22",
    ]


def test_quiet_progress_says_nothing(capsys) -> None:
    with progress("work", 10, quiet=True) as advance:
        advance(5, "half")
    assert capsys.readouterr() == ("", "")


def test_progress_in_a_pipe_is_lines_on_standard_error(capsys, monkeypatch) -> None:
    monkeypatch.setattr("optac.terminal.SECONDS_BETWEEN_LINES", 0.0)
    with progress("work", 10, quiet=False) as advance:
        advance(5, "half")
    output = capsys.readouterr()
    assert output.out == "" and output.err == "work: 5/10 half\n"


def test_a_training_says_how_far_it_is_how_fast_and_how_well(monkeypatch, capsys) -> None:
    said: list[tuple[int, str]] = []
    shown = Progress(lambda done, note="": said.append((done, note)), 100)
    shown.row({"time/fps": 250.4})
    shown.step(110)
    shown.row({"time/fps": 240.0, "eval/mean_reward": -3.25})
    assert said[-2:] == [(110, "250 steps/s "), (110, "240 steps/s return -3.25")] and said[0][0] == 100
    with training_progress(0, 10) as progress:  # a pipe has lines of evaluations instead
        progress.step(5)
    assert capsys.readouterr() == ("", "")


def test_brackets_in_a_table_are_text_and_no_markup() -> None:
    from rich.console import Console

    console = Console(width=200, record=True, file=io.StringIO())
    console.print(
        rich_table("[bold]t[/]", ["[a]", "b"], [["runs/[x]/y", "walls=[true,false]"], ["[/z]", ""]])
    )
    shown = console.export_text()
    assert all(text in shown for text in ("[bold]t[/]", "[a]", "runs/[x]/y", "walls=[true,false]", "[/z]"))
