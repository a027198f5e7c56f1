# Everything that people and CI run. `make demo` and `make test` are all that a newcomer needs.
PYTHON ?= python3
BIN := .venv/bin

.PHONY: setup demo example test long drills lint types contracts docs reference picture screenshots check bench chaos chaos-short load mutants scale sizing fuzz audit release digests lock clean

setup: .venv/ready  ## make .venv with everything that runs, tests and benchmarks need

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

demo: setup  ## two weeks of an agent's memory in fast motion, on servers of their own, and nothing stays behind
	@$(BIN)/slowwave demo

example: setup  ## an agent of a framework with a memory, without network: make example NAME=langgraph (see examples/)
	@test -f examples/$(NAME)_memory.py || { echo "NAME is one of: $(patsubst examples/%_memory.py,%,$(wildcard examples/*_memory.py))"; exit 2; }
	@$(BIN)/python -m examples.$(NAME)_memory

# A file's tests stay together, three files at a time, since many wait.
PYTEST := $(BIN)/pytest -n 3 --dist loadfile --no-loadscope-reorder

test: setup  ## the suite, on real servers and workers
	@$(PYTEST) -m "not long and not drill"

long: setup  ## the rest of it: whole stacks started, killed and emptied in mid-run, large state machines
	@$(PYTEST) -m "long and not drill"

drills: setup  ## upgrades and restores under load, simulated weeks, wheels in bare environments, all services of compose.yaml
	@$(PYTEST) -m drill

lint: setup
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .

types: setup
	@$(BIN)/mypy

contracts: setup  ## which layer may import which
	@$(BIN)/lint-imports --no-logo

docs: setup  ## the documentation as a site, in site/; every link of it must lead somewhere
	@NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict --quiet

reference: setup  ## write docs/reference anew: settings, tasks, shell and tables as the code has them
	@$(BIN)/python -m docs_reference

picture: setup  ## record the demo, and draw the architecture and the sequences: docs/images/*.svg
	@$(BIN)/python -m docs_reference.demo_picture
	@$(BIN)/python -m docs_reference.drawings

screenshots: setup  ## start a stack, tell it a story, and picture the console and Flower: docs/images/*.png
	@$(BIN)/python -m docs_reference.screenshots

check: lint types contracts audit docs test long

bench: setup  ## every measured comparison, as one table
	@$(BIN)/python -m bench

chaos: setup  ## faults from printed seeds while agents talk, then every invariant: make chaos [SEEDS="1 2 3"]
	@$(BIN)/python -m proof.chaos $(if $(SEEDS),--seeds $(SEEDS))

chaos-short: setup  ## the three-minute form of it, one seed
	@$(BIN)/python -m proof.chaos --short

load: setup  ## agents talk until the system is full: lag, fairness, backlog, memory of processes
	@$(BIN)/python -m proof.load

mutants: setup  ## what keeps the promises is broken on purpose, one at a time: a test must notice each
	@$(BIN)/python -m proof.mutants

scale: setup  ## what each operation costs at a size, beside a hundredth of it
	@$(BIN)/python -m proof.scale

sizing: setup  ## how many workers a load needs: a model, checked against this machine
	@$(BIN)/python -m proof.sizing

fuzz: setup  ## anything at every entrance, other examples each time: make fuzz [MINUTES=10] [ONLY=openapi]
	@$(BIN)/python -m proof.fuzz $(if $(MINUTES),--minutes $(MINUTES)) $(if $(ONLY),--only $(ONLY))

redaction: setup  ## secrets in eight languages and odd spellings: what is found, and which ordinary sentences are spoilt
	@$(BIN)/python -m proof.redaction --write

audit: setup  ## known vulnerabilities in what is pinned, or a plain word that it can't be found out: make audit [ADVISORIES=folder]
	@$(BIN)/python -m proof.audit $(if $(ADVISORIES),--advisories $(ADVISORIES))

release: setup  ## everything of a release but its upload, into dist/: see docs/release.md
	@$(BIN)/python -m proof.release

digests: setup  ## pin the images of compose.yaml, the Dockerfile and the manifests to the digests that their tags have now
	@$(BIN)/python -m proof.release.images

# What is locked keeps its version while it fits: `make lock UPGRADE=--upgrade` takes the newest.
COMPILE = $(UV) compile -q --universal --python-version 3.11 --generate-hashes --no-annotate $(UPGRADE) \
	--custom-compile-command "make lock"
OURS := --no-emit-package slowwave --no-emit-package slowwave-judge --no-emit-package slowwave-server

lock: setup  ## pin all that setup installs, with digests: requirements.lock, and what builds it: requirements-build.lock
	@{ sed -n 's/^requires = \["\(.*\)"\]$$/\1/p' pyproject.toml; echo uv; } | $(COMPILE) -o requirements-build.lock -
	@printf '%s\n' '-e ./client' '-e ./judge' '-e .[dev,bench]' | $(COMPILE) $(OURS) -o requirements.lock -

clean:
	rm -rf .venv site .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache
