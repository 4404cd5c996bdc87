# windfall: `make` lists the commands. Needs Python >= 3.11 and a package index, nothing else.

PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
PIP    := -m pip --disable-pip-version-check --no-input
LOCK   := requirements/dev.lock
STAMP  := $(VENV)/.installed

# make demo DEMO_TRIALS=30 DEMO_ROUNDS=150 gives a longer one
DEMO_PROBLEM ?= michalewicz
DEMO_TRIALS  ?= 8
DEMO_ROUNDS  ?= 30
DEMO_SEED    ?= 0
DEMO_PLOT    ?= demo.png

# make test PYTEST_ARGS="-k ratio" narrows the tests. Work stealing gives each worker a run of
# neighbouring tests, so that what one has compiled serves the next; unlike loadfile it does not try a
# test again that ended its worker.
WORKERS     ?= 2
PYTEST_ARGS ?=

# make test-portable: tests of numbers, with the BLAS kernels and the instruction sets of other
# processors, and with loops as XLA writes them by default. SkylakeX needs AVX-512; an instruction
# set is an upper limit and runs anywhere.
PORTABLE   := tests/models tests/attention tests/acquisition tests/space tests/study tests/simulation
CORE_TYPES ?= Haswell Zen Sandybridge $(shell grep -qs avx512f /proc/cpuinfo && echo SkylakeX)
ISAS       ?= SSE4_2 AVX2 AVX512
XLA_CELLS  ?= $(ISAS:%=xla_cpu_max_isa=%) xla_cpu_use_fusion_emitters=true

# make mutants N=40 SEED=1 MUTANTS_ARGS="--only acquisition --workers 2"
N            ?= 25
SEED         ?= 0
MUTANTS_ARGS ?=

# make torture KILLS=100
KILLS ?= 1000

BENCH_VENV  := .venv-bench
BENCH_PEERS := benchmarks/requirements-peers.txt
BENCH_STAMP := $(BENCH_VENV)/.installed

.DEFAULT_GOAL := help
.PHONY: help install browser demo test test-portable mutants torture bench bench-optimise bench-bbob bench-real bench-env lock clean

help: ## list the commands
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-14s %s\n", $$1, $$2 }' $(firstword $(MAKEFILE_LIST))

install: $(STAMP) ## make .venv with windfall and everything needed to work on it

# The lock is installed first and with hashes; the package then finds its build backend there.
$(STAMP): pyproject.toml $(LOCK) src/windfall/_version.py
	@command -v $(PYTHON) >/dev/null || { echo "make: no '$(PYTHON)' found; name one with make PYTHON=python3.12" >&2; exit 1; }
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { \
		echo "make: $(PYTHON) is $$($(PYTHON) -V 2>&1), but windfall needs Python 3.11 or newer; name one with make PYTHON=python3.12" >&2; exit 1; }
	@echo "==> install: the locked packages and windfall into $(VENV) (a minute or two)"
	@$(PYTHON) -m venv $(VENV)
	@$(BIN)/python $(PIP) install --quiet --require-hashes -r $(LOCK)
	@$(BIN)/python $(PIP) install --quiet --no-build-isolation --no-deps -e .
	@touch $@

demo: install ## compare the default policy, LW-UCB and four baselines: a table, and a figure in demo.png
	@echo "==> demo: six policies on $(DEMO_PROBLEM), $(DEMO_TRIALS) trials of $(DEMO_ROUNDS) rounds each"
	@$(BIN)/python -m windfall compare $(DEMO_PROBLEM) --trials $(DEMO_TRIALS) --rounds $(DEMO_ROUNDS) --seed $(DEMO_SEED) --plot $(DEMO_PLOT)

browser: install ## fetch the Chromium that the tests of the web page drive into .cache, once
	@$(BIN)/python tools/browser.py

test: install browser ## run every check: lint, format, types, imports, tests and doctests
	@echo "==> ruff check: lint"
	@$(BIN)/ruff check .
	@echo "==> ruff format: layout"
	@$(BIN)/ruff format --check .
	@echo "==> basedpyright: types"
	@$(BIN)/basedpyright
	@echo "==> import-linter: imports point one way"
	@$(BIN)/lint-imports
	@echo "==> pytest: tests and doctests on $(WORKERS) workers"
	@$(BIN)/python -m pytest -n $(WORKERS) --dist worksteal $(PYTEST_ARGS)

