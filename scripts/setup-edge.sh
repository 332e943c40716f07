#!/usr/bin/env bash
# Installs the caches that `make edge` runs: Debian's Varnish with its modules, and nginx.
# Returns quickly if they are present.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

packages=(varnish varnish-modules nginx)
command -v apt-get >/dev/null || { echo "Install ${packages[*]} first." >&2; exit 1; }
missing=()
for name in "${packages[@]}"; do
    dpkg-query --show --showformat='${db:Status-Status}' "$name" 2>/dev/null | grep -qx installed || missing+=("$name")
done
[ ${#missing[@]} -eq 0 ] && exit 0

echo "Installing ${missing[*]}" >&2
# shellcheck source=scripts/setup.sh
source scripts/setup.sh
apt_install --no-install-recommends "${missing[@]}"
