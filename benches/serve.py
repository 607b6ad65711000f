#!/usr/bin/env python3
"""How fast `ahp serve` answers, and what `ahp hook` costs with it: the real judge, the log on.

    benches/serve.py [--ahp target/dist/ahp] [--events 20000]

Goals (two cores): p50 at most 200 µs and p99 at most 1 ms an event; 20,000 events a second over kept connections and 8,000 with a
connection each; `ahp hook` at most 1.75 times `/bin/true` (for `cargo static`); memory at most 128 MiB after all of it.
"""

import argparse
import json
import multiprocessing
import os
import socket
import statistics
import struct
import subprocess
import sys
import tempfile
import time
from pathlib import Path

POLICY = "extends: [ahp:standard]\n"


def frame(head, body):
    return frame_as_read(json.dumps(head).encode(), body)


def exactly(stream, count):
    parts = stream.recv(count, socket.MSG_WAITALL)
    if len(parts) < count:
        raise EOFError
    return parts


def read(stream):
    head, body = struct.unpack("<II", exactly(stream, 8))
    return exactly(stream, head), exactly(stream, body)


def frame_as_read(head, body):
    return struct.pack("<II", len(head), len(body)) + head + body


def connect(path):
    stream = socket.socket(socket.AF_UNIX)
    stream.connect(path)
    return stream


def answers(stream, request):
    """Asks once; returns the two frames of the answer."""
    stream.sendall(request)
    first = read(stream)
    if json.loads(first[0])["state"] != "accepted":
        raise RuntimeError(first)
    return first, read(stream)


def caller(path, request, count, kept, out):
    # The judge is what is measured, not this program, which shares its cores: it asks many times before it reads, and compares bytes.
    ahead = 32 if kept else 1
    stream = connect(path)
    answer = b"".join(frame_as_read(*part) for part in answers(stream, request))
    asked, expected = request * ahead, answer * ahead
    begun = time.perf_counter()
    done = 0
    while done < count:
        if not kept:
            stream.close()
            stream = connect(path)
        stream.sendall(asked)
        if exactly(stream, len(expected)) != expected:
            raise RuntimeError("an answer differs from the first")
        done += ahead
    out.put((done, begun, time.perf_counter()))


def rate(path, request, count, callers, kept):
    out = multiprocessing.Queue()
    workers = [multiprocessing.Process(target=caller, args=(path, request, count // callers, kept, out)) for _ in range(callers)]
    for worker in workers:
        worker.start()
    results = [out.get() for _ in workers]
    for worker in workers:
        worker.join()
    took = max(end for _, _, end in results) - min(begun for _, begun, _ in results)
    return sum(done for done, _, _ in results) / took


def started(argv, environment, stdin, rounds=300):
    """How much longer a process takes than `/bin/true`, run in turn with it; the median of both."""
    times = ([], [])
    for _ in range(rounds):
        for kept, words in zip(times, (argv, ["/bin/true"])):
            begun = time.perf_counter()
            subprocess.run(words, env=environment, input=stdin, capture_output=True, check=False)
            kept.append(time.perf_counter() - begun)
    return statistics.median(times[0]) / statistics.median(times[1])


def event_in(project):
    """What a host would tell of a call in a project."""
    return json.dumps({
        "session_id": "s", "hook_event_name": "PreToolUse", "tool_name": "Bash", "cwd": str(project),
        "tool_input": {"command": "cargo test --workspace && git status --short | head -20"}, "tool_use_id": "t",
    }).encode()


def memory(pid):
    """The mebibytes that a process holds."""
    pages = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / (1 << 20)


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--ahp", type=Path, default=Path("target/dist/ahp"))
    options.add_argument("--events", type=int, default=20_000)
    options.add_argument("--callers", type=int, default=4)
    options.add_argument("--projects", type=int, default=32)
    options = options.parse_args()
    ahp = str(options.ahp.resolve())
    with tempfile.TemporaryDirectory() as base:
        home, project = Path(base) / "home", Path(base) / "project"
        projects = [project, *(Path(base) / f"project-{n}" for n in range(1, options.projects))]
        for each in projects:
            (each / ".ahp").mkdir(parents=True)
            (each / ".ahp/hooks.yaml").write_text(POLICY)
        home.mkdir()
        environment = {"HOME": str(home), "PATH": os.environ["PATH"]}
        event = event_in(project)
        hook = [ahp, "hook", "--host", "claude-code"]
        # The first event of a project is judged by the hook itself.
        for place in projects:
            subprocess.run(hook, env=environment, cwd=place, input=event_in(place), capture_output=True, check=False)
        alone = started(hook, environment, event)
        daemon = subprocess.Popen([ahp, "serve"], env=environment, cwd=project, stderr=subprocess.PIPE, text=True)
        while "listens at" not in daemon.stderr.readline():
            pass
        path = str(home / ".local/state/ahp/run/serve.sock")

        def request_in(place):
            head = {"v": 1, "build": "", "op": "hook", "host": "claude-code", "arguments": [], "cwd": str(place), "env": environment}
            return frame(head, event_in(place))

        request = request_in(project)
        try:
            idle = memory(daemon.pid)
            stream = connect(path)
            times = []
            for _ in range(5_000):
                begun = time.perf_counter()
                answers(stream, request)
                times.append((time.perf_counter() - begun) * 1e6)
            times.sort()
            # What is compared later is the same load for longer: as many callers, and connections of both kinds.
            rate(path, request, 4_000, options.callers, True)
            rate(path, request, 1_000, options.callers, False)
            for place in projects * 20:
                answers(stream, request_in(place))
            early = memory(daemon.pid)
            kept = rate(path, request, options.events, options.callers, True)
            each = rate(path, request, options.events // 2, options.callers, False)
            for place in projects * 20:
                answers(stream, request_in(place))
            later = memory(daemon.pid)
            asked = started(hook, environment, event)
            rows = [
                ("an event over a kept connection, median", times[len(times) // 2], 200, "µs"),
                ("the same, of a hundred the slowest", times[len(times) * 99 // 100], 1_000, "µs"),
                (f"events a second, {options.callers} callers, kept connections", kept, -20_000, ""),
                (f"events a second, {options.callers} callers, a connection each", each, -8_000, ""),
                ("`ahp hook` that judges by itself", alone, None, "× `/bin/true`"),
                ("`ahp hook` that asks", asked, 1.75, "× `/bin/true`"),
                ("memory before the first event", idle, 40, "MiB"),
                (f"memory after 10,000 events, {options.projects} projects", early, 128, "MiB"),
                (f"memory after {options.events * 3 // 2 + 10_000:,} events", later, early * 1.1, "MiB"),
            ]
        finally:
            daemon.terminate()
            daemon.wait()
        verified = subprocess.run([ahp, "log", "verify"], env=environment, cwd=project, capture_output=True, check=False)
    print("| what | wanted | measured |\n|---|---|---|")
    missed = []
    for what, figure, goal, unit in rows:
        bound = "" if goal is None else f"{abs(goal):,.2f}".removesuffix(".00")
        wanted = bound and f"{'≥' if goal < 0 else '≤'} {bound} {unit}".rstrip()
        shown = f"{figure:,.0f}" if figure >= 100 else f"{figure:.2f}"
        print(f"| {what} | {wanted} | {shown} {unit}".rstrip() + " |")
        if goal is not None and (figure > goal if goal > 0 else figure < -goal):
            missed.append(what)
    if verified.returncode:
        missed.append("the log does not verify")
    for what in missed:
        print(f"not as wanted: {what}", file=sys.stderr)
    return 1 if missed else 0


sys.exit(main())
