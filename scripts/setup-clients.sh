#!/usr/bin/env bash
# Installs the toolchains that test the packages in clients/, as far as Debian or Ubuntu has them.
# Returns quickly if they are present.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

missing=()
need() { # PROGRAM PACKAGE…
    command -v "$1" >/dev/null || missing+=("${@:2}")
}
need node nodejs
need php php-cli
need ruby ruby
need go golang-go
need javac default-jdk-headless
need mcs mono-mcs mono-runtime libmono-system-runtime-serialization4.0-cil

[ ${#missing[@]} -gt 0 ] || exit 0
command -v apt-get >/dev/null || exit 0
echo "Installing ${missing[*]}" >&2
# shellcheck source=scripts/setup.sh
source scripts/setup.sh
# A release may lack one of them. Its language is then not tested, and scripts/test-clients.py says so.
(apt_install --no-install-recommends "${missing[@]}") 2>/dev/null && exit 0
for package in "${missing[@]}"; do
    (apt_install --no-install-recommends "$package") 2>/dev/null || echo "$package cannot be installed" >&2
done
