#!/usr/bin/env bash
# Installs the system libraries that the package links: libvips with its codecs, zlib, Brotli and Zstandard for HTTP, the
# Public Suffix List, and SQLite for GRDB. Also the headers of dlib, from which the detector of faces is compiled: without
# them, Darkroom is built without it.
# Returns quickly if they are present; uses sudo only to install missing packages.
set -euo pipefail

modules=(vips sqlite3 zlib libbrotlidec libzstd libpsl)
case "$(uname -s)" in
    Darwin) modules=(vips libbrotlidec libzstd libpsl) ;; # SQLite and zlib come with the SDK.
esac

# Since version 1.16, Debian and Ubuntu have the codecs of libheif in packages of their own: AV1 and HEVC are needed.
missing_codecs() {
    command -v dpkg-query >/dev/null || return 0
    local version codec
    version=$(dpkg-query --show --showformat='${Version}' libheif1 2>/dev/null) || return 0
    dpkg --compare-versions "$version" ge 1.16 || return 0
    for codec in libheif-plugin-aomenc libheif-plugin-libde265 libheif-plugin-dav1d; do
        [ "$(dpkg-query --show --showformat='${Status}' "$codec" 2>/dev/null)" = "install ok installed" ] || echo "$codec"
    done
}

libraries_present() {
    command -v pkg-config >/dev/null && pkg-config --exists "${modules[@]}"
}

# Homebrew's headers are not on the compiler's path, so the detector is built on Linux only.
detector_present() {
    [ "$(uname -s)" = Darwin ] || [ -e /usr/include/dlib/image_processing/frontal_face_detector.h ]
}

present() {
    libraries_present && [ -z "$(missing_codecs)" ] && detector_present
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
    echo "Installing vips, brotli, zstd, libpsl and pkg-config with Homebrew" >&2
    brew install --quiet vips brotli zstd libpsl pkg-config >/dev/null
elif command -v apt-get >/dev/null; then
    if ! libraries_present; then
        packages=(libvips-dev libsqlite3-dev zlib1g-dev libbrotli-dev libzstd-dev libpsl-dev pkg-config)
        echo "Installing ${packages[*]}" >&2
        apt_install "${packages[@]}"
    fi
    mapfile -t codecs < <(missing_codecs)
    if [ ${#codecs[@]} -gt 0 ]; then
        echo "Installing ${codecs[*]}" >&2
        apt_install "${codecs[@]}"
    fi
    if ! detector_present; then
        echo "Installing libdlib-dev" >&2
        (apt_install libdlib-dev) || echo "Without libdlib-dev, Darkroom is built without the detector of faces." >&2
    fi
else
    echo "No apt-get or brew: install pkg-config, and libvips 8.14 or later, SQLite 3, zlib, Brotli, zstd and libpsl with their headers." >&2
    exit 1
fi
libraries_present || { echo "pkg-config still does not find: ${modules[*]}" >&2; exit 1; }
