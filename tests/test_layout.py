"""A package imports only what stands above it; light names stay light."""

import ast
import subprocess
import sys
from pathlib import Path

import optac

ORDER = [
    ["array_types", "errors", "numpy_policy", "terminal", "threads", "versions"],
    ["settings", "registry"],
    ["mdp"],
    ["models"],
    ["oracles"],
    ["algorithms"],
    ["environments"],
    ["agents"],
    ["extend"],
    ["testing"],
    ["runs"],
    ["sweeps"],
    ["report", "studies"],
    ["commands"],
    ["cli"],
]
LEVEL = {name: level for level, names in enumerate(ORDER) for name in names}
SOURCE = Path(optac.__file__).parent


def imported_packages(path: Path) -> set[str]:
    """The optac packages a file imports when it runs, lazy imports included, those for type checkers not."""
    tree = ast.parse(path.read_text())
    typing_only = {
        id(node)
        for block in ast.walk(tree)
        if isinstance(block, ast.If) and "TYPE_CHECKING" in ast.unparse(block.test)
        for statement in block.body
        for node in ast.walk(statement)
    }
    found = set()
    for node in ast.walk(tree):
        if id(node) in typing_only:
            continue
        if isinstance(node, ast.ImportFrom) and node.module and node.module.startswith("optac."):
            found.add(node.module.split(".")[1])
        if isinstance(node, ast.Import):
            found |= {alias.name.split(".")[1] for alias in node.names if alias.name.startswith("optac.")}
    return found


def test_every_import_points_up() -> None:
    wrong = []
    for path in sorted(SOURCE.rglob("*.py")):
        relative = path.relative_to(SOURCE)
        package = relative.parts[0].removesuffix(".py")
        if package == "__init__":
            continue
        assert package in LEVEL, f"{relative} is in no package of the layout"
        wrong += [
            f"{relative} imports {other}"
            for other in imported_packages(path)
            if LEVEL[other] > LEVEL[package]
        ]
    assert wrong == []


def test_the_report_imports_no_algorithm_and_no_agent() -> None:
    for path in (SOURCE / "report").rglob("*.py"):
        assert not imported_packages(path) & {"algorithms", "agents", "models", "oracles"}, path


def test_listing_and_solving_load_neither_jax_nor_mujoco() -> None:
    code = (
        "import sys; from optac.cli import main; main(['list', '--json']); import optac; "
        "optac.solve(optac.make_problem('combination-lock', horizon=2, actions=2), iterations=2); "
        "heavy = [m for m in ('jax', 'mujoco', 'matplotlib') if m in sys.modules]; sys.exit(str(heavy) if heavy else 0)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
