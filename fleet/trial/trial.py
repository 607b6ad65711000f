#!/usr/bin/env python3
"""Tries `ahp-fleet` whole: logs of many machines with known totals are carried by all three ways while the carrier is killed
and the server fails; in the end every record is there once and the engines give the figures of `ahp log stats`.

trial.py AHP_DIRECTORY [--machines N] [--kills N]
"""

import argparse
import collections
import concurrent.futures
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time

import receivers
from carriers import Carrier, Machine, events_of, signals_of
from cluster import Cluster
from odd_logs import try_odd_logs
from server import Server

FLEET = pathlib.Path(__file__).resolve().parent.parent
failures = []


def check(what, is_so, found=""):
    print(("ok      " if is_so else "FAILED  ") + what + ("" if is_so else f": {found}"), flush=True)
    if not is_so:
        failures.append(what)


def sums(lake, query="bindings", engine="duckdb", *more):
    done = subprocess.run([sys.executable, FLEET / "sums.py", lake, query, "--engine", engine, *more],
                          capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(done.stderr[-2000:])
    return [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]


def stats_of(ahp, machines):
    """What `ahp log stats` says of each log."""
    def one(machine):
        argv = [ahp, "log", "--log", machine.log, "stats", "--json"]
        return json.loads(subprocess.run(argv, env=machine.env, capture_output=True, text=True).stdout)
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        return list(pool.map(one, machines))


FATES = ("findings", "occasions", "repaired", "overridden", "overridden_by_agent", "dismissed", "dismissed_by_agent", "heeded",
         "ignored")


def by_binding(stats):
    """The figures of bindings, added over the machines."""
    added = collections.defaultdict(collections.Counter)
    for told in stats:
        for binding in told["bindings"]:
            to = added[binding["hook"], binding["id"]]
            for key in ("triggered", "accepted", "signalled", "errors", "timeouts", "inferred", "refused", "hard_repairs", "slow_runs",
                        *FATES):
                to[key] += binding[key]
            for key in ("block", "control", "prompt", "aid"):
                to[key + "s"] += binding["signals"][key]
            to.update(binding["responses"])
            if binding["repaired"]:
                to["repair_ms"] += round(binding["mean_time_to_repair_s"] * binding["repaired"] * 1000)
                to["tries"] += round(binding["mean_tries"] * binding["repaired"])
    return added


# Names, percentiles, and classes of repairs that `ahp log stats` shows in its page alone.
NOT_ADDED = ("sums", "by", "grp", "hook", "binding", "oracle", "source", "p50_us", "p99_us",
             "in_1m", "in_5m", "in_15m", "in_1h", "in_4h", "in_1d")


def compare(what, rows, added):
    wrong = []
    for row in rows:
        expected = added[row["hook"], row["binding"]]
        wrong += [(row["binding"], key, row[key], expected[key]) for key in row
                  if key not in NOT_ADDED and int(row[key] or 0) != expected[key]]
    figures = sum(len(counts) for counts in added.values())
    check(f"{what}: {len(rows)} bindings, {figures} figures equal those of `ahp log stats`",
          not wrong and len(rows) == len(added), wrong[:5])


def sums_of_ahp(ahp, machine, lake, *more):
    """What `ahp log stats` says of the sums of a lake, and of which file."""
    file = lake.parent / "sums.ndjson"
    with open(file, "w") as to:
        subprocess.run([sys.executable, FLEET / "sums.py", lake, "all", *more], stdout=to, check=True)
    done = subprocess.run([ahp, "log", "stats", "--sums", file, "--json"], env=machine.env, capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(done.stderr[-2000:])
    return json.loads(done.stdout)


def wholes(stats):
    figures = collections.Counter({"records": stats["records"], "evaluations": stats["evaluations"]})
    for key in ("hooks", "decisions", "signals", "responses"):
        figures.update({(key, name): count for name, count in stats[key].items()})
    for key in ("hard_repairs", "slow_runs", *FATES):
        figures["total", key] += stats["total"][key]
    for rule in stats["rules"]:
        name = rule["hook"], rule["binding"], rule["rule"]
        figures.update({(*name, key): rule[key] for key in FATES})
        figures.update({(*name, key): count for key, count in rule["signals"].items()})
    for kind in ("hosts", "days"):
        for group in stats[kind]:
            figures.update({(kind, group["name"], key): group[key] for key in ("evaluations", "stopped", "answered", *FATES)})
            figures.update({(kind, group["name"], key): count for key, count in group["signals"].items()})
    return figures


def once(lake, total):
    """Whether a lake has this many records, and each once."""
    gaps, records = sums(lake, "gaps"), sums(lake, "records")[0]["records"]
    return not gaps and records == total, (gaps[:3], records, total)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("directory", help="where `ahp` and `ahp-fleet` lie")
    parser.add_argument("--machines", type=int, default=200)
    parser.add_argument("--megabytes", type=float, default=0.5)
    parser.add_argument("--kills", type=int, default=10, help="how often each carrier is killed")
    parser.add_argument("--sums-only", action="store_true", help="carry once, to a directory, and sum up")
    parser.add_argument("--without", action="append", default=[], help="what is not there: nginx, collector, schemas, clickhouse, spark")
    args = parser.parse_args()
    args.without = list(dict.fromkeys(args.without))
    ahp, program = (str(pathlib.Path(args.directory).resolve() / name) for name in ("ahp", "ahp-fleet"))
    root = pathlib.Path(tempfile.mkdtemp(prefix="ahp-fleet-"))
    try:
        trial(ahp, program, root, args)
    finally:
        shutil.rmtree(root)
    for what in args.without:
        print(f"NOT TRIED: {what}")
    print(f"{len(failures)} failed" if failures else "all as it should be", f"{len(args.without)} not tried", sep=", ")
    sys.exit(bool(failures))


def trial(ahp, program, root, args):
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        machines = list(pool.map(lambda number: Machine(root, number, args.megabytes), range(args.machines)))
    stats = stats_of(ahp, machines)
    added = by_binding(stats)
    total = sum(machine.records for machine in machines)
    print(f"{len(machines)} machines, {total} records", flush=True)
    carrier = Carrier(program)
    carrier.measure(machines[0], f"dir:{root / 'measured'}")

    lake = root / "by-dir"
    met, troubles = carrier.ship_all(machines, f"dir:{lake}", args.kills)
    is_whole, gaps = once(lake, total)
    check(f"directory, {met['killed']} kills, {met['under way']} with a batch under way: every record once", is_whole and not troubles,
          (gaps, troubles[:1]))
    compare("DuckDB", sums(lake), added)
    expected = collections.Counter()
    for told in stats:
        expected.update(wholes(told))
    whole = wholes(sums_of_ahp(ahp, machines[0], lake))
    wrong = [(key, whole[key], expected[key]) for key in whole | expected if whole[key] != expected[key]]
    check(f"`ahp log stats --sums`: {len(expected)} figures equal those of the logs", not wrong, wrong[:5])
    again = carrier.ship(machines[0], f"dir:{lake}")
    check("nothing is sent twice", "sent" not in again.stderr, again.stderr)
    try_odd_logs(ahp, program, FLEET / "sums.py", root, check, 40)
    try_holes(root, lake)
    if not args.sums_only:
        try_servers(root, carrier, machines, args.kills, total, added)
        # One with many batches, since a batch ends with its day.
        try_refusals(root, carrier, Machine(root, 10_000, 8))
        try_receivers(ahp, root, carrier, machines[0], args.without)
        try_damage(root, carrier, machines, lake, total)
        try_ageing(root, lake)
    try_engines(root, program, lake, total, added, args)


def try_servers(root, carrier, machines, kills, total, added):
    """PUT and OTLP, to a server that fails while the carriers are killed."""
    server = Server(root / "by-put")
    server.rate = 0.03
    for machine in machines:
        machine.forget()
    met, troubles = carrier.ship_all(machines, f"{server.url}/lake/", kills)
    is_whole, gaps = once(server.root / "lake", total)
    check(f"PUT, {met['killed']} kills, {met['under way']} with a batch under way, {server.failed.total()} failures of the server: "
          "every record once", is_whole and not troubles, (gaps, troubles[:1]))
    compare("PUT", sums(server.root / "lake"), added)

    server.failed.clear()
    server.rate = 0.1
    for machine in machines:
        machine.forget()
    met, troubles = carrier.ship_all(machines, f"otlp:{server.url}", kills, "--all")
    events, came = events_of(server)
    check(f"OTLP, {met['killed']} kills, {met['under way']} with a batch under way, {server.failed.total()} failures of the server: "
          f"every record at least once, {came - len(events)} doubles known by log and number",
          len(events) == total and not troubles, (len(events), total, troubles[:1]))
    given = signals_of(events)
    wrong = [(*binding, key, given[*binding, key], counts[key]) for binding, counts in added.items()
             for key in ("blocks", "controls", "prompts", "aids") if given[*binding, key] != counts[key]]
    check(f"OTLP, doubles dropped: {len(given)} figures of signals equal those of `ahp log stats`", given and not wrong, wrong[:5])


def try_refusals(root, carrier, machine):
    """What a server says no to, and what it lies about."""
    server = Server(root / "refusals")

    def ship(faults, to, *more):
        machine.forget()
        server.faults.extend(faults)
        return carrier.ship(machine, to, *more)
    halved = ship(["413", "413"], f"{server.url}/halved/")
    check("413 halves the batch", halved.returncode == 0 and once(server.root / "halved", machine.records)[0], halved.stderr)
    refused = ship(["403"], f"{server.url}/refused/")
    check("403 keeps the batch and says so", refused.returncode == 1 and "403" in refused.stderr, refused.stderr)
    begun = time.monotonic()
    paused = ship(["retry-at"], f"{server.url}/paused/", "--for", "1s")
    later = carrier.ship(machine, f"{server.url}/paused/")
    check("a date in `Retry-After` is waited for, over runs too", paused.returncode == 1 and time.monotonic() - begun < 20
          and (later.returncode == 0 or "more seconds" in later.stderr), (paused.stderr, later.stderr))
    rejected = ship(["rejects"], f"otlp:{server.url}", "--all")
    sent = events_of(server)[1]
    check("records that a collector rejects are told and not sent again", rejected.returncode == 1
          and "but for 3 records" in rejected.stderr and sent < machine.records, (sent, rejected.stderr))

    # It answers 201 and keeps nothing of one batch: no carrier can know, and the sums show it.
    ship([], f"{server.url}/kept/")
    batches = sorted((server.root / "kept/evaluations").rglob("*.parquet"), key=lambda path: int(path.stem.split("-")[1]))
    _, first, last = batches[len(batches) // 2].stem.split("-")
    server.drops = f"-{first}-{last}.parquet"
    lied = ship([], f"{server.url}/lied/")
    gaps = sums(server.root / "lied", "gaps")
    missing = int(last) - int(first) + 1
    check(f"a server that lies about a batch: `gaps` names {missing} missing records", len(batches) > 2 and lied.returncode == 0
          and [(row["missing"], row["doubled"]) for row in gaps] == [(missing, 0)], (len(batches), gaps))


def try_receivers(ahp, root, carrier, machine, without):
    def ship_anew(machine, to, *more):
        machine.forget()
        return carrier.ship(machine, to, *more)
    if "nginx" not in without:
        receivers.try_nginx(root, machine, ship_anew, check, lambda lake: once(lake, machine.records)[0])
    if "collector" not in without:
        receivers.try_collector(root, machine, ship_anew, check)
    if "schemas" not in without:
        receivers.try_schemas(ahp, machine, check)


def try_damage(root, carrier, machines, lake, total):
    """An edited record is a hole, and what is no table is left out."""
    victim = machines[-1]
    victim.forget()
    lines = victim.log.read_text().splitlines(keepends=True)
    signals = [n for n, line in enumerate(lines) if '"kind":"signal"' in line]
    middle = next(n for n in signals if n > len(lines) // 2)
    lines[middle] = lines[middle].replace('"kind":"signal"', '"kind":"Signal"')
    victim.log.write_text("".join(lines))
    told = carrier.ship(victim, f"dir:{root / 'tampered'}")
    gaps = sums(root / "tampered", "gaps")
    check("an edited record is told and leaves a hole", told.returncode == 1 and [row["missing"] for row in gaps] == [1], (told.stderr, gaps))
    server = Server(root / "broken")
    victim.forget()
    told = carrier.ship(victim, f"otlp:{server.url}")
    names = [record["eventName"] for request in server.events for record in request["resourceLogs"][0]["scopeLogs"][0]["logRecords"]]
    check("a collector is told by one `ahp.broken`", told.returncode == 1 and names.count("ahp.broken") == 1, told.stderr)
    victim.forget()
    lines[-1] = lines[-1].replace('"timestamp":"2', '"timestamp":"3')
    victim.log.write_text("".join(lines))
    told = carrier.ship(victim, f"dir:{root / 'tampered-end'}")
    check("an edited last record is told", told.returncode == 1 and "the last 1 records do not verify" in told.stderr, told.stderr)

    foreign, torn = lake / "signals/date=2026-01-01/foreign.parquet", lake / "signals/date=2026-01-01/torn.parquet"
    newer = lake / "signals/date=2026-01-01/newer.parquet"
    whole = next((lake / "signals").rglob("*.parquet")).read_bytes()
    foreign.write_bytes(b"PAR1" + bytes(8) + b"PAR1")
    torn.write_bytes(whole[:-9])
    newer.write_bytes(whole.replace(b"ahp.schema\x18\x011", b"ahp.schema\x18\x012"))
    done = subprocess.run([sys.executable, FLEET / "sums.py", lake, "records"], capture_output=True, text=True)
    named = [name for name in ("foreign", "torn", "newer") if f"/{name}.parquet`" in done.stderr]
    check("what is no table is named and left out, and the rest is summed", done.returncode == 1 and len(named) == 3
          and json.loads(done.stdout)["records"] == total, (done.stdout, done.stderr))
    for path in (foreign, torn, newer):
        path.unlink()

    names = {json.loads(line).get("session_id") for line in open(machines[0].log)} - {None}
    bodies = b"".join(path.read_bytes() for path in (root / "tampered").rglob("*.parquet"))
    machines[0].forget()
    shown = carrier.ship(machines[0], "dir:/nowhere", "--dry-run").stdout
    leaked = [name for name in names if name.encode() in bodies or f'"{name}"' in shown]
    check(f"none of {len(names)} sessions leaves by its name", names and shown and not leaked, leaked[:3])


def try_holes(root, lake):
    """What is missing or double in any table is told, and what is no file or lies at an odd path is in nobody's way."""
    odd = root / "a [1] lake's *"
    for table in ("evaluations", "bindings", "signals", "answers"):
        for is_double in (False, True):
            shutil.copytree(lake, odd)
            file = min((odd / table).rglob("*.parquet"))
            if is_double:
                shutil.copy(file, file.with_name(f"again-{file.name}"))
            else:
                file.unlink()
            gaps = sums(odd, "gaps")
            told = [row for row in gaps if (row["doubled"] if is_double else row["missing"]) and not (row["missing"] if is_double else row["doubled"])]
            check(f"a file of `{table}` that {'came twice' if is_double else 'is missing'} is told by `gaps`", len(gaps) == len(told) == 1, gaps)
            shutil.rmtree(odd)
    shutil.copytree(lake, odd)
    os.mkfifo(odd / "signals/date=2026-01-01/pipe.parquet")
    done = subprocess.run([sys.executable, FLEET / "sums.py", odd, "records"], capture_output=True, text=True, timeout=120)
    check("a pipe among the tables is left out", done.returncode == 1 and "it is not a file" in done.stderr
          and json.loads(done.stdout) == sums(lake, "records")[0], done.stderr)
    shutil.rmtree(odd)


def try_ageing(root, lake):
    """Files of before a column was added, records that came twice and differ, and a file that is damaged in its middle."""
    import duckdb
    aged = root / "aged"
    shutil.copytree(lake, aged)
    before = sums(aged)

    def written_anew(table, cells, name):
        file = min((aged / table).rglob("*.parquet"))
        duckdb.execute(f"copy (select {cells} from read_parquet('{file}', hive_partitioning = false)) to '{file.parent / name}' "
                       "(format parquet, kv_metadata {\"ahp.schema\": '1'})")
        return file
    written_anew("bindings", "* exclude (acted_on)", "old.parquet").unlink()
    check("a file without the last column is summed", sum(row["triggered"] for row in sums(aged)) == sum(row["triggered"] for row in before))
    before = sums(aged)
    for table in ("evaluations", "bindings", "signals"):
        written_anew(table, "* replace ('later' as team)", "again.parquet")
    check("records that came twice and differ are counted once", sums(aged) == before)
    file = min((aged / "signals").rglob("*.parquet"))
    content = bytearray(file.read_bytes())
    content[60:200] = bytes(140)
    (file.parent / "damaged.parquet").write_bytes(content)
    done = subprocess.run([sys.executable, FLEET / "sums.py", aged, "bindings"], capture_output=True, text=True)
    check("a file that is damaged in its middle is named and left out", done.returncode == 1 and "damaged.parquet" in done.stderr
          and [json.loads(line) for line in done.stdout.splitlines()] == before, done.stderr[-300:])


def try_engines(root, program, lake, total, added, args):
    """Compaction changes no figure, and neither does the engine."""
    doubled = next((lake / "signals").rglob("*.parquet"))
    shutil.copy(doubled, doubled.with_name("0" + doubled.name))
    compacted = subprocess.run([program, "compact", lake], capture_output=True, text=True)
    files = len(list((lake / "evaluations").rglob("*.parquet")))
    check(f"compaction leaves {files} files and drops doubles", compacted.returncode == 0 and once(lake, total)[0], compacted.stderr[-500:])
    compare("after compaction", sums(lake), added)
    rows = sums(lake, "all")
    if "clickhouse" not in args.without:
        other = sums(lake, "all", "clickhouse")
        check(f"ClickHouse gives all {len(rows)} rows of DuckDB", other == rows, [pair for pair in zip(other, rows) if pair[0] != pair[1]][:1])
    if "spark" not in args.without:
        cluster = Cluster(root / "spark")
        try:
            other, was_killed = cluster.sums(lake, "all")
            check(f"Spark with a master and two workers, one killed in the middle, gives all {len(rows)} too", was_killed and other == rows,
                  (was_killed, [pair for pair in zip(other, rows) if pair[0] != pair[1]][:1]))
        finally:
            cluster.stop()


if __name__ == "__main__":
    main()
