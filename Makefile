# Each target does its own set-up in .venv; it needs Python 3.11+ and make.
.DEFAULT_GOAL := help
.PHONY: help demo test test-long test-mutations lint bench bench-scale accuracy two-engines dagster clean

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready
UI := $(VENV)/.ready-ui
BENCH := $(VENV)/.ready-bench
SPARK := $(VENV)/.ready-spark
DAY_EVENTS ?= 10000000

help: ## show the targets
	@grep -E '^[a-z-]+:.*## ' Makefile | sed -E 's/:.*## /\t/'

$(READY): pyproject.toml constraints.txt
	$(PYTHON) -c 'import sys; sys.exit(0 if sys.version_info >= (3, 11) else "Python 3.11 or newer is needed")'
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[dev]'
	touch $(READY)

$(UI): $(READY)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[dev,ui]'
	touch $(UI)

$(BENCH): $(READY)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[dev,bench]'
	touch $(BENCH)

$(SPARK): $(READY)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[dev,spark]'
	touch $(SPARK)

demo: $(READY) ## build the two fixture days into ./podledger-demo and print the answers
	$(BIN)/podledger demo --into podledger-demo

test: $(READY) ## the default suite, about 8 minutes on 2 cores
	$(BIN)/python -m pytest -n 2 -m "not slow"

test-long: $(READY) ## the default suite with more examples, and the long checks
	$(BIN)/python -m pytest -n 2 --hypothesis-profile=long

test-mutations: $(READY) ## 10,000 mutations of each format's files
	$(BIN)/python -m pytest -n 2 tests/mutations

lint: $(READY) ## format, lint and types
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy

bench: $(BENCH) ## speed and memory as ratios to a peer in the same run; DAY_EVENTS sizes the day
	missed=0; for what in "hubble" "formats" "pod_match --connections 10000000 --intervals 200000" \
	    "counters --series 50000 --rounds 1" "cache" "day --events $(DAY_EVENTS)"; do \
	    $(BIN)/python -m benchmarks.bench_$$what || missed=1; done; exit $$missed

bench-scale: $(BENCH) ## whole days of 1, 3, 10 and 30 M events: time per event and peak memory
	$(BIN)/python -m benchmarks.bench_day --scale 1 3 10 30

accuracy: $(READY) ## attribution measured on five labelled fleets of a million events each
	$(BIN)/python -m tests.fleet.labelled --seeds 5 --events 1110000

two-engines: $(SPARK) ## joins by time on DuckDB and Spark, row by row; needs Java and half a gigabyte
	$(BIN)/python -m tests.two_engines

dagster: $(UI) ## the web server on the fixture days, at http://127.0.0.1:3000
	$(BIN)/podledger demo --into podledger-dagster
	DAGSTER_HOME="$(CURDIR)/podledger-dagster/.dagster" PODLEDGER_CONFIG="$(CURDIR)/podledger-dagster/podledger.yaml" \
		$(BIN)/dagster dev -m pipelines.definitions --host 127.0.0.1 --port 3000

clean: ## remove what the targets made, but not .venv
	rm -rf podledger-demo podledger-dagster .pytest_cache .mypy_cache .ruff_cache .hypothesis
