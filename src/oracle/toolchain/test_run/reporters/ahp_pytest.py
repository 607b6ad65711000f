"""Writes for `ahp` what pytest collected and what became of it, in the form of jest's JSON report.

Loaded by PYTEST_PLUGINS. JUnit XML would not do: it does not say how many tests were collected, so that a run which ended
early (`pytest.exit`, a hook) looks like a whole one.
"""

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


class TrueOutcome:
    """Tells where somebody else's hook turned a failure into a pass."""

    @pytest.hookimpl(hookwrapper=True, tryfirst=True)
    def pytest_runtest_makereport(self, item, call):
        report = (yield).get_result()
        if call.excinfo is not None and report.outcome == "passed":
            report.outcome = "failed"
            report.longrepr = f"a hook changed the outcome to `passed`, after {call.excinfo.exconly()}"


class Report:
    def __init__(self):
        self.path = DIR / f"pytest-{os.getpid()}.json"
        self.path.with_suffix(".started").touch()
        self.collected = 0
        self.tests = {}

    def pytest_collection_finish(self, session):
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

    def pytest_sessionfinish(self):
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
        text = json.dumps({"collected": self.collected, "testResults": results})
        self.path.write_text(text, encoding="utf-8")
