# Two commands are enough: `make book` and `make test`. Each installs what it needs, once, into .venv, or into an
# environment that you have: `make book VENV="$CONDA_PREFIX"`.
PYTHON ?= python3
VENV ?= .venv
JOBS ?= 2
# A browser test mostly waits for its page: four processes keep two cores busy.
TEST_JOBS ?= 4
TESTS ?= tests book
BASE ?= HEAD
PORT ?= 8000

BIN := $(VENV)/bin
PAGES := book/annotated_book
INSTALLED := $(VENV)/.installed
TORCHTEXT := .venv-torchtext
TORCHTEXT_INSTALLED := $(TORCHTEXT)/.installed
CUDA := .venv-cuda
CUDA_INSTALLED := $(CUDA)/.installed
# What takes minutes is marked `slow`, and its folder says which gate runs it. Files are found by their text: pytest
# would import all tests to leave out most.
marked = $(shell grep -rlE --include='test_*.py' 'pytest\.mark\.$(1)\b' tests book)
SLOW = $(call marked,slow)
SLOW_LAB = $(filter book/%,$(SLOW))
SLOW_EXERCISES = $(filter tests/grader/%,$(SLOW))
SLOW_RUNS = $(filter-out $(SLOW_LAB) $(SLOW_EXERCISES),$(SLOW))
PYTEST = OMP_NUM_THREADS=1 $(BIN)/python -m pytest
# Python compiles a module when it is first imported; most never are.
PIP_OPTIONS := --quiet --disable-pip-version-check --no-input --root-user-action=ignore --retries 10 --no-compile

# After installation nothing needs the network, and these make sure that nothing asks for it.
export HF_HUB_OFFLINE := 1
export HF_HUB_DISABLE_TELEMETRY := 1
# Idle OpenMP threads sleep instead of spinning: several processes share two cores.
export OMP_WAIT_POLICY := passive
export PYDEVD_DISABLE_FILE_VALIDATION := 1
# A module is compiled once, and so are the asserts of a test, also where a container's image forbids it.
export PYTHONDONTWRITEBYTECODE :=

.PHONY: help install book known-chapter chapter watch check pages test lab full-run nightly torchtext-test gpu-aot exercises lint format release-check benchmark classroom classroom-wide pdf serve clean distclean

help:  ## show this list
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):.*## /  make \1|/' | column -t -s '|'

install: $(INSTALLED)  ## create .venv and install the library with the extras book, dev, export and moses, the grader and the book

$(INSTALLED): pyproject.toml grader/pyproject.toml book/pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys; sys.version_info >= (3, 11) or sys.exit("Python 3.11 or newer is needed, this is " + sys.version.split()[0] + "; try: make PYTHON=python3.11")'
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install $(PIP_OPTIONS) -c constraints.txt -e '.[book,dev,export,moses]' -e ./grader -e ./book
	@touch $@

book: $(INSTALLED)  ## build the book into _build/html: every notebook runs, every warning is an error
	@rm -rf _build/html  # pages that are no longer in the book
	$(BIN)/jupyter-book build $(PAGES) --all -W -n --keep-going \
	  --config $(CURDIR)/_config.yml --toc $(CURDIR)/_toc.yml --path-output $(CURDIR)

# Before anything is installed. Sphinx would report a page that it does not find as a traceback.
known-chapter:
	@test -f '$(PAGES)/$(CHAPTER).md' -o -f '$(PAGES)/$(CHAPTER)/$(notdir $(CHAPTER)).md' || { echo '$(if $(CHAPTER),There is no page $(CHAPTER).) Type make chapter CHAPTER=... with one of:'; \
	  sed -nE '/reference\/api/d; s/^(root| *- file): */  /p' _toc.yml; exit 1; }

