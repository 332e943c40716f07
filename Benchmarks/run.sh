#!/usr/bin/env bash
# One run of all measurements, printed as ratios on this machine. Needs nginx, wrk and curl (installed if missing).
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
root=$(dirname "$here")
"$root/scripts/setup.sh"
source "$root/scripts/setup.sh"
missing=()
for tool in nginx:nginx-light wrk:wrk curl:curl vips:libvips-tools python3:python3; do
    command -v "${tool%%:*}" >/dev/null || missing+=("${tool##*:}")
done
[ ${#missing[@]} -eq 0 ] || apt_install "${missing[@]}"
images="${DARKROOM_BENCH_IMAGES:-$root/.build/bench-images}"
python3 "$root/scripts/make-bench-images.py" "$images"
swift build --package-path "$root" -c release --product darkroom
swift build --package-path "$here" -c release --product floor
exec python3 "$here/measure.py" --images "$images" \
    --darkroom "$root/.build/release/darkroom" --floor "$here/.build/release/floor" "$@"
