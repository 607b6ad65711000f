#!/usr/bin/env python3
"""Runs each Python adapter in its real framework, offline, and judges by the tool's own record of what ran.

frameworks.py --ahp PROGRAM [FRAMEWORK …]

The model is scripted: it calls the tool `exec` once and then ends. The tool notes its command and runs nothing, but for the
Claude Agent SDK, where the real client runs its own `Bash`: there the commands do no harm if a gate is open.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent.parent / "packaging/python/src"))
os.environ["OPENAI_AGENTS_DISABLE_TRACING"] = "1"

from ahp_hooks import Engine  # noqa: E402

TOOLS = {"exec": "Bash"}


class Ran:
    """What the tool ran, and what the model or the caller was told."""

    def __init__(self) -> None:
        self.commands: list[str] = []
        self.told = ""

    def exec(self, command: str) -> str:
        self.commands.append(command)
        return "done"


async def openai_agents(engine: Engine, command: str, ran: Ran) -> None:
    from agents import Agent, ModelResponse, Runner, Usage, function_tool
    from agents.models.interface import Model
    from openai.types.responses import ResponseFunctionToolCall, ResponseOutputMessage, ResponseOutputText

    from ahp_hooks.openai_agents import guardrail

    class Scripted(Model):
        asked = 0

        async def get_response(self, system_instructions: Any, input: Any, *args: Any, **kwargs: Any) -> ModelResponse:
            self.asked += 1
            if self.asked == 1:
                call = ResponseFunctionToolCall(
                    type="function_call", call_id="c1", name="exec", arguments=json.dumps({"command": command})
                )
                return ModelResponse(output=[call], usage=Usage(), response_id=None)
            ran.told = json.dumps(input, ensure_ascii=False)
            text = ResponseOutputText(type="output_text", text="over", annotations=[])
            said = ResponseOutputMessage(id="m", type="message", role="assistant", status="completed", content=[text])
            return ModelResponse(output=[said], usage=Usage(), response_id=None)

        def stream_response(self, *args: Any, **kwargs: Any) -> Any:
            raise NotImplementedError

    def exec(command: str) -> str:
        return ran.exec(command)

    tool = function_tool(exec, tool_input_guardrails=[guardrail(engine, TOOLS)])
    await Runner.run(Agent(name="trial", model=Scripted(), tools=[tool]), "go")


async def langchain(engine: Engine, command: str, ran: Ran, synchronous: bool = False) -> None:
    from langchain.agents import create_agent
    from langchain_core.language_models.fake_chat_models import GenericFakeChatModel
    from langchain_core.messages import AIMessage
    from langchain_core.tools import tool

    from ahp_hooks.langchain import AhpMiddleware

    class Scripted(GenericFakeChatModel):
        def bind_tools(self, tools: Any, **kwargs: Any) -> Any:
            return self

    @tool("exec")
    def run(command: str) -> str:
        """Runs a command."""
        return ran.exec(command)

    call = AIMessage(content="", tool_calls=[{"name": "exec", "args": {"command": command}, "id": "c1"}])
    model = Scripted(messages=iter([call, AIMessage(content="over")]))
    agent = create_agent(model, [run], middleware=[AhpMiddleware(engine, TOOLS)])
    message: Any = {"messages": [("user", "go")]}
    state = agent.invoke(message) if synchronous else await agent.ainvoke(message)
    ran.told = "\n".join(str(m.content) for m in state["messages"] if m.type == "tool")


async def langchain_sync(engine: Engine, command: str, ran: Ran) -> None:
    await langchain(engine, command, ran, synchronous=True)


async def pydantic_ai(engine: Engine, command: str, ran: Ran) -> None:
    from pydantic_ai import Agent, DeferredToolRequests
    from pydantic_ai.messages import ModelResponse, TextPart, ToolCallPart
    from pydantic_ai.models.function import FunctionModel

    from ahp_hooks.pydantic_ai import hooks

    def answer(messages: Any, info: Any) -> ModelResponse:
        if len(messages) == 1:
            return ModelResponse(parts=[ToolCallPart("exec", {"command": command})])
        ran.told = "\n".join(str(part.content) for part in messages[-1].parts)
        return ModelResponse(parts=[TextPart("over")])

    agent = Agent(FunctionModel(answer), capabilities=[hooks(engine, TOOLS)], output_type=[str, DeferredToolRequests])

    @agent.tool_plain
    def exec(command: str) -> str:
        """Runs a command."""
        return ran.exec(command)

    result = await agent.run("go")
    if isinstance(result.output, DeferredToolRequests):
        ran.told = json.dumps(result.output.metadata)


async def claude_agent_sdk(engine: Engine, command: str, ran: Ran) -> None:
    from claude_agent_sdk import ClaudeAgentOptions, query

    from ahp_hooks.claude_agent_sdk import hooks

    place = Path(tempfile.mkdtemp(prefix="sdk-"))
    script, log, home = place / "script.json", place / "log.jsonl", place / "home"
    home.mkdir()
    # The record of what ran is a file that the command itself writes.
    script.write_text(json.dumps([{"shell": command}, {"text": "over"}]))
    model = subprocess.Popen(
        [sys.executable, str(HERE.parent / "hosts/fake_model.py"), "--script", str(script), "--log", str(log), "--full"],
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        assert model.stdout is not None
        port = model.stdout.readline().split()[1]
        environment = {
            "ANTHROPIC_BASE_URL": f"http://127.0.0.1:{port}",
            "ANTHROPIC_API_KEY": "sk-ant-trial",
            "HOME": str(home),
            "CLAUDE_CONFIG_DIR": str(home / ".claude"),
            "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
            "IS_SANDBOX": "1",
        }
        options = ClaudeAgentOptions(
            hooks=hooks(engine), cwd=place, env=environment, permission_mode="bypassPermissions", max_turns=4
        )
        heard = []
        try:
            async for message in query(prompt="go", options=options):
                if type(message).__name__ != "SystemMessage":
                    heard.append(repr(message))
        except Exception as error:  # the SDK ends a refused run with an error of its own
            heard.append(repr(error))
        results = [line for line in heard if "ToolResultBlock" in line]
        ran.told = "\n".join(heard)
        if any("is_error=False" in line or "is_error=None" in line for line in results):
            ran.commands.append("echo changed" if any("'changed'" in line for line in results) else command)
    finally:
        model.terminate()
        model.wait()
        shutil.rmtree(place, ignore_errors=True)


FRAMEWORKS = {f.__name__: f for f in (openai_agents, langchain, langchain_sync, pydantic_ai, claude_agent_sdk)}


def call_without_name(engine: Engine, arguments: str) -> list[str]:
    """Gives each adapter that is told a name a call without one; returns those that let it go on."""
    from types import SimpleNamespace

    from ahp_hooks.langchain import AhpMiddleware
    from ahp_hooks.openai_agents import guardrail

    passed = []
    data: Any = SimpleNamespace(context=SimpleNamespace(tool_name=None, tool_arguments=arguments))
    said = asyncio.run(guardrail(engine).run(data))  # type: ignore[arg-type]
    if said.behavior["type"] != "reject_content":
        passed.append("openai_agents")
    request: Any = SimpleNamespace(tool_call={"name": None, "args": {"command": "echo hi"}, "id": "c1"})
    ran: list[Any] = []
    AhpMiddleware(engine).wrap_tool_call(request, ran.append)
    if ran:
        passed.append("langchain")
    return passed


def judge(scenario: dict[str, Any], ran: Ran) -> str | None:
    """Returns what is wrong, by what the tool ran and what was told."""
    changed = scenario.get("becomes")
    if changed is not None and ran.commands == [changed]:
        return None
    wanted = [] if scenario.get("stopped") or changed else [scenario["command"]]
    if ran.commands != wanted:
        return f"ran {ran.commands}, expected {wanted}"
    if "told" in scenario and not re.search(scenario["told"], ran.told):
        return f"the words are missing in: {ran.told[:1500]}"
    return None


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--ahp", required=True, type=Path)
    parser.add_argument("frameworks", nargs="*")
    arguments = parser.parse_args()
    arguments.ahp = arguments.ahp.resolve()
    scenarios = json.loads((HERE / "scenarios.json").read_text())
    failed = 0
    for name in arguments.frameworks or FRAMEWORKS:
        for scenario in scenarios:
            with tempfile.TemporaryDirectory() as project:
                oracles = Path(project, ".ahp/oracles")
                oracles.mkdir(parents=True)
                shutil.copy(HERE / "project.yaml", oracles.parent / "hooks.yaml")
                shutil.copy(HERE / "sdk-trial.rhai", oracles)
                os.environ["HOME"] = project
                # A script may change what runs only where it is trusted.
                subprocess.run([arguments.ahp, "trust", "--yes"], cwd=project, check=True, capture_output=True)
                program = Path(project, "gone") if scenario.get("gone") else arguments.ahp
                ran = Ran()
                with Engine(project, timeout=30, program=program) as engine:
                    try:
                        asyncio.run(asyncio.wait_for(FRAMEWORKS[name](engine, scenario["command"], ran), 90))
                        wrong = judge(scenario, ran)
                    except Exception as error:
                        wrong = f"{type(error).__name__}: {error}"
                print(f"{'FAILED' if wrong else 'ok':6}  {name}: {scenario['name']}{': ' + wrong if wrong else ''}", flush=True)
                failed += wrong is not None
    with tempfile.TemporaryDirectory() as project, Engine(project, timeout=30, program=arguments.ahp) as engine:
        for given in ('{"command": "echo hi"}', "[" * 5000 + "]" * 5000):
            passed = call_without_name(engine, given)
            print(f"{'FAILED' if passed else 'ok':6}  a call without a name, {given[:20]}: {passed}", flush=True)
            failed += bool(passed)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
