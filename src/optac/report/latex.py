"""Tables for a paper: every Markdown table of a text as a LaTeX tabular in plain ASCII, for the package booktabs."""

import re
import unicodedata
from collections.abc import Iterable, Sequence

SYMBOLS = {
    **{char: f"\\{char}" for char in "&%$#_{}"},
    **{"\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}"},
    **{"<": "$<$", ">": "$>$", "−": "$-$", "±": r"$\pm$", "×": r"$\times$", "≤": r"$\leq$", "≥": r"$\geq$"},
    **{"∞": r"$\infty$", "√": r"$\surd$", "·": r"$\cdot$", "✓": "yes", "✗": "no", "‖": r"$\|$", "|": "$|$"},
    **{
        "–": "--",
        "—": "--",
        "…": r"\dots{}",
        "’": "'",
        "“": "``",
        "”": "''",
        "→": r"$\to$",
        "⟨": r"$\langle$",
    },
    **{"⟩": r"$\rangle$", "\u2009": r"\,", "\u00a0": "~", "½": r"$\frac{1}{2}$", "≈": r"$\approx$"},
}


def latex_tables(markdown: str) -> str:
    """The tables of a Markdown text in their order, each under its heading as a comment."""
    made, heading, lines = [], "", [*markdown.splitlines(), ""]
    table: list[str] = []
    for line in lines:
        if line.startswith("|"):
            table.append(line)
            continue
        if table:
            columns, ruler, *rows = [_cells(one) for one in table]
            left = sum(not cell.endswith(":") for cell in ruler)
            made.append(f"% {ascii_tex(heading)}\n{latex_table(columns, rows, left=left)}")
            table = []
        heading = line.lstrip("# ") if line.startswith("#") else heading
    return "\n".join(made)


def latex_table(columns: Sequence[str], lines: Iterable[Sequence[str]], *, left: int = 1) -> str:
    """A tabular with its first `left` columns to the left."""
    kinds = "l" * left + "r" * (len(columns) - left)
    rows = [" & ".join(map(_marked, line)) + r" \\" for line in (columns, *lines)]
    inside = [r"\toprule", rows[0], r"\midrule", *rows[1:], r"\bottomrule"]
    return "\n".join([rf"\begin{{tabular}}{{{kinds}}}", *inside, r"\end{tabular}"]) + "\n"


def ascii_tex(text: str) -> str:
    """The text as LaTeX writes it, without a character beyond ASCII."""
    return "".join(_character(char) for char in text)


def _cells(line: str) -> list[str]:
    """The cells of a line of a Markdown table, what it escapes undone."""
    parts = re.split(r"(?<!\\)\|", line.strip())[1:-1]
    return [part.strip().replace("\\|", "|").replace("&lt;", "<") for part in parts]


def _marked(text: str) -> str:
    """A cell with its bold, italic and code words in LaTeX."""
    words = re.split(r"(\*\*.+?\*\*|\*.+?\*|`.+?`)", text)
    return "".join(_word(word) for word in words)


def _word(word: str) -> str:
    for mark, command in (("**", "textbf"), ("*", "emph"), ("`", "texttt")):
        if len(word) > 2 * len(mark) and word.startswith(mark) and word.endswith(mark):
            return rf"\{command}{{{ascii_tex(word[len(mark) : -len(mark)])}}}"
    return ascii_tex(word)


def _character(char: str) -> str:
    if char in SYMBOLS:
        return SYMBOLS[char]
    if char.isascii():
        return char
    kind, *code = unicodedata.decomposition(char).split() or [""]
    if kind in ("<super>", "<sub>"):
        inner = "".join(chr(int(one, 16)) for one in code).replace("−", "-")
        if inner.isascii():
            return f"${'^' if kind == '<super>' else '_'}{{{inner}}}$"
    name = unicodedata.name(char, "")
    if name.startswith("GREEK"):
        letter = name.partition("LETTER ")[2].split(" ")[0].lower()
        return rf"$\{letter.capitalize() if 'CAPITAL' in name else letter}$"
    plain = unicodedata.normalize("NFKD", char).encode("ascii", "ignore").decode()
    return plain or f"[{name.lower()}]"
