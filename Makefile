# Everything happens in .venv, made from the hash-pinned requirements/dev.lock on first use. Kept to GNU make 3.81 and
# POSIX sh, so that it runs on a Mac as it comes. CONTRIBUTING.md says what each target is for.

PYTHON ?= $(shell for p in python3.13 python3.12 python3.11 python3; do \
	"$$p" -c 'import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 11))' >/dev/null 2>&1 && echo "$$p" && break; done)
BIN := .venv/bin
CODE := $(wildcard src tests bench tools)
PAGES := $(wildcard README.md docs/*.md docs/*/*.md)
LOCK := $(BIN)/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes \
	--no-emit-index-url --custom-compile-command 'make lock' $(UPGRADE)

# Runs a command with an empty HOME, removed afterwards, and only these variables: neither the agents of whoever runs it
# nor their settings can be read, written or mistaken for test data. python finds .venv first.
IN_A_CLEAN_HOME = home=$$(mktemp -d) && trap 'rm -rf "$$home"' EXIT && trap 'exit 130' HUP INT TERM && \
	env -i HOME="$$home" PATH="$$PWD/$(BIN):$$PATH" TMPDIR="$${TMPDIR:-/tmp}" LANG="$${LANG:-C.UTF-8}" TERM="$${TERM:-dumb}" \
	$${CI:+CI="$$CI"} $${COLUMNS:+COLUMNS="$$COLUMNS"} $${NO_COLOR:+NO_COLOR="$$NO_COLOR"}
# Output in the docs must not depend on the terminal of whoever makes it.
FOR_THE_DOCS = COLUMNS=100 NO_COLOR=1 TERM=dumb LANG=C.UTF-8 PYTHONUTF8=1 TZ=UTC

.PHONY: all demo test check check-types check-rest same metrics policy-quality bench bench-against soak fuzz-stores shown agents test-agents mutate mutate-seal docs man dist site voice lock clean

all: check test

demo: .venv/ready
	@$(IN_A_CLEAN_HOME) tally demo

# Four workers, because many tests wait for a process. TESTS="tests/seal -k merkle" runs some of them. The order differs from run to run: TESTS="--randomly-seed=N", with the
# seed that a run prints first, repeats it.
test: .venv/ready
	@$(IN_A_CLEAN_HOME) pytest -n 4 --dist worksteal $(TESTS)

# Types take as long as all the rest: the two run side by side.
check: .venv/ready
	@$(MAKE) --no-print-directory -j 2 check-types check-rest

check-types: .venv/ready
	@echo "mypy --strict:" && $(BIN)/mypy $(CODE)

check-rest: .venv/ready
	@echo "ruff:" && $(BIN)/ruff check $(CODE) && $(BIN)/ruff format --check $(CODE)
	@echo "layers:" && $(BIN)/lint-imports --no-logo
	@echo "voice:" && $(BIN)/python -m tools.voice.check
	@echo "generated docs:" && $(IN_A_CLEAN_HOME) $(FOR_THE_DOCS) cog --check --diff --verbosity=1 \
		--check-fail-msg="run 'make docs' and look at what changed" $(PAGES)

# REF is the commit that this tree is compared with. ONLY="journals,commands,decisions" runs some parts, SAMPLE=10 a tenth,
# ALL=1 shows examples of each kind of difference.
same: .venv/ready
	@test -n "$(REF)" || { echo "make: say which commit this tree is compared with: make same REF=main~1" >&2; exit 2; }
	@$(BIN)/python -m tools.same $(REF) $(if $(ONLY),--only $(ONLY)) $(if $(SAMPLE),--sample $(SAMPLE)) $(if $(ALL),--all)

# REF="<commit>" measures a commit beside this tree, PACKAGES=1 shows each package, WRITE=1 keeps the figures for docs/quality.md.
metrics: .venv/ready
	@$(BIN)/python -m tools.metrics $(REF) $(if $(JSON),--json) $(if $(PACKAGES),--packages) $(if $(WRITE),--write)

# The corpora; HISTORIES="folder" judges real sessions instead, SHEET="stops.tsv" writes what is stopped to be labelled, TAKE="stops.tsv" takes the labels.
policy-quality: .venv/ready
	@$(IN_A_CLEAN_HOME) python -m bench.policy $(if $(HISTORIES),--histories $(HISTORIES),--ids) $(if $(SHEET),--sheet $(SHEET)) $(if $(TAKE),--take $(TAKE)) $(ARGS)

bench: .venv/ready
	@$(IN_A_CLEAN_HOME) python -m bench $(ARGS)

# The same figures of this tree and of the commit REF, in turns; ONLY="hook|start" for some of them.
bench-against: .venv/ready
	@test -n "$(REF)" || { echo "make: say which commit: make bench-against REF=main~1" >&2; exit 2; }
	@$(BIN)/python -m tools.against $(REF) $(if $(ONLY),--only "$(ONLY)")

soak: .venv/ready
	@$(IN_A_CLEAN_HOME) pytest -m soak --timeout 3600 $(TESTS)
	@$(IN_A_CLEAN_HOME) pytest -m "hypothesis and not soak and not agents" --hypothesis-profile=thorough -n 4 --timeout 3600 $(TESTS)
	@$(MAKE) mutate-seal

