"""Writes for `ahp` what unittest collected and what became of it, in the form of jest's JSON report."""

import functools
import inspect
import json
import os
import re
import sys
import traceback

import ahp_tell


def watch(module):
    """Lets every run of `unittest.TextTestRunner` be reported, also of a class that is made of it."""
    original = module.TextTestRunner.run

    def run(self, test):
        # Neither a run inside of a run, nor one of what another runner tests.
        seal = None if Report.is_open else ahp_tell.take()
        if not seal:
            return original(self, test)
        report = Report(seal, test)
        make = self._makeResult
        self._makeResult = lambda: report.watched(make())
        try:
            return original(self, test)
        finally:
            self._makeResult = make
            report.close()

    module.TextTestRunner.run = run


def cases(test):
    """The tests of a suite."""
    try:
        return [case for part in test for case in cases(part)]
    except TypeError:
        return [test]


# What was seen of each test that was called. A test itself keeps nothing of it, since some runners send it to other processes.
WATCHES = {}


def watched(call, case, is_own):
    """Lets a call of a test see that it runs as it is written."""
    name = case._testMethodName
    method = getattr(type(case), name, None)
    seen = ahp_tell.Watch(name, ahp_tell.places(type(case), name))
    if not seen.written:
        code = ahp_tell.code_of(inspect.unwrap(method)) if callable(method) else None
        seen.written = [ahp_tell.Written(None, None, (), code)]
    WATCHES[id(case)] = seen, method, is_own

    @functools.wraps(call)
    def watching(*args, **kwargs):
        with seen:
            return call(*args, **kwargs)

    return watching


def watch_calls(case):
    """Sees that a test is called, also where the project's own code runs it in the place of unittest."""
    kind = type(case)
    if any(ahp_tell.file_of(getattr(kind, way, None)) for way in ("run", "__call__", "_callTestMethod", "debug")):
        method = getattr(case, getattr(case, "_testMethodName", None) or "", None)
        if callable(method):
            setattr(case, case._testMethodName, watched(method, case, True))
        return
    for kind in kind.__mro__:
        call = vars(kind).get("_callTestMethod")
        if call and kind.__module__.startswith("unittest.") and not hasattr(call, "ahp_watches"):

            def calling(self, method, call=call):
                if id(self) in WATCHES:
                    return call(self, method)
                return watched(call, self, False)(self, method)

            calling.ahp_watches = True
            kind._callTestMethod = calling


def in_its_place(case):
    """Why a test that passed is none, and whether it counts as one that was left out; None where it ran."""
    seen, method, is_own = WATCHES.pop(id(case), (None, None, False))
    if seen is None or seen.is_seen:
        return None
    if is_own:
        return "the project's own code answered for the test, which was never called", False
    return seen.stands_for(method)


class Report:
    is_open = False
    count = 0

    def __init__(self, seal, test):
        Report.is_open = True
        Report.count += 1
        self.seal = seal
        self.name = "unittest-%d-%d" % (os.getpid(), Report.count)
        ahp_tell.begun(seal, self.name)
        found = cases(test)
        for case in found:
            watch_calls(case)
        self.names = [case.id() for case in found]
        self.files = {case.id(): ahp_tell.place(type(case)) for case in found}
        self.modules = {sys.modules.get(type(case).__module__) for case in found}
        self.tests = {}

    def watched(self, result):
        """Hears what a result is told."""
        for method, status in (
            ("addSuccess", "passed"),
            ("addError", "failed"),
            ("addFailure", "failed"),
            ("addUnexpectedSuccess", "failed"),
            ("addSkip", "skipped"),
            # A failure that is expected proves nothing.
            ("addExpectedFailure", "skipped"),
        ):
            setattr(result, method, self.told(getattr(result, method), status))
        add_sub_test = result.addSubTest

        def told_of_sub_test(test, subtest, error):
            if error is not None:
                self.note(test, "failed", error)
            return add_sub_test(test, subtest, error)

        result.addSubTest = told_of_sub_test
        return result

    def told(self, method, status):
        def tell(test, *rest):
            told = in_its_place(test) if status == "passed" else None
            if told:
                why, is_left_out = told
                self.note(test, "skipped" if is_left_out else "failed", (AssertionError, AssertionError(why), None))
                if is_left_out:
                    return method(test, *rest)
            nothing = ahp_tell.proves_nothing(test) if status == "passed" else None
            if nothing:
                self.note(test, "failed", (AssertionError, AssertionError(nothing), None))
            self.note(test, status, rest[0] if rest else None)
            return method(test, *rest)

        return tell

    def note(self, test, status, error):
        name = test.id()
        if self.tests.get(name, {}).get("status") == "failed":
            return
        # `setUpClass (m.A)` and `setUpModule (m)` leave out every test of theirs, and none of them is told of.
        if status == "skipped" and name.startswith(("setUpClass (", "setUpModule (")):
            whole = name.split("(", 1)[1].rstrip(")") + "."
            for left_out in self.names:
                if left_out.startswith(whole):
                    self.tests[left_out] = {"status": status, "place": None, "message": ""}
            return
        place, message = None, ""
        if status == "failed" and isinstance(error, tuple):
            message = "".join(traceback.format_exception_only(error[0], error[1])).strip()
            # The last place in the file of the test itself: the assertion, and not what it calls.
            module = sys.modules.get(type(test).__module__)
            file = os.path.abspath(getattr(module, "__file__", None) or "")
            for frame in traceback.extract_tb(error[2]):
                if os.path.abspath(frame[0]) == file:
                    place = (frame[0], frame[1])
            # A file that could not be loaded is told of by unittest itself.
            if type(test).__module__.startswith("unittest."):
                places = re.findall(r'File "(.+)", line (\d+)', message)
                place = (places[-1][0], int(places[-1][1])) if places else None
        self.tests[name] = {"status": status, "place": place, "message": message}

    def close(self):
        Report.is_open = False
        results = [
            {
                "name": test["place"][0] if test["place"] else self.files.get(name, ""),
                "assertionResults": [
                    {
                        "fullName": name,
                        "status": test["status"],
                        "location": test["place"] and {"line": test["place"][1]},
                        "failureMessages": [test["message"]] if test["message"] else [],
                    }
                ],
            }
            for name, test in self.tests.items()
        ]
        # What is told beside the tests that were found (a class that could not be set up) is no test that was found.
        found = set(self.names)
        text = {"collected": len(found | set(self.tests)), "testResults": results}
        ahp_tell.report(self.seal, self.name + ".json", json.dumps(text))
        ahp_tell.tell_loaders(self.modules)
        tell_replaced()
        ahp_tell.give_back(self.seal)


def tell_replaced():
    """Tells which parts of unittest, and of this report, code of the project has replaced."""
    import unittest

    parts = [unittest.TestCase, unittest.TestResult, unittest.TestSuite, unittest.TextTestRunner, Report]
    parts += [unittest.TextTestResult, json, ahp_tell]
    for part in parts:
        for name, function in list(vars(part).items()):
            file = ahp_tell.file_of(function)
            if file:
                ahp_tell.replaced("%s.%s" % (part.__name__, name), file)
