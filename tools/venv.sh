#!/bin/sh
# Makes or refreshes .venv from a lock: `tools/venv.sh run` for the product, `tools/venv.sh dev` for its tests.
#
# Every package comes from the lock by its hash. The lock is complete, so pip resolves nothing: its resolver
# would look past a pin at a newer release of a package that is also wanted with an extra. The project itself
# is installed editable, without dependencies and without build isolation, so that nothing outside the lock
# is fetched or run.
# A stamp holds the digest of what was installed; while it matches there is nothing to do.
# PYTHON=path/to/python chooses the interpreter.
set -eu
cd "$(dirname "$0")/.."

case ${1:-} in
run) lock=requirements.lock stamps=".venv/installed-run .venv/installed-dev" ;;
dev) lock=requirements-dev.lock stamps=".venv/installed-dev" ;;
*) echo "usage: tools/venv.sh run | dev" >&2; exit 2 ;;
esac

usable() { # does this interpreter run, is it new enough, and can it make an environment with pip?
    "$1" -c 'import ensurepip, sys, venv; sys.exit(sys.version_info < (3, 11))' >/dev/null 2>&1
}

here() { # was this environment made for this folder, and does its interpreter still run?
    [ "$(.venv/bin/python -c 'import sys; print(sys.prefix)' 2>/dev/null)" = "$(pwd -P)/.venv" ]
}

wanted=$(cat requirements.lock requirements-dev.lock pyproject.toml tools/venv.sh | cksum)
if here; then
    for stamp in $stamps; do
        if [ "$(cat "$stamp" 2>/dev/null)" = "$wanted" ]; then exit 0; fi
    done
else
    python=
    for candidate in ${PYTHON:-python3.13 python3.12 python3.11 python3}; do
        if usable "$candidate"; then python=$candidate; break; fi
    done
    if [ -z "$python" ]; then
        echo "setup: no Python >= 3.11 with venv and ensurepip found (set PYTHON=path/to/python)" >&2
        exit 2
    fi
    echo "setup: making .venv with $("$python" --version)"
    "$python" -m venv --clear .venv
fi

rm -f .venv/installed-run .venv/installed-dev
echo "setup: installing $lock"
export PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_ROOT_USER_ACTION=ignore
.venv/bin/python -m pip install -qq --no-deps --require-hashes --only-binary :all: --requirement "$lock"
.venv/bin/python -m pip install -qq --no-deps --no-build-isolation --editable .
printf '%s\n' "$wanted" >".venv/installed-$1"
