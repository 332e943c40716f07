#!/usr/bin/env bash
# Installs the reverse proxies that `make deploy-check` runs: Debian's nginx, HAProxy and Caddy.
# Returns quickly if they are present.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

missing=()
for name in nginx haproxy caddy; do
    PATH=$PATH:/usr/sbin command -v $name >/dev/null || missing+=($name)
done
[ ${#missing[@]} -eq 0 ] && exit 0

command -v apt-get >/dev/null || { echo "Install ${missing[*]} first." >&2; exit 1; }
echo "Installing ${missing[*]}" >&2
# shellcheck source=scripts/setup.sh
source scripts/setup.sh
apt_install --no-install-recommends "${missing[@]}"
