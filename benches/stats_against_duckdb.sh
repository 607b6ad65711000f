#!/bin/sh
# Compares `ahp log stats` with DuckDB's read_json over the same log: benches/stats_against_duckdb.sh [MEGABYTES].
set -eu
megabytes=${1:-1000}
dir=target/stats-bench
mkdir -p "$dir"
log="$dir/signals-$megabytes.log"
[ -f "$log" ] || python3 benches/make_log.py "$log" "$megabytes"
[ -d target/duckdb ] || { python3 -m venv target/duckdb && target/duckdb/bin/pip install -q duckdb; }
cargo build --release --quiet
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
for round in 1 2 3; do
  duck=$(target/duckdb/bin/python "$dir/sums.py" "$log")
  ahp=$( { /usr/bin/time -f '%e s, %M KiB at most' target/release/ahp log stats --log "$log" --format json > "$dir/stats.json"; } 2>&1 )
  echo "round $round: ahp $ahp; duckdb $duck s"
done
