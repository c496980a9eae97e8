# Every target sets up all that it needs in $(VENV). Python >= 3.10 with its headers and its venv module, a C compiler and make must be there.

PYTHON ?= python3
VENV ?= .venv
ARGS ?=
# A worker that a test ends fails the run: pytest-xdist would wait for it without end.
WORKERS ?= --numprocesses auto --maxprocesses 8 --dist loadfile --max-worker-restart 0

BIN := $(VENV)/bin
VERSION := $(shell $(PYTHON) -c 'import sys; print("%d.%d.%d" % sys.version_info[:3])' 2>/dev/null)
listed = $(shell sed -n 's/^$(1) = \[\(.*\)\]/\1/p' pyproject.toml | tr -d ,)
COMPILED := $(shell find structperc plugins -name '*.pyx' -o -name '*.px[di]' -o -name '*.h')
PYTHON_SOURCES := $(shell find structperc plugins -name '*.py')

ifneq ($(words x$(VENV)x),1)
$(error VENV=$(VENV) has a space, which make cannot have in a name. Pass a name without one)
endif

export PIP_DISABLE_PIP_VERSION_CHECK := 1
unexport PYTHONDONTWRITEBYTECODE        # pytest rewrites 280 files of tests: once, not once per process

.PHONY: help demo test neighbours mutants fuzz torture races sanitize sanitized bench bench-compare reproduce-interval reproduce-kernel reproduce-ordinal reproduce-ranking reproduce-structures reproduce-all report docs browser fresh wheel test-wheel lint clean
.NOTPARALLEL:

help:
	@echo "make demo     train CuSum Rank and PRank on real data, with a picture"
	@echo "make test     run all tests                          make test ARGS='-k prank'"
	@echo "make neighbours   run the tests with other libraries: docs/ecosystem.md lists them"
	@echo "make mutants  a sample of faults, one at a time: which no test notices      make mutants ARGS='--count 20 --seed 1'"
	@echo "make fuzz     hostile input for every entry           make fuzz ARGS='--seconds 600 --jobs 2'"
	@echo "make torture  kill -9, Ctrl-C, full disks, threads    make torture ARGS=--full"
	@echo "make races    shards in threads under valgrind's helgrind: accesses to memory that no lock orders"
	@echo "make sanitize run all tests with checks of every access to memory   make sanitize ARGS='-k prank'"
	@echo "make bench    measure speed, beside other libraries  make bench ARGS=--quick"
	@echo "make bench-compare REF=COMMIT   time this checkout and another commit in turns: ratios with their spread"
	@echo "make reproduce-interval   repeat the published experiment with interval labels: tables, figures, which claims hold"
	@echo "make reproduce-kernel     kernels on the nine sets of the published experiment: mean errors beside support vector machines"
	@echo "make reproduce-ordinal    repeat the published experiments with boosting, learned features and large margins   ARGS=--quick"
	@echo "make reproduce-ranking    repeat the published experiment with latent rankings: precisions, training times, speed"
	@echo "make reproduce-structures link and group records, decide on paths by learned costs, label noisy pictures, find chunks: F1, regret, wrong pixels"
	@echo "make reproduce-all        every experiment and benchmark in order, with the time of each; an interrupted run goes on   ARGS=--list"
	@echo "make report   all results on one page, beside the papers' figures: build/report.html"
	@echo "make docs     build the documentation site into build/docs   make docs ARGS='-D plot_gallery=0'"
	@echo "make browser  look at every page in headless Chromium: errors, contrast, keyboard, width; needs node and npm"
	@echo "make fresh    README's first commands and blocks on new Debian systems, as a normal user; needs root and debootstrap   ARGS=--suite"
	@echo "make wheel    build the sources' archive, and from that a wheel that needs no compiler, into dist"
	@echo "make test-wheel   install that wheel alone, without a compiler, and run all tests on it"
	@echo "make lint     check the style of Python and Cython"
	@echo "make clean    remove everything that these have made"
	@echo "Another Python: make demo PYTHON=python3.12, kept beside the first with VENV=.venv-3.12. Another compiler: make demo CC=clang."

# What the archive of the sources lacks. What exists needs no recipe.
benchmarks tests/fresh.py tests/mutants.py tests/torture tests/races:
	@echo "make: $@ is in the repository of structperc, not in this archive of its sources" >&2; exit 1

demo: $(VENV)/with-cli
	$(BIN)/python -m structperc demo $(ARGS)

# As many workers as processors, each of one thread: threads of OpenMP and BLAS that wait for work spin.
test: export OMP_NUM_THREADS ?= 1
test: export OPENBLAS_NUM_THREADS ?= 1
test: $(VENV)/with-test
	$(BIN)/python -m pytest $(WORKERS) $(ARGS)

