# Everything that people and CI run. `make demo` and `make test` are all that a newcomer needs.
PYTHON ?= python3
BIN := .venv/bin

# Python keeps the bytecode of what it imports: otherwise each of the many processes of a test run compiles it again.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: help setup demo example test long drills coverage lint types contracts docs reference picture screenshots check bench chaos chaos-short feed load mutants scale sizing fuzz audit redaction release digests lock clean

help:  ## list all targets
	@awk -F ':.*  ## ' '/^[a-z-]+:.*  ## / { printf "  %-12s %s\n", $$1, $$2 }' $(firstword $(MAKEFILE_LIST))

setup: .venv/ready  ## create .venv with everything that runs, tests and benchmarks need

# Every package is refused unless its file has a digest that a lock gives. uv takes seconds for what takes pip minutes;
# pip takes over where uv can't install, as where an index stands in pip's own settings. INSTALLER=pip asks for pip alone.
# Two packages come as sources alone: what builds them, and our own, is the setuptools of requirements-build.lock.
INSTALLER ?= uv
PIP := $(BIN)/python -m pip install -q --disable-pip-version-check
UV := VIRTUAL_ENV=.venv UV_SYSTEM_CERTS=1 UV_NATIVE_TLS=1 $(BIN)/uv pip
INSTALL_WITH = $(if $(filter uv,$(INSTALLER)),$(UV) install -q $(1) ||) $(PIP) $(1)

# A step says what it does before it begins, then its seconds and the size of .venv. A step that fails ends the set-up.
BEGIN = began=$$(date +%s); printf '%-70s'
END = printf '%5d s %6d MB\n' $$(( $$(date +%s) - began )) $$(du -sm .venv | cut -f1)

.venv/ready: pyproject.toml client/pyproject.toml judge/pyproject.toml requirements.lock requirements-build.lock
	@$(BEGIN) "1/5 make .venv with $(PYTHON)" && \
		$(PYTHON) -m venv .venv && $(END)
	@$(BEGIN) "2/5 install $$(grep -c == requirements-build.lock) packages that build and install others" && \
		$(PIP) --require-hashes -r requirements-build.lock && $(END)
	@$(BEGIN) "3/5 install $$(grep -c == requirements.lock) packages, of which files have their digests in a lock" && \
		{ $(call INSTALL_WITH,--require-hashes --no-deps --no-build-isolation -r requirements.lock); } && $(END)
	@$(BEGIN) "4/5 install slowwave, slowwave-judge and slowwave-server from here" && \
		{ $(call INSTALL_WITH,--no-deps --no-build-isolation -e ./client -e ./judge -e .); } && $(END)
	@$(BEGIN) "5/5 check that all packages fit together" && \
		$(BIN)/python -m pip check --quiet && $(END)
	@touch $@

demo: setup  ## replay two weeks of an agent's memory on temporary servers, then remove them
	@$(BIN)/slowwave demo

example: setup  ## run an agent of a framework with a memory, without network: make example NAME=langgraph (see examples/)
	@test -f examples/$(NAME)_memory.py || { echo "NAME is one of: $(patsubst examples/%_memory.py,%,$(wildcard examples/*_memory.py))"; exit 2; }
	@$(BIN)/python -m examples.$(NAME)_memory

# A file's tests stay together, three files at a time, since many wait.
SHARED := -n 3 --dist loadfile --no-loadscope-reorder
PYTEST := $(BIN)/pytest $(SHARED)
# Each process imports every file that it is given: those without such a test would take it half a minute.
MARKED = $$(grep -rl --include='test_*.py' 'mark\.$(1)\b' tests | LC_ALL=C sort)
SKIPPED = $$(grep -rlE --include='test_*.py' '^pytestmark = .*mark\.(long|drill)\b' tests | sed 's/^/--ignore=/')

test: setup  ## run the test suite, on real servers and workers
	@$(PYTEST) -m "not long and not drill" $(SKIPPED)

long: setup  ## run the long tests: stacks that are killed and emptied while they run, large state machines, floods, the TypeScript package, the rights of broker users
	@$(PYTEST) -m "long and not drill" $(call MARKED,long)

drills: setup  ## run upgrades and restores under load, simulated weeks, wheels in bare environments, all services of compose.yaml
	@$(PYTEST) -m drill $(call MARKED,drill)

