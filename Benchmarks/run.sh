#!/usr/bin/env bash
# Measurements of this machine, printed as ratios. What is missing is installed.
#
#   run.sh [options]     the service against its floors: misses, hits, a burst, a large picture (measure.py)
#   run.sh widths [n]    further widths of one 12 MP picture against its first, with and without decoded pictures kept
#   run.sh store [...]   the disk store: a million entries, "originals ..." for large ones, or "images ..." (StoreBench)
#   run.sh hit-ratio     SIEVE against LRU on the same seeded traces
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
root=$(dirname "$here")
"$root/scripts/setup.sh"
source "$root/scripts/setup.sh"

product() {
    swift build --package-path "$here" -c release --product "$1" >&2
    echo "$here/.build/release/$1"
}

bench_images() {
    local missing=()
    for tool in nginx:nginx-light wrk:wrk curl:curl vips:libvips-tools python3:python3; do
        command -v "${tool%%:*}" >/dev/null || missing+=("${tool##*:}")
    done
    [ ${#missing[@]} -eq 0 ] || apt_install "${missing[@]}"
    images="${BENCH_IMAGES:-$root/.build/bench-images}"
    python3 "$root/scripts/make-bench-images.py" "$images"
}

case "${1:-}" in
    hit-ratio) exec "$(product hit-ratio)" ;;
    store)
        shift
        exec "$(product StoreBench)" "${@:-million}"
        ;;
    widths)
        bench_images
        exec "$(product widths)" "$images" "${2:-5}"
        ;;
esac
bench_images
swift build --package-path "$root" -c release --product darkroom
exec python3 "$here/measure.py" --images "$images" \
    --darkroom "$root/.build/release/darkroom" --floor "$(product floor)" "$@"
