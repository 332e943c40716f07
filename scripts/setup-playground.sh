#!/usr/bin/env bash
# Installs the tools that test the playground: Chromium with its driver, and selenium in .build/playground.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

if ! { { command -v chromium || command -v google-chrome; } && command -v chromedriver; } >/dev/null; then
    command -v apt-get >/dev/null || { echo "Chromium and chromedriver are needed" >&2; exit 1; }
    # shellcheck source=scripts/setup.sh
    source scripts/setup.sh
    apt_install chromium chromium-driver python3-venv
fi
if ! .build/playground/bin/python -c 'import selenium' 2>/dev/null; then
    python3 -m venv --clear .build/playground
    .build/playground/bin/pip install --quiet --disable-pip-version-check --requirement scripts/playground/requirements.txt
fi
