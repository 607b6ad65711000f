#!/usr/bin/env python3
"""Writes a made-up signal log of a wanted size: make_log.py PATH MEGABYTES [SEED].

The records have the shapes, proportions and the hash chain of real ones: about 8 evaluations to 1 signal, events
with redacted tool input; issues and sessions in which the same is found again, answered, let through and repaired.
"""

import hashlib
import json
import random
import sys
from datetime import datetime, timedelta, timezone

path, megabytes = sys.argv[1], float(sys.argv[2])
rng = random.Random(int(sys.argv[3]) if len(sys.argv) > 3 else 1)
hosts = ["claude-code", "gemini-cli", "codex", "monoco"]
bindings = [
    (f"{oracle}{n or ''}", oracle)
    for oracle in ("permission-checker", "security-scanner", "checklist-validator", "file-change-limiter", "lint-checker")
    for n in range(3)
]
ANSWERS = {
    "block": ["retry_after_fix"] * 8 + ["proceed_with_risk", "abort"],
    "prompt": ["acknowledge", "dismiss", "dismiss", "apply_suggestion"],
    "control": ["accept_modification"] * 4 + ["reject_modification"],
    "aid": ["suggestion_applied", "suggestion_deferred"],
}
COMMANDS = ["cargo test --workspace", "git push --force", "npm publish", "git status"]
given = {}
seq, prev = 0, "0" * 64
now = datetime(2026, 1, 1, tzinfo=timezone.utc)
size, limit = 0, megabytes * 1e6


def uid():
    h = f"{rng.getrandbits(128):032x}"
    return f"{h[:8]}-{h[8:12]}-7{h[13:16]}-8{h[17:20]}-{h[20:]}"


def stamp():
    return now.strftime("%Y-%m-%dT%H:%M:%S.%fZ")


with open(path, "w") as out:

    def put(body):
        global seq, prev, size
        seq += 1
        head = json.dumps({"seq": seq, "timestamp": stamp(), **body, "prev": prev}, separators=(",", ":"))
        prev = hashlib.sha256(head.encode()).hexdigest()
        line = f'{head[:-1]},"hash":"{prev}"}}\n'
        size += len(line)
        out.write(line)

    while size < limit:
        now += timedelta(hours=9) if rng.random() < 0.005 else timedelta(seconds=rng.randint(1, 40))
        is_submit = rng.random() < 0.2
        ends = rng.random() < 0.02
        hook = "post-session" if ends else "pre-issue-submit" if is_submit else "pre-tool-use"
        issue = f"FEAT-{rng.randint(1, 400):04d}" if is_submit or rng.random() < 0.3 else None
        # A few sessions are at work at a time, so that the same is judged again.
        session = f"s{seq // 150 + rng.randint(1, 6):06d}"
        command = rng.choice(COMMANDS)
        acted_on = None if is_submit or ends else hashlib.sha256(command.encode()).hexdigest()[:16]
        host = rng.choice(hosts)
        chosen = rng.sample(bindings[:6], 5)
        fire = rng.random() < 0.3
        reports, signals, answers = [], [], []
        for i, (binding, oracle) in enumerate(chosen):
            hit = fire and i == 0
            failed = not hit and rng.random() < 0.002
            known = given.setdefault((hook, binding, issue or session), [])
            waived = rng.sample(known, min(len(known), 2)) if rng.random() < 0.1 else []
            outcome = "signalled" if hit else "failed" if failed else "accepted"
            error = "timed out: took longer than its timeout of 30s" if failed else None
            source = f".ahp/hooks.yaml:{10 + i}"
            duration = int(rng.lognormvariate(5, 1.5))
            reports.append({"id": binding, "oracle": oracle, "outcome": outcome, "source": source,
                            "duration_us": duration, **({"waived": waived} if waived else {}), "error": error})
            for rule in rng.choice(["a", "a", "b", "ab"]) if hit else "":
                intensity = rng.choice(["block", "block", "prompt", "prompt", "control", "aid"])
                sid, target = uid(), command if acted_on else "the issue"
                finding = hashlib.sha256(f"{rule} {target}".encode()).hexdigest()[:16]
                # A failed run names several tests, each of them a finding.
                others = [f"{target} {n}" for n in range(rng.choice([0, 0, 0, 1, 3, 30]))]
                also = [{"identity": hashlib.sha256(f"{rule} {other}".encode()).hexdigest()[:16], "object": other} for other in others]
                known.append(sid)
                text = "3 of 5 items are open: " + "look at each of them and finish it; " * 4
                payload = {
                    "block": {"reason": text, "resolvable": True, "resolution_path": [text]},
                    "prompt": {"severity": "medium", "message": text, "suggestions": [text], "continue_allowed": True},
                    "control": {"modifications": [], "reversible": True},
                    "aid": {"context_info": text, "best_practices": [], "follow_ups": []},
                }[intensity]
                signals.append({"kind": "signal", "signal": {
                    "header": {"id": sid, "type": "finding", "timestamp": stamp(), "source": oracle,
                               "intensity": intensity, "correlation_id": sid},
                    "context": {"hook": hook, **({"issue_id": issue} if issue else {}), "files": ["src/a.rs"]},
                    "payload": payload},
                    "binding": binding, "source": source, "override": False, "fingerprint": finding,
                    "identity": finding, "rule": rule, "object": target, **({"also": also} if also else {}), "session_id": session, "host": host})
                if rng.random() < 0.8:
                    answers.append({"kind": "response", "response": {
                        "signal_id": sid, "consumed_at": stamp(), "action": rng.choice(ANSWERS[intensity]), "by": "agent",
                        "inferred": rng.random() < 0.3},
                        "hook": hook, "session_id": session, "binding": binding, "subject": issue or session, "fingerprint": finding})
        decision = "none"
        if signals:
            decision = "block" if signals[0]["signal"]["header"]["intensity"] == "block" else "allow"
        event = {"trigger": hook, "session_id": session, "work_dir": "/home/me/project", "host": host,
                 "tool": {"name": "Bash", "input": {"command": f"{command} && git status " * rng.randint(1, 12)}}}
        put({"kind": "evaluation", "hook": hook, "decision": decision, "host": host, "session_id": session,
             **({"issue_id": issue} if issue else {}), "tool": "Bash", "digest": f"{rng.getrandbits(64):016x}",
             **({"object": acted_on} if acted_on else {}), "event": event,
             "bindings": reports, "skipped": rng.randint(0, 40), "duration_us": sum(r["duration_us"] for r in reports)})
        for body in signals + answers:
            put(body)
