"""A package imports only what stands above it, also through others; a command loads only the half it needs."""

import ast
import json
import subprocess
import sys
from functools import cache
from pathlib import Path

import optac
from tests.report.training_runs import write_run

ORDER = [
    [
        "array_types",
        "errors",
        "figures",
        "meanings",
        "notebook",
        "numpy_policy",
        "provenance",
        "signals",
        "terminal",
        "threads",
        "words",
    ],
    ["settings", "registry", "plain_files"],
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
    ["report"],
    ["studies"],
    ["commands"],
    ["cli"],
    ["__main__"],
]
LEVEL = {name: level for level, names in enumerate(ORDER) for name in names}
SOURCE = Path(optac.__file__).parent
THEORY = {"mdp", "models", "oracles", "algorithms"}


def module_name(path: Path) -> str:
    parts = path.relative_to(SOURCE.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


FILES = {module_name(path): path for path in sorted(SOURCE.rglob("*.py")) if "peers" not in path.parts}


def room(module: str) -> str:
    """`runs` of `optac.runs.folder`."""
    return module.split(".")[1] if "." in module else "__init__"


@cache
def imports(module: str, *, lazy: bool) -> frozenset[str]:
    """The optac modules that a module's file names, those for type checkers not; with `lazy` in its functions too."""

    def statements(node: ast.AST) -> list[ast.AST]:
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test):
            return []
        if not lazy and isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            return []
        return [node, *(inner for child in ast.iter_child_nodes(node) for inner in statements(child))]

    found = set()
    for node in statements(ast.parse(FILES[module].read_text())):
        if isinstance(node, ast.ImportFrom) and node.module:
            found |= {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)}
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
    return frozenset(name for name in found if name in FILES)


@cache
def reached(module: str) -> frozenset[str]:
    """All modules that importing one loads, through others too: each with the packages it lies in."""
    seen: set[str] = set()
    waiting = [module]
    while waiting:
        name = waiting.pop()
        if name not in seen:
            seen.add(name)
            waiting += imports(name, lazy=False)
            waiting += [name.rpartition(".")[0]] if "." in name else []
    return frozenset(seen - {module})


def below(modules: frozenset[str], here: str) -> set[str]:
    """Those of the modules that stand below this one."""
    return {name for name in modules if LEVEL.get(room(name), 0) > LEVEL[room(here)]}


def test_what_a_module_loads_stands_above_it() -> None:
    for module in (name for name in FILES if "." in name):
        assert room(module) in LEVEL, f"{module} is in no package of the layout"
        assert below(reached(module), module) == set(), module


def test_what_a_module_names_in_its_functions_stands_above_it_too() -> None:
    for module in (name for name in FILES if "." in name):
        assert below(imports(module, lazy=True), module) == set(), module


def test_the_report_reaches_no_study_no_algorithm_and_no_agent() -> None:
    for module in (name for name in FILES if room(name) == "report"):
        assert not {room(name) for name in reached(module)} & {*THEORY, "agents", "sweeps", "studies"}, module


def loaded(*words: str, folder: Path) -> set[str]:
    """The names in sys.modules after a command."""
    code = (
        "import json, sys; from optac.cli import main; code = main(sys.argv[1:]); "
        "print(); print(json.dumps([code, *sys.modules]))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, *words], cwd=folder, capture_output=True, text=True, check=True
    )
    code, *names = json.loads(done.stdout.splitlines()[-1])
    assert code == 0, done.stderr
    return set(names)


def rooms_of(names: set[str]) -> set[str]:
    return {room(name) for name in names if name.startswith("optac.")}


def test_listing_and_solving_load_neither_jax_nor_mujoco(tmp_path: Path) -> None:
    solve = ["solve", "combination-lock", "horizon=2", "actions=2", "--iterations", "2", "--quiet"]
    for words in (["list"], solve):
        names = loaded(*words, folder=tmp_path)
        assert not names & {"jax", "mujoco", "matplotlib"} and "agents" not in rooms_of(names)


def test_training_loads_nothing_of_the_theory_half(tmp_path: Path) -> None:
    settings = ["learning_starts=4", "batch_size=2", "width=2", "eval_every=0", "checkpoint_every=6"]
    words = [word for setting in settings for word in ("--set", setting)]
    names = loaded("train", "optac/Pendulum-v0", "--agent", "sac", "--steps", "6", *words, folder=tmp_path)
    assert "jax" in names and not rooms_of(names) & {*THEORY, "studies", "sweeps"}


def test_a_report_loads_neither_an_algorithm_nor_an_agent(tmp_path: Path) -> None:
    write_run(tmp_path / "runs" / "a")
    names = loaded("report", "runs", str(SOURCE.parents[1] / "results/lock-8-5/driven"), folder=tmp_path)
    assert "jax" not in names and not rooms_of(names) & {*THEORY, "agents", "sweeps"}


def test_no_file_has_more_than_300_lines() -> None:
    root = SOURCE.parents[1]
    files = [path for folder in ("src", "scripts", "examples") for path in (root / folder).rglob("*.py")]
    assert {path.name: n for path in files if (n := len(path.read_text().splitlines())) > 300} == {}
