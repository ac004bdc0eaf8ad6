"""Apply each mutation of mutations.toml to a copy of the sources and print the test that fails for it.

    python tests/mutations/mutate.py [words of a name]

Ends with 1 if a mutation goes unnoticed or no longer fits the code.
"""

import os
import re
import shutil
import subprocess
import sys
import tempfile
import tomllib
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]


def failing_test(mutation: dict[str, str]) -> str | None:
    """The first test that fails with the mutation, None if none does."""
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder)
        shutil.copytree(ROOT / "src", copy / "src")
        mutated = copy / mutation["file"]
        text = mutated.read_text(encoding="utf-8")
        if text.count(mutation["old"]) != 1:
            sys.exit(f"{mutation['name']}: {mutation['file']} does not hold {mutation['old']!r} once")
        mutated.write_text(text.replace(mutation["old"], mutation["new"]), encoding="utf-8")
        command = [sys.executable, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", mutation["test"]]
        environment = os.environ | {"PYTHONPATH": str(copy / "src")}
        done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
    failed = re.search(r"^FAILED (.+?)(?: - |$)", done.stdout, flags=re.MULTILINE)
    if failed is None and done.returncode != 0:
        sys.exit(f"{mutation['name']}: the tests did not run\n{done.stdout}{done.stderr}")
    return failed.group(1) if failed else None


def main(words: list[str]) -> int:
    mutations = tomllib.loads((HERE / "mutations.toml").read_text(encoding="utf-8"))["mutation"]
    unnoticed = 0
    for mutation in mutations:
        if all(word in mutation["name"] for word in words):
            failed = failing_test(mutation)
            unnoticed += failed is None
            print(f"{mutation['name']}: {failed or 'NO TEST FAILS'}", flush=True)
    return 1 if unnoticed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
