# Everything works alone on a fresh machine: each target makes what it needs, from the locks.
.POSIX:
.PHONY: help setup run test lint check bench faults sim clients docs screenshots requirements lock clean

PY = .venv/bin/python
WORKERS = 2
TESTS =
SEED =
CLIENTS =
PLAN =

help: ## What there is
	@sed -n 's/^\([a-z]*\):.*## /\1|/p' Makefile | awk -F'|' '{printf "make %-13s %s\n", $$1, $$2}'

setup: ## Make .venv for development from requirements-dev.lock
	@tools/venv.sh dev

run: ## Play the main job on the real parts (PLAN=path.md for your own plan)
	@tools/venv.sh run
	@.venv/bin/standfast demo $(PLAN)

test: lint ## Style, types, layers and all tests; says last what was left out (TESTS=path picks)
	@$(PY) -m pytest -n $(WORKERS) $(TESTS)

lint: setup ## Style, types and layers
	@$(PY) -m ruff check --quiet .
	@$(PY) -m mypy --no-error-summary
	@.venv/bin/lint-imports --no-cache >.venv/layers.txt || { cat .venv/layers.txt; exit 1; }

check: setup ## All tests with branch coverage of domain, host and store
	@$(PY) -m pytest -n $(WORKERS) --cov --cov-report=term:skip-covered $(TESTS)

bench: setup ## Measure; prints a table and JSON
	@$(PY) -m bench

faults: setup ## Kill the host at every point of every operation
	@$(PY) -m standfast.testing.faults

sim: setup ## Simulate a seeded history against the reference model (SEED=n)
	@$(PY) -m standfast.testing.simulation $(SEED)

clients: setup ## Lead real agent clients through the story; prints client by promise (CLIENTS=codex picks)
	@$(PY) -m tests.clients $(CLIENTS)

docs: setup ## Write the generated reference pages anew
	@$(PY) -m tests.house.generated

screenshots: setup ## Take the documents' pictures of the page anew (needs Chromium)
	@$(PY) -m tests.web.screenshots

requirements: setup ## Bring the states in tests/requirements.toml in line with the tests
	@$(PY) -m tests.support.requirements

lock: ## Write both locks anew (needs uv)
	@tools/lock.sh

clean: ## Remove the environment and caches
	@rm -rf .venv .mypy_cache .ruff_cache .hypothesis .import_linter_cache build dist
