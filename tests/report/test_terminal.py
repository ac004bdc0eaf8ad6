from optac.report.terminal import progress, show_table


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
    monkeypatch.setattr("optac.report.terminal.SECONDS_BETWEEN_LINES", 0.0)
    with progress("work", 10, quiet=False) as advance:
        advance(5, "half")
    output = capsys.readouterr()
    assert output.out == "" and output.err == "work: 5/10 half\n"
