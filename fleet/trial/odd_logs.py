"""Sums of odd logs: for each of many made-up ones, with clocks that are set back, signals that no binding reports, answers of
agents, answers in an odd order, and many findings in one signal, the sums of its lake are all that `ahp log stats` says of it.
"""

import datetime
import hashlib
import json
import os
import random
import shutil
import subprocess
import sys

# What a lake does not tell: turns and sessions, objects, marks, durations above 2,048 µs to the microsecond, and of rules no means.
NOT_GATHERED = {"gathered", "sessions", "findings_list", "marks", "agents", "turns", "mean_turns", "source", "p50_us", "p99_us"}
NOT_OF_RULES = {"mean_time_to_repair_s", "mean_tries"}
ACTIONS = {"block": ("proceed_with_risk", "abort", "retry_after_fix"), "prompt": ("dismiss", "acknowledge", "abort")}


class Log:
    """A log whose records are chained as `ahp` chains them."""

    def __init__(self, path, seed):
        self.path, self.random = path, random.Random(seed)
        self.time, self.seq, self.prev, self.given = datetime.datetime(2026, 3, 1, 10), 0, "0" * 64, []
        with open(path, "w") as self.file:
            for _ in range(self.random.randrange(5, 60)):
                self.evaluation()

    def put(self, body):
        # Mostly on, at times back, at times by days.
        step = self.random.choice([1, 5, 40, 200, 4000, 90_000, -3, -70, -200_000] if self.random.random() < 0.5 else [1, 2, 30])
        self.time += datetime.timedelta(seconds=step)
        self.seq += 1
        head = json.dumps({"seq": self.seq, "timestamp": self.stamp(), **body, "prev": self.prev}, separators=(",", ":"))
        self.prev = hashlib.sha256(head.encode()).hexdigest()
        self.file.write(f'{head[:-1]},"hash":"{self.prev}"}}\n')

    def stamp(self):
        return self.time.strftime("%Y-%m-%dT%H:%M:%S.%fZ")

    def evaluation(self):
        pick = self.random.choice
        session, issue = pick(["s1", "s2", "s3"]), pick([None, None, "i1"])
        hook = pick(["pre-tool-use"] * 6 + ["post-session", "pre-agent-turn-stop"])
        waived = [given for given in self.given if self.random.random() < 0.2]
        outcomes = {name: pick(["accepted", "accepted", "signalled", "failed"]) for name in ("one", "two") if self.random.random() < 0.8}
        # What the program itself says has a signal and no report, as of a faulty policy.
        signals = [name for name, outcome in outcomes.items() if outcome in ("signalled", "failed")]
        signals += ["config"] * (self.random.random() < 0.2)
        about = {"hook": hook, "session_id": session, "host": pick(["claude-code", "codex"]), **({"issue_id": issue} if issue else {})}
        self.put({"kind": "evaluation", **about, "decision": pick(["ask", "block"]) if signals else "none", "tool": "Bash", "digest": "0" * 16,
                  "event": {"trigger": hook}, **({"object": pick(["o1", "o2"])} if self.random.random() < 0.8 else {}),
                  "bindings": [{"id": name, "oracle": "lint-checker", "outcome": outcome, "source": "ahp:standard:1", "error": None,
                                "duration_us": self.random.randrange(2048), **({"waived": waived} if waived and outcome == "accepted" else {})}
                               for name, outcome in outcomes.items()], "skipped": 0, "duration_us": 100})
        for name in signals:
            for _ in range(pick([1, 1, 2])):
                self.signal(name, about)

    def signal(self, binding, about):
        pick = self.random.choice
        number = len(self.given) + 1
        uid = f"01a21ed8-0000-7000-8000-{number:012x}"
        strength = pick(["block", "prompt"])
        payload = {"block": {"reason": "t", "resolvable": True, "resolution_path": []},
                   "prompt": {"severity": "medium", "message": "t", "suggestions": [], "continue_allowed": True}}[strength]
        identity = hashlib.sha256(pick("abc").encode()).hexdigest()[:16]
        also = [{"identity": hashlib.sha256(f"also{n}".encode()).hexdigest()[:16], "object": f"o{n}"} for n in range(pick([0, 0, 3, 25]))]
        header = {"id": uid, "type": "finding", "timestamp": self.stamp(), "source": "config" if binding == "config" else "lint-checker",
                  "intensity": strength, "correlation_id": uid}
        context = {"hook": about["hook"], **({"issue_id": about["issue_id"]} if "issue_id" in about else {}), "files": []}
        self.put({"kind": "signal", "signal": {"header": header, "context": context, "payload": payload}, "binding": binding,
                  "source": "ahp:standard:1", "override": True, "fingerprint": identity, "identity": identity, "rule": identity, "object": "o",
                  **({"also": also} if also else {}), "session_id": about["session_id"], "host": about["host"]})
        self.given.append(uid)
        for _ in range(pick([0, 1, 1, 2, 3])):
            inferred = self.random.random() < 0.4
            action = pick(("dismiss", "accept_modification", "retry_after_fix") if inferred else ACTIONS[strength])
            self.put({"kind": "response", "response": {"signal_id": uid, "consumed_at": self.stamp(), "action": action,
                                                       "by": pick(["agent", "human"]), "inferred": inferred},
                      "hook": about["hook"], "session_id": about["session_id"], "binding": binding, "subject": about["session_id"],
                      "fingerprint": identity, **({"refused": "no"} if self.random.random() < 0.1 else {})})


