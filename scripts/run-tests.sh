#!/usr/bin/env bash
# Runs a command that runs tests, with a folder for temporary files that is removed afterwards. If the command fails,
# repeats at the end what failed: logs are often cut to their last lines.
#
#   run-tests.sh COMMAND [ARGUMENT...]
set -uo pipefail

folder=$(mktemp -d)
# Tests that were killed leave their volumes.
trap 'umount -l "$folder"/files/* 2>/dev/null; rm -rf "$folder"' EXIT
mkdir "$folder/files"
export TMPDIR=$folder/files

# A person at a terminal scrolls back, and sees colors.
if [ -t 1 ]; then
    "$@"
    exit
fi

log=$folder/log
"$@" 2>&1 | tee "$log"
status=${PIPESTATUS[0]}
if [ "$status" -ne 0 ]; then
    echo "The failures above were:"
    # Swift Testing's issues, and the last words of a process that crashed. Names of tests may contain any word.
    grep -E '^✘|^↳|^error:|^Fatal|Fatal error|(Assertion|Precondition) failed|^(malloc|free|realloc|corrupted|double free|munmap_chunk)' "$log" | tail -n 40
    # The calls of the thread that crashed; there may be a thousand others.
    awk '/Program crashed/ { print } /^Thread .* crashed:$/ { shown = 1; print; next } /^Thread / { shown = 0 } shown' "$log" |
        cut -c 1-300 | head -n 20
fi
exit "$status"
