"""Child: the `ahp serve --stdio` behind an engine, and the questions that are under way."""

from __future__ import annotations

import io
import json
import os
import select
import shutil
import subprocess
import sysconfig
import tempfile
import threading
import time
import weakref
from concurrent.futures import Future
from concurrent.futures import TimeoutError as FutureTimeout
from typing import IO, Any

from .errors import AhpError, AhpUnavailable, BadEvent, Timeout

#: The version of the methods `ahp/…` that this client speaks.
PROTOCOL = 1
#: The longest request in bytes; `ahp` takes no longer line.
MOST_BYTES = 32 << 20
#: How long calls fail at once after a new child failed too, in seconds.
PAUSE = 5.0
#: How long a new child may take to say hello, in seconds.
START = 20.0


def find_program() -> str:
    """Finds `ahp` where the wheel puts it: beside this Python, below the user's base (`--user`), or in `bin` beside this
    package (`--target`); else on PATH."""
    place = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    folders = [
        os.path.join(place, "bin"),
        sysconfig.get_path("scripts"),
        sysconfig.get_path("scripts", sysconfig.get_preferred_scheme("user")),
    ]
    for folder in folders:
        program = os.path.join(folder, "ahp")
        if os.path.isfile(program) and os.access(program, os.X_OK):
            return program
    found = shutil.which("ahp")
    if found is None:
        raise AhpUnavailable(
            f"there is no `ahp` in {', '.join(folders)} or on PATH; install it with `pip install ahp-hooks`"
        )
    return found


class _Process:
    """One running child. It is given up as a whole: a new one takes its place."""

    def __init__(self, arguments: list[str]) -> None:
        self.words: IO[bytes] = tempfile.TemporaryFile()
        try:
            self.child = subprocess.Popen(
                arguments, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self.words, bufsize=0
            )
        except OSError as error:
            self.words.close()
            raise AhpUnavailable(f"`{arguments[0]}` cannot be started: {error}") from error
        assert self.child.stdin is not None and self.child.stdout is not None
        self.stdin = self.child.stdin
        self.stdout = io.BufferedReader(self.child.stdout)  # type: ignore[type-var]
        os.set_blocking(self.stdin.fileno(), False)
        self.waiting: dict[int, Future[dict[str, Any]]] = {}
        self.lock = threading.Lock()
        self.writing = threading.Lock()
        self.last_id = 0
        self.is_over = False
        self.ended = threading.Event()
        self.why = ""
        threading.Thread(target=self._read, name="ahp", daemon=True).start()

    def ask(self, method: str, params: dict[str, Any], deadline: float) -> Future[dict[str, Any]]:
        future: Future[dict[str, Any]] = Future()
        with self.lock:
            if not self.is_over:
                self.last_id += 1
                self.waiting[self.last_id] = future
            number = self.last_id
        if self.is_over:
            raise self._over()
        request = {"jsonrpc": "2.0", "id": number, "method": method, "params": params}
        try:
            line = json.dumps(request, ensure_ascii=False, allow_nan=False).encode() + b"\n"
        except (TypeError, ValueError, RecursionError) as error:
            self.forget(future)
            raise BadEvent(f"not JSON: {error}") from error
        if len(line) > MOST_BYTES:
            self.forget(future)
            raise BadEvent("the event is longer than 32 MiB")
        self._write(line, deadline)
        return future

    def _write(self, line: bytes, deadline: float) -> None:
        if not self.writing.acquire(timeout=max(0.0, deadline - time.monotonic())):
            raise Timeout("`ahp` takes no questions")
        try:
            view = memoryview(line)
            poll = select.poll()
            poll.register(self.stdin.fileno(), select.POLLOUT)
            while view:
                try:
                    view = view[os.write(self.stdin.fileno(), view) :]
                except BlockingIOError:
                    left = deadline - time.monotonic()
                    if left <= 0 or not poll.poll(left * 1000):
                        raise Timeout("`ahp` takes no questions") from None
        except (OSError, ValueError) as error:
            self.end("`ahp` has ended", patience=0.5)
            raise self._over() from error
        finally:
            self.writing.release()

    def _over(self) -> AhpUnavailable:
        """What is said once the child has ended; whoever ends it collects its last words."""
        self.ended.wait(5.0)
        return AhpUnavailable(self.why or "`ahp` has ended")

    def forget(self, future: Future[dict[str, Any]]) -> None:
        with self.lock:
            for number, waiting in list(self.waiting.items()):
                if waiting is future:
                    del self.waiting[number]

    def _read(self) -> None:
        try:
            with self.stdout:
                for line in self.stdout:
                    self._take(line)
            why = "`ahp` has ended"
        except (OSError, ValueError) as error:
            why = f"what `ahp` says cannot be read: {error}"
        self.end(why, patience=0.5)

    def _take(self, line: bytes) -> None:
        answer = json.loads(line)
        if not isinstance(answer, dict):
            raise ValueError("an answer is not an object")
        number = answer.get("id")
        with self.lock:
            # A question that could not be read has no number: each that waits may be the one.
            numbers = list(self.waiting) if number is None else [number]
            asked = [self.waiting.pop(one) for one in numbers if one in self.waiting]
        result, error = answer.get("result"), answer.get("error")
        for future in asked:
            if not future.set_running_or_notify_cancel():
                continue
            if isinstance(result, dict):
                future.set_result(result)
            else:
                told = error.get("message") if isinstance(error, dict) else None
                future.set_exception(BadEvent(str(told or "the answer has no result")))

    def end(self, why: str, patience: float = 0.0) -> None:
        """Ends the child, at once or after what is under way; whoever waits is told why."""
        with self.lock:
            if self.is_over:
                return
            self.is_over = True
        self._close_stdin()
        try:
            self.child.wait(patience)
        except subprocess.TimeoutExpired:
            self.child.kill()
            self.child.wait()
        self.words.seek(0)
        said = self.words.read(2000).decode(errors="replace").strip()
        self.words.close()
        self.why = f"{why}: {said}" if said else why
        self.ended.set()
        with self.lock:
            waiting, self.waiting = self.waiting, {}
        for future in waiting.values():
            if future.set_running_or_notify_cancel():
                future.set_exception(AhpUnavailable(self.why))

    def _close_stdin(self) -> None:
        try:
            self.stdin.close()
        except OSError:
            pass

    def leave_to_parent(self) -> None:
        """Lets go of the child of a parent, after `fork`: its end is not to wait for this process."""
        self._close_stdin()


