#!/usr/bin/env bash
# Installs the system libraries that the package links: libvips, and SQLite for GRDB.
# Returns quickly if they are present; uses sudo only to install missing packages.
set -euo pipefail

modules=(vips sqlite3)
case "$(uname -s)" in
    Darwin) modules=(vips) ;; # SQLite comes with the SDK.
esac

present() {
    command -v pkg-config >/dev/null && pkg-config --exists "${modules[@]}"
}

as_root() {
    if [ "$(id -u)" -eq 0 ]; then "$@"; else sudo "$@"; fi
}

apt_install() {
    export DEBIAN_FRONTEND=noninteractive
    local log
    log=$(mktemp)
    # With recommended packages: they include the AVIF and HEIC codecs of a split libheif.
    # The package lists may be missing or outdated; refresh them only if the first attempt fails.
    if ! as_root apt-get install -y "$@" >"$log" 2>&1; then
        as_root apt-get update >"$log" 2>&1 || true
        as_root apt-get install -y "$@" >"$log" 2>&1 || { cat "$log" >&2; exit 1; }
    fi
    rm -f "$log"
}

# Sourced by setup-ci.sh and make fixtures for apt_install; when run directly, it installs the libraries.
if [ "${BASH_SOURCE[0]}" != "$0" ]; then return; fi

present && exit 0
if command -v brew >/dev/null; then
    echo "Installing vips and pkg-config with Homebrew" >&2
    brew install --quiet vips pkg-config >/dev/null
elif command -v apt-get >/dev/null; then
    echo "Installing libvips-dev, libsqlite3-dev and pkg-config" >&2
    apt_install libvips-dev libsqlite3-dev pkg-config
else
    echo "No apt-get or brew: install pkg-config, and libvips 8.14 or later and SQLite 3 with their headers." >&2
    exit 1
fi
present || { echo "pkg-config still does not find: ${modules[*]}" >&2; exit 1; }
