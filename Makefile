# Everything that people and CI run. `make demo` and `make test` are all that a newcomer needs.
PYTHON ?= python3
BIN := .venv/bin

.PHONY: setup demo example test long lint types contracts check bench lock clean

setup: .venv/ready  ## make .venv with everything that runs, tests and benchmarks need

.venv/ready: pyproject.toml requirements.lock
	@if command -v uv >/dev/null 2>&1; then \
		uv venv -q --allow-existing --python $(PYTHON) .venv && \
		VIRTUAL_ENV=.venv uv pip install -q -c requirements.lock -e '.[dev,bench]'; \
	else \
		$(PYTHON) -m venv .venv && \
		$(BIN)/python -m pip install -q --disable-pip-version-check -c requirements.lock -e '.[dev,bench]'; \
	fi
	@touch $@

demo: setup  ## conversations become memories before your eyes, on servers of their own, and nothing stays behind
	@$(BIN)/slowwave demo

example: setup  ## an agent of a framework with a memory, without network: make example NAME=langgraph (see examples/)
	@test -f examples/$(NAME)_memory.py || { echo "NAME is one of: $(patsubst examples/%_memory.py,%,$(wildcard examples/*_memory.py))"; exit 2; }
	@$(BIN)/python -m examples.$(NAME)_memory

# A file's tests stay together, three files at a time, since many wait.
PYTEST := $(BIN)/pytest -n 3 --dist loadfile --no-loadscope-reorder

test: setup  ## the suite, on real servers and workers
	@$(PYTEST) -m "not long"

long: setup  ## the rest of it: whole stacks started, killed and emptied in mid-run, simulated weeks, large state machines
	@$(PYTEST) -m long

lint: setup
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .

types: setup
	@$(BIN)/mypy

contracts: setup  ## which layer may import which
	@$(BIN)/lint-imports --no-logo

check: lint types contracts test long

bench: setup  ## every measured comparison, as one table
	@$(BIN)/python -m bench

lock: setup  ## pin what is installed now
	@$(BIN)/python -m pip freeze --exclude-editable > requirements.lock

clean:
	rm -rf .venv .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache
