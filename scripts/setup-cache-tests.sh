#!/usr/bin/env bash
# Installs Node.js, which runs the definitions of `make cache-tests`. Returns quickly if it is present.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

command -v node >/dev/null && exit 0
command -v apt-get >/dev/null || { echo "Install Node.js first." >&2; exit 1; }
echo "Installing nodejs" >&2
# shellcheck source=scripts/setup.sh
source scripts/setup.sh
apt_install --no-install-recommends nodejs