neighbours: $(VENV)/with-neighbours
	$(BIN)/python -m pytest -rs tests/test_ecosystem.py tests/estimators/test_tree_libraries.py $(ARGS)

mutants: tests/mutants.py $(VENV)/with-test
	$(BIN)/python tests/mutants.py $(ARGS)

fuzz: $(VENV)/with-test
	PYTHONPATH=tests $(BIN)/python -m fuzz $(ARGS)

torture: tests/torture $(VENV)/with-test
	PYTHONPATH=tests $(BIN)/python -m torture $(ARGS)

races: tests/races $(VENV)/with-test
	PYTHONPATH=tests PYTHONMALLOC=malloc OPENBLAS_NUM_THREADS=1 valgrind --tool=helgrind --quiet --fair-sched=yes --error-exitcode=1 \
	  --suppressions=tests/races/python.supp $(BIN)/python -m races

# All tests on modules that check every access to memory, and arithmetic without a meaning. The first finding ends the run: the compiler's
# report names the line, Python's stacks the test. The modules are installed in $(VENV)-sanitize: those of other targets stand beside the
# sources. gcc alone: the libraries of clang have other names. -O0, since -O1 takes seven times as long to compile.
sanitize:
	@$(MAKE) --no-print-directory VENV=$(VENV)-sanitize sanitized

SANITIZERS := -fsanitize=address,undefined,float-cast-overflow -fno-omit-frame-pointer -O0 -g
sanitized: $(VENV)/with-sanitizers
	cd $(VENV) && PYTHONMALLOC=malloc \
	  LD_PRELOAD="$$(gcc -print-file-name=libasan.so) $$(gcc -print-file-name=libubsan.so)" \
	  ASAN_OPTIONS=detect_leaks=0:abort_on_error=1:allocator_may_return_null=1 \
	  UBSAN_OPTIONS=halt_on_error=1:abort_on_error=1:print_stacktrace=1 \
	  bin/python -m pytest -rs --rootdir $(CURDIR) -c $(CURDIR)/pyproject.toml $(if $(findstring /tests/,$(ARGS)),,$(CURDIR)/tests) $(ARGS)

bench: benchmarks $(VENV)/with-bench
	$(BIN)/python benchmarks/run.py $(ARGS)

bench-compare: benchmarks $(VENV)/with-bench
	@test -n "$(REF)" || { echo "make: name the other commit: make bench-compare REF=main" >&2; exit 1; }
	$(BIN)/python benchmarks/compare.py --ref $(REF) $(ARGS)

reproduce-interval: benchmarks $(VENV)/with-bench
	$(BIN)/python benchmarks/reproduce_interval.py $(ARGS)

reproduce-kernel: benchmarks $(VENV)/with-bench
	$(BIN)/python benchmarks/reproduce_kernel.py $(ARGS)

reproduce-ordinal: benchmarks $(VENV)/with-bench
	$(BIN)/python benchmarks/reproduce_ordinal.py $(ARGS)

reproduce-ranking: benchmarks $(VENV)/with-bench
	$(BIN)/python benchmarks/reproduce_ranking.py $(ARGS)

reproduce-structures: benchmarks $(VENV)/with-bench
	$(BIN)/python benchmarks/linking.py $(ARGS)
	$(BIN)/python benchmarks/clustering.py $(ARGS)
	$(BIN)/python benchmarks/decisions.py $(ARGS)
	$(BIN)/python benchmarks/images.py $(ARGS)
	$(BIN)/python benchmarks/segments.py $(ARGS)
	$(BIN)/python benchmarks/log_loss.py $(ARGS)
	$(BIN)/python benchmarks/embeddings.py $(ARGS)
	$(BIN)/python benchmarks/updates.py $(ARGS)

reproduce-all: benchmarks $(VENV)/with-bench
	$(BIN)/python benchmarks/reproduce_all.py $(ARGS)

report: benchmarks $(VENV)/with-cli
	$(BIN)/python benchmarks/report.py $(ARGS)

docs: benchmarks $(VENV)/with-docs
	$(BIN)/python -m sphinx --quiet --fail-on-warning --keep-going -c docs -d build/doctrees . build/docs $(ARGS)
	@echo "The documentation is in build/docs/index.html."

browser: $(VENV)/with-cli
	PYTHONPATH=tests $(BIN)/python -m browser $(ARGS)

fresh: tests/fresh.py
	$(PYTHON) tests/fresh.py $(ARGS)

