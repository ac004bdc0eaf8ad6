"""Tables for a paper: the Markdown table cell by cell, in LaTeX that needs no package but booktabs."""

import re

from hypothesis import given, settings
from hypothesis import strategies as st

from optac.report.latex import ascii_tex, latex_tables
from optac.report.tables import markdown_table

WORDS = st.text(
    st.characters(codec="utf-8", exclude_categories=["C", "Z"], exclude_characters="*`\\"), max_size=8
)


def test_a_table_keeps_its_cells_and_says_its_heading() -> None:
    lines = [["opt-ac *", "192 [150–240]", "0.020"], ["moffle_2", ">6,000 (3/5)", "—"]]
    text = "# A lock & more\n\n" + markdown_table(["algorithm", "episodes to ε=0.1", "gap"], lines)
    assert latex_tables(text).splitlines() == [
        r"% A lock \& more",
        r"\begin{tabular}{lrr}",
        r"\toprule",
        r"algorithm & episodes to $\epsilon$=0.1 & gap \\",
        r"\midrule",
        r"opt-ac * & 192 [150--240] & 0.020 \\",
        r"moffle\_2 & $>$6,000 (3/5) & -- \\",
        r"\bottomrule",
        r"\end{tabular}",
    ]


def test_symbols_of_our_tables_become_formulas() -> None:
    assert ascii_tex("H⁵A⁻²ᴴ/ε² ± 1") == r"H$^{5}$A$^{-}$$^{2}$$^{H}$/$\epsilon$$^{2}$ $\pm$ 1"
    assert ascii_tex("Ω(H|Θ|) ✓") == r"$\Omega$(H$|$$\Theta$$|$) yes"
    assert latex_tables(markdown_table(["**a**", "*b*", "`c_d`"], [])).splitlines()[3] == (
        r"\textbf{a} & \emph{b} & \texttt{c\_d} \\"
    )


@settings(max_examples=40)
@given(st.lists(WORDS, min_size=2, max_size=4))
def test_any_cells_give_one_line_of_as_many_cells_in_ascii(cells: list[str]) -> None:
    made = latex_tables(markdown_table(cells, [cells]))
    assert made.isascii()
    body = made.split(r"\midrule")[1].split(r"\bottomrule")[0].strip()
    assert len(re.split(r"(?<!\\)&", body)) == len(cells) and body.count("\n") == 0
