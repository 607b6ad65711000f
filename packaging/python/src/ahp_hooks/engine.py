"""Engine and AsyncEngine: ask `ahp` what an agent may do."""

from __future__ import annotations

import asyncio
import os
import time
from typing import Any, Literal

from .child import Child
from .errors import AhpError, AhpUnavailable
from .options import one_of, path_from_root, path_of, program_of, timeout_of
from .verdict import Verdict

OnFailure = Literal["block", "raise"]


class Engine:
    """Judges events by the policy of a project, in a child process that stays.

    It may be used from many threads, and after `fork` it starts a child of its own.

    :param project: the directory whose policy judges. A relative path is resolved here, once: `os.chdir` does not change it.
    :param timeout: how long one event may take, in seconds, from 0.01 to 3600. `ahp` is told nine tenths of it, so that it
        answers first.
    :param on_failure: what a failure of `ahp` itself gives: a verdict that blocks, or the exception. It is never a pass.
    :param program: the `ahp` to start, a path or a name on PATH; by default the one beside this Python, else that on PATH.
    :param answers: `"human"` where a person gives the answers of `respond`.
    :raises TypeError: an option is of another type.
    :raises ValueError: an option has a value that is not possible.
    """

    def __init__(
        self,
        project: str | os.PathLike[str] = ".",
        timeout: float = 60.0,
        on_failure: OnFailure = "block",
        *,
        program: str | os.PathLike[str] | None = None,
        answers: Literal["agent", "human"] = "agent",
    ) -> None:
        self.timeout = timeout_of(timeout)
        self.on_failure = one_of("on_failure", on_failure, ("block", "raise"))
        options = ["--project", path_of("project", project), "--timeout", f"{self.timeout * 0.9:.3f}"]
        options += ["--answers", one_of("answers", answers, ("agent", "human"))]
        self._child = Child(program_of(program), options)

    def evaluate(self, trigger: str, *, tool: str | None = None, input: Any = None, **fields: Any) -> Verdict:
        """Judges an event.

        :param trigger: such as `pre-tool-use` or `pre-issue-submit`.
        :param tool: the name of the tool that is called.
        :param input: what it is called with: an object, or any other JSON, which is judged as `{"value": …}`.
        :param fields: other fields of an event: `session_id`, `issue_id`, `work_dir`, `environment`, `prompt`, …
        """
        try:
            answer = self._child.call("ahp/evaluate", _event(trigger, tool, input, fields), self.timeout)
        except AhpError as error:
            return self._failed(error)
        return Verdict.of(answer)

    def hook(self, host: str, payload: dict[str, Any], *, event: str | None = None) -> dict[str, Any]:
        """Judges what a host gives its hooks; returns the host's own answer.

        Only the caller knows how that host is told of a failure: an `AhpError` is raised whatever `on_failure` says.
        """
        answer = self._child.call("ahp/hook", _hook(host, payload, event), self.timeout)
        return _reply(answer)

    def respond(
        self,
        signal: str,
        action: str,
        details: dict[str, Any] | None = None,
        *,
        by: Literal["agent", "human"] = "agent",
    ) -> None:
        """Answers a signal. `human` counts only in an engine that was made with `answers="human"`.

        :raises AhpError: it was not recorded.
        """
        params = {"signal": signal, "action": action, "details": details or {}, "by": by}
        self._child.call("ahp/respond", params, self.timeout)

    def hello(self) -> dict[str, Any]:
        """Asks for the version of `ahp`, the project, and how many faults its policy has.

        :raises AhpError: there is no answer.
        """
        return self._child.call("ahp/hello", {}, self.timeout)

    def as_async(self) -> AsyncEngine:
        """Returns the same engine for coroutines."""
        return AsyncEngine(engine=self)

    def close(self) -> None:
        """Ends the child. What is asked afterwards fails."""
        self._child.close()

    def __enter__(self) -> Engine:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _failed(self, error: AhpError) -> Verdict:
        if self.on_failure == "raise":
            raise error
        return Verdict("block", f"Blocked, because ahp could not judge this: {error}")


class AsyncEngine:
    """An `Engine` for coroutines; it takes the same parameters. Many events may be under way at once."""

    def __init__(
        self,
        project: str | os.PathLike[str] = ".",
        timeout: float = 60.0,
        on_failure: OnFailure = "block",
        *,
        program: str | os.PathLike[str] | None = None,
        answers: Literal["agent", "human"] = "agent",
        engine: Engine | None = None,
    ) -> None:
        if engine is not None and not isinstance(engine, Engine):
            raise TypeError(f"`engine` is an `Engine`; given: {engine!r}")
        self.sync = engine or Engine(project, timeout, on_failure, program=program, answers=answers)

    async def evaluate(self, trigger: str, *, tool: str | None = None, input: Any = None, **fields: Any) -> Verdict:
        """As `Engine.evaluate`."""
        try:
            answer = await self._call("ahp/evaluate", _event(trigger, tool, input, fields))
        except AhpError as error:
            return self.sync._failed(error)
        return Verdict.of(answer)

    async def hook(self, host: str, payload: dict[str, Any], *, event: str | None = None) -> dict[str, Any]:
        """As `Engine.hook`."""
        return _reply(await self._call("ahp/hook", _hook(host, payload, event)))

    async def respond(
        self,
        signal: str,
        action: str,
        details: dict[str, Any] | None = None,
        *,
        by: Literal["agent", "human"] = "agent",
    ) -> None:
        """As `Engine.respond`."""
        params = {"signal": signal, "action": action, "details": details or {}, "by": by}
        await self._call("ahp/respond", params)

    async def close(self) -> None:
        """As `Engine.close`."""
        await asyncio.to_thread(self.sync.close)

    async def __aenter__(self) -> AsyncEngine:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def _call(self, method: str, params: dict[str, Any]) -> dict[str, Any]:
        child, timeout = self.sync._child, self.sync.timeout
        deadline = time.monotonic() + timeout
        # To start the child and to write may take a moment, which the loop must not wait for.
        pending = await asyncio.to_thread(child.submit, method, params, timeout)
        try:
            left = max(0.0, deadline - time.monotonic())
            answer = await asyncio.wait_for(asyncio.wrap_future(pending.future), left)
        except asyncio.TimeoutError:
            raise await asyncio.to_thread(child.hangs, pending, timeout) from None
        except AhpUnavailable as error:
            await asyncio.to_thread(child.failed, pending.process, error)
            raise
        child.answered()
        return answer


def _event(trigger: str, tool: str | None, input: Any, fields: dict[str, Any]) -> dict[str, Any]:
    event = {"trigger": trigger, **fields}
    work_dir = event.get("work_dir")
    if isinstance(work_dir, (str, os.PathLike)) and work_dir:
        # Relative to the caller: the child's own directory is the one in which it happened to be started.
        event["work_dir"] = path_from_root(os.fsdecode(work_dir))
    if tool is not None or input is not None:
        # A call without a name is one too: `ahp` stops it.
        given = input if isinstance(input, dict) else {"value": input}
        event["tool"] = {"name": "" if tool is None else tool, "input": given}
    return {"event": event}


def _hook(host: str, payload: dict[str, Any], event: str | None) -> dict[str, Any]:
    params = {"host": host, "payload": payload}
    return params if event is None else {**params, "event": event}


def _reply(answer: dict[str, Any]) -> dict[str, Any]:
    reply = answer.get("reply")
    if not isinstance(reply, dict):
        raise AhpUnavailable("ahp gave an answer without a reply")
    return reply
