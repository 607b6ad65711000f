"""A middleware for LangChain agents: `create_agent(model, tools, middleware=[AhpMiddleware(engine)])`."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from langchain.agents.middleware import AgentMiddleware
from langchain.agents.middleware.types import ToolCallRequest
from langchain_core.messages import ToolMessage

from .engine import Engine
from .options import tools_of
from .tool_call import before, before_async
from .verdict import Verdict


class AhpMiddleware(AgentMiddleware):
    """Judges each tool call before it is made. What is stopped gives a tool message of status `error`.

    Nobody can be asked there: a question is a block that says how to answer.

    :param tools: which tool of the vocabulary each of yours is, such as `{"exec": "Bash"}`.
    """

    def __init__(self, engine: Engine, tools: Mapping[str, str] | None = None) -> None:
        super().__init__()
        self._engine, self._tools = engine, tools_of(tools)

    def wrap_tool_call(self, request: ToolCallRequest, handler: Callable[[ToolCallRequest], Any]) -> Any:
        call = request.tool_call
        verdict = before(self._engine, call["name"], call["args"], self._tools)
        return _stopped(request, verdict) or handler(_changed(request, verdict))

    async def awrap_tool_call(
        self, request: ToolCallRequest, handler: Callable[[ToolCallRequest], Awaitable[Any]]
    ) -> Any:
        call = request.tool_call
        verdict = await before_async(self._engine.as_async(), call["name"], call["args"], self._tools)
        return _stopped(request, verdict) or await handler(_changed(request, verdict))


def _stopped(request: ToolCallRequest, verdict: Verdict) -> ToolMessage | None:
    if not verdict.stops:
        return None
    call = request.tool_call
    return ToolMessage(verdict.message, tool_call_id=call["id"], name=call["name"], status="error")


def _changed(request: ToolCallRequest, verdict: Verdict) -> ToolCallRequest:
    if verdict.modified_input is None:
        return request
    return request.override(tool_call={**request.tool_call, "args": verdict.modified_input})
