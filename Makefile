# Two commands matter: `make book` and `make test`. Both set up .venv when it is not there yet.
.DEFAULT_GOAL := help
.PHONY: help setup book test serve execute lint format clean

# The newest supported Python on the PATH, unless you name one: make book PYTHON=python3.12
PYTHON ?= $(shell for p in python3 python3.13 python3.12 python3.11; do \
	$$p -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && echo $$p && break; done)
VENV   := .venv
BIN    := $(VENV)/bin
OUT    := _build
PORT   ?= 8000
READY  := $(VENV)/.ready
# Two processes share the work; inside one, numerical libraries keep to a single thread.
export OMP_NUM_THREADS ?= 1
export OPENBLAS_NUM_THREADS ?= 1

help:  ## list the commands
	@grep -hE '^[a-z]+:.*## ' $(MAKEFILE_LIST) | sed 's/:.*## /\t/' | expand -t 10

setup: $(READY)  ## create .venv and install everything

$(READY): pyproject.toml requirements.txt constraints.txt
	@test -n "$(PYTHON)" || { echo "Python 3.11 or newer is needed: install it, or say make PYTHON=/path/to/python"; exit 1; }
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -r requirements.txt
	@touch $@

book: $(READY)  ## build the book, strictly, to _build/html
	$(BIN)/jupyter-book build . --all -W -n --keep-going -q --path-output .
	@echo "The book is ready: open $(CURDIR)/$(OUT)/html/index.html"

test: $(READY)  ## unit tests, checks of the book, and every chapter re-run by nbval
	$(BIN)/python -m pytest -n 2 --dist loadfile --nbval-lax tests book

serve: book  ## build, then serve on localhost
	$(BIN)/python -m http.server $(PORT) --bind 127.0.0.1 --directory $(OUT)/html

execute: $(READY)  ## re-run chapters in place from a clean kernel (CHAPTERS="a.ipynb b.ipynb" for some)
	$(BIN)/python book/_tools/execute.py $(CHAPTERS)

lint: $(READY)  ## ruff over code and notebooks
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

format: $(READY)  ## let ruff mend what it can
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

clean:  ## remove the built book (keeps .venv)
	rm -rf $(OUT)
