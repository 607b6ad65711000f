#!/usr/bin/env bash
# Compares `ahp log stats` with DuckDB's read_json over the same log: benches/stats_against_duckdb.sh [MEGABYTES [CARGO-ARGUMENT…]].
# Fails where it is not three times as fast, or takes more than 100 MiB of memory. The log is deleted at the end.
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
cargo build --release --quiet --locked --bin ahp "$@"
cat "$log" > /dev/null
cat > "$dir/sums.py" <<'PY'
import sys, time, duckdb
start = time.time()
# The same sums, each in one statement: per binding counts and percentiles, signals and answers.
log = f"read_json('{sys.argv[1]}', format='newline_delimited', maximum_object_size=16777216)"
connection = duckdb.connect()
connection.execute(f"""
with e as materialized (select kind, hook, decision, bindings, signal, response, binding, host, issue_id, timestamp from {log})
select
 (select list(r) from (select hook, b.id, count(*), count(*) filter (b.outcome = 'accepted'),
    count(*) filter (b.outcome = 'failed'), quantile_disc(b.duration_us, 0.5), quantile_disc(b.duration_us, 0.99)
    from (select hook, unnest(bindings) b from e where kind = 'evaluation') group by all) r),
 (select list(r) from (select signal.context.hook, binding, signal.header.intensity, count(*) from e where kind = 'signal' group by all) r),
 (select list(r) from (select hook, binding, response.action, count(*) from e where kind = 'response' group by all) r),
 (select list(r) from (select host, decision, count(*) from e where kind = 'evaluation' group by all) r),
 (select list(r) from (select issue_id, decision, count(*) from e where kind = 'evaluation' group by all) r)
""").fetchall()
print(f"{time.time() - start:.2f}")
PY
for _ in 1 2 3 4 5; do
  theirs=$("$duckdb/bin/python" "$dir/sums.py" "$log")
  ours=$( { /usr/bin/time -f '%e %M' target/release/ahp log stats --log "$log" --format json > "$dir/stats.json"; } 2>&1 )
  echo "$theirs $ours"
done | tee "$dir/times" | awk '{ printf "duckdb %5.2f s; ahp %5.2f s, %d KiB at most; %.1f times as fast\n", $1, $2, $3, $1 / $2 }'
median() { cut -d ' ' -f "$1" "$dir/times" | sort -n | sed -n 3p; }
most=$(cut -d ' ' -f 3 "$dir/times" | sort -n | tail -n 1)
echo "$(median 1) $(median 2) $most" | awk '{ printf "median: %.1f times as fast\n", $1 / $2; exit $1 / $2 < 3 || $3 > 100 * 1024 }'
