# Two targets do everything: `make run` starts the bot, `make test` checks the whole tree.
PYTHON ?= python3
PY := .venv/bin/python
export PIP_DISABLE_PIP_VERSION_CHECK := 1

.PHONY: run test check lint types imports unit e2e bench lock clean

run: .venv
	@$(PY) bot.py $(ARGS)

test: check

check: lint types imports unit

lint: .venv
	$(PY) -m ruff format --check .
	$(PY) -m ruff check .

types: .venv
	$(PY) -m pyright

imports: .venv
	.venv/bin/lint-imports

unit: .venv
	$(PY) -m pytest -q

# The main job on real input: bot process, loopback Discord, embedded model. Fetches the model once.
e2e: .venv
	$(PY) -m tests.e2e

bench: .venv
	$(PY) -m benchmarks

# Built aside and moved into place last, so that an interrupted install is started again.
.venv: requirements.lock
	@rm -rf .venv
	$(PYTHON) -m venv .venv
	$(PY) -m pip install --quiet --require-hashes --requirement requirements.lock || { rm -rf .venv; exit 1; }
	@touch .venv

# Needs uv; run after changing a pin in pyproject.toml.
lock:
	uv pip compile --universal --generate-hashes --no-header --quiet --extra dev pyproject.toml -o requirements.lock
	sed -n 's/^embedded = \["\(.*\)"\]$$/\1/p' pyproject.toml | uv pip compile --universal --generate-hashes --no-header --no-annotate --quiet - -o requirements-embedded.lock

clean:
	rm -rf .venv .pytest_cache .ruff_cache .hypothesis .import_linter_cache
