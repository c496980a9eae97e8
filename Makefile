# Every target sets up all that it needs in .venv; only Python >= 3.10, a C compiler and make must be there.

PYTHON ?= python3
ARGS ?=

BIN := .venv/bin
VERSION := $(shell $(PYTHON) -c 'import sys; print("%d.%d.%d" % sys.version_info[:3])' 2>/dev/null)
listed = $(shell sed -n 's/^$(1) = \[\(.*\)\]/\1/p' pyproject.toml | tr -d ,)
COMPILED := $(shell find structperc plugins -name '*.pyx' -o -name '*.pxd' -o -name '*.h')

export PIP_DISABLE_PIP_VERSION_CHECK := 1

.PHONY: help demo test bench reproduce-interval reproduce-kernel reproduce-ranking lint clean
.NOTPARALLEL:

help:
	@echo "make demo     train CuSum Rank and PRank on real data, with a picture"
	@echo "make test     run all tests                          make test ARGS='-k prank'"
	@echo "make bench    measure speed, beside other libraries  make bench ARGS=--quick"
	@echo "make reproduce-interval   repeat the published experiment with interval labels: tables, figures, which claims hold"
	@echo "make reproduce-kernel     kernels on the nine sets of the published experiment: mean errors beside support vector machines"
	@echo "make reproduce-ranking    repeat the published experiment with latent rankings: precisions, training times, speed"
	@echo "make lint     check the style of Python and Cython"
	@echo "make clean    remove everything that these have made"
	@echo "Another Python: make demo PYTHON=python3.12. Another compiler: make demo CC=clang."

demo: .venv/with-cli
	$(BIN)/python examples/demo.py $(ARGS)

test: .venv/with-test
	$(BIN)/python -m pytest $(ARGS)

bench: .venv/with-bench
	$(BIN)/python benchmarks/run.py $(ARGS)

reproduce-interval: .venv/with-bench
	$(BIN)/python benchmarks/reproduce_interval.py $(ARGS)

reproduce-kernel: .venv/with-bench
	$(BIN)/python benchmarks/reproduce_kernel.py $(ARGS)

reproduce-ranking: .venv/with-bench
	$(BIN)/python benchmarks/reproduce_ranking.py $(ARGS)

lint: .venv/with-lint
	$(BIN)/ruff check .
	$(BIN)/cython-lint --max-line-length=140 structperc plugins examples

clean:
	rm -rf .venv build demo-output *.egg-info .pytest_cache .ruff_cache .hypothesis
	rm -f $(wildcard $(patsubst %.pyx,%.c,$(filter %.pyx,$(COMPILED))) $(patsubst %.pyx,%.*.so,$(filter %.pyx,$(COMPILED))))
	find . -name __pycache__ -prune -exec rm -rf {} +

# structperc itself, editable, and the libraries of one extra. Compiles only what has changed: setuptools keeps what it has built where
# build.cfg says, also from one pip to the next.
.venv/with-%: .venv/python-$(VERSION) pyproject.toml setup.py $(COMPILED)
	@echo "Installing structperc[$*] into .venv (compiling it for the first time takes a minute or two) ..."
	@DIST_EXTRA_CONFIG=.venv/build.cfg $(BIN)/python -m pip install --quiet --no-build-isolation --editable '.[$*]'
	@touch $@

.venv/with-lint: .venv/python-$(VERSION) pyproject.toml
	@$(BIN)/python -m pip install --quiet $(call listed,lint)
	@touch $@

.venv/python-$(VERSION):
	@test -n "$(VERSION)" || { \
	  echo "make: '$(PYTHON)' is no Python that runs here. Install Python 3.10 or newer, or name yours: make PYTHON=/path/to/python3" >&2; \
	  exit 1; }
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 10))' || { \
	  echo "make: structperc needs Python 3.10 or newer, but '$(PYTHON)' is $(VERSION). Name a newer one: make PYTHON=python3.12" >&2; \
	  exit 1; }
	@compiler=$$($(PYTHON) -c 'import os, sysconfig; print((os.environ.get("CC") or sysconfig.get_config_var("CC") or "cc").split()[0])'); \
	command -v "$$compiler" >/dev/null || { \
	  echo "make: there is no C compiler '$$compiler'. Install one (Debian: apt install build-essential; macOS: xcode-select --install)," \
	       "or name yours: make CC=clang" >&2; \
	  exit 1; }
	@$(PYTHON) -c 'import os, sys, sysconfig; sys.exit(not os.path.exists(sysconfig.get_path("include") + "/Python.h"))' || { \
	  echo "make: '$(PYTHON)' lacks Python.h, which compiling needs. Install its headers (Debian: apt install python3-dev)." >&2; \
	  exit 1; }
	@echo "Making .venv with Python $(VERSION) ..."
	@$(PYTHON) -m venv --clear .venv || { \
	  echo "make: '$(PYTHON)' cannot make virtual environments. Install its venv module (Debian: apt install python3-venv)." >&2; \
	  exit 1; }
	@$(BIN)/python -m pip install --quiet $(call listed,requires)
	@$(BIN)/python -c 'import os; print("[build_ext]\nbuild_lib = .venv/build/lib\nbuild_temp = .venv/build/temp\nparallel =", os.cpu_count())' \
	  > .venv/build.cfg
	@touch $@