# N stores damaged at random, from SEED on, before three verifiers, one of which needs Node. What they do not agree on is kept below fuzz-stores/.
# WRITE=1 keeps the figures for docs/quality.md.
fuzz-stores: .venv/ready
	@$(IN_A_CLEAN_HOME) python -m tools.fuzz_stores $(if $(N),$(N),2000) $(if $(SEED),$(SEED),1) $(if $(WRITE),--write)

# The tests of docs/shown.toml; what came of each goes into docs/assurance.md. Run it as root, who can give a store a signer.
# ONLY="tests/..." runs some of them again, and those that are new.
shown: .venv/ready
	@$(IN_A_CLEAN_HOME) python -m tools.shown $(ONLY)

# The agents themselves, in the versions of tools/live/install.py, below .agents/ or in the folder that TALLY_AGENTS names.
# AGENTS="codex gptme" installs some of them. npm and pip read the settings of whoever runs this: a registry, a proxy.
agents: .venv/ready
	@$(BIN)/python -m tools.live.install $(AGENTS)

# Real agents, sealed off, against a scripted model; what they let us see and refuse goes into docs/agents/matrix.json.
test-agents: .venv/ready
	@$(IN_A_CLEAN_HOME) $${TALLY_AGENTS:+TALLY_AGENTS="$$TALLY_AGENTS"} TALLY_MATRIX=docs/agents/matrix.json \
		pytest -m agents --timeout 1800 tests/tools/live $(TESTS)

# Changes of all packages, two of each unless ARGS="--draw 14 --package graph --seed 3" says otherwise.
mutate: .venv/ready
	@$(IN_A_CLEAN_HOME) python -m tools.mutate $(ARGS)

# All changes of the package seal. Results are kept in mutants/: a run can be stopped and continued.
# A mutant that makes the tests run for ever is noticed too, so it counts as killed. MUTANTS="tallystick.seal.merkle*" narrows it.
mutate-seal: .venv/ready
	@$(IN_A_CLEAN_HOME) mutmut run --max-children 2 $(MUTANTS)
	@$(BIN)/mutmut results | grep -v ': not checked' || true
	@$(BIN)/mutmut export-cicd-stats
	@$(BIN)/python -c 'import json; s = json.load(open("mutants/mutmut-cicd-stats.json")); \
		killed = s["killed"] + s["timeout"]; seen = killed + s["survived"] + s["suspicious"] + s["no_tests"]; \
		print(f"{killed} of {seen} mutants killed ({killed / max(seen, 1):.1%}); {s}")'

docs: .venv/ready
	@$(IN_A_CLEAN_HOME) python -m bench.policy --json > docs/judged.json.made && mv docs/judged.json.made docs/judged.json
	@$(IN_A_CLEAN_HOME) $(FOR_THE_DOCS) cog -r -U --verbosity=1 $(PAGES)

# man/*.1, which `man -l man/tally.1` shows; `make dist` puts them into the wheel.
man: .venv/ready
	@$(BIN)/python tools/man_pages.py man

# Both packages of the last commit below dist/, built twice and compared, then installed into an empty environment and run.
dist: .venv/ready
	@$(BIN)/python tools/dist.py dist --try

# The pages as a site with search below site/, which works from its folder. A broken link fails it. The generator has a lock of its own.
site: .venv/ready
	@$(BIN)/python -c 'import sphinx' 2>/dev/null || $(BIN)/python -m pip install --quiet --disable-pip-version-check \
		--require-hashes -r requirements/site.lock
	@$(BIN)/python tools/website.py site

# Lowers the number of words of tools/voice/words.toml that each place may still have, to what is there.
voice: .venv/ready
	@$(BIN)/python -m tools.voice.check --update

# The only target that asks for newer packages, and only with UPGRADE=--upgrade (or UPGRADE="--upgrade-package NAME").
# uv is a large tool that nobody else needs, so it has a lock of its own.
lock: .venv/ready
	@$(BIN)/python -m pip install --quiet --require-hashes -r requirements/lock.lock
	$(LOCK) pyproject.toml -o requirements/run.lock
	$(LOCK) pyproject.toml --group dev -c requirements/run.lock -o requirements/dev.lock
	$(LOCK) --group lock -o requirements/lock.lock
	$(LOCK) --group site -c requirements/dev.lock -o requirements/site.lock

clean:
	rm -rf .venv mutants fuzz-stores build dist man site .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache .coverage src/*.egg-info src/tallystick/catalog/compiled.json

.venv/ready: pyproject.toml requirements/dev.lock
	@$(PYTHON) -c 'import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 11))' >/dev/null 2>&1 || { \
		echo "make: '$(PYTHON)' is no Python 3.11 or newer with venv and ensurepip." >&2; \
		echo "Install one (Debian, Ubuntu: python3 python3-venv), or say: make PYTHON=/path/to/python3" >&2; exit 1; }
	@echo "Setting up .venv with $(PYTHON) (once; takes a minute)"
	@$(PYTHON) -m venv .venv
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements/dev.lock
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation --editable .
	@touch .venv/ready
