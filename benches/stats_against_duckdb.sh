#!/usr/bin/env bash
# Compares `ahp log stats` with DuckDB's read_json over the same log: benches/stats_against_duckdb.sh [MEGABYTES [CARGO-ARGUMENT…]].
# Fails where they disagree, where it takes longer, or takes more than 100 MiB of memory. AHP is the program to
# measure, where it is not to be built. The log is deleted at the end.
set -euo pipefail
cd "$(dirname "$0")/.."
megabytes=${1:-1000}
shift || true
dir=target/stats-bench
mkdir -p "$dir"
log="$dir/signals-$megabytes.log"
trap 'rm -f "$log"' EXIT
[ -f "$log" ] || python3 benches/make_log.py "$log" "$megabytes"
duckdb=target/tools/duckdb
[ -d "$duckdb" ] || { python3 -m venv "$duckdb" && "$duckdb/bin/pip" install -q duckdb; }
[ -n "${AHP:-}" ] || cargo build --profile dist --quiet --locked --bin ahp "$@"
cat "$log" > /dev/null
ahp=${AHP:-target/dist/ahp}
# Both must say the same before it matters which is faster.
"$ahp" log stats --log "$log" --format json > "$dir/stats.json"
"$duckdb/bin/python" benches/stats_by_duckdb.py "$log" "$dir/stats.json" > "$dir/first"
for _ in 1 2 3 4 5; do
  theirs=$("$duckdb/bin/python" benches/stats_by_duckdb.py "$log")
  ours=$( { /usr/bin/time -f '%e %M' "$ahp" log stats --log "$log" --format json > "$dir/stats.json"; } 2>&1 )
  echo "$theirs $ours"
done | tee "$dir/times" | awk '{ printf "duckdb %5.2f s; ahp %5.2f s, %d KiB at most; %.1f times as fast\n", $1, $2, $3, $1 / $2 }'
median() { cut -d ' ' -f "$1" "$dir/times" | sort -n | sed -n 3p; }
most=$(cut -d ' ' -f 3 "$dir/times" | sort -n | tail -n 1)
echo "$(median 1) $(median 2) $most $megabytes" | awk '
  BEGIN { print "\n| log | DuckDB | `ahp log stats` | memory | times as fast |\n|---|---|---|---|---|" }
  { printf "| %d MB | %.2f s | %.2f s | %d MiB | %.1f |\n", $4, $1, $2, $3 / 1024, $1 / $2 }'
echo "$(median 1) $(median 2) $most" | awk '{ printf "median: %.1f times as fast\n", $1 / $2; exit $1 / $2 < 1 || $3 > 100 * 1024 }'
