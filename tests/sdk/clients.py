#!/usr/bin/env python3
"""Tries the Python client itself: threads, fork, a killed child, a child that hangs, and bad input.

clients.py --ahp PROGRAM
"""

from __future__ import annotations

import argparse
import asyncio
import os
import shutil
import signal
import stat
import subprocess
import sys
import tempfile
import threading
import time
import unittest
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent.parent / "packaging/python/src"))

from ahp_hooks import AhpUnavailable, AsyncEngine, BadEvent, Engine, Timeout  # noqa: E402

POLICY = "hooks: {pre-tool-use: [{oracle: PermissionChecker, config: {dangerous_commands: ['git push --force']}}]}\n"
FORCED, HARMLESS = {"command": "git push --force nowhere main"}, {"command": "echo hi"}
AHP = ""


def children() -> list[int]:
    """The processes that this one started."""
    listed = subprocess.run(["ps", "-o", "pid=,comm=", "--ppid", str(os.getpid())], capture_output=True, text=True)
    return [int(line.split()[0]) for line in listed.stdout.splitlines() if line.split()[1] == "ahp"]


class Clients(unittest.TestCase):
    def setUp(self) -> None:
        place = tempfile.TemporaryDirectory()
        self.addCleanup(place.cleanup)
        self.addCleanup(os.chdir, os.getcwd())
        self.project = os.path.realpath(place.name)
        Path(self.project, ".ahp").mkdir()
        Path(self.project, ".ahp/hooks.yaml").write_text(POLICY)
        # A policy at home would hold in every project.
        os.environ["HOME"] = self.elsewhere()

    def engine(self, **options: object) -> Engine:
        engine = Engine(**{"project": self.project, "timeout": 30, "program": AHP, **options})  # type: ignore[arg-type]
        self.addCleanup(engine.close)
        return engine

    def elsewhere(self) -> str:
        """A directory without a policy."""
        place = tempfile.TemporaryDirectory()
        self.addCleanup(place.cleanup)
        return os.path.realpath(place.name)

    def program(self, text: str) -> str:
        path = Path(self.project, "stand-in")
        path.write_text(text)
        path.chmod(path.stat().st_mode | stat.S_IXUSR)
        return str(path)

    def test_a_block_has_reason_signals_and_the_whole_answer(self) -> None:
        verdict = self.engine().evaluate("pre-tool-use", tool="Bash", input=FORCED)
        self.assertTrue(verdict.stops)
        self.assertEqual(verdict.decision, "block")
        self.assertIn("git push --force", verdict.message)
        self.assertEqual(verdict.signals[0]["header"]["intensity"], "block")
        self.assertEqual(verdict.raw["decision"], "block")

    def test_the_program_is_found_where_the_wheel_puts_it(self) -> None:
        source = HERE.parent.parent / "packaging/python/src"
        for where in ("target", "user"):
            base = Path(self.elsewhere())
            package = base / "lib" if where == "user" else base
            (base / "bin").mkdir()
            shutil.copytree(source, package, dirs_exist_ok=True)
            program = base / "bin/ahp"
            program.write_text("#!/bin/sh\n")
            program.chmod(0o755)
            environment = {"PATH": "/nowhere", "PYTHONPATH": str(package), "PYTHONUSERBASE": str(base)}
            script = "from ahp_hooks.child import find_program; print(find_program())"
            ran = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, env=environment)
            self.assertEqual(ran.stdout.strip(), str(program), ran.stderr)

    def test_many_threads_share_one_child(self) -> None:
        engine = self.engine()
        inputs = [FORCED, HARMLESS] * 100
        with ThreadPoolExecutor(16) as pool:
            found = list(pool.map(lambda i: engine.evaluate("pre-tool-use", tool="Bash", input=i).stops, inputs))
        self.assertEqual(found, [True, False] * 100)
        self.assertEqual(len(children()), 1)

    def test_many_coroutines_share_one_child(self) -> None:
        async def ask() -> list[bool]:
            async with AsyncEngine(self.project, program=AHP) as engine:
                asked = (engine.evaluate("pre-tool-use", tool="Bash", input=i) for i in [FORCED, HARMLESS] * 50)
                return [verdict.stops for verdict in await asyncio.gather(*asked)]

        self.assertEqual(asyncio.run(ask()), [True, False] * 50)

    def test_after_fork_each_has_its_own_child(self) -> None:
        engine = self.engine()
        self.assertFalse(engine.evaluate("pre-tool-use", tool="Bash", input=HARMLESS).stops)
        pid = os.fork()
        if pid == 0:
            stops = engine.evaluate("pre-tool-use", tool="Bash", input=FORCED)
            engine.close()
            os._exit(0 if stops.decision == "block" and stops.signals else 1)
        self.assertEqual(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), 0)
        self.assertFalse(engine.evaluate("pre-tool-use", tool="Bash", input=HARMLESS).stops)

    def test_the_project_is_the_one_that_was_meant_when_the_engine_was_made(self) -> None:
        elsewhere = self.elsewhere()
        link = Path(elsewhere, "link")
        link.symlink_to(self.project)
        Path(elsewhere, "ahp").symlink_to(AHP)
        name = os.path.basename(self.project)
        for cwd, options in (
            (self.project, {}),
            (self.project, {"project": "."}),
            (os.path.dirname(self.project), {"project": name}),
            (os.path.dirname(self.project), {"project": Path(name)}),
            (elsewhere, {"project": "link"}),
            (elsewhere, {"project": self.project, "program": "./ahp"}),
        ):
            with self.subTest(options=options):
                os.chdir(cwd)
                engine = Engine(**{"program": AHP, **options})  # type: ignore[arg-type]
                waits = AsyncEngine(**{"program": AHP, **options})  # type: ignore[arg-type]
                os.chdir("/")
                verdict = engine.evaluate("pre-tool-use", tool="Bash", input=FORCED)
                self.assertEqual(verdict.decision, "block")
                self.assertTrue(verdict.signals, verdict.message)
                again = asyncio.run(waits.evaluate("pre-tool-use", tool="Bash", input=FORCED))
                self.assertEqual(len(again.signals), len(verdict.signals))
                engine.close()
                waits.sync.close()

    def test_after_fork_and_chdir_the_project_is_the_same(self) -> None:
        os.chdir(self.project)
        engine = Engine(".", program=AHP)
        self.assertTrue(engine.evaluate("pre-tool-use", tool="Bash", input=FORCED).signals)
        pid = os.fork()
        if pid == 0:
            os.chdir("/")
            signals = engine.evaluate("pre-tool-use", tool="Bash", input=FORCED).signals
            engine.close()
            os._exit(0 if signals else 1)
        self.assertEqual(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), 0)
        engine.close()

    def test_a_work_dir_is_relative_to_the_caller(self) -> None:
        engine = self.engine(project=self.elsewhere())
        os.chdir("/")
        self.assertFalse(engine.evaluate("pre-tool-use", tool="Bash", input=FORCED).stops)
        os.chdir(os.path.dirname(self.project))
        for work_dir in (os.path.basename(self.project), Path(self.project)):
            self.assertTrue(engine.evaluate("pre-tool-use", tool="Bash", input=FORCED, work_dir=work_dir).signals)

    def test_what_is_no_option_is_told_when_the_engine_is_made(self) -> None:
        for options, error, words in (
            ({"projct": "."}, TypeError, "'projct'"),
            ({"timeout": "60"}, TypeError, "`timeout` is a number of seconds from 0.01 to 3600; given: '60'"),
            ({"timeout": None}, TypeError, "`timeout` .*given: None"),
            ({"timeout": True}, TypeError, "`timeout` .*given: True"),
            ({"timeout": 0.00001}, ValueError, "`timeout` .*given: 1e-05"),
            ({"timeout": 0}, ValueError, "`timeout` .*given: 0"),
            ({"timeout": -1}, ValueError, "`timeout` .*given: -1"),
            ({"timeout": 3601}, ValueError, "`timeout` .*given: 3601"),
            ({"timeout": float("nan")}, ValueError, "`timeout` .*given: nan"),
            ({"on_failure": "allow"}, ValueError, "`on_failure` is 'block' or 'raise'; given: 'allow'"),
            ({"on_failure": None}, TypeError, "`on_failure` .*given: None"),
            ({"answers": "robot"}, ValueError, "`answers` is 'agent' or 'human'; given: 'robot'"),
            ({"answers": True}, TypeError, "`answers` .*given: True"),
            ({"project": None}, TypeError, "`project` is a path.*given: None"),
            ({"project": 3}, TypeError, "`project` .*given: 3"),
            ({"project": b"."}, TypeError, "`project` .*given: b'.'"),
            ({"project": ""}, ValueError, "`project` .*given: ''"),
            ({"project": "a\0b"}, ValueError, "`project` .*given"),
            ({"program": 3}, TypeError, "`program` is a path.*given: 3"),
            ({"program": ""}, ValueError, "`program` .*given: ''"),
        ):
            for kind in (Engine, AsyncEngine):
                with self.subTest(kind=kind.__name__, options=options), self.assertRaisesRegex(error, words):
                    kind(**options)  # type: ignore[arg-type]
        with self.assertRaisesRegex(TypeError, "`engine` is an `Engine`; given: '.'"):
            AsyncEngine(engine=".")  # type: ignore[arg-type]

    def test_the_shortest_timeout_is_one_that_the_program_takes(self) -> None:
        engine = self.engine(timeout=0.01)
        engine.timeout = 30
        self.assertFalse(engine.hello()["faults"])

    def test_a_program_that_says_nothing_is_given_up_in_time(self) -> None:
        silent = self.program("#!/bin/sh\nwhile read line; do :; done\n")
        began = time.monotonic()
        with self.assertRaisesRegex(Timeout, "no answer within 0.5 s"):
            self.engine(program=silent, timeout=0.5, on_failure="raise").evaluate("pre-tool-use")
        waits = self.engine(program=silent, timeout=0.5, on_failure="raise").as_async()
        with self.assertRaisesRegex(Timeout, "no answer within 0.5 s"):
            asyncio.run(waits.evaluate("pre-tool-use"))
        self.assertLess(time.monotonic() - began, 10)

    def test_a_killed_child_blocks_what_is_under_way_and_is_started_again(self) -> None:
        # A stopped child holds its answer back until it is killed.
        engine = self.engine()
        self.assertFalse(engine.evaluate("pre-tool-use", tool="Bash", input=HARMLESS).stops)
        os.kill(children()[0], signal.SIGSTOP)
        found: list[object] = []
        asking = threading.Thread(
            target=lambda: found.append(engine.evaluate("pre-tool-use", tool="Bash", input=HARMLESS))
        )
        asking.start()
        while not engine._child._process.waiting:  # type: ignore[union-attr]
            time.sleep(0.01)
        os.kill(children()[0], signal.SIGKILL)
        asking.join()
        self.assertTrue(found[0].stops)  # type: ignore[attr-defined]
        self.assertIn("could not judge", found[0].message)  # type: ignore[attr-defined]
        self.assertFalse(engine.evaluate("pre-tool-use", tool="Bash", input=HARMLESS).stops)

    def test_a_child_that_hangs_is_ended_in_time(self) -> None:
        engine = self.engine(timeout=1.5, on_failure="raise")
        engine.hello()
        os.kill(children()[0], signal.SIGSTOP)
        with self.assertRaises(Timeout):
            engine.evaluate("pre-tool-use", tool="Bash", input=HARMLESS)
        self.assertFalse(engine.evaluate("pre-tool-use", tool="Bash", input=HARMLESS).stops)

    def test_a_program_that_fails_twice_is_left_alone_for_a_while(self) -> None:
        engine = self.engine(program=self.program("#!/bin/sh\necho x >> tries\necho 'no policy here' >&2\nexit 1\n"))
        os.chdir(self.project)
        for _ in range(5):
            verdict = engine.evaluate("pre-tool-use", tool="Bash", input=HARMLESS)
            self.assertEqual(verdict.decision, "block")
            self.assertIn("no policy here", verdict.message)
        self.assertEqual(Path("tries").read_text().count("x"), 2)

    def test_another_protocol_is_refused(self) -> None:
        answer = '{"jsonrpc":"2.0","id":1,"result":{"protocol":99}}'
        engine = self.engine(program=self.program(f"#!/bin/sh\nread line\necho '{answer}'\nread line\n"), on_failure="raise")
        with self.assertRaisesRegex(AhpUnavailable, "protocol 99"):
            engine.evaluate("pre-tool-use", tool="Bash", input=HARMLESS)

    def test_bad_input_is_told_and_the_child_goes_on(self) -> None:
        engine = self.engine(on_failure="raise")
        with self.assertRaisesRegex(BadEvent, "trigger"):
            engine.evaluate("pre-tool-uze", tool="Bash", input=HARMLESS)
        with self.assertRaisesRegex(BadEvent, "not JSON"):
            engine.evaluate("pre-tool-use", tool="Bash", input={"command": object()})
        with self.assertRaisesRegex(BadEvent, "32 MiB"):
            engine.evaluate("pre-tool-use", tool="Bash", input={"command": "x" * (33 << 20)})
        with self.assertRaisesRegex(BadEvent, "unknown host"):
            engine.hook("no-such-host", {})
        self.assertEqual(engine.evaluate("pre-tool-use", tool="Bash", input=FORCED).decision, "block")
        self.assertTrue(self.engine().evaluate("pre-tool-uze").stops)

    def test_an_input_that_is_no_object_is_judged_as_a_value(self) -> None:
        self.assertTrue(self.engine().evaluate("pre-tool-use", tool="Bash", input="git push --force nowhere main").stops)

    def test_what_holds_more_than_is_read_is_stopped_at_once_and_the_child_goes_on(self) -> None:
        engine = self.engine(on_failure="raise")
        engine.hello()
        child = children()
        deep: list[object] = []
        for _ in range(200):
            deep = [deep]
        for more in (deep, 10**400):
            with self.subTest(more=str(more)[:10]):
                given = {"command": "echo hi", "more": more}
                self.assertEqual(engine.evaluate("pre-tool-use", tool="Bash", input=given).decision, "block")
                payload = {"hook_event_name": "PreToolUse", "session_id": "s", "cwd": self.project, "tool_name": "Bash"}
                reply = engine.hook("claude-agent-sdk", {**payload, "tool_input": given})
                self.assertEqual(reply["hookSpecificOutput"]["permissionDecision"], "deny")
        self.assertFalse(engine.evaluate("post-tool-use", tool="Bash", input=deep).stops)
        with self.assertRaisesRegex(BadEvent, "not JSON"):
            engine.evaluate("pre-tool-use", tool="Bash", input={"command": "\ud800"})
        self.assertEqual(children(), child)

    def test_an_answer_without_a_number_is_for_whoever_waits(self) -> None:
        hello = '{"jsonrpc":"2.0","id":1,"result":{"protocol":1}}'
        refused = '{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"the line is not JSON"}}'
        text = f"#!/bin/sh\nread line\necho '{hello}'\nwhile read line; do echo '{refused}'; done\n"
        engine = self.engine(program=self.program(text), on_failure="raise")
        for _ in range(3):
            with self.assertRaises(BadEvent):
                engine.evaluate("pre-tool-use", tool="Bash", input=HARMLESS)

    def test_a_call_that_names_no_tool_is_stopped(self) -> None:
        engine = self.engine()
        for given in ({"input": HARMLESS}, {"tool": None, "input": HARMLESS}, {"tool": "", "input": HARMLESS}, {}):
            with self.subTest(given=given):
                verdict = engine.evaluate("pre-tool-use", **given)  # type: ignore[arg-type]
                self.assertEqual(verdict.decision, "block")
                self.assertIn("names no tool", verdict.message)
        self.assertFalse(engine.evaluate("pre-agent-turn", prompt="go").stops)

    def test_a_large_event_passes_the_pipe(self) -> None:
        engine = self.engine()
        verdict = engine.evaluate("pre-tool-use", tool="Write", input={"file_path": "a", "content": "x" * (8 << 20)})
        self.assertEqual(verdict.decision, "none")

    def test_a_signal_is_answered(self) -> None:
        engine = self.engine()
        verdict = engine.evaluate("pre-tool-use", tool="Bash", input=FORCED)
        engine.respond(verdict.signals[0]["header"]["id"], "abort")
        with self.assertRaises(BadEvent):
            engine.respond("ffffffff", "abort")

    def test_no_child_outlives_its_parent(self) -> None:
        script = (
            "import os, sys; from ahp_hooks import Engine\n"
            f"e = Engine({self.project!r}, program={AHP!r}); e.hello()\n"
            "print(e._child._process.child.pid, flush=True); os.kill(os.getpid(), 9)"
        )
        environment = {**os.environ, "PYTHONPATH": str(HERE.parent.parent / "packaging/python/src")}
        ran = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, env=environment)
        pid = int(ran.stdout)
        for _ in range(500):
            if not Path(f"/proc/{pid}").exists() or "Z" in Path(f"/proc/{pid}/stat").read_text().split()[2]:
                return
            time.sleep(0.02)
        self.fail("the child is still there")


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--ahp", required=True)
    AHP = str(Path(parser.parse_args().ahp).resolve())
    unittest.main(argv=sys.argv[:1])
