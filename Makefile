# Every target makes its own .venv with the machine's python3 and pip; nothing has to be done before.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed
PYTEST := $(BIN)/python -m pytest -n 2 --dist loadfile

.PHONY: help install demo table2 study-pages agent-runs random-returns walk count test test-slow test-base test-video test-browser test-ray mutate check format bench bench-returns fuzz docs wheel clean

help:  ## list the targets
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed 's/:.*## /\t/' | expand -t 16

$(STAMP): pyproject.toml constraints.txt
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[dev]'
	@touch $@

install: $(STAMP)  ## make .venv with the pinned versions

demo: $(STAMP)  ## the whole story in about three minutes
	$(BIN)/optac demo

table2: $(STAMP)  ## write docs/results/table2.md and the readme's table from the runs under results/table2
	$(BIN)/python -m scripts.table2 results/table2

study-pages: $(STAMP)  ## write the studies' reports, and the tables of their pages and of the readme, from the rows under results
	$(BIN)/python -m scripts.study_pages results

agent-runs: $(STAMP)  ## write what the pages and the readme show of all trainings but Table 2's, from their runs
	$(BIN)/python -m scripts.agent_runs results/agents results/plain-ablations results/td7sac results/recipe-confirmation/fourth-candidate
	$(BIN)/python -m scripts.confirmation results/recipe-confirmation README.md
	$(BIN)/python -m scripts.training_pages results

random-returns: $(STAMP)  ## measure the return of random actions on the six tasks again
	$(BIN)/python scripts/random_returns.py --episodes 100 --seed 0 --out results/environments/random_returns.json

walk: $(STAMP)  ## how many modules each command calls and loads
	$(BIN)/python scripts/walk.py

count: $(STAMP)  ## code lines of src and scripts, room by room
	$(BIN)/python scripts/count_lines.py

test: $(STAMP)  ## the default tests
	$(PYTEST) --no-loadscope-reorder  # tests/conftest.py puts the longest files first

test-slow: $(STAMP)  ## the long tests
	$(PYTEST) -m slow

test-video: $(STAMP)  ## the tests that draw; needs libegl1 libegl-mesa0 libgl1-mesa-dri (Debian)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[video]'
	@$(BIN)/python -c 'import ctypes; ctypes.CDLL("libEGL.so.1")' || \
		{ echo 'no EGL library: apt-get install libegl1 libegl-mesa0 libgl1-mesa-dri' >&2; exit 1; }
	$(PYTEST) -m video

test-browser: $(STAMP)  ## the report page in a real browser; needs chromium (Debian)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[browser]'
	@command -v chromium >/dev/null || \
		{ echo 'no browser: apt-get install chromium' >&2; exit 1; }
	$(BIN)/python -m pytest -m browser

test-ray: $(STAMP)  ## sweeps on a two-node Ray cluster on this machine
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[ray]'
	$(BIN)/python -m pytest -m ray tests/sweeps/test_ray.py  # alone: Ray forks, which JAX in this process forbids

test-base: $(STAMP)  ## build wheel and sdist; the wheel without extras, in a venv of its own, runs the theory half
	rm -rf .venv-base build/dist
	$(BIN)/python -m build --outdir build/dist .
	$(PYTHON) -m venv .venv-base
	.venv-base/bin/python -m pip install --quiet --disable-pip-version-check -c constraints.txt build/dist/*.whl pytest pytest-timeout hypothesis
	.venv-base/bin/python -m pytest -m base --override-ini addopts= tests/test_base_install.py

docs: $(STAMP)  ## the documentation site in build/site, strictly, with every example on it run
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[docs]'
	$(BIN)/python -m pytest -m 'docs or not docs' tests/docs  # test_site.py builds it
	@echo 'build/site/index.html opens from the disk; for its search too: $(BIN)/python -m http.server --bind 127.0.0.1 -d build/site'

wheel: $(STAMP)  ## build wheel and source archive into build/dist, and check what is in them
	rm -rf build/dist build/lib
	$(BIN)/python -m build --outdir build/dist .
	$(BIN)/python scripts/check_wheel.py build/dist

mutate: $(STAMP)  ## take each mechanism away in turn and print the test that fails
	$(BIN)/python tests/mutations/mutate.py

check: $(STAMP)  ## format, lint, spelling, types
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/codespell
	$(BIN)/mypy

format: $(STAMP)  ## rewrite the code in the project's format
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

PEERS := .venv-peers

$(PEERS)/.installed:
	$(PYTHON) -m venv $(PEERS)
	$(PEERS)/bin/python -m pip install --quiet --disable-pip-version-check rlberry==0.7.3 rlberry-scool==0.7.3
	@touch $@

bench: $(STAMP) $(PEERS)/.installed  ## every bench but `returns`, beside the peers
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[bench]'
	$(BIN)/optac bench --peer-python $(PEERS)/bin/python

bench-returns: $(STAMP)  ## return after twenty CPU-minutes beside the peers: half a day on one core; goes on where it stopped
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[bench]'
	$(BIN)/optac bench returns --out results/bench

FILES ?= 500
VECTORS ?= 200
SWEEPS ?= 100
KILLS ?= 60
SEED ?= 0

fuzz: $(STAMP)  ## damage, nonsense and kills by chance; FILES, VECTORS, SWEEPS, KILLS and SEED say how many
	$(BIN)/python -m scripts.fuzz --files $(FILES) --vectors $(VECTORS) --sweeps $(SWEEPS) --kills $(KILLS) --seed $(SEED)

clean:  ## remove .venv and caches
	rm -rf $(VENV) $(PEERS) .venv-base build .pytest_cache .mypy_cache .ruff_cache .hypothesis
