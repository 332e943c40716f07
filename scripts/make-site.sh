#!/usr/bin/env bash
# Builds the documentation site into .build/site, with a generator that is installed into .build/site-tools.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

requirements=scripts/site/requirements.txt
if ! cmp --silent $requirements .build/site-tools/requirements.txt; then
    if ! python3 -c 'import ensurepip, venv' 2>/dev/null; then
        command -v apt-get >/dev/null || { echo "python3 with its venv module is missing" >&2; exit 1; }
        # shellcheck source=scripts/setup.sh
        source scripts/setup.sh
        apt_install python3 python3-venv
    fi
    python3 -m venv --clear .build/site-tools
    .build/site-tools/bin/pip install --quiet --disable-pip-version-check --requirement $requirements
    cp $requirements .build/site-tools/requirements.txt
fi
exec .build/site-tools/bin/python -B scripts/site/build.py "$@"
