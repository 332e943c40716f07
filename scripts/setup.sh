#!/usr/bin/env bash
# Installs the system libraries that the package links: libvips, and SQLite for GRDB.
# Quiet and quick where they are present; asks for sudo only where something is missing.
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
    # With recommendations: where libheif is split, its AVIF and HEIC codecs are among them.
    # The package lists may be missing or old: refresh them only if the first try fails.
    if ! as_root apt-get install -y "$@" >"$log" 2>&1; then
        as_root apt-get update >"$log" 2>&1 || true
        as_root apt-get install -y "$@" >"$log" 2>&1 || { cat "$log" >&2; exit 1; }
    fi
    rm -f "$log"
}

# Sourced by setup-ci.sh and make fixtures for apt_install; run by itself it installs the libraries.
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
