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
    grep -E ' recorded an issue |^↳|Fatal error|corrupt' "$log" | tail -n 20
fi
exit "$status"
