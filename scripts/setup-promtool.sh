#!/usr/bin/env bash
# Puts promtool, which checks rules, queries and metrics, into .build/prometheus, from Debian's package prometheus. The
# package is not installed: that would start a service. Returns quickly if promtool is present.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

folder=.build/prometheus
if command -v promtool >/dev/null || [ -x $folder/promtool ]; then exit 0; fi

command -v apt-get >/dev/null || { echo "Install promtool first." >&2; exit 1; }
echo "Getting promtool" >&2
# shellcheck source=scripts/setup.sh
source scripts/setup.sh
mkdir -p $folder
cd $folder
# The package lists may be missing or outdated; refresh them only if the first attempt fails.
if ! apt-get download prometheus >log 2>&1; then
    as_root apt-get update >log 2>&1 || true
    apt-get download prometheus >log 2>&1 || { cat log >&2; exit 1; }
fi
dpkg-deb --fsys-tarfile prometheus_*.deb | tar --extract --strip-components=3 ./usr/bin/promtool
rm prometheus_*.deb log
