"""Writes for `ahp` what pytest collected and what became of it, in the form of jest's JSON report.

Loaded by PYTEST_PLUGINS. JUnit XML would not do: it does not say how many tests were collected, so that a run which ended
early (`pytest.exit`, a hook) looks like a whole one.
"""

import functools
import inspect
import json
import os
import pathlib

import pytest

DIR = pathlib.Path(__file__).parent


def pytest_configure(config):
    config.pluginmanager.register(TrueOutcome(), "ahp-true-outcome")
    # Neither a worker of xdist, nor a pytest that a test runs.
    if not os.environ.get("AHP_RUNNER") and not hasattr(config, "workerinput"):
        os.environ["AHP_RUNNER"] = str(os.getpid())
        config.pluginmanager.register(Report(), "ahp-report")


def own(hook):
    """Whether the project's own conftest.py answers a hook in the place of pytest."""
    found = [impl for impl in hook.get_hookimpls() if not (impl.hookwrapper or getattr(impl, "wrapper", False))]
    return any(impl.plugin_name.endswith("conftest.py") for impl in found)


class TrueOutcome:
    """Tells where somebody else's hook turned a failure into a pass, or the test was never called."""

    called = set()

    @pytest.hookimpl(hookwrapper=True, tryfirst=True)
    def pytest_runtest_makereport(self, item, call):
        report = (yield).get_result()
        if call.when == "call":
            TrueOutcome.called.add(item.nodeid)
        if call.excinfo is not None and report.outcome == "passed":
            report.outcome = "failed"
            report.longrepr = f"a hook changed the outcome to `passed`, after {call.excinfo.exconly()}"

    @pytest.hookimpl(hookwrapper=True, tryfirst=True)
    def pytest_pyfunc_call(self, pyfuncitem):
        if not own(pyfuncitem.ihook.pytest_pyfunc_call):
            yield
            return
        function, calls = pyfuncitem.obj, []

        @functools.wraps(function)
        def noted(*args, **kwargs):
            calls.append(1)
            return function(*args, **kwargs)

        @functools.wraps(function)
        async def noted_async(*args, **kwargs):
            calls.append(1)
            return await function(*args, **kwargs)

        pyfuncitem.obj = noted_async if inspect.iscoroutinefunction(function) else noted
        outcome = yield
        pyfuncitem.obj = function
        if not calls and outcome.excinfo is None:
            outcome.force_exception(AssertionError("a hook of conftest.py answered for the test, which was never called"))


class Report:
    def __init__(self):
        self.path = DIR / f"pytest-{os.getpid()}.json"
        self.path.with_suffix(".started").touch()
        self.collected = 0
        self.tests = {}
        self.is_answered = False

    def pytest_collection_finish(self, session):
        # xdist runs the tests in other processes.
        is_here = getattr(session.config.option, "dist", "no") == "no"
        self.is_answered = is_here and own(session.config.hook.pytest_runtest_protocol)
        self.collected = max(self.collected, len(session.items))

    @pytest.hookimpl(optionalhook=True)
    def pytest_xdist_node_collection_finished(self, node, ids):
        self.collected = max(self.collected, len(ids))

    def pytest_collectreport(self, report):
        if report.failed:
            self.note(report, "failed")

    def pytest_runtest_logreport(self, report):
        if report.failed or report.skipped or report.when == "call":
            self.note(report, report.outcome)
        if report.passed and report.when == "call" and self.is_answered and report.nodeid not in TrueOutcome.called:
            report.longrepr = "a hook of conftest.py reported the test, which never ran"
            self.note(report, "failed")

    def note(self, report, outcome):
        known = self.tests.get(report.nodeid)
        if outcome not in ("passed", "failed", "skipped") or known and known["status"] == "failed":
            return
        file = report.nodeid.split("::")[0]
        line = (report.location[1] or 0) + 1 if getattr(report, "location", None) else None
        message = ""
        if outcome == "failed":
            crash = getattr(report.longrepr, "reprcrash", None)
            message = crash.message if crash else str(report.longrepr or "").strip()
            if crash and crash.path.endswith(file):
                line = crash.lineno
            if not crash:
                errors = [text[2:] for text in message.splitlines() if text.startswith("E ")]
                message = errors[0].strip() if errors else message
        self.tests[report.nodeid] = {"file": file, "status": outcome, "line": line, "message": message}

    def pytest_sessionfinish(self, session):
        results = [
            {
                "name": test["file"],
                "assertionResults": [
                    {
                        "fullName": name,
                        "status": test["status"],
                        "location": test["line"] and {"line": test["line"]},
                        "failureMessages": [test["message"]] if test["message"] else [],
                    }
                ],
            }
            for name, test in self.tests.items()
        ]
        # What pytest-cov found, also where it only prints it.
        coverage = getattr(session.config.pluginmanager.getplugin("_cov"), "cov_total", None)
        text = json.dumps({"collected": self.collected, "coverage": coverage, "testResults": results})
        self.path.write_text(text, encoding="utf-8")
