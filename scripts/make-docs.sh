#!/usr/bin/env bash
# Builds the library's documentation into .build/docs/Darkroom.doccarchive, with the toolchain's docc.
#
# `import Darkroom` re-exports the modules below it, so their symbols are extracted as members of Darkroom. SwiftPM's DocC
# plugin would document an empty module: it does not pass the list of re-exported modules on.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

output=.build/docs
umbrella=Sources/Darkroom/Darkroom.swift
swift build --target Darkroom "$@"
products=$(swift build --show-bin-path "$@")
rm -rf "$output"
mkdir -p "$output/graphs"

# Clang modules are found by their maps: of our system library, of packages, and the ones that SwiftPM generates.
flags=(-I "$products/Modules" -I Sources/CVips)
while read -r map; do
    flags+=(-Xcc "-fmodule-map-file=$PWD/$map" -Xcc "-I$PWD/$(dirname "$map")")
done < <(find .build/checkouts -path '*/Sources/*' -name module.modulemap)
while read -r module; do
    flags+=(-Xcc "-fmodule-map-file=$module")
done < <(find "$products" -maxdepth 2 -path '*.build/module.modulemap' ! -path '*Sandbox*')
for flag in $(pkg-config --cflags vips); do flags+=(-Xcc "$flag"); done

triple=$(swift -print-target-info | sed -n 's/.*"unversionedTriple": "\(.*\)".*/\1/p' | head -n 1)
case "$(uname -s)" in
    Darwin) flags+=(-target "$(uname -m)-apple-macos15" -sdk "$(xcrun --show-sdk-path)") docc=(xcrun docc) ;;
    *) flags+=(-target "$triple") docc=(docc) ;;
esac
swift symbolgraph-extract -module-name Darkroom "${flags[@]}" \
    "-experimental-allowed-reexported-modules=$(sed -n 's/.*public import //p' "$umbrella" | paste -sd, -)" \
    -minimum-access-level public -skip-inherited-docs -skip-synthesized-members -output-dir "$output/graphs"

"${docc[@]}" convert Sources/Darkroom/Darkroom.docc --additional-symbol-graph-dir "$output/graphs" \
    --fallback-display-name Darkroom --fallback-bundle-identifier darkroom --warnings-as-errors \
    --output-path "$output/Darkroom.doccarchive"
echo "Read it with: python3 -m http.server --directory $output/Darkroom.doccarchive"
echo "then open http://127.0.0.1:8000/documentation/darkroom"
