# Both commands do all their set-up on a machine with Python 3.11+, make and the package registries.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready

.PHONY: demo test lock clean

demo: $(READY)  ## start everything, load the sample graph, serve
	$(BIN)/palimpsest demo

test: $(READY)  ## linters, types, import directions, and every test on a real Neo4j
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports --no-cache
	$(BIN)/pytest

$(READY): pyproject.toml requirements.lock
	$(PYTHON) -c 'import sys; sys.exit(None if sys.version_info >= (3, 11) else "Palimpsest needs Python 3.11 or newer; set PYTHON=/path/to/python3")'
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check uv
	$(BIN)/uv pip install --quiet --python $(BIN)/python --require-hashes -r requirements.lock
	$(BIN)/uv pip install --quiet --python $(BIN)/python --no-deps --editable .
	touch $@

lock:  ## resolve pyproject.toml anew, for every supported Python at once
	$(BIN)/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-header --no-emit-index-url \
	  --extra dev pyproject.toml -o requirements.lock

clean:
	rm -rf $(VENV)
