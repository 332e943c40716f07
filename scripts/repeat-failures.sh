#!/usr/bin/env bash
# Runs a command that runs tests. If it fails, repeats at the end what failed: logs are often cut to their last lines.
#
#   repeat-failures.sh COMMAND [ARGUMENT...]
set -uo pipefail

# A person at a terminal scrolls back, and sees colors.
[ -t 1 ] && exec "$@"

log=$(mktemp)
trap 'rm -f "$log"' EXIT
"$@" 2>&1 | tee "$log"
status=${PIPESTATUS[0]}
if [ "$status" -ne 0 ]; then
    echo "The failures above were:"
    # Swift Testing's issues, and the last words of a process that crashed. Names of tests may contain any word.
    grep -E '^✘|^↳|^error:|Fatal error|^(malloc|free|realloc|corrupted|double free|munmap_chunk)' "$log" | tail -n 40
fi
exit "$status"
