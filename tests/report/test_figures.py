"""A figure is written twice, and the same rows give the same bytes."""

from pathlib import Path

from optac.figures import figure, own_ticks


def test_a_figure_is_a_png_and_an_svg_with_the_same_bytes_each_time(tmp_path: Path) -> None:
    written = []
    for name in ("a", "b"):
        with figure(tmp_path / name / "f.png", size=(3, 2), title="T") as axes:
            axes.semilogx([1, 2, 4], [1, 2, 3], label="measured")
            own_ticks(axes, [1, 4])
            axes.legend()
        written.append([(tmp_path / name / f"f.{kind}").read_bytes() for kind in ("png", "svg")])
    assert written[0] == written[1] and written[0][0].startswith(b"\x89PNG")
    assert b"measured" in written[0][1]


def test_a_figure_that_fails_is_not_written(tmp_path: Path) -> None:
    try:
        with figure(tmp_path / "f.png", size=(3, 2)):
            raise ValueError
    except ValueError:
        assert list(tmp_path.iterdir()) == []
