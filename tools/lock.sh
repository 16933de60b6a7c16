#!/bin/sh
# Writes both locks anew. The locks hold for every Python >= 3.11 and every platform, and name no index:
# where packages come from is the machine's own configuration.
set -eu
cd "$(dirname "$0")/.."

uv=${UV:-uv}
command -v "$uv" >/dev/null || { echo "lock: needs uv (set UV=path/to/uv)" >&2; exit 2; }

compile() {
    "$uv" pip compile --quiet --universal --python-version 3.11 --generate-hashes \
        --no-emit-index-url --no-emit-find-links --no-header "$@" pyproject.toml
}

compile --extra postgres --group dev --output-file requirements-dev.lock
compile --extra postgres --group build --constraint requirements-dev.lock --output-file requirements.lock
