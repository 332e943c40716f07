#!/usr/bin/env bash
# Installs the tools that generate the fixtures: three encoders, and Pillow and numpy in .build/fixtures.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

if ! { command -v vips && command -v heif-enc && command -v cjxl; } >/dev/null; then
    command -v apt-get >/dev/null || { echo "vips, heif-enc and cjxl are needed" >&2; exit 1; }
    # shellcheck source=scripts/setup.sh
    source scripts/setup.sh
    apt_install libvips-tools libheif-examples libjxl-tools python3-venv
fi
if ! .build/fixtures/bin/python -c 'import PIL, numpy' 2>/dev/null; then
    python3 -m venv --clear .build/fixtures
    .build/fixtures/bin/pip install --quiet --disable-pip-version-check --requirement scripts/fixtures/requirements.txt
fi