class Pending:
    """A question that is under way, and whom it was put to."""

    def __init__(self, process: _Process, future: Future[dict[str, Any]]) -> None:
        self.process, self.future = process, future


class Child:
    """Starts `ahp serve --stdio` when it is first needed, and once more where it died."""

    def __init__(self, program: str | None, options: list[str]) -> None:
        self._program, self._options = program, options
        self._fresh()
        _ALL.add(self)

    def _fresh(self) -> None:
        """Begins anew; after `fork`, the parent's child and locks are the parent's."""
        self._process: _Process | None = None
        self._lock = threading.Lock()
        self._failures = 0
        self._paused_until = 0.0
        self._why = ""
        self._is_closed = False
        self.hello: dict[str, Any] = {}

    def submit(self, method: str, params: dict[str, Any], timeout: float) -> Pending:
        """Asks; the answer comes later. The child is started where there is none."""
        deadline = time.monotonic() + timeout
        process = self._running(deadline, timeout)
        try:
            return Pending(process, process.ask(method, params, deadline))
        except BadEvent:
            raise
        except AhpError as error:
            self.failed(process, error)
            raise

    def call(self, method: str, params: dict[str, Any], timeout: float) -> dict[str, Any]:
        """Asks and waits for the answer."""
        deadline = time.monotonic() + timeout
        pending = self.submit(method, params, timeout)
        try:
            answer = pending.future.result(max(0.0, deadline - time.monotonic()))
        except FutureTimeout:
            raise self.hangs(pending, timeout) from None
        except AhpUnavailable as error:
            self.failed(pending.process, error)
            raise
        self.answered()
        return answer

    def answered(self) -> None:
        """Notes that the child is well."""
        self._failures = 0

    def hangs(self, pending: Pending, timeout: float) -> Timeout:
        """Ends a child that did not answer in time; `ahp` itself would have, for it knows the limit."""
        error = Timeout(f"no answer within {timeout:g} s")
        self.failed(pending.process, error)
        return error

    def failed(self, process: _Process, error: AhpError) -> None:
        """Gives a child up, once for all who waited for it."""
        with self._lock:
            if self._process is not process:
                return
            self._process = None
            self._note_failure(str(error))
        process.end(str(error))

    def _note_failure(self, why: str) -> None:
        self._failures += 1
        self._why = why
        if self._failures > 1:
            self._paused_until = time.monotonic() + PAUSE

    def _running(self, deadline: float, timeout: float) -> _Process:
        with self._lock:
            if self._is_closed:
                raise AhpUnavailable("this engine is closed")
            if self._process is not None:
                return self._process
            if time.monotonic() < self._paused_until:
                raise AhpUnavailable(f"`ahp` failed twice, so that it is not asked for {PAUSE:g} s: {self._why}")
            process = None
            until = min(time.monotonic() + START, deadline)
            try:
                program = self._program or find_program()
                process = _Process([program, "serve", "--stdio", *self._options])
                self.hello = process.ask("ahp/hello", {}, deadline).result(max(0.0, until - time.monotonic()))
                if self.hello.get("protocol") != PROTOCOL:
                    raise AhpUnavailable(
                        f"`{program}` speaks protocol {self.hello.get('protocol')!r}, and this client {PROTOCOL}"
                    )
            except FutureTimeout:
                raise self._not_started(process, Timeout(f"no answer within {min(START, timeout):g} s")) from None
            except AhpError as error:
                raise self._not_started(process, AhpUnavailable(str(error))) from error
            self._process = process
            return process

    def _not_started(self, process: _Process | None, error: AhpError) -> AhpError:
        if process is not None:
            process.end("it did not say hello")
        self._note_failure(str(error))
        return error

    def close(self) -> None:
        """Ends the child."""
        with self._lock:
            process, self._process = self._process, None
            self._is_closed = True
        if process is not None:
            process.end("this engine is closed", patience=2.0)


_ALL: weakref.WeakSet[Child] = weakref.WeakSet()


def _after_fork() -> None:
    for child in list(_ALL):
        if child._process is not None:
            child._process.leave_to_parent()
        child._fresh()


os.register_at_fork(after_in_child=_after_fork)