coverage: setup  ## run unit, contract and integration tests under coverage, with their processes: make coverage [TESTS=tests/unit]
	@mkdir -p .coverage && $(BIN)/coverage erase
	@$(BIN)/coverage run -m pytest $(SHARED) -m "not long and not drill" $(or $(TESTS),tests/unit tests/contracts tests/integration) || true
	@$(BIN)/coverage combine --quiet && $(BIN)/coverage report

lint: setup  ## check style and format, and the spelling of pages
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@$(BIN)/codespell *.md client/README.md judge/README.md examples/README.md docs

types: setup  ## check types
	@$(BIN)/mypy

contracts: setup  ## check which layer imports which
	@$(BIN)/lint-imports --no-logo

docs: setup  ## build the documentation as a site in site/, and check every link
	@NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict --quiet

reference: setup  ## write docs/reference, docs/openapi.json and docs/tasks.schema.json from the code
	@$(BIN)/python -m docs_reference

picture: setup  ## record the demo, and draw the architecture and the sequences: docs/images/*.svg
	@$(BIN)/python -m docs_reference.demo_picture
	@$(BIN)/python -m docs_reference.drawings

screenshots: setup  ## start a stack, and take pictures of the console and Flower: docs/images/*.png
	@$(BIN)/python -m docs_reference.screenshots

check: lint types contracts audit docs test long  ## run all that CI checks

bench: setup  ## run every benchmark, and print one table
	@$(BIN)/python -m bench

chaos: setup  ## inject faults from printed seeds while agents talk, then check every invariant: make chaos [SEEDS="1 2 3"]
	@$(BIN)/python -m proof.chaos $(if $(SEEDS),--seeds $(SEEDS))

chaos-short: setup  ## run three minutes of chaos with one seed
	@$(BIN)/python -m proof.chaos --short

feed: setup  ## make changes in batches while everything is killed in turn: no reader misses one: make feed [CHANGES=200000]
	@$(BIN)/python -m proof.feed --changes $(or $(CHANGES),200000) --batch 100 --rate 5000 --fails-each 2000

load: setup  ## let agents talk until the system is full: lag, fairness, backlog, memory of processes
	@$(BIN)/python -m proof.load

mutants: setup  ## break each guarantee on purpose, one at a time: a test must fail
	@$(BIN)/python -m proof.mutants

scale: setup  ## measure each operation at a large size and at a hundredth of it
	@$(BIN)/python -m proof.scale

sizing: setup  ## measure unit costs, and compute how many workers a load needs
	@$(BIN)/python -m proof.sizing

fuzz: setup  ## send random input to every entry point: make fuzz [MINUTES=10] [ONLY=openapi]
	@$(BIN)/python -m proof.fuzz $(if $(MINUTES),--minutes $(MINUTES)) $(if $(ONLY),--only $(ONLY))

redaction: setup  ## measure which secrets are redacted, in eight languages and unusual spellings, and which sentences suffer
	@$(BIN)/python -m proof.redaction --write

audit: setup  ## look for known vulnerabilities in pinned packages
	@$(BIN)/python -m proof.audit

release: setup  ## write everything of a release to dist/, without an upload: see docs/release.md
	@$(BIN)/python -m proof.release

digests: setup  ## pin the images of compose.yaml, the Dockerfile and the manifests to their current digests
	@$(BIN)/python -m proof.release.images

# What is locked keeps its version while it fits: `make lock UPGRADE=--upgrade` takes the newest.
COMPILE = $(UV) compile -q --universal --python-version 3.11 --generate-hashes --no-annotate $(UPGRADE) \
	--custom-compile-command "make lock"
OURS := --no-emit-package slowwave --no-emit-package slowwave-judge --no-emit-package slowwave-server

lock: setup  ## pin all packages with their digests in requirements.lock and requirements-build.lock
	@{ sed -n 's/^requires = \["\(.*\)"\]$$/\1/p' pyproject.toml; echo uv; } | $(COMPILE) -o requirements-build.lock -
	@printf '%s\n' '-e ./client' '-e ./judge' '-e .[dev,bench]' | $(COMPILE) $(OURS) -o requirements.lock -

clean:  ## remove .venv, the site and caches
	rm -rf .venv site .coverage .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache
