#!/usr/bin/env bash
# Runs concurrent suites under Thread Sanitizer and the sandbox under Address Sanitizer, each in a build folder of its own.
#
#   sanitize.sh [thread|address]    both by default
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

# Reports end the process, so that a test run cannot succeed with one.
export TSAN_OPTIONS="halt_on_error=1 suppressions=$PWD/scripts/sanitize-thread.txt"
# libvips and GLib keep memory until the process exits; worker processes reserve address space that the sandbox limits.
export ASAN_OPTIONS="halt_on_error=1 detect_leaks=0"

run() { # sanitizer room
    DARKROOM_TESTS=$2 swift test --scratch-path ".build-$1" --sanitize "$1" --no-parallel
}

case "${1:-both}" in
    thread | both)
        for room in Pipeline Cache Store HTTPServer; do run thread $room; done
        ;;&
    address | both)
        DARKROOM_TESTS=Workers swift test --scratch-path .build-address --sanitize address --no-parallel \
            --filter 'WireCoderTests|HostileWorkerTests'
        ;;
esac