chapter: known-chapter $(INSTALLED)  ## build one chapter alone, quickly: make chapter CHAPTER=attention/masks
	@mkdir -p build/chapters/$(CHAPTER)
	@printf 'format: jb-book\nroot: $(CHAPTER)\n' > build/chapters/$(CHAPTER)/_toc.yml
	$(BIN)/jupyter-book build $(PAGES) --all \
	  --config $(CURDIR)/_config.yml --toc $(CURDIR)/build/chapters/$(CHAPTER)/_toc.yml \
	  --path-output $(CURDIR)/build/chapters/$(CHAPTER)
	@echo "open build/chapters/$(CHAPTER)/_build/html/$(CHAPTER).html"

watch: known-chapter $(INSTALLED)  ## build one chapter alone, and again whenever a file is saved: make watch CHAPTER=attention/masks
	$(BIN)/python book/_ext/page_kit/tools/watch.py $(CHAPTER)

check: $(INSTALLED)  ## test what the changes of the working tree can reach (BASE=main: what the branch changed)
	$(BIN)/python -m tests.reach --run --base $(BASE)

# `make test` opens one page of each kind, with axe and charts drawn wide; `make lab` opens the others without; this all
# on all.
pages: $(INSTALLED)  ## look at every page of the built book in a browser, with axe, wide and narrow, light and dark
	@test -f _build/html/index.html || { echo "no book yet: run make book first"; exit 1; }
	$(PYTEST) -n $(TEST_JOBS) book/tests/test_pages.py

test: $(INSTALLED)  ## run the tests, but for those that take minutes (TEST_JOBS=4 processes, TESTS=tests/model some alone)
	$(PYTEST) -n $(TEST_JOBS) -m "not slow and not nightly" $(TESTS)

lab: $(INSTALLED)  ## run chapters in a real JupyterLab, with charts and live panels; open every page; the book's long tests (JOBS=2)
	$(PYTEST) -n $(JOBS) -m "slow and not nightly" $(SLOW_LAB)

full-run: $(INSTALLED)  ## put the full run and the commands through their faults: kills, restarts, a host cut off, full disks (JOBS=2)
	$(PYTEST) -n $(JOBS) -m "slow and not nightly" $(SLOW_RUNS)

nightly: $(INSTALLED)  ## run what no commit waits for: the same tests with more cases, every chapter in JupyterLab, every look, mutants
	@test -f _build/html/index.html || { echo "no book yet: run make book first"; exit 1; }
	$(PYTEST) -n $(JOBS) -m nightly $(call marked,nightly)
	OMP_NUM_THREADS=1 $(BIN)/annotated exercise verify --mutants --jobs $(JOBS)

# The last release of torchtext needs torch 2.3.1: an environment of its own, with the other pins shared.
$(TORCHTEXT_INSTALLED): pyproject.toml constraints.txt
	test -x $(TORCHTEXT)/bin/python || $(PYTHON) -m venv $(TORCHTEXT)
	{ grep -vE '^(torch|numpy|pandas)==' constraints.txt; printf '%s\n' numpy==1.26.4 pandas==2.3.3; } > $(TORCHTEXT)/constraints.txt
	$(TORCHTEXT)/bin/python -m pip install $(PIP_OPTIONS) -c $(TORCHTEXT)/constraints.txt -e '.[torchtext]' pytest pytest-xdist hypothesis
	@touch $@

# The same environment has the oldest torch that we support, so the tests of model, decoder and files run there too.
torchtext-test: $(TORCHTEXT_INSTALLED)  ## test the bridge to torchtext, and the oldest torch, in their own environment
	OMP_NUM_THREADS=1 ANNOTATED_REQUIRE_TORCHTEXT=1 $(TORCHTEXT)/bin/python -m pytest -n $(JOBS) \
	  -m "not slow and not nightly" tests/model tests/decoding tests/speed/kernels tests/speed/layouts $(call marked,oldest_torch)

# The index's own wheel for Linux is the CUDA build; the third `=` keeps out a wheel with a build tag, such as +cpu.
$(CUDA_INSTALLED): pyproject.toml constraints.txt
	test -x $(CUDA)/bin/python || $(PYTHON) -m venv $(CUDA)
	$(CUDA)/bin/python -m pip install $(PIP_OPTIONS) -c constraints.txt -e . "$$(sed -n 's/^torch==/torch===/p' constraints.txt)"
	@touch $@

