"""Hooks for Pydantic AI: `Agent(model, capabilities=[hooks(engine)])`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic_ai.capabilities import Hooks
from pydantic_ai.exceptions import ApprovalRequired, ToolFailed

from .engine import AsyncEngine, Engine
from .options import tools_of
from .tool_call import before_async


def hooks(engine: Engine | AsyncEngine, tools: Mapping[str, str] | None = None) -> Hooks[Any]:
    """Returns hooks that judge each tool call: a block fails the tool, a question asks for approval.

    :param tools: which tool of the vocabulary each of yours is, such as `{"exec": "Bash"}`.
    """
    known = tools_of(tools)
    asking = engine.as_async() if isinstance(engine, Engine) else engine
    found: Hooks[Any] = Hooks()

    @found.on.before_tool_execute
    async def judge(ctx: Any, *, call: Any, tool_def: Any, args: dict[str, Any]) -> dict[str, Any]:
        verdict = await before_async(asking, call.tool_name, args, known)
        if verdict.decision == "block":
            raise ToolFailed(verdict.message)
        if verdict.decision == "ask" and not ctx.tool_call_approved:
            raise ApprovalRequired(metadata={"ahp": verdict.message})
        return args if verdict.modified_input is None else dict(verdict.modified_input)

    return found
