#!/usr/bin/env python3
"""Adds up a signal log by DuckDB's read_json: stats_by_duckdb.py LOG [STATS].

Prints how many seconds that took. With the output of `ahp log stats --format json` as STATS it then fails where the two
do not say the same.
"""

import json
import sys
import time

import duckdb

start = time.time()
log = f"read_json('{sys.argv[1]}', format='newline_delimited', maximum_object_size=16777216)"
# The same sums, each in one statement: per binding counts and percentiles, signals and answers. The log is read once.
bindings, signals, answers, hosts, issues = duckdb.connect().execute(f"""
with e as materialized (select kind, hook, decision, bindings, signal, response, binding, host, issue_id, timestamp from {log})
select
 (select list(r) from (select hook, b.id, count(*) n, count(*) filter (b.outcome = 'accepted') ok,
    count(*) filter (b.outcome = 'failed') bad, quantile_disc(b.duration_us, 0.5) p50, quantile_disc(b.duration_us, 0.99) p99
    from (select hook, unnest(bindings) b from e where kind = 'evaluation') group by all) r),
 (select list(r) from (select signal.context.hook hook, binding, signal.header.intensity intensity, count(*) n
    from e where kind = 'signal' group by all) r),
 (select list(r) from (select hook, binding, response.action action, count(*) n from e where kind = 'response' group by all) r),
 (select list(r) from (select host, decision, count(*) n from e where kind = 'evaluation' group by all) r),
 (select list(r) from (select issue_id, decision, count(*) n from e where kind = 'evaluation' group by all) r)
""").fetchone()
print(f"{time.time() - start:.2f}")

if len(sys.argv) > 2:
    stats = json.load(open(sys.argv[2]))
    ours = {(b["hook"], b["id"]): b for b in stats["bindings"]}
    wrong = []

    def same(what, theirs, own):
        if theirs != own:
            wrong.append(f"{what}: {theirs} by DuckDB, {own} by ahp")

    same("bindings", len({(b["hook"], b["id"]) for b in bindings}), len(ours))
    for b in bindings:
        own = ours[b["hook"], b["id"]]
        what = f"{b['id']} at {b['hook']}"
        same(what, (b["n"], b["ok"], b["bad"]), (own["triggered"], own["accepted"], own["errors"]))
        for rank in ("p50", "p99"):
            # Durations are kept to a thousandth.
            if abs(b[rank] - own[f"{rank}_us"]) > 1 + b[rank] / 500:
                same(f"{what}, {rank}", b[rank], own[f"{rank}_us"])
    for s in signals:
        own = ours[s["hook"], s["binding"]]["signals"]
        same(f"{s['intensity']} of {s['binding']}", s["n"], own[s["intensity"]])
    for a in answers:
        own = ours[a["hook"], a["binding"]]["responses"]
        same(f"{a['action']} to {a['binding']}", a["n"], own.get(a["action"]))
    for name, rows in (("host", hosts), ("issue_id", issues)):
        events = {}
        for row in rows:
            events[row[name]] = events.get(row[name], 0) + row["n"]
        groups = stats["hosts" if name == "host" else "issues"]
        same(f"events by {name}", events, {g["name"]: g["evaluations"] for g in groups})
    if wrong:
        sys.exit("\n".join(wrong[:20]))