gpu-aot: $(CUDA_INSTALLED)  ## compile the training step for GPUs without having one, and read the generated code: 5 GB, five minutes
	OMP_NUM_THREADS=1 $(CUDA)/bin/python -m benchmarks gpu-aot

exercises: $(INSTALLED)  ## hold every exercise, the doctor's bank of wrong Transformers and the grader's sandbox to their rules
	OMP_NUM_THREADS=1 $(BIN)/annotated exercise verify --all --jobs $(JOBS)
	$(PYTEST) -n $(JOBS) -m "slow and not nightly" $(SLOW_EXERCISES)

lint: $(INSTALLED)  ## check style, types, walls between the parts (.importlinter) and the rules of the house
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/oxlint $(PAGES) book/_assets
	$(BIN)/zizmor --offline --no-progress --quiet .github
	$(BIN)/lint-imports --no-logo --cache-dir build/imports
	$(BIN)/python -m tests.house_rules
	$(BIN)/mypy

format: $(INSTALLED)  ## rewrite the code in the house style
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

release-check: $(INSTALLED)  ## build the wheels into dist/ and try them as a stranger gets them
	rm -rf dist
	PYTHONPATH=book/_ext $(BIN)/python -c 'from pathlib import Path; from page_kit.delivery import downloads; downloads.build_wheels(Path("dist"))'
	rm dist/digest
	$(PYTEST) tests/test_project.py book/tests/test_downloads.py

benchmark: $(INSTALLED)  ## measure speed and memory beside peers: one short round (benchmarks/README.md has the rest)
	$(BIN)/python -m benchmarks quick

# The model that the package ships; half an hour. Another machine, torch or version of the loss rounds differently and
# gives other weights, and then the book's chapter on heads may ask for new numbers.
classroom: $(INSTALLED)  ## train the classroom model again and put it into the package
	OMP_NUM_THREADS=1 $(BIN)/annotated train build/classroom --preset classroom
	mkdir -p annotated/assets/classroom
	cp build/classroom/model/* build/classroom/log.jsonl annotated/assets/classroom/

# The model of everyday English; four hours of two cores. What it is trained on is written first, in five minutes.
classroom-wide: $(INSTALLED)  ## train the model of everyday English again and put it into the package
	test -d data/classroom-wide || $(BIN)/annotated data classroom data/classroom-wide --wide --classroom-pairs 1000000
	$(BIN)/annotated train build/classroom-wide --preset classroom-wide
	$(BIN)/annotated average build/classroom-wide build/classroom-wide/int8 --int8
	mkdir -p annotated/assets/classroom-wide
	cp build/classroom-wide/int8/* build/classroom-wide/log.jsonl annotated/assets/classroom-wide/

pdf:  ## print the built book into _build/book.pdf
	@test -f _build/html/index.html || { echo "no book yet: run make book first"; exit 1; }
	$(BIN)/python book/_ext/page_kit/tools/pdf.py _build/html _build/book.pdf

serve:  ## read the built book at http://localhost:8000
	@test -f _build/html/index.html || { echo "no book yet: run make book first"; exit 1; }
	@echo "http://localhost:$(PORT)"
	@$(PYTHON) -m http.server $(PORT) --bind 127.0.0.1 --directory _build/html

clean:  ## remove what was built, keep the environments
	rm -rf _build build dist *.egg-info grader/build grader/dist grader/*.egg-info book/build book/dist book/*.egg-info .pytest_cache .hypothesis .mypy_cache .ruff_cache
	find . -name __pycache__ -not -path './.venv*' -type d -prune -exec rm -rf {} +

distclean: clean  ## remove the environments too, but none of your own (VENV=...)
	rm -rf .venv $(TORCHTEXT) $(CUDA)
