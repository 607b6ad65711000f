#!/bin/sh
# Runs a binary of tests for `go test`, and tells where it ended well and `testing` never ran: a `TestMain` or an `init` did
# something else. The log is one that `testing` itself writes, and it lies where `go test` looks for it to keep the result.
program=$1
log=${1%/*}/testlog.txt
shift
"$program" -test.testlogfile="$log" "$@"
code=$?
if [ "$code" = 0 ] && [ ! -s "$log" ]; then
    printf -- '- cut\t%s\tended without running its tests\n' "$PWD/${program##*/}" 1<> "${0%/*}/told"
fi
exit "$code"
