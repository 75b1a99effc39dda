# `make demo` and `make test` set everything up themselves: a virtual environment in .venv, then pip.
PYTHON ?= python3
REQUIRE_ALL ?=
MUTANTS ?=
PART ?=
BIN := .venv/bin
LOWEST := build/lowest
SANITIZED := build/sanitize$(if $(CAROUSEVAL_DEEP),-deep)
NATIVE := $(shell find native -name '*.h' -o -name '*.cpp')
SOURCES := $(shell find src -type f -not -name '*.pyc') $(NATIVE) CMakeLists.txt pyproject.toml README.md
READY := .venv/.ready
INSTALLED := .venv/.installed

.PHONY: demo environments test test-deep test-lowest check sanitize mutants bench pictures format clean

demo: $(INSTALLED)
	$(BIN)/carouseval score examples/page.csv
	$(BIN)/carouseval sample out/sample
	$(BIN)/carouseval evaluate out/sample/layouts-new.parquet out/sample/judgments.parquet --items out/sample/items.parquet --by device
	$(BIN)/carouseval explain out/sample/layouts-new.parquet out/sample/judgments.parquet --items out/sample/items.parquet
	$(BIN)/carouseval compare prod=out/sample/layouts-prod.parquet new=out/sample/layouts-new.parquet out/sample/judgments.parquet --items out/sample/items.parquet
	$(BIN)/carouseval sample out/home --kind home --users 30
	cd out/home && ../../$(BIN)/carouseval compare prod=layouts-prod.parquet new=layouts-new.parquet judgments.parquet --items items.parquet \
		--carousels carousels.parquet --by device --grid tv=8x12/1,5 --grid phone=phone:6x10/1,3
	$(BIN)/carouseval reproduce --out out/paper
	$(BIN)/carouseval report prod=out/sample/layouts-prod.parquet new=out/sample/layouts-new.parquet out/sample/judgments.parquet --items out/sample/items.parquet \
		--by device --baseline prod --out out/report.html
	@echo "Open out/report.html in a browser: it is the report of this comparison."

environments: $(INSTALLED) $(LOWEST)/.installed $(SANITIZED)/.built

test: check
	$(BIN)/python -m pytest -q --doctest-modules --pyargs carouseval
	$(BIN)/python -m pytest -n auto $(if $(REQUIRE_ALL),--require-all) tests

# Whatever takes longer than the gate may, in parts of at most an hour (PART="mutants fuzz" runs these); tests/deep.py lists
# them, and tests/DEEP.md has what ran last.
test-deep: $(INSTALLED) $(LOWEST)/.installed
	$(BIN)/python -m tests.deep $(PART)

define lint
$(1)/ruff check .
$(1)/ruff format --check .
$(1)/lint-imports
$(1)/clang-format --dry-run --Werror $(NATIVE)
endef

check: $(INSTALLED)
	$(call lint,$(BIN))
	$(BIN)/mypy

# Every direct dependency at the lowest version that pyproject.toml declares, in an environment of its own. All need wheels for
# PYTHON: try make test-lowest PYTHON=python3.11. The gate runs what versions can break: tables, reading, the command line, show
# and Spark. Never run: type checkers, which read the annotations of the libraries, and files that were made with
# constraints.txt (pictures name the version of Vega-Lite; of several ideal pages, last digits choose one).
LOWEST_TESTS ?= --ignore-glob='*/test_browser*' tests/tables tests/evaluation/test_odd_inputs.py \
	tests/building/test_layout_files.py $(foreach name,cli table_commands chart_options report_command settings_options \
	studio_command,tests/cli/test_$(name).py) tests/show/charts tests/show/terminal tests/show/studio tests/show/report/test_structure.py \
	tests/engines/spark/test_evaluate.py
test-lowest: $(LOWEST)/.installed
	$(LOWEST)/bin/python -m pip freeze --requirement $(LOWEST)/constraints.txt | sed '/^##/,$$d'
	$(call lint,$(LOWEST)/bin)
	$(LOWEST)/bin/python -m pytest -q --doctest-modules --pyargs carouseval
	$(LOWEST)/bin/python -m pytest -q -n auto --ignore tests/test_pictures.py --ignore tests/test_typing.py $(LOWEST_TESTS)

