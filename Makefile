# Two targets do everything: `make run` starts the bot, `make test` checks the whole tree.
PYTHON ?= python3
PY := .venv/bin/python
# Processes that share the tests, a file each at a time.
JOBS ?= 2

.PHONY: run test check lint types imports unit search e2e mcp bench mutants lock clean .venv

# Starting needs less than developing, so this installs less. `make run ARGS="check"` passes arguments.
run:
	@$(PYTHON) run.py $(ARGS)

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
	$(PY) -m pytest -q -n $(JOBS) --dist loadfile

# Property tests with examples that no run has tried: `unit` tries the same ones every time.
search: .venv
	$(PY) -m pytest -q -n $(JOBS) -m hypothesis --hypothesis-profile=search

# The main job on real input: bot process, loopback Discord, embedded model. Fetches the model once.
e2e: .venv
	$(PY) -m tests.e2e

# MCP servers that others wrote, fetched once with npm into var/.
mcp: .venv
	$(PY) -m tests.mcp_servers

# The peers are fetched once, into .venv-bench.
bench: .venv
	@$(PY) -m benchmarks

# Breaks one rule of the parser at a time and looks whether its tests notice.
mutants: .venv
	$(PY) -m tests.mutants

# Phony: run.py knows whether there is anything to do.
.venv:
	@$(PYTHON) run.py --dev --install-only

# Needs uv; run after changing a pin in pyproject.toml. The runtime lock is the part of the first
# that starting the bot needs, in the same versions.
lock:
	uv pip compile --universal --generate-hashes --no-header --quiet --extra dev pyproject.toml -o requirements.lock
	uv pip compile --universal --generate-hashes --no-header --no-annotate --quiet --constraint requirements.lock pyproject.toml -o requirements-runtime.lock
	sed -n 's/^embedded = \["\(.*\)"\]$$/\1/p' pyproject.toml | uv pip compile --universal --generate-hashes --no-header --no-annotate --quiet - -o requirements-embedded.lock
	uv pip compile --universal --generate-hashes --no-header --no-annotate --no-deps --quiet --group bench -o requirements-bench.lock

clean:
	rm -rf .venv .venv-bench .pytest_cache .ruff_cache .hypothesis .import_linter_cache
