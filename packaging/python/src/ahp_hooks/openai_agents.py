"""A guardrail for tools of the OpenAI Agents SDK: `function_tool(tool_input_guardrails=[guardrail(engine)])`."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from agents import ToolGuardrailFunctionOutput, ToolInputGuardrail, ToolInputGuardrailData

from .engine import AsyncEngine, Engine
from .options import tools_of
from .tool_call import before_async, right_input


def guardrail(engine: Engine | AsyncEngine, tools: Mapping[str, str] | None = None) -> ToolInputGuardrail[Any]:
    """Returns a guardrail that rejects what the policy stops, with the reason and the way out.

    An input cannot be changed and nobody can be asked there: both are rejections that say what to do.

    :param tools: which tool of the vocabulary each of yours is, such as `{"exec": "Bash"}`.
    """
    known = tools_of(tools)
    asking = engine.as_async() if isinstance(engine, Engine) else engine

    async def judge(data: ToolInputGuardrailData) -> ToolGuardrailFunctionOutput:
        try:
            arguments = json.loads(data.context.tool_arguments or "{}")
        except (ValueError, RecursionError) as error:
            return ToolGuardrailFunctionOutput.reject_content(f"Blocked: the arguments are not JSON: {error}")
        verdict = await before_async(asking, data.context.tool_name, arguments, known)
        if verdict.stops:
            return ToolGuardrailFunctionOutput.reject_content(verdict.message)
        if verdict.modified_input is not None and verdict.modified_input != arguments:
            return ToolGuardrailFunctionOutput.reject_content(right_input(verdict))
        return ToolGuardrailFunctionOutput.allow()

    return ToolInputGuardrail(guardrail_function=judge, name="ahp")
