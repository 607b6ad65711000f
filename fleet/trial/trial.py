#!/usr/bin/env python3
"""Tries `ahp-fleet` whole: logs of many machines with known totals are carried by all three ways while the carrier is killed
and the server fails; in the end every record is there once and the engines give the figures of `ahp log stats`.

trial.py AHP_DIRECTORY [--machines N] [--kills N]
"""

import argparse
import collections
import concurrent.futures
import gzip
import http.server
import json
import os
import pathlib
import random
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time

import receivers
from cluster import Cluster

HERE = pathlib.Path(__file__).resolve().parent
FLEET = HERE.parent
MAKE_LOG = FLEET.parent / "benches" / "make_log.py"
rng = random.Random(7)
failures = []


def check(what, is_so, found=""):
    print(("ok      " if is_so else "FAILED  ") + what + ("" if is_so else f": {found}"), flush=True)
    if not is_so:
        failures.append(what)


class Machine:
    """One machine: a home, an id and a log of its own."""

    def __init__(self, root, number, megabytes):
        self.dir = root / f"machine{number}"
        self.dir.mkdir()
        self.log = self.dir / "signals.jsonl"
        subprocess.run([sys.executable, MAKE_LOG, self.log, str(megabytes), str(number)], check=True)
        self.records = sum(1 for _ in open(self.log))
        self.env = {"PATH": os.environ["PATH"], "HOME": str(self.dir), "AHP_MACHINE_ID": f"machine-{number}"}


class Server(http.server.ThreadingHTTPServer):
    """Keeps what is PUT and counts what is POSTed; fails as it is told to."""

    daemon_threads = True

    def __init__(self, root):
        self.root, self.faults, self.events = root, collections.deque(), []
        self.lock = threading.Lock()
        super().__init__(("127.0.0.1", 0), Handler)
        threading.Thread(target=self.serve_forever, daemon=True).start()

    @property
    def url(self):
        return f"http://127.0.0.1:{self.server_address[1]}"


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def answer(self, status, body=b"", headers=()):
        self.send_response(status)
        for name, value in headers:
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def hang_up(self):
        self.close_connection = True
        self.connection.shutdown(socket.SHUT_RDWR)

    def faulty(self, body):
        with self.server.lock:
            fault = self.server.faults.popleft() if self.server.faults else None
        if fault == "reset":
            self.hang_up()
        elif fault == "half":
            self.wfile.write(b"HTTP/1.1 200 O")
            self.hang_up()
        elif fault == "retry-after":
            self.answer(429, headers=[("Retry-After", "1")])
        elif fault == "kept-then-reset":
            # The batch has arrived, and the answer is lost.
            self.keep(body)
            self.hang_up()
        elif fault:
            self.answer(int(fault))
        return fault is not None

    def body(self):
        return self.rfile.read(int(self.headers["Content-Length"]))

    def keep(self, body):
        if self.command == "POST":
            with self.server.lock:
                self.server.events.append(json.loads(gzip.decompress(body)))
            return
        path = self.server.root / self.path.lstrip("/")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(body)

    def do_PUT(self):
        body = self.body()
        if not self.faulty(body):
            self.keep(body)
            self.answer(201)

    def do_POST(self):
        body = self.body()
        if not self.faulty(body):
            self.keep(body)
            self.answer(200, b'{"partialSuccess":{}}')


def ship(program, machine, to, *more, timeout=120):
    argv = [program, "ship", "--log", machine.log, "--to", to, *more]
    return subprocess.run(argv, env=machine.env, capture_output=True, text=True, timeout=timeout)


def ship_killed(program, machine, to, kills):
    """Ships with kill -9 at random moments, then to the end."""
    for _ in range(kills):
        argv = [program, "ship", "--log", machine.log, "--to", to]
        child = subprocess.Popen(argv, env=machine.env, stderr=subprocess.DEVNULL)
        try:
            child.wait(rng.random() * 0.06)
        except subprocess.TimeoutExpired:
            child.send_signal(signal.SIGKILL)
            child.wait()
    return ship(program, machine, to)


