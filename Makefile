# Two commands do everything on a fresh machine with Python 3.11 or newer:
#   make demo   opens the app       make test   runs the quick tests
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
INSTALL := $(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt
# At most four processes. Slow tests have one more than processors, because browser tests mostly wait, and keep the order
# of their files: xdist would run files with few tests last, and these are the browser tests, in a single process then.
PROCESSORS := $(shell getconf _NPROCESSORS_ONLN)
PARALLEL := --numprocesses $(shell echo $$(( $(PROCESSORS) < 4 ? $(PROCESSORS) : 4 ))) --dist loadfile
SLOW := --numprocesses $(shell echo $$(( $(PROCESSORS) < 4 ? $(PROCESSORS) + 1 : 4 ))) --dist loadfile --no-loadscope-reorder

# Tests write thousands of small files, which is faster in a file system in memory.
SCRATCH := $(shell [ -w /dev/shm ] && [ $$(df --output=avail /dev/shm | tail -1) -gt 4000000 ] && echo TMPDIR=/dev/shm)
PYTEST := $(SCRATCH) $(BIN)/pytest

.PHONY: demo test test-slow coverage bench figures

demo: $(VENV)/demo.stamp
	$(BIN)/streamlit run app.py $(ARGUMENTS)

test: $(VENV)/test.stamp
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/python tests/first_use.py
	$(PYTEST) $(PARALLEL)

# Slow tests: browser tests, kills, fuzzing, a million scores, interpreted kernels.
test-slow: $(VENV)/test.stamp $(VENV)/bench.stamp
	$(PYTEST) $(SLOW) tests/slow

# The line coverage of `make test`, which takes a sixth longer. Fails below 92%.
coverage: $(VENV)/test.stamp
	$(PYTEST) $(PARALLEL) --cov=ranking --cov-report=term-missing:skip-covered --cov-fail-under=92

$(VENV)/bin/python:
	$(PYTHON) -m venv $(VENV)

$(VENV)/demo.stamp: $(VENV)/bin/python pyproject.toml constraints.txt
	$(INSTALL) -e .
	$(BIN)/python -m ranking.commands.kernels
	touch $@

$(VENV)/test.stamp: $(VENV)/demo.stamp
	$(INSTALL) -e '.[dev]'
	touch $@

$(VENV)/bench.stamp: $(VENV)/demo.stamp
	$(INSTALL) -e '.[benchmarks]'
	touch $@

figures: $(VENV)/demo.stamp
	$(BIN)/python benchmarks/four_methods.py --folder $(VENV)/figures

# The commands of benchmarks/RESULTS.md in the same order. They take hours.
bench: $(VENV)/bench.stamp
	$(BIN)/python benchmarks/most_violated_ranking.py
	$(BIN)/python benchmarks/most_violated_ranking.py --cold
	$(BIN)/python benchmarks/training.py --seeds 3
	$(BIN)/python benchmarks/estimators.py --classes 5
	$(BIN)/python benchmarks/pages.py
	$(BIN)/python benchmarks/new_home.py
	$(BIN)/python benchmarks/pulls.py
	$(BIN)/python benchmarks/recording.py
	$(BIN)/python benchmarks/visitors.py
	$(BIN)/python benchmarks/large_set.py
	$(BIN)/python benchmarks/large_import.py
	$(BIN)/python benchmarks/near_copies.py
	$(BIN)/python benchmarks/fuzz_import.py --files 100500 --uploaded 200
	$(BIN)/python benchmarks/features.py
	$(BIN)/python benchmarks/learned_features.py
	$(BIN)/python benchmarks/windows.py
	$(BIN)/python benchmarks/action_figures.py
	$(BIN)/python benchmarks/max_marginals.py --rounds 3
	$(BIN)/python benchmarks/high_order.py
	$(BIN)/python benchmarks/small_problems.py
	$(BIN)/python benchmarks/latent_training.py
	$(BIN)/python benchmarks/find_the_object.py
	$(BIN)/python benchmarks/four_methods.py --sets "Action figures" --variants "start C" "short rounds"
	$(BIN)/python benchmarks/label_ranking.py --part inference training
	$(BIN)/python benchmarks/label_ranking.py --part folds --unary linear
	$(BIN)/python benchmarks/label_questions.py
	$(BIN)/python benchmarks/label_scenes.py
	$(BIN)/python benchmarks/experiments.py
	$(BIN)/python benchmarks/cluster.py
	$(BIN)/python benchmarks/ordering_baselines.py --part public-figures timeline-cars
	$(BIN)/python benchmarks/ordering_baselines.py --part readings few-grades --tests 5000
	$(BIN)/python benchmarks/ordering_baselines.py --part car-features --images 400 --cars 500
	$(BIN)/python benchmarks/ordering.py
	$(BIN)/python benchmarks/ordering_baselines.py --part lightgbm