# The wheel is built from the sources' own archive, so nothing is missing there. What $(VENV) has compiled of the same sources is used.
wheel: $(VENV)/installed $(VENV)/with-wheel
	rm -rf $(VENV)/archive $(VENV)/wheel dist
	mkdir -p $(VENV)/archive
	$(BIN)/python -m build --quiet --no-isolation --sdist --outdir dist .
	tar -xzf dist/*.tar.gz -C $(VENV)/archive --strip-components 1
	@for file in $(COMPILED:structperc/include/abi.h=); do [ -e $(VENV)/archive/$$file ] || { echo "make: the archive lacks $$file" >&2; exit 1; }; done
	cp -p structperc/include/abi.h $(VENV)/archive/structperc/include
	mkdir $(VENV)/archive/build
	cp -Rp build/cython-* $(VENV)/build/lib $(VENV)/archive/build
	printf '[build]\nbuild_lib = build/lib\n' > $(VENV)/archive/build.cfg
	cd $(VENV)/archive && DIST_EXTRA_CONFIG=build.cfg ../bin/python -m build --quiet --no-isolation --wheel --outdir ../wheel .
	PATH="$(BIN):$$PATH" auditwheel repair --wheel-dir dist $(VENV)/wheel/*.whl

# The tests run in a folder without structperc, with a compiler that does not exist.
test-wheel: wheel
	$(PYTHON) -m venv --clear $(VENV)/alone
	CC=no-compiler $(VENV)/alone/bin/python -m pip install --quiet --no-compile "$$(echo dist/*.whl)[test]"
	cd $(VENV)/alone && CC=no-compiler bin/python -m pytest $(WORKERS) -rs --rootdir $(CURDIR) -c $(CURDIR)/pyproject.toml $(if $(findstring /tests/,$(ARGS)),,$(CURDIR)/tests) $(ARGS)

lint: $(VENV)/installed $(VENV)/with-lint
	$(BIN)/ruff check .
	PATH="$(BIN):$$PATH" cython-lint --max-line-length=140 structperc plugins examples
	$(BIN)/python tests/typing/stubs.py
	$(BIN)/python tests/typing/check.py
	$(BIN)/python tests/prose.py
	$(BIN)/check-jsonschema --builtin-schema vendor.github-workflows .github/workflows/*.yml
	$(BIN)/check-jsonschema --builtin-schema vendor.dependabot .github/dependabot.yml

clean:
	rm -rf .venv .venv-* build dist demo-output docs/reference docs/gallery *.egg-info .pytest_cache .ruff_cache .hypothesis
	find structperc plugins -name '*.so' -delete
	find . -name __pycache__ -prune -exec rm -rf {} +

# structperc itself, editable. Compiles only what has changed: setuptools keeps what it has built where build.cfg says, also from one pip to
# the next. pip shows nothing of a build, so the modules are counted meanwhile. Python compiles what it imports of the libraries.
# structperc.pth: scripts in the folder above find the package, not this clone of the same name as a namespace. It is ASCII in any folder:
# older Pythons read it in the locale's encoding, and do not start where that fails.
ON_PATH := 'import sys, sysconfig; open(sysconfig.get_path("purelib") + "/structperc.pth", "w").write(f"import sys; sys.path += {sys.argv[1:]!a}\n")'
MODULES := $(words $(filter %.pyx,$(COMPILED)) shared)
with_progress = touch $@-begun; \
  (count() { find $$1 -name "*.$$2" -newer $@-begun 2>/dev/null | wc -l | tr -d ' '; }; seconds=0; \
   while sleep 1 && kill -0 $$$$ 2>/dev/null; do seconds=$$((seconds + 1)); [ $$((seconds % 8)) -ne 0 ] || \
     echo "  $$seconds s: $$(count build c) modules translated to C, $$(count $(VENV)/build/temp o) compiled ($(MODULES) in all)"; done) 9>&- & \
  counter=$$!;

# One make at a time installs in this folder; the other waits. dash runs no trap of EXIT when a signal ends it.
# A signal to make alone does not reach pip: the shell ends its group, compilers included.
alone = @mkdir -p build; exec 9>build/install.lock; \
  ! command -v flock >/dev/null || flock -n 9 || { echo "Another make installs in this folder; waiting for it ..."; flock 9; }; \
  counter=; pip=; \
  trap 'kill $$counter 2>/dev/null; [ -z "$$pip" ] || kill -- -$$pip 2>/dev/null' EXIT; trap 'exit 130' INT; trap 'exit 143' TERM HUP;

# pip in a group of its own, so that a signal ends it at once; one sentence after pip's own.
GROUP := 'import os, signal, sys; os.setpgid(0, 0); signal.signal(signal.SIGINT, signal.SIG_DFL); os.execv(sys.executable, [sys.executable, *sys.argv[1:]])'
define pip
{ $(1) $(BIN)/python -c $(GROUP) -m pip install --quiet $(2) 9>&- & pip=$$!; wait $$pip || { status=$$?; pip=; \
  echo "make: pip failed; its reason is above. Without a network, or behind a proxy, pip finds no package: check the connection," \
       "or name a mirror: PIP_INDEX_URL=https://..." >&2; exit $$status; }; pip=; }
endef

# What the modules in $(VENV) are compiled with: other flags or another compiler compile them again.
FLAGS := $(origin CC) $(CC) $(CFLAGS) $(STRUCTPERC_FLAGS)
$(VENV)/flags: $(VENV)/python-$(VERSION) always
	@[ "$$(cat $@ 2>/dev/null)" = "$(FLAGS)" ] || echo "$(FLAGS)" > $@
.PHONY: always
always:

$(VENV)/installed: $(VENV)/python-$(VERSION) $(VENV)/flags pyproject.toml setup.py $(COMPILED)
	@echo "Installing structperc into $(VENV) (compiling it for the first time takes two to five minutes) ..."
	$(alone) $(with_progress) \
	  $(call pip,DIST_EXTRA_CONFIG=$(VENV)/build.cfg,--no-compile --no-build-isolation --editable .) && \
	  $(BIN)/python -c $(ON_PATH) "$(CURDIR)" "$(CURDIR)/plugins" && touch $@

# The libraries of one extra: structperc itself is used as it is installed.
$(VENV)/with-%: $(VENV)/installed
	@echo "Installing the libraries of structperc[$*] into $(VENV) ..."
	$(alone) $(call pip,,--no-compile 'structperc[$*]') && touch $@

$(VENV)/with-sanitizers: $(VENV)/python-$(VERSION) pyproject.toml setup.py $(COMPILED) $(PYTHON_SOURCES)
	@echo "Installing structperc[test] with checks into $(VENV) (compiling it for the first time takes several minutes) ..."
	@printf '[build]\nbuild_base = $(VENV)/build\n' > $(VENV)/build.cfg
	$(alone) $(call pip,CC=gcc STRUCTPERC_FLAGS="$(SANITIZERS)" DIST_EXTRA_CONFIG=$(VENV)/build.cfg,--no-compile --no-build-isolation '.[test]') && touch $@

$(VENV)/with-lint $(VENV)/with-wheel: $(VENV)/with-%: $(VENV)/python-$(VERSION) pyproject.toml
	$(alone) $(call pip,,$(call listed,$*)) && touch $@

# What compiling needs.
define check_compiler
compiler=$$($(PYTHON) -c 'import os, sysconfig; print((os.environ.get("CC") or sysconfig.get_config_var("CC") or "cc").split()[0])'); \
	command -v "$$compiler" >/dev/null || { missing="$$missing build-essential"; \
	  echo "make: there is no C compiler '$$compiler'. Install one, or name yours: make CC=clang" >&2; }; \
	$(PYTHON) -c 'import os, sys, sysconfig; sys.exit(not os.path.exists(sysconfig.get_path("include") + "/Python.h"))' || { \
	  missing="$$missing python3-dev"; echo "make: '$(PYTHON)' lacks Python.h, which compiling needs. Install its headers." >&2; };
endef

$(VENV)/python-$(VERSION):
	@test -n "$(VERSION)" || { \
	  echo "make: '$(PYTHON)' is no Python that runs here. Install Python 3.10 or newer, or name yours: make PYTHON=/path/to/python3" >&2; \
	  exit 1; }
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 10))' || { \
	  echo "make: structperc needs Python 3.10 or newer, but '$(PYTHON)' is $(VERSION). Name a newer one: make PYTHON=python3.12" >&2; \
	  exit 1; }
	@missing=; \
	$(check_compiler) \
	$(PYTHON) -c 'import ensurepip, venv' 2>/dev/null || { missing="$$missing python3-venv"; \
	  echo "make: '$(PYTHON)' cannot make virtual environments. Install its venv module." >&2; }; \
	[ -z "$$missing" ] || { \
	  echo "make: on Debian and Ubuntu, apt install$$missing gives all that is missing; on macOS, xcode-select --install." >&2; exit 1; }
	$(alone) [ ! -e $@ ] || exit 0; \
	echo "Making $(VENV) with Python $(VERSION) ..."; \
	$(PYTHON) -m venv --clear $(VENV) && \
	$(call pip,,$(call listed,requires)) && \
	printf '[build_ext]\nbuild_lib = $(VENV)/build/lib\nbuild_temp = $(VENV)/build/temp\n' > $(VENV)/build.cfg && touch $@