# JAX keys its cache by XLA_FLAGS, so that a program of another instruction set is never taken for
# one's own; a folder each makes sure of it.
test-portable: install ## the tests of numbers as other processors would compute them
	@failed=; \
	for core in $(CORE_TYPES); do \
		echo "==> OPENBLAS_CORETYPE=$$core"; \
		OPENBLAS_CORETYPE=$$core $(BIN)/python -m pytest -q -n $(WORKERS) --dist worksteal $(PORTABLE) $(PYTEST_ARGS) \
			|| failed="$$failed $$core"; \
	done; \
	for flag in $(XLA_CELLS); do \
		echo "==> XLA_FLAGS=--$$flag"; \
		XLA_FLAGS=--$$flag WINDFALL_TEST_CACHE=.cache/$$flag \
			$(BIN)/python -m pytest -q -n $(WORKERS) --dist worksteal $(PORTABLE) $(PYTEST_ARGS) \
			|| failed="$$failed $$flag"; \
	done; \
	if [ -n "$$failed" ]; then echo "test-portable: failed with$$failed" >&2; exit 1; fi

mutants: install ## change the code in N small ways, one at a time, and see whether the tests notice
	@echo "==> mutants: $(N) changes, half a minute each; the first time it records which tests enter what"
	@$(BIN)/python -m tools.mutants -n $(N) --seed $(SEED) $(MUTANTS_ARGS)

torture: install ## kill 1,000 workers on each kind of store, and the server: is anything lost?
	@echo "==> torture: a few minutes"
	@$(BIN)/python tools/torture.py --kills $(KILLS)

bench: install bench-env ## measure speed, also against BoTorch in an environment of its own
	@echo "==> bench: this takes several minutes; nothing else should run"
	@$(BIN)/python -m benchmarks --peers $(BENCH_VENV)/bin/python

bench-optimise: install bench-env ## measure choices on standard functions, against BoTorch and SciPy
	@echo "==> bench-optimise: hours, if nothing is in out/optimise yet; it can be stopped and resumed"
	@$(BIN)/python -m benchmarks.optimise --peers $(BENCH_VENV)/bin/python

bench-bbob: install bench-env ## measure choices on the functions of BBOB, against BoTorch and Optuna
	@echo "==> bench-bbob: hours, if nothing is in out/bbob yet; it can be stopped and resumed"
	@$(BIN)/python -m benchmarks.bbob --peers $(BENCH_VENV)/bin/python

bench-real: install bench-env ## measure earning and finding on the candidate lists in DATA=FOLDER, against BoTorch
	@echo "==> bench-real: hours, if nothing is in out/real yet; it can be stopped and resumed"
	@$(BIN)/python -m benchmarks.real --data-dir "$(DATA)" --peers $(BENCH_VENV)/bin/python

bench-env: $(BENCH_STAMP) ## make .venv-bench with the peers that `make bench` measures against

$(BENCH_STAMP): $(BENCH_PEERS)
	@echo "==> bench-env: BoTorch and torch into $(BENCH_VENV)"
	@$(PYTHON) -m venv $(BENCH_VENV)
	@$(BENCH_VENV)/bin/python $(PIP) install --quiet -r $(BENCH_PEERS)
	@touch $@

lock: install ## choose the newest versions that fit pyproject.toml and pin them
	@echo "==> lock: resolve pyproject.toml for every platform and Python >= 3.11 into $(LOCK)"
	@$(BIN)/uv pip compile --quiet --upgrade --universal --python-version 3.11 --fork-strategy fewest \
		--generate-hashes --group dev --custom-compile-command "make lock" \
		--output-file $(LOCK) pyproject.toml

clean: ## remove what the commands above made, .venv included
	@echo "==> clean: environments, caches and build output"
	@rm -rf $(VENV) $(BENCH_VENV) .cache .hypothesis .import_linter_cache .pytest_cache .ruff_cache build dist
	@find src tests benchmarks -name __pycache__ -type d -prune -exec rm -rf {} +
