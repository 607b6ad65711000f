"""Hooks for the Claude Agent SDK: `ClaudeAgentOptions(hooks=claude_agent_sdk.hooks(engine))`."""

from __future__ import annotations

from typing import Any

from claude_agent_sdk import HookMatcher

from .engine import AsyncEngine, Engine
from .errors import AhpError

HOST = "claude-agent-sdk"
EVENTS = (
    "PreToolUse",
    "PostToolUse",
    "PostToolUseFailure",
    "UserPromptSubmit",
    "Stop",
    "SubagentStart",
    "SubagentStop",
    "PreCompact",
)
#: Events at which a block would make the agent go on for ever, or comes too late to hold anything.
_OPEN = ("Stop", "SubagentStop", "SubagentStart", "PostToolUse", "PostToolUseFailure")


def hooks(engine: Engine | AsyncEngine, events: tuple[str, ...] = EVENTS) -> dict[Any, list[HookMatcher]]:
    """Returns the hooks of all events that are judged. Where `ahp` is gone, tools and prompts are refused."""
    asking = engine.as_async() if isinstance(engine, Engine) else engine

    async def ask(payload: Any, tool_use_id: str | None, context: Any) -> Any:
        try:
            reply = await asking.hook(HOST, dict(payload))
        except AhpError as error:
            return _refusal(payload["hook_event_name"], str(error))
        # `continue` and `async` are words of Python.
        return {{"continue": "continue_", "async": "async_"}.get(key, key): value for key, value in reply.items()}

    # The SDK gives up later than the engine, so that the engine's words are heard.
    timeout = asking.sync.timeout + 5
    return {event: [HookMatcher(hooks=[ask], timeout=timeout, on_failure="block")] for event in events}


def _refusal(event: str, why: str) -> dict[str, Any]:
    words = f"Blocked, because ahp could not judge this: {why}"
    if event == "PreToolUse":
        denied = {"hookEventName": event, "permissionDecision": "deny", "permissionDecisionReason": words}
        return {"hookSpecificOutput": denied}
    return {"systemMessage": words} if event in _OPEN else {"decision": "block", "reason": words}
