"""Writes for `ahp` what pytest collected and what became of it, in the form of jest's JSON report.

Loaded by PYTEST_PLUGINS. JUnit XML would not do: it does not say how many tests were collected, so that a run which ended
early (`pytest.exit`, a hook) looks like a whole one.
"""

import inspect
import json
import os

import ahp_tell
import pytest
from _pytest.assertion import rewrite


# Taken before any code of the project is loaded, such as a `conftest.py`.
_taken = [ahp_tell.take()]

# What lies compiled beside the tests may be of another source.
_read_pyc = getattr(rewrite, "_read_pyc", None)
if _read_pyc:
    rewrite._read_pyc = lambda file, *rest: None if ahp_tell.own(str(file)) else _read_pyc(file, *rest)


def pytest_configure(config):
    config.pluginmanager.register(TrueOutcome(), "ahp-true-outcome")
    # Neither a worker of xdist, nor a pytest that a test runs.
    if not Report.is_open and not hasattr(config, "workerinput"):
        seal = (_taken.pop() if _taken else None) or ahp_tell.take()
        if seal:
            root = str(getattr(config, "rootpath", None) or config.rootdir)
            config.pluginmanager.register(Report(seal, root), "ahp-report")


def own(hook, wrappers=False):
    """Whether code of the project answers a hook in the place of pytest, or around it."""
    def is_wrapper(impl):
        return impl.hookwrapper or getattr(impl, "wrapper", False)

    impls = [impl for impl in hook.get_hookimpls() if wrappers or not is_wrapper(impl)]
    return any(ahp_tell.file_of(impl.function) for impl in impls)


class TrueOutcome:
    """Tells where somebody else's hook turned a failure into a pass, or the test was never called."""

    def __init__(self):
        # What each test raised when it was called, and what became of each part of it.
        self.raised = {}
        self.outcomes = {}
        self.called = set()

    @pytest.hookimpl(hookwrapper=True, tryfirst=True)
    def pytest_runtest_makereport(self, item, call):
        report = (yield).get_result()
        excinfo = call.excinfo
        if call.when == "call":
            self.called.add(item.nodeid)
            if own(item.ihook.pytest_runtest_call, wrappers=True) or own(item.ihook.pytest_pyfunc_call, wrappers=True):
                excinfo = excinfo or self.raised.get(item.nodeid)
        if excinfo is not None and report.outcome == "passed":
            report.outcome = "failed"
            raised = excinfo if isinstance(excinfo, str) else excinfo.exconly()
            report.longrepr = f"a hook changed the outcome to `passed`, after {raised}"
        self.outcomes[item.nodeid, call.when] = report.outcome

    # Around the call itself, inside of all others.
    @pytest.hookimpl(hookwrapper=True, trylast=True)
    def pytest_pyfunc_call(self, pyfuncitem):
        self.raised.pop(pyfuncitem.nodeid, None)
        outcome = yield
        if outcome.excinfo is not None:
            self.raised[pyfuncitem.nodeid] = repr(outcome.excinfo[1])

    @pytest.hookimpl(hookwrapper=True)
    def pytest_runtest_call(self, item):
        """Sees that the test runs as it is written, and nothing in its place."""
        function = getattr(item, "obj", None)
        is_own = own(item.ihook.pytest_pyfunc_call) or bool(ahp_tell.file_of(type(item).runtest))
        nothing = ahp_tell.proves_nothing(getattr(item, "instance", None))
        watch = ahp_tell.Watch(*places(item))
        if not watch.written and is_own and callable(function):
            code = ahp_tell.code_of(inspect.unwrap(getattr(function, "__func__", function)))
            watch.written = code and [ahp_tell.Written(None, None, (), code)]
        if nothing or not watch.written or not callable(function):
            outcome = yield
            if nothing and outcome.excinfo is None:
                outcome.force_exception(AssertionError(nothing))
            return
        with watch:
            outcome = yield
        if outcome.excinfo is not None or watch.is_seen:
            return
        if is_own:
            outcome.force_exception(AssertionError("code of the project answered for the test, which was never called"))
            return
        told = watch.stands_for(function)
        if told:
            why, is_of_project = told
            outcome.force_exception(pytest.skip.Exception(why) if is_of_project else AssertionError(why))


