#!/usr/bin/env bash
# Copies an executable into a folder without its symbols, and these beside it, where debuggers and Swift's backtraces find
# them.
#
#   strip.sh EXECUTABLE FOLDER
set -euo pipefail
mkdir -p "$2"
executable=$(realpath "$1")
name=$(basename "$1")
cd "$2"
if [ "$(uname)" = Linux ]; then
    objcopy --only-keep-debug "$executable" "$name.debug"
    objcopy --strip-all --add-gnu-debuglink="$name.debug" "$executable" "$name.new"
else
    strip -o "$name.new" "$executable"
fi
# A running server keeps its file.
mv "$name.new" "$name"
