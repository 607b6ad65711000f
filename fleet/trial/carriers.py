"""Carriers: many machines send their logs while they are killed and the server fails."""

import collections
import concurrent.futures
import json
import os
import pathlib
import random
import shutil
import signal
import subprocess
import sys
import time

MAKE_LOG = pathlib.Path(__file__).resolve().parents[2] / "benches" / "make_log.py"


class Machine:
    """One machine: a home, an id and a log of its own."""

    def __init__(self, root, number, megabytes):
        self.dir, self.rng = root / f"machine{number}", random.Random(str(number))
        self.dir.mkdir()
        self.log = self.dir / "signals.jsonl"
        subprocess.run([sys.executable, MAKE_LOG, self.log, str(megabytes), str(number)], check=True)
        self.records = sum(1 for _ in open(self.log))
        self.env = {"PATH": os.environ["PATH"], "HOME": str(self.dir), "AHP_MACHINE_ID": f"machine-{number}"}

    def forget(self):
        """As if nothing had been sent yet."""
        shutil.rmtree(self.dir / ".local", ignore_errors=True)

    def is_under_way(self):
        """Whether a batch was about to leave."""
        cursors = (self.dir / ".local/state/ahp/ship").glob("*.json")
        return any(json.loads(cursor.read_text())["pending"] for cursor in cursors)


class Carrier:
    """Runs `ahp-fleet ship` for machines."""

    def __init__(self, program):
        self.program, self.seconds = program, 0.2

    def ship(self, machine, to, *more, timeout=300):
        argv = [self.program, "ship", "--log", machine.log, "--to", to, *more]
        return subprocess.run(argv, env=machine.env, capture_output=True, text=True, timeout=timeout)

    def measure(self, machine, to):
        """Learns how long a whole run takes, so that kills come at any moment of one."""
        begun = time.monotonic()
        self.ship(machine, to)
        self.seconds = time.monotonic() - begun
        machine.forget()

    def ship_killed(self, machine, to, kills, *more):
        """Ships with kill -9 at random moments, then to the end. Returns the last run and what the kills met."""
        met = collections.Counter()
        for number in range(kills):
            argv = [self.program, "ship", "--log", machine.log, "--to", to, *more]
            child = subprocess.Popen(argv, env=machine.env, stderr=subprocess.DEVNULL)
            # Every other kill waits for a batch to be under way, which is the shorter part of a run.
            while number % 2 and child.poll() is None and not machine.is_under_way():
                time.sleep(0.0005)
            try:
                child.wait(machine.rng.random() * (0.02 if number % 2 else self.seconds))
            except subprocess.TimeoutExpired:
                child.send_signal(signal.SIGKILL)
                child.wait()
                met["killed"] += 1
                met["under way"] += machine.is_under_way()
        return self.ship(machine, to, *more), met

    def ship_all(self, machines, to, kills, *more):
        """All machines at once. Returns what the kills met, and what machines said that did not end well."""
        met, troubles = collections.Counter(), []
        with concurrent.futures.ThreadPoolExecutor(max(4, os.cpu_count())) as pool:
            for done, of_one in pool.map(lambda machine: self.ship_killed(machine, to, kills, *more), machines):
                met += of_one
                troubles += [done.stderr] if done.returncode else []
        return met, troubles


def events_of(server):
    """The log records that a server was sent, each once, by log and number; and how many came in all."""
    seen, came = {}, 0
    for request in server.events:
        for resource in request["resourceLogs"]:
            log_id = attribute(resource["resource"], "ahp.log.id")
            for record in resource["scopeLogs"][0]["logRecords"]:
                seen[log_id, int(attribute(record, "ahp.seq"))] = record
                came += 1
    return seen, came


def attribute(of, name):
    return next((next(iter(a["value"].values())) for a in of["attributes"] if a["key"] == name), None)


def signals_of(events):
    """How many signals of each kind each binding gave, as the figures of `ahp log stats` name them."""
    counts = collections.Counter()
    for record in events.values():
        if record["eventName"] == "ahp.signal":
            counts[attribute(record, "ahp.hook"), attribute(record, "ahp.binding"), attribute(record, "ahp.intensity") + "s"] += 1
    return counts
