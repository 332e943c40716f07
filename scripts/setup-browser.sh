#!/usr/bin/env bash
# Installs the tools that compare results with a browser: Chromium, and Pillow and numpy in .build/browser.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

if ! { { command -v chromium || command -v google-chrome; } && command -v fc-list; } >/dev/null; then
    command -v apt-get >/dev/null || { echo "Chromium and fc-list are needed" >&2; exit 1; }
    # shellcheck source=scripts/setup.sh
    source scripts/setup.sh
    apt_install chromium fontconfig python3-venv
fi
if ! .build/browser/bin/python -c 'import PIL, numpy' 2>/dev/null; then
    python3 -m venv --clear .build/browser
    .build/browser/bin/pip install --quiet --disable-pip-version-check --requirement scripts/fixtures/requirements.txt
fi
