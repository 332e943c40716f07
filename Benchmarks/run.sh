#!/usr/bin/env bash
# Measurements of this machine, compared with baselines, nginx and goals. What is missing is installed.
#
#   run.sh [section...]    the service: misses, hits, random_hits, memory, growth, store, shared, formats (default: all);
#                          figures also go to .build/bench/latest.json. ROUNDS=5 sets the rounds; 2 give a first impression
#                          in two minutes.
#   run.sh charts          draws docs/charts and the table of docs/benchmarks.md from .build/bench/latest.json
#   run.sh widths [n]      further widths of one 12 MP image relative to its first, with and without decoded originals kept
#   run.sh quality [width] [n]  bytes, SSIMULACRA2 scores and time of q=auto against the default qualities, for n photographs
#   run.sh pixels          SSIMULACRA2 of each resampling against linear light, by the width of the source, and processor time.
#                          SERVER=path sets the executable, for instance one that runs in another system
#   run.sh originals [...] writes of large entries to the disk store (StoreBench)
#   run.sh images [...]    processor time of the disk store for each image written and looked up (StoreBench)
#   run.sh costs [part...] time and memory of every decoder, output, step, animation and pair of steps against the costs that
#                          plans declare; writes the table of docs/benchmarks.md, and fails where one is off by a factor of 2
#   run.sh hit-ratio       SIEVE against LRU on the same seeded traces
#
# ENTRIES=1000000 sets the size of the disk cache of the section store, RANDOM_ENTRIES=100000 the size in random_hits. Each
# entry takes 42 KB on the volume of TMPDIR, in the caches of both servers: a million take 42 GB.
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

needs() {
    [ ${#sections[@]} -eq 0 ] || [[ " ${sections[*]} " == *" $1 "* ]]
}

case "${1:-}" in
    charts) exec python3 -B "$here/charts" --json "$root/.build/bench/latest.json" --docs "$root/docs" ;;
    hit-ratio) exec "$(product hit-ratio)" ;;
    originals | images) exec "$(product StoreBench)" "$@" ;;
    quality)
        bench_images
        results=$(mktemp -d)
        trap 'rm -rf "$results"' EXIT
        python3 -m venv "$results/venv"
        "$results/venv/bin/pip" install --quiet --requirement "$here/quality/requirements.txt"
        "$(product quality)" "$images" "$results" "${2:-400}" "${3:-48}" >"$results/lines.tsv"
        "$results/venv/bin/python" -B "$here/quality" "$results" <"$results/lines.tsv"
        exit
        ;;
    pixels)
        [ -n "${SERVER:-}" ] || make --no-print-directory -C "$root" release
        work=$(mktemp -d)
        trap 'rm -rf "$work"' EXIT
        (cd "$work" && apt-get download lomiri-wallpapers-16.04 lomiri-wallpapers-20.04 mate-backgrounds >&2)
        for package in "$work"/*.deb; do dpkg -x "$package" "$work/tree"; done
        python3 -m venv "$work/venv"
        "$work/venv/bin/pip" install --quiet --requirement "$here/quality/requirements.txt" pyvips
        "$work/venv/bin/python" -B "$here/quality/pixels.py" --server "${SERVER:-$root/.build/dist/darkroom}" \
            "$work/tree/usr/share/backgrounds"
        exit
        ;;
    costs)
        bench_images
        exec python3 -B "$here/costs" "${@:2}" --driver "$(product costs)" --photograph "$images/large.jpg" \
            --folder "$root/.build/bench/costs" --document "$root/docs/benchmarks.md" \
            --figures "$root/.build/bench/costs.tsv"
        ;;
    widths)
        bench_images
        exec "$(product widths)" "$images" "${2:-5}"
        ;;
esac
sections=("$@")
bench_images
make --no-print-directory -C "$root" release
options=(--images "$images" --darkroom "$root/.build/dist/darkroom" --rounds "${ROUNDS:-5}")
options+=(--random-entries "${RANDOM_ENTRIES:-100000}")
if needs misses || needs growth; then options+=(--floor "$(product floor)"); fi
if needs misses; then options+=(--download "$(product download)"); fi
if needs hits; then options+=(--bare "$(product bare)"); fi
if needs store; then options+=(--store-bench "$(product StoreBench)" --entries "${ENTRIES:-1000000}"); fi
exec python3 -B "$here/measure" "${options[@]}" "${sections[@]}"
