# stepviz: `make lab` to use it, `make test` to check it. Both set up all they need, again and again.

PORT     ?= 8888
LAB_ARGS ?=
TORCH    ?= torch==2.13.0

# The first Python on PATH that is new enough; PYTHON=... chooses another.
new_enough = $(shell $(1) -c 'import sys; sys.version_info < (3, 11) or print(sys.executable)' 2>&-)
ifndef PYTHON
PYTHON := $(foreach p,python3 python3.14 python3.13 python3.12 python3.11,$(call new_enough,$(p)))
PYTHON := $(or $(firstword $(PYTHON)),python3)
endif

START_NOTEBOOK := notebooks/01_a_step_is_a_graph.ipynb
FRONTEND       := stepviz/widgets/frontend
AS_ROOT        := $(if $(filter 0,$(shell id -u)),--allow-root)
NPM_RUN        := npm --prefix $(FRONTEND) run --silent
FAST           := not slow and not lab and not alone

export PATH := $(CURDIR)/.venv/bin:$(PATH)

.PHONY: help lab test test-fast lint docs notebooks bundle clean setup-lab setup-test

help:
	@echo "make lab        open the start notebook in JupyterLab (PORT=8888, LAB_ARGS=--no-browser)"
	@echo "make test       all checks and tests (TORCH=torch==2.13.0 chooses the torch)"
	@echo "make test-fast  the tests that take less than five minutes together"
	@echo "make lint       style, types and layers only"
	@echo "make docs       build the guides and the API reference into build/docs"
	@echo "make bundle     rebuild the front end's bundle"
	@echo "make notebooks  bring the notebooks and their texts in step"
	@echo "make clean      remove what set-up and tests made"

lab: setup-lab
	jupyter lab $(AS_ROOT) --port $(PORT) --ServerApp.root_dir=. \
	  --LabApp.default_url=/lab/tree/$(START_NOTEBOOK) $(LAB_ARGS)

# In two parts: what measures time, or drives a JupyterLab, shares the machine with nothing.
test: lint
	npm --prefix $(FRONTEND) test --silent
	python -m pytest -n 2 -m "not alone"
	python -m pytest -m alone

test-fast: setup-test
	python -m pytest -n 2 -m "$(FAST)"

lint: setup-test
	ruff check .
	ruff format --check .
	mypy
	lint-imports
	$(NPM_RUN) check

docs: setup-test
	python -m tools.build_docs

bundle: setup-test
	$(NPM_RUN) build

notebooks: setup-test
	python -m tools.sync_notebooks

clean:
	rm -rf .venv build dist $(FRONTEND)/node_modules
	rm -rf .pytest_cache .mypy_cache .ruff_cache .import_linter_cache .hypothesis screenshots

setup-lab:
	@$(PYTHON) tools/setup_env.py lab

setup-test:
	@$(PYTHON) tools/setup_env.py test --torch '$(TORCH)'
	@python -m tools.setup_browser
	@python -m tools.setup_frontend
