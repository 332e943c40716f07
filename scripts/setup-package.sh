#!/usr/bin/env bash
# Installs what building the Debian package needs; with the argument `image`, also what the container image needs, and with
# `test` what testing both needs.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

tools=(dpkg-shlibdeps:dpkg-dev readelf:binutils python3:python3)
if [ $# -gt 0 ]; then tools+=(mmdebstrap:mmdebstrap); fi
if [ "${1:-}" = test ]; then tools+=(runc:runc lintian:lintian ip:iproute2 curl:curl); fi
missing=()
for tool in "${tools[@]}"; do
    command -v "${tool%:*}" >/dev/null || missing+=("${tool#*:}")
done
[ ${#missing[@]} -eq 0 ] && exit 0
command -v apt-get >/dev/null || { echo "Debian packages are built on Debian; missing: ${missing[*]}" >&2; exit 1; }
# shellcheck source=scripts/setup.sh
source scripts/setup.sh
apt_install "${missing[@]}"
