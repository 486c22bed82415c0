# Every target sets itself up in .venv; when that is up to date the set-up costs nothing.
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
STAMP  := $(VENV)/.installed-$(shell cat pyproject.toml constraints.txt | cksum | cut -d' ' -f1)
WORKERS ?= 2
# Two test processes on two cores: one BLAS/OpenMP thread each, or they fight. Bytecode is kept,
# whatever the machine says: tests start processes that import the library again.
THREADS := OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 PYTHONDONTWRITEBYTECODE=

.PHONY: report test verify lowest lint bench docs setup clean
.DEFAULT_GOAL := report

report: setup            ## the main job on the bundled data: report.html, report.json, model.corollary in ./report
	$(BIN)/corollary report --out report

# Rewriting the asserts of 450 files costs every worker more than collecting all tests; only what
# failed is run again with them, so that its message has the values.
test: setup lint         ## everything that must hold, except heavy simulations
	$(THREADS) $(BIN)/python -m pytest -n $(WORKERS) --dist worksteal -q --assert=plain \
	|| { $(THREADS) $(BIN)/python -m pytest -q --last-failed --last-failed-no-failures none; exit 1; }

verify: setup docs       ## heavy simulations, planted faults, comparisons with peers, docs with gallery
	$(THREADS) $(BIN)/python -m tests.guarantees
	$(THREADS) $(BIN)/python -m tests.fuzz --cases 20000 --workers $(WORKERS)
	$(THREADS) $(BIN)/python -m tests.mutants --workers $(WORKERS)
	$(THREADS) XLA_FLAGS= $(BIN)/python -m pytest -n $(WORKERS) --dist worksteal -m verify -q
	$(THREADS) $(BIN)/python -m tests.peers

lowest: pyproject.toml   ## the tests with the oldest versions that pyproject.toml allows
	$(PYTHON) -m venv .venv-lowest
	$(PYTHON) tests/lowest.py > .venv-lowest/constraints.txt
	.venv-lowest/bin/python -m pip install -q -c .venv-lowest/constraints.txt -e '.[dev,scale]'
	$(THREADS) .venv-lowest/bin/python -m pytest -n $(WORKERS) --dist worksteal -q

lint: setup
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports --no-cache

bench: setup             ## ours against the peers; writes bench/results.md
	$(BIN)/pip install -q -c constraints.txt -e '.[bench]'
	$(BIN)/python -m bench

docs: setup
	$(BIN)/pip install -q -c constraints.txt -e '.[docs]'
	rm -rf docs/generated    # pages of names that are gone would be warnings
	$(BIN)/python -m sphinx -b html -W --keep-going docs docs/_build/html

setup: $(STAMP)

$(STAMP): pyproject.toml constraints.txt
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install -q --upgrade pip
	$(BIN)/python -m pip install -q -c constraints.txt -e '.[dev,scale]'
	rm -f $(VENV)/.installed-* && touch $@

clean:
	rm -rf $(VENV) report docs/_build
