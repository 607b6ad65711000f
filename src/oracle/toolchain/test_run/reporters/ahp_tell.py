"""Tells `ahp` what becomes of a run, through a pipe: what was told once, nobody takes back.

Only who has the seal is believed that anything went well; it is taken out of the environment, so that no test finds it there.
"""

import functools
import hashlib
import inspect
import os
import sys

DIR = os.path.dirname(os.path.abspath(__file__))
NAME = os.path.basename(DIR)
with open(os.path.join(DIR, "root")) as _root:
    ROOT = _root.read()
INSTALLED = {"site-packages", "dist-packages", ".venv", "venv", ".tox", ".nox"}


def take():
    """Takes the seal, where this process is the one that reports; None where it is not."""
    folder, _, seal = os.environ.get("AHP_SEAL", "").partition(":")
    if not seal or folder != NAME:
        return None
    del os.environ["AHP_SEAL"]
    return seal


def give_back(seal):
    """Lets what this process starts later report too."""
    os.environ["AHP_SEAL"] = "%s:%s" % (NAME, seal)


def tell(*words):
    # Opened for both, so that nobody waits for a reader.
    pipe = os.open(os.path.join(DIR, "told"), os.O_RDWR)
    os.write(pipe, "\t".join(words).replace("\n", " ")[:3000].encode("utf-8", "replace") + b"\n")
    os.close(pipe)


def begun(seal, name):
    tell("%s begun %s" % (seal, name))


def report(seal, name, text):
    content = text.encode("utf-8", "replace")
    with open(os.path.join(DIR, name), "wb") as file:
        file.write(content)
    tell("%s sealed %s %s" % (seal, name, hashlib.sha256(content).hexdigest()))


def replaced(what, file):
    """Bad news, which anybody may tell."""
    tell("- replaced", what, os.getcwd(), file)


def proves_nothing(case):
    """Why a test that passed proves nothing, whatever it says; None where it may prove something."""
    if sys.flags.optimize:
        return "Python was started with -O or PYTHONOPTIMIZE, which leaves out every `assert`: run the tests without it"
    plain = sys.modules.get("unittest.case")
    kind = type(case)
    # A class that runs its tests in a way of its own may await them.
    if plain is None or not isinstance(case, plain.TestCase) or any(
        getattr(kind, way, None) is not getattr(plain.TestCase, way, None) for way in ("run", "__call__", "_callTestMethod")
    ):
        return None
    method = getattr(case, getattr(case, "_testMethodName", ""), None)
    for is_kind, name in (
        (inspect.iscoroutinefunction, "a coroutine, which nobody awaits"),
        (inspect.isgeneratorfunction, "a generator, which nobody runs"),
        (inspect.isasyncgenfunction, "a generator, which nobody runs"),
    ):
        if is_kind(method):
            return "the test is %s" % name
    return None


def file_of(function):
    """The file that a function of the project stands in; None where it comes with Python or is installed."""
    code = getattr(getattr(function, "__func__", function), "__code__", None)
    return own(code.co_filename) if code else None


@functools.lru_cache(maxsize=None)
def own(file):
    file = os.path.realpath(file)
    is_own = file.startswith(ROOT + os.sep) and os.path.isfile(file) and not INSTALLED.intersection(file.split(os.sep))
    return file if is_own else None