# The kernels' own tests with a module that watches memory and arithmetic, on Linux with GCC. ASan wants to be loaded first,
# and memory of Python's to come from malloc, where it can see it. What CPython keeps until it exits is no leak of ours, and
# pytrec_eval's ways of freeing memory are its own.
# The gate watches one instruction set, whose kernels take a minute to compile; the deep layer both.
sanitize: $(INSTALLED) $(SANITIZED)/.built
	rm -rf $(SANITIZED)/src && cp -R src $(SANITIZED)/src && cp $(SANITIZED)/_native*.so $(SANITIZED)/src/carouseval
	$(BIN)/python -m tests.kernel_calls $(SANITIZED)/calls.pickle
	LD_PRELOAD="$$($(CXX) -print-file-name=libasan.so) $$($(CXX) -print-file-name=libubsan.so)" \
		ASAN_OPTIONS=detect_leaks=0:alloc_dealloc_mismatch=0 UBSAN_OPTIONS=print_stacktrace=1 PYTHONMALLOC=malloc \
		PYTHONPATH=$(SANITIZED)/src:. $(BIN)/python tests/sanitize.py $(SANITIZED)/calls.pickle

# Mistakes made on purpose to a copy of the sources, one at a time: a named test must fail for each. MUTANTS="user-* row-*"
# runs those with such names; all of them are run by hand, and what became of them is written to tests/mutants/RECORD.md.
mutants: $(INSTALLED)
	$(BIN)/python tests/mutants/run.py $(if $(MUTANTS),"$(MUTANTS)")

bench: $(INSTALLED)
	$(BIN)/python benchmarks/metric.py
	$(BIN)/python benchmarks/study.py
	$(BIN)/python benchmarks/candidate_ideals.py
	$(BIN)/python benchmarks/genres.py --highs 2
	$(BIN)/python benchmarks/repeats.py
	$(BIN)/python benchmarks/evaluation.py
	$(BIN)/python benchmarks/spark.py
	$(BIN)/python benchmarks/spark_stage.py
	$(BIN)/python benchmarks/comparison.py
	$(BIN)/python benchmarks/attention.py
	$(BIN)/python benchmarks/report.py
	$(BIN)/python benchmarks/studio.py
	$(BIN)/python benchmarks/startup.py

pictures: $(INSTALLED)
	$(BIN)/python docs/pictures.py
	$(BIN)/python docs/report_picture.py
	$(BIN)/python docs/result_columns.py
	$(BIN)/python docs/studio_picture.py

format: $(READY)
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .
	$(BIN)/clang-format -i $(NATIVE)

clean:
	rm -rf .venv build dist out .mypy_cache .pytest_cache .ruff_cache .import_linter_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

# The environment: what the project and its tests need, at the versions of constraints.txt. setuptools builds cwl-eval and pyspark,
# which come as source only.
$(READY): constraints.txt pyproject.toml
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "carouseval needs Python 3.11 or later; try make PYTHON=python3.11")'
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --upgrade pip
	$(BIN)/python -m pip install --quiet --constraint constraints.txt scikit-build-core nanobind ninja cmake setuptools
	@touch $@

# The package itself, compiled. Built in place of an editable install, so that tests and timings see what users get;
# the native part is rebuilt only where it changed (build/).
$(INSTALLED): $(READY) $(SOURCES)
	$(BIN)/python -m pip install --quiet --constraint constraints.txt --no-build-isolation ".[all,dev]"
	@touch $@

# The same with the lowest versions, built in a folder of its own, since CMake remembers where nanobind is.
$(LOWEST)/.ready: pyproject.toml tests/lowest_versions.py
	$(PYTHON) -m venv --clear $(LOWEST)
	$(PYTHON) tests/lowest_versions.py > $(LOWEST)/constraints.txt
	$(LOWEST)/bin/python -m pip install --quiet --upgrade pip
	$(LOWEST)/bin/python -m pip install --quiet --constraint $(LOWEST)/constraints.txt scikit-build-core nanobind ninja cmake setuptools wheel
	@touch $@

$(LOWEST)/.installed: $(LOWEST)/.ready $(SOURCES)
	$(LOWEST)/bin/python -m pip install --quiet --constraint $(LOWEST)/constraints.txt --no-build-isolation \
		--config-settings build-dir=$(LOWEST)/native ".[all,dev]"
	@touch $@

$(SANITIZED)/.built: $(READY) $(NATIVE) CMakeLists.txt
	PATH="$(abspath $(BIN)):$$PATH" cmake -G Ninja -S . -B $(SANITIZED) -DCMAKE_CXX_COMPILER=$(CXX) -DCAROUSEVAL_SANITIZE=ON -DCMAKE_BUILD_TYPE=Debug \
		$(if $(CAROUSEVAL_DEEP),,-DCAROUSEVAL_HAS_V3=OFF) -DPython_EXECUTABLE="$(abspath $(BIN))/python" -Dnanobind_DIR="$$($(BIN)/python -m nanobind --cmake_dir)"
	$(BIN)/cmake --build $(SANITIZED)
	@touch $@
