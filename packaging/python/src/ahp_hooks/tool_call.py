"""Tool calls of frameworks, in the words of `ahp`."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from .engine import AsyncEngine, Engine
from .verdict import Verdict


def known_as(name: str, tools: Mapping[str, str]) -> str:
    """Returns the tool of the vocabulary that a framework's tool is."""
    return tools.get(name, name)


def before(engine: Engine, name: str, arguments: Any, tools: Mapping[str, str]) -> Verdict:
    """Judges a call before it is made."""
    return engine.evaluate("pre-tool-use", tool=known_as(name, tools), input=arguments)


async def before_async(engine: AsyncEngine, name: str, arguments: Any, tools: Mapping[str, str]) -> Verdict:
    """Judges a call before it is made."""
    return await engine.evaluate("pre-tool-use", tool=known_as(name, tools), input=arguments)


def right_input(verdict: Verdict) -> str:
    """Says the input that would be let through, for frameworks in which an input cannot be changed."""
    wanted = json.dumps(verdict.modified_input, ensure_ascii=False)
    return "\n\n".join(part for part in (verdict.message, f"Call it again with this input: {wanted}") if part)