def differences(path, of_log, of_sums, found):
    if isinstance(of_log, dict) and isinstance(of_sums, dict):
        for key in (of_log.keys() | of_sums.keys()) - NOT_GATHERED:
            if not (".rules" in path and key in NOT_OF_RULES):
                differences(f"{path}.{key}", of_log.get(key), of_sums.get(key), found)
    elif isinstance(of_log, list) and isinstance(of_sums, list):
        if path not in (".findings", ".issues"):
            def named(items):
                return {"/".join(str(item.get(key)) for key in ("id", "name", "hook", "binding", "rule")): item for item in items}
            differences(path, named(of_log), named(of_sums), found)
    elif of_log != of_sums:
        found.append((path, of_log, of_sums))


def try_odd_logs(ahp, program, sums, root, check, count):
    env = {"PATH": os.environ["PATH"], "HOME": str(root / "odd-home"), "AHP_MACHINE_ID": "odd"}
    settings = root / "odd-home/.ahp"
    settings.mkdir(parents=True)

    def run(*argv, **more):
        return subprocess.run([str(part) for part in argv], env=env, capture_output=True, text=True, cwd=root, **more)
    wrong = []
    for seed in range(count):
        log, lake, rows = root / "odd.jsonl", root / "odd-lake", root / "odd.ndjson"
        shutil.rmtree(lake, ignore_errors=True)
        shutil.rmtree(root / "odd-home/.local", ignore_errors=True)
        Log(log, seed)
        sent = run(program, "ship", "--log", log, "--to", f"dir:{lake}")
        assert sent.returncode == 0, sent.stderr
        # A file that came twice counts once.
        for twice in list(lake.rglob("*.parquet"))[seed % 3::3]:
            if seed % 2:
                shutil.copy(twice, twice.with_name(f"again-{twice.name}"))
        summed = subprocess.run([sys.executable, sums, lake, "all"], capture_output=True, text=True)
        rows.write_text(summed.stdout)
        of_log, of_sums = (run(ahp, "log", *source, "--json") for source in (("--log", log, "stats"), ("stats", "--sums", rows)))
        found = []
        if summed.returncode or of_log.returncode or of_sums.returncode:
            found.append((summed.stderr, of_log.stderr, of_sums.stderr))
        else:
            differences("", json.loads(of_log.stdout), json.loads(of_sums.stdout), found)
        wrong += [(seed, *one) for one in found]
    check(f"the sums of {count} odd logs are what `ahp log stats` says of each", not wrong, wrong[:5])