def places(item):
    """The name of a test's function, and where its source may stand."""
    name = getattr(item, "originalname", None) or item.name.split("[")[0]
    above = [part.name for part in item.listchain() if isinstance(part, pytest.Class)]
    kind = getattr(item, "cls", None)
    here = ahp_tell.own(str(getattr(item, "path", None) or item.fspath))
    own = [(here, ".".join(above + [name]))] if here else []
    return name, own + list(ahp_tell.places(kind, name))


class Report:
    is_open = False
    count = 0

    def __init__(self, seal, root):
        Report.is_open = True
        Report.count += 1
        name = f"pytest-{os.getpid()}-{Report.count}"
        ahp_tell.begun(seal, name)
        # The seal is no attribute that a test could read.
        self.write = lambda text: ahp_tell.report(seal, f"{name}.json", text)
        self.part = lambda which, count: ahp_tell.part(seal, name, which, count)
        self.give_back = lambda: ahp_tell.give_back(seal)
        self.root = root
        self.collected = 0
        self.found = set()
        self.modules = set()
        self.tests = {}
        self.is_answered = False
        self.true = None

    def pytest_itemcollected(self, item):
        self.found.add(item.nodeid)

    def pytest_deselected(self, items):
        self.found.difference_update(item.nodeid for item in items)

    def pytest_collection_finish(self, session):
        self.true = session.config.pluginmanager.getplugin("ahp-true-outcome")
        # xdist runs the tests in other processes.
        is_here = getattr(session.config.option, "dist", "no") == "no"
        self.is_answered = is_here and own(session.config.hook.pytest_runtest_protocol)
        self.collected = max(self.collected, len(session.items))
        self.modules = {getattr(item, "module", None) for item in session.items}
        # A hook of the project may leave tests out without a word.
        if own(session.config.hook.pytest_collection_modifyitems, wrappers=True):
            self.collected = max(self.collected, len(self.found))

    @pytest.hookimpl(optionalhook=True)
    def pytest_xdist_node_collection_finished(self, node, ids):
        self.collected = max(self.collected, len(ids))

    def pytest_collectreport(self, report):
        if report.failed:
            self.note(report, "failed")

    def pytest_runtest_logreport(self, report):
        true = self.true.outcomes.get((report.nodeid, report.when)) if self.true else None
        if true == "failed" and report.outcome != "failed":
            report.longrepr = f"a hook changed the outcome to `{report.outcome}`"
            self.note(report, "failed")
        if report.failed or report.skipped or report.when == "call":
            self.note(report, report.outcome)
        if report.passed and report.when == "call" and self.is_answered and report.nodeid not in self.true.called:
            report.longrepr = "code of the project reported the test, which never ran"
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
                "name": os.path.normpath(os.path.join(self.root, test["file"])),
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
        self.write(text)
        # Of pytest-split, and of pytest-shard, which counts from 0.
        option = session.config.option
        for count, which, first in (("splits", "group", 1), ("num_shards", "shard_id", 0)):
            if (getattr(option, count, None) or 0) > 1:
                self.part(getattr(option, which, first) + 1 - first, getattr(option, count))
        ahp_tell.tell_loaders(self.modules)
        tell_replaced(self)

    def pytest_unconfigure(self):
        Report.is_open = False
        self.give_back()


def tell_replaced(report):
    """Tells which parts of pytest, and of this report, code of the project has replaced."""
    from _pytest import python, reports, runner

    parts = [runner, runner.CallInfo, reports.TestReport, pytest.Function, python, pytest.Session, pytest.Item]
    parts += [TrueOutcome, Report, json, ahp_tell]
    for part in parts:
        for name, function in list(vars(part).items()):
            file = ahp_tell.file_of(function)
            if file:
                ahp_tell.replaced(f"{part.__name__}.{name}", file)
    # What the report keeps may be of a type that forgets.
    for name, value in vars(report).items():
        for function in [value, *vars(type(value)).values()]:
            file = ahp_tell.file_of(function)
            if file:
                ahp_tell.replaced(f"Report.{name}", file)
