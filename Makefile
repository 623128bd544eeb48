# Two commands set everything up by themselves: `make train` and `make test`.
PYTHON ?= python3
SEED ?= 0
BIN := .venv/bin
READY := .venv/.ready
PEERS := .venv-peers

.PHONY: train test prove bench bench-peers clean

train: $(READY)
	$(BIN)/oakemu-rl train acorns --seed $(SEED)

test: $(READY)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/pytest

prove: $(READY)
	$(BIN)/pytest -m prove -s --timeout 3600

bench: $(READY)
	$(BIN)/python examples/benchmarks/emulator_speed.py
	$(BIN)/python examples/benchmarks/ppo_update_speed.py

# Beside other libraries, which have an environment of their own.
bench-peers: $(PEERS)/.ready
	$(PEERS)/bin/python examples/benchmarks/dqn_speed.py
	$(PEERS)/bin/python examples/benchmarks/replay_speed.py

$(PEERS)/.ready: pyproject.toml constraints.txt
	test -x $(PEERS)/bin/python || $(PYTHON) -m venv $(PEERS)
	grep -v '^filelock' constraints.txt > $(PEERS)/constraints.txt  # tianshou's virtualenv wants an older one
	$(PEERS)/bin/python -m pip install --quiet --disable-pip-version-check -c $(PEERS)/constraints.txt -e '.[all,bench]'
	touch $(PEERS)/.ready

$(READY): pyproject.toml constraints.txt
	test -x $(BIN)/python || $(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[dev]'
	touch $(READY)

clean:
	rm -rf .venv $(PEERS) .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache
