# `make` lists the targets. Setting up is done by scripts/bootstrap, which is a no-op when all is there.
BIN := .venv/bin
LOCK := CUSTOM_COMPILE_COMMAND="make lock" $(BIN)/python -m piptools compile --quiet --upgrade \
	--generate-hashes --allow-unsafe --strip-extras --no-annotate --no-config --no-emit-index-url \
	--no-emit-find-links --no-emit-trusted-host --no-emit-options

.PHONY: help demo test lint format docs lock clean

help: ## list these targets
	@sed -n 's/^\([a-z]*\):.*## /\1\t/p' $(MAKEFILE_LIST) | expand -t 10

demo: ## compare two PostgreSQL versions and write a report (about 5 minutes)
	@scripts/bootstrap demo
	$(BIN)/teiten run demo

test: lint ## check the code and run all tests
	$(BIN)/pytest tests/unit tests/func tests/browser

lint: ## check style and types
	@scripts/bootstrap test
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

format: ## rewrite the code in the house style
	@scripts/bootstrap test
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

docs: ## write the command reference from the program
	@scripts/bootstrap test
	PYTHONPATH=. $(BIN)/python scripts/command_reference.py

lock: ## choose dependencies anew and write the lock files
	@scripts/bootstrap test
	$(BIN)/python -m pip install --quiet --upgrade pip-tools
	$(BIN)/python scripts/requirements.py run | $(LOCK) - --output-file requirements.lock
	$(BIN)/python scripts/requirements.py dev | $(LOCK) - --constraint requirements.lock \
		--output-file requirements-dev.lock
	$(BIN)/python scripts/requirements.py npm | $(LOCK) - --output-file requirements-npm.lock

clean: ## remove the environment and all caches, but no run
	rm -rf .venv dist .pytest_cache .mypy_cache .ruff_cache .hypothesis
	find src tests bench -name __pycache__ -prune -exec rm -rf {} +
