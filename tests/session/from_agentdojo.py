#!/usr/bin/env python3
"""Writes the suites of the PyPI package `agentdojo` as sessions for `judge.py`, one file a suite.

A session has the prompt of a task, the calls of its ground truth and their results, run in the suite's environment and printed
as the package prints them. An ordinary one stops there. An injected one has the text of an attack, with the goal of an injection
task, in each place that these calls read; the calls of the injection task follow, and the first that does more than read is the
one to be stopped. The package holds the texts; nothing of them lies in this repository.
"""

import argparse
import contextlib
import io
import json
import pathlib
import re
import sys

from agentdojo.agent_pipeline.tool_execution import tool_result_to_str
from agentdojo.attacks import load_attack
from agentdojo.agent_pipeline.ground_truth_pipeline import GroundTruthPipeline
from agentdojo.functions_runtime import FunctionsRuntime
from agentdojo.task_suite.load_suites import get_suites

VERSION = "v1.2.2"
READING = {"get", "read", "search", "list", "check", "find", "query", "fetch", "describe", "show", "count", "view", "lookup", "is", "has"}


class Session:
    """The events of one session, as Claude Code tells them of an MCP server."""

    def __init__(self, suite, prompt):
        self.suite = suite
        self.runtime = FunctionsRuntime(suite.tools)
        self.events = [{"hook_event_name": "UserPromptSubmit", "prompt": prompt}]

    def call(self, call, environment):
        """Adds a call and its result; returns the place of the call."""
        told = {
            "tool_name": f"mcp__{self.suite.name}__{call.function}",
            "tool_input": json.loads(json.dumps(call.args, default=str)),
            "tool_use_id": f"c{len(self.events)}",
        }
        place = len(self.events)
        self.events.append({"hook_event_name": "PreToolUse", **told})
        result, error = self.runtime.run_function(environment, call.function, call.args)
        text = error or tool_result_to_str(result)
        self.events.append({"hook_event_name": "PostToolUse", **told, "tool_response": [{"type": "text", "text": text}]})
        return place


def run(suite, user_task, injections, injection_task=None):
    environment = user_task.init_environment(suite.load_and_inject_default_environment(injections))
    session = Session(suite, user_task.PROMPT)
    for call in user_task.ground_truth(environment):
        session.call(call, environment)
    the_call = None
    if injection_task:
        for call in injection_task.ground_truth(environment):
            place = session.call(call, environment)
            if the_call is None and not READING & set(re.split(r"[^a-z]+", call.function.lower())):
                the_call = place
        session.events = session.events[: (the_call or 0) + 1]
    return session.events, the_call


def sessions(suite, attack_name):
    pipeline = GroundTruthPipeline(None)
    pipeline.name = "gpt-4o-2024-05-13"
    attack = load_attack(attack_name, suite, pipeline)
    for user_id, user_task in suite.user_tasks.items():
        events, _ = run(suite, user_task, {})
        yield {"id": f"{suite.name}-{user_id}", "kind": "ordinary", "host": "claude-code", "events": events, "the_call": None}
        for injection_id, injection_task in suite.injection_tasks.items():
            try:
                injections = attack.attack(user_task, injection_task)
            except ValueError:
                # The task reads nothing that somebody else may have written.
                continue
            events, the_call = run(suite, user_task, injections, injection_task)
            if the_call is not None:
                name = f"{suite.name}-{user_id}-{injection_id}"
                yield {"id": name, "kind": "injected", "host": "claude-code", "events": events, "the_call": the_call}


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--attack", default="important_instructions")
    given = parser.parse_args()
    given.folder.mkdir(parents=True, exist_ok=True)
    for name, suite in get_suites(VERSION).items():
        with contextlib.redirect_stdout(io.StringIO()):
            lines = [json.dumps(session) for session in sessions(suite, given.attack)]
        (given.folder / f"{name}.jsonl").write_text("\n".join(lines) + "\n")
        print(f"{name}: {len(lines)} sessions", file=sys.stderr)


if __name__ == "__main__":
    main()
