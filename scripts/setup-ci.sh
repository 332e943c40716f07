#!/usr/bin/env bash
# Installs the OpenAPI tools for CI (validator, client generator, fuzzer) into .venv.
# Returns quickly if .venv was made from the same requirements.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

scripts/setup.sh
requirements=scripts/requirements-ci.txt
cmp --silent $requirements .venv/requirements.txt && exit 0

if ! python3 -c 'import ensurepip, venv' 2>/dev/null; then
    command -v apt-get >/dev/null || { echo "python3 with its venv module is missing" >&2; exit 1; }
    # shellcheck source=scripts/setup.sh
    source scripts/setup.sh
    apt_install python3 python3-venv
fi
python3 -m venv --clear .venv
.venv/bin/pip install --quiet --disable-pip-version-check --requirement $requirements
cp $requirements .venv/requirements.txt
