# Every target sets up what it needs in .venv, idempotently.
# Needs: Python 3.11+ and a package index for pip; bubblewrap is installed through apt where that
# is allowed, and the self-jail is used where it is not.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
SEED ?= 0

.PHONY: setup setup-dev learn test quick bench evidence lint format lock clean

setup: $(VENV)/.ready

setup-dev: $(VENV)/.ready-dev

$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
	  || { echo "metamem needs Python 3.11 or newer; set PYTHON=/path/to/python3.11"; exit 1; }
	$(PYTHON) -m venv $(VENV)

# $(call by-apt,program,package,otherwise): installed through apt where that is allowed.
by-apt = @command -v $(1) >/dev/null \
	  || { [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null && apt-get update -qq \
	       && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends $(2) >/dev/null; } \
	  || echo "$(3)"

$(VENV)/.jail:
	@mkdir -p $(VENV)
	$(call by-apt,bwrap,bubblewrap,bubblewrap is missing: the self-jail is used instead (metamem doctor tells more))
	@touch $@

$(VENV)/.ready: requirements.lock pyproject.toml | $(BIN)/python
	@$(MAKE) --no-print-directory $(VENV)/.jail
	$(BIN)/python -m pip install -q --disable-pip-version-check --require-hashes -r requirements.lock
	$(BIN)/python -m pip install -q --disable-pip-version-check --no-deps --no-build-isolation -e .
	@touch $@

$(VENV)/.ready-dev: requirements-dev.lock $(VENV)/.ready
	$(call by-apt,runsc,runsc,runsc is missing: the tests of the jail under gVisor are skipped)
	$(BIN)/python -m pip install -q --disable-pip-version-check --require-hashes -r requirements-dev.lock
	@touch $@

learn: setup
	$(BIN)/metamem learn alfworld --seed $(SEED)

test: setup-dev lint
	$(BIN)/python -m pytest -n 2 --allowed-skips tests/allowed_skips.txt

# What runs in one process and not for long: tests/quick.py says how they are chosen.
quick: setup-dev
	$(BIN)/python -m pytest -n 2 --quick

lint: setup-dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

format: setup-dev
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

bench: setup-dev
	$(BIN)/python -m bench

evidence: setup-dev
	$(BIN)/python -m bench.evidence

# Anew after a change of dependencies; needs uv. Versions and hashes only, no index addresses.
lock:
	uv pip compile -q --generate-hashes --no-header --no-emit-index-url --no-annotate \
	  --python-version 3.11 --extra build pyproject.toml -o requirements.lock
	uv pip compile -q --generate-hashes --no-header --no-emit-index-url --no-annotate \
	  --python-version 3.11 --extra build --extra dev --extra textworld --extra minihack \
	  --extra gymnasium --extra mcp --extra use --extra minilm --extra serve --extra langgraph \
	  --extra train --extra optuna --extra knowledge pyproject.toml -o requirements-dev.lock

clean:
	rm -rf $(VENV)