def sums(lake, query="bindings", engine="duckdb", *more):
    done = subprocess.run([sys.executable, FLEET / "sums.py", lake, query, "--engine", engine, *more],
                          capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(done.stderr[-2000:])
    return [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]


def by_ahp(ahp, machines):
    """The figures of `ahp log stats`, added over the machines."""
    added = collections.defaultdict(collections.Counter)
    for machine in machines:
        done = subprocess.run([ahp, "log", "--log", machine.log, "stats", "--json"], env=machine.env, capture_output=True, text=True)
        for binding in json.loads(done.stdout)["bindings"]:
            to = added[binding["hook"], binding["id"]]
            for key in ("triggered", "accepted", "signalled", "errors", "timeouts", "inferred", "refused", "hard_repairs", "slow_runs",
                        "findings", "repaired", "overridden", "dismissed", "heeded", "ignored"):
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


FATES = ("findings", "repaired", "overridden", "dismissed", "heeded", "ignored")


def added_wholes(ahp, machines):
    """The figures of `ahp log stats` that are not of bindings, added over the machines."""
    added = collections.Counter()
    for machine in machines:
        done = subprocess.run([ahp, "log", "--log", machine.log, "stats", "--json"], env=machine.env, capture_output=True, text=True)
        added.update(wholes(json.loads(done.stdout)))
    return added


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


def once(lake, machines):
    rows = sums(lake, "gaps")
    return not rows, rows[:3]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("directory", help="where `ahp` and `ahp-fleet` lie")
    parser.add_argument("--machines", type=int, default=200)
    parser.add_argument("--megabytes", type=float, default=0.5)
    parser.add_argument("--kills", type=int, default=10, help="how often each carrier is killed")
    parser.add_argument("--without", action="append", default=[], help="what is not there: nginx, collector, schemas, clickhouse, spark")
    args = parser.parse_args()
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
    added = by_ahp(ahp, machines)
    total = sum(machine.records for machine in machines)
    print(f"{len(machines)} machines, {total} records")

    lake = root / "by-dir"
    for machine in machines:
        ship_killed(program, machine, f"dir:{lake}", args.kills)
    is_whole, gaps = once(lake, machines)
    check(f"directory, {args.kills} kills each: every record once", is_whole, gaps)
    rows = sums(lake)
    compare("DuckDB", rows, added)
    whole, expected = wholes(sums_of_ahp(ahp, machines[0], lake)), added_wholes(ahp, machines)
    wrong = [(key, whole[key], expected[key]) for key in whole | expected if whole[key] != expected[key]]
    check(f"`ahp log stats --sums`: {len(expected)} figures equal those of the logs", not wrong, wrong[:5])
    again = ship(program, machines[0], f"dir:{lake}")
    check("nothing is sent twice", "sent" not in again.stderr, again.stderr)

    server = Server(root / "by-put")
    faults = ["500", "reset", "half", "retry-after", "kept-then-reset", "503"]
    for number, machine in enumerate(machines[:5]):
        shutil.rmtree(machine.dir / ".local", ignore_errors=True)
        # Each failure is followed by a pause, so that each machine gets two.
        server.faults.extend((faults * 2)[number:number + 2])
        ship_killed(program, machine, f"{server.url}/lake/", 2)
    is_whole, gaps = once(server.root / "lake", machines)
    check("PUT to a server that fails, resets and loses answers: every record once", is_whole, gaps)
    compare("PUT", sums(server.root / "lake"), by_ahp(ahp, machines[:5]))
    shutil.rmtree(machines[0].dir / ".local")
    server.faults.extend(["413", "413"])
    halved = ship(program, machines[0], f"{server.url}/halved/")
    check("413 halves the batch", halved.returncode == 0 and once(server.root / "halved", machines)[0], halved.stderr)
    shutil.rmtree(machines[0].dir / ".local")
    server.faults.append("403")
    refused = ship(program, machines[0], f"{server.url}/refused/")
    check("403 keeps the batch and says so", refused.returncode == 1 and "403" in refused.stderr, refused.stderr)

    for machine in machines[:3]:
        shutil.rmtree(machine.dir / ".local", ignore_errors=True)
        server.faults.extend(["reset", "kept-then-reset"])
        ship(program, machine, f"otlp:{server.url}", "--all")
    seen = collections.Counter()
    for request in server.events:
        for resource in request["resourceLogs"]:
            log_id = next(a["value"]["stringValue"] for a in resource["resource"]["attributes"] if a["key"] == "ahp.log.id")
            for record in resource["scopeLogs"][0]["logRecords"]:
                seq = next(a["value"]["intValue"] for a in record["attributes"] if a["key"] == "ahp.seq")
                seen[log_id, int(seq)] += 1
    expected = sum(machine.records for machine in machines[:3])
    check("OTLP: every record at least once, doubles known by log and number", len(seen) == expected, (len(seen), expected))

    def ship_anew(machine, to, *more):
        shutil.rmtree(machine.dir / ".local", ignore_errors=True)
        return ship(program, machine, to, *more)
    if "nginx" not in args.without:
        receivers.try_nginx(root, machines[0], ship_anew, check, lambda lake: once(lake, machines)[0])
    if "collector" not in args.without:
        receivers.try_collector(root, machines[0], ship_anew, check)
    if "schemas" not in args.without:
        receivers.try_schemas(ahp, machines[0], check)

    # An edited record is a hole; a log begun anew is another log.
    victim = machines[-1]
    lines = victim.log.read_text().splitlines(keepends=True)
    middle = next(n for n in range(len(lines) // 2, len(lines)) if '"kind":"signal"' in lines[n])
    lines[middle] = lines[middle].replace('"kind":"signal"', '"kind":"Signal"')
    victim.log.write_text("".join(lines))
    shutil.rmtree(victim.dir / ".local")
    told = ship(program, victim, f"dir:{root / 'tampered'}")
    gaps = sums(root / "tampered", "gaps")
    check("an edited record is told and leaves a hole", told.returncode == 1 and [row["missing"] for row in gaps] == [1], (told.stderr, gaps))

    # Privacy: what identifies people and issues is in no byte that left.
    marked = machines[0]
    names = {json.loads(line).get("session_id") for line in open(marked.log)} - {None}
    bodies = b"".join(path.read_bytes() for path in (root / "tampered").rglob("*.parquet"))
    shown = subprocess.run([program, "ship", "--dry-run", "--log", marked.log], env={**marked.env, "XDG_STATE_HOME": str(root / "fresh")},
                           capture_output=True, text=True).stdout
    leaked = [name for name in names if name.encode() in bodies or f'"{name}"' in shown]
    check(f"none of {len(names)} sessions leaves by its name", names and not leaked, leaked[:3])

    # Compaction changes no figure.
    doubled = next((lake / "signals").rglob("*.parquet"))
    shutil.copy(doubled, doubled.with_name("0" + doubled.name))
    compacted = subprocess.run([program, "compact", lake], capture_output=True, text=True)
    files = len(list((lake / "evaluations").rglob("*.parquet")))
    check(f"compaction leaves {files} files and drops doubles", compacted.returncode == 0 and once(lake, machines)[0], compacted.stderr[-500:])
    compare("after compaction", sums(lake), added)
    rows = sums(lake)
    if "clickhouse" not in args.without:
        other = sums(lake, "bindings", "clickhouse")
        check("ClickHouse gives the rows of DuckDB", other == rows, [pair for pair in zip(other, rows) if pair[0] != pair[1]][:1])
    if "spark" not in args.without:
        cluster = Cluster(root / "spark")
        try:
            other, was_killed = cluster.sums(lake, "bindings")
            check("Spark with a master and two workers, one killed in the middle, gives them too", was_killed and other == rows,
                  (was_killed, [pair for pair in zip(other, rows) if pair[0] != pair[1]][:1]))
        finally:
            cluster.stop()


if __name__ == "__main__":
    main()
