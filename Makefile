# Two commands do everything: `make demo` and `make test`.
PY ?= python3
VENV := .venv
BIN := $(VENV)/bin
RUN_STAMP := $(VENV)/.run-stamp
DOCUMENTS_STAMP := $(VENV)/.documents-stamp
DEV_STAMP := $(VENV)/.dev-stamp
DOCS_STAMP := $(VENV)/.docs-stamp
DEPLOY_STAMP := $(VENV)/.deploy-stamp
MODEL_SERVER_STAMP := $(VENV)/.model-server-stamp
ARGS ?=
# More processes than two processors: tests wait for servers, browsers and other processes.
WORKERS ?= 4

# What one process has compiled the next need not compile again: the tests start many of them.
export PYTHONDONTWRITEBYTECODE :=

.PHONY: demo test coverage check package check-package check-deploy audit sbom newcomer format bench nightly docs
.PHONY: reference catalogues lock clean

demo: $(DOCUMENTS_STAMP)
	$(BIN)/parley demo $(ARGS)

test: $(DEV_STAMP)
	$(BIN)/python -m pytest -n $(WORKERS) --dist loadgroup -m "not nightly" $(ARGS)

coverage: $(DEV_STAMP)
	$(BIN)/python -m pytest -n $(WORKERS) --dist loadgroup -m "not nightly" --cov --cov-report=term:skip-covered $(ARGS)

check: $(DEV_STAMP)
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports

# docs/how-to/make-a-release.md describes the next five.
package: $(DEV_STAMP)
	$(BIN)/python -m release.build

check-package: $(DEV_STAMP)
	$(BIN)/python -m release.check_package

audit: $(DEV_STAMP)
	$(BIN)/python -m release.audit

sbom: $(DEV_STAMP)
	$(BIN)/python -m release.sbom

newcomer: $(DEV_STAMP)
	$(BIN)/python -m release.newcomer $(ARGS)

check-deploy: $(DEV_STAMP) $(DEPLOY_STAMP)
	$(BIN)/python -m deploy.check $(ARGS)

format: $(DEV_STAMP)
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

bench: $(DEV_STAMP)
	$(BIN)/python -m benchmarks $(ARGS)

nightly: $(DEV_STAMP) $(MODEL_SERVER_STAMP)
	$(BIN)/python -m pytest -n 2 --timeout 1800 -m "nightly or hypothesis" $(ARGS)
	PARLEY_NEW_INTERPRETERS=1 $(BIN)/python -m pytest -n 2 -m "not nightly" tests/parley/cli
	$(BIN)/python -m benchmarks soak outages twice million agents

docs: $(DOCS_STAMP)
	$(BIN)/python -m docs_site

reference: $(RUN_STAMP)
	$(BIN)/python -m docs_site.reference

catalogues: $(DEV_STAMP)
	$(BIN)/python -m translation
	$(BIN)/python -m docs_site.reference

LOCK = $(BIN)/uv pip compile --universal --generate-hashes --no-emit-index-url --no-annotate --custom-compile-command "make lock" -q

lock: $(VENV)/bin/uv
	$(LOCK) pyproject.toml -o requirements/runtime.lock
	$(LOCK) pyproject.toml --group dev -c requirements/runtime.lock -o requirements/dev.lock
	$(LOCK) pyproject.toml --extra documents -c requirements/dev.lock -o requirements/documents.lock
	$(LOCK) pyproject.toml --extra documents --extra openai -c requirements/dev.lock -o requirements/openai.lock
	$(LOCK) pyproject.toml --extra documents --extra openai --extra models -c requirements/dev.lock -o requirements/models.lock
	$(LOCK) pyproject.toml --extra otel -c requirements/dev.lock -o requirements/otel.lock
	$(LOCK) pyproject.toml --extra voice -c requirements/dev.lock -o requirements/voice.lock
	$(LOCK) --group build -o requirements/build.lock
	$(LOCK) --group deploy -o requirements/deploy.lock
	$(LOCK) --group model-server -c requirements/dev.lock -o requirements/model-server.lock
	$(LOCK) --group docs -c requirements/dev.lock -o requirements/docs.lock

$(VENV)/bin/uv:
	$(PY) -c 'import sys; sys.exit("Parley needs Python 3.11 or newer; this is " + sys.version.split()[0] + ". Try: make PY=python3.12 ...") if sys.version_info < (3, 11) else None'
	$(PY) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check "uv>=0.9"

$(RUN_STAMP): $(VENV)/bin/uv requirements/runtime.lock pyproject.toml
	$(BIN)/uv pip install --quiet --require-hashes -r requirements/runtime.lock
	$(BIN)/uv pip uninstall --quiet parley  # the distribution's name before parley-gateway
	$(BIN)/uv pip install --quiet --no-deps -e .
	@touch $@

$(DOCUMENTS_STAMP): $(RUN_STAMP) requirements/documents.lock
	$(BIN)/uv pip install --quiet --require-hashes -r requirements/documents.lock
	@touch $@

$(DEV_STAMP): $(RUN_STAMP) requirements/dev.lock
	$(BIN)/uv pip install --quiet --require-hashes -r requirements/dev.lock
	@touch $@

$(DOCS_STAMP): $(RUN_STAMP) requirements/docs.lock
	$(BIN)/uv pip install --quiet --require-hashes -r requirements/docs.lock
	@touch $@

# There are wheels for some systems only; elsewhere the tests with a real model server are skipped.
$(MODEL_SERVER_STAMP): $(DEV_STAMP) requirements/model-server.lock
	-$(BIN)/uv pip install --quiet --only-binary :all: --require-hashes -r requirements/model-server.lock
	@touch $@

$(DEPLOY_STAMP): $(VENV)/bin/uv requirements/deploy.lock
	$(BIN)/uv venv --quiet --clear $(VENV)/deploy-tools
	$(BIN)/uv pip install --quiet --require-hashes --python $(VENV)/deploy-tools/bin/python -r requirements/deploy.lock
	@touch $@

clean:
	rm -rf $(VENV) dist .pytest_cache .mypy_cache .ruff_cache .hypothesis .import_linter_cache .coverage .coverage.*
