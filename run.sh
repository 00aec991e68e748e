#!/usr/bin/env bash
# The one way in:
#   ./run.sh             set up, then the main job (gap run quickstart)
#   ./run.sh test        set up, then linters, types and tests
#   ./run.sh gap ...     set up, then the command line with these arguments
# Runs from any folder. PYTHON names the interpreter to build the environment with; GAPSTACK_VENV puts that
# environment elsewhere than in .venv.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
venv=${GAPSTACK_VENV:-$here/.venv}

fail() {
  printf 'run.sh: %s\n' "$@" >&2
  exit 1
}

find_python() {
  local candidate
  for candidate in ${PYTHON:+"$PYTHON"} python3 python3.13 python3.12 python3.11; do
    if "$candidate" -c 'import sys, venv, ensurepip; sys.exit(not (3, 11) <= sys.version_info < (3, 14))' 2>/dev/null; then
      command -v "$candidate"
      return
    fi
  done
  fail "no usable Python: 3.11, 3.12 or 3.13 with venv and ensurepip is needed (found: $(python3 --version 2>&1 || true))." \
    "Install one, or name it: PYTHON=/path/to/python3.11 ./run.sh"
}

# What the environment was built from: the same digest means that there is nothing to do.
digest() { (cd "$here" && printf '%s\n' "$here" && cat pyproject.toml constraints.txt) | cksum; }

set_up() {
  local stamp=$venv/.gapstack-stamp wanted
  wanted=$(digest)
  if [ -x "$venv/bin/gap" ] && [ "$(cat "$stamp" 2>/dev/null)" = "$wanted" ]; then
    return
  fi
  local python free_mb
  python=$(find_python) || exit 1
  mkdir -p "$(dirname "$venv")"
  free_mb=$(df -Pm "$(dirname "$venv")" | awk 'NR == 2 {print $4}')
  if [ ! -d "$venv" ] && [ "${free_mb:-0}" -lt 4000 ]; then
    fail "the environment needs about 3 GB on disk and $(dirname "$venv") has only ${free_mb} MB free." \
      "Free some, or put it elsewhere: GAPSTACK_VENV=/other/disk/venv ./run.sh"
  fi
  printf 'Setting up %s (once; about a minute when the packages are already downloaded)\n' "$venv" >&2
  rm -f "$stamp"
  [ -x "$venv/bin/python" ] || "$python" -m venv "$venv" || fail "could not make a virtual environment in $venv"
  "$venv/bin/python" -m pip install --quiet --disable-pip-version-check \
    --constraint "$here/constraints.txt" --editable "$here[dev]" ||
    fail "installing the dependencies failed: see pip's message above (network? disk?). Nothing else was changed; run again."
  printf '%s' "$wanted" >"$stamp"
}

case "${1:-}" in
  "" | gap | test) set_up ;;
  *) fail "unknown command '$1'. Use: ./run.sh | ./run.sh test [pytest options] | ./run.sh gap COMMAND ..." ;;
esac
# Runs and submissions land in the project wherever it is called from; set GAPSTACK_HOME to put them elsewhere.
export GAPSTACK_HOME=${GAPSTACK_HOME:-$here}
case "${1:-}" in
  "") exec "$venv/bin/gap" run quickstart ;;
  gap) shift && exec "$venv/bin/gap" "$@" ;;
  test)
    shift
    cd "$here"
    "$venv/bin/ruff" check .
    "$venv/bin/ruff" format --check .
    "$venv/bin/mypy"
    # as many processes as workers, one thread each: more would fight over the cores; worksteal keeps the tests of a
    # module, which share fixtures, in one process
    export OMP_NUM_THREADS=${OMP_NUM_THREADS:-1}
    exec "$venv/bin/python" -m pytest -n "${GAPSTACK_TEST_WORKERS:-2}" --dist worksteal "$@"
    ;;
esac
