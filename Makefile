# Every command needs nothing but Python 3.11 or newer, pip and make: `.venv` is made on the first call.

.DEFAULT_GOAL := help
.PHONY: help setup run test check bench e2e lock clean

VENV := .venv
PY := $(VENV)/bin/python
INSTALLED := $(VENV)/.installed
PACKAGES := completion_server speculative lsp bench

help: ## this list
	@sed -n 's/^\([a-z0-9]*\):.*## \(.*\)/  make \1\t\2/p' $(MAKEFILE_LIST) | expand -t 16

# Only a changed lock or pyproject.toml calls pip again.
$(INSTALLED): requirements/lock.txt pyproject.toml scripts/install
	@scripts/install $(VENV)
	@touch $@

setup: $(INSTALLED) ## make .venv, install pinned versions, fetch the embedded model
	@$(VENV)/bin/foretype pull embedded

run: setup ## type through a real file with the embedded model and show the suggestions
	@$(VENV)/bin/foretype demo

test: setup ## all tests
	@scripts/test-clients
	@$(PY) -m pytest

check: $(INSTALLED) ## lint, formatting and types; never edits
	@$(PY) -m ruff check .
	@$(PY) -m ruff format --check .
	@$(PY) -m mypy $(addprefix -p ,$(PACKAGES))

bench: setup ## typing real code through the language server, and decoding speed, with the embedded model
	@$(PY) -m bench.replay --pair embedded
	@$(PY) -m bench.engine --pair embedded

e2e: setup ## the whole path, and the real editors at their keyboards (fetched into ~/.cache/foretype-editors)
	@FORETYPE_E2E=1 $(PY) -m pytest tests/e2e tests/editors

lock: ## resolve requirements/lock.txt anew, with the newest versions that pyproject.toml allows
	@scripts/lock

clean: ## remove .venv, caches and builds (the pulled models stay)
	@rm -rf $(VENV) build dist .pytest_cache .mypy_cache .ruff_cache .hypothesis .benchmarks *.egg-info
	@find . -name __pycache__ -type d -not -path './editor-clients/*/node_modules/*' -prune -exec rm -rf {} +
