"""Lets unittest write a report for `ahp`, and tells where a runner is a file of the project itself. Python loads this at its start, since its folder stands in PYTHONPATH."""

import importlib.machinery
import importlib.util
import os
import sys

import ahp_tell

HERE = os.path.dirname(os.path.abspath(__file__))


RUNNERS = {"pytest", "_pytest", "pluggy", "unittest", "coverage"}


class Origin(object):
    """Tells where a runner comes from, if code of the project is loaded in its place: `pytest.py` beside the tests."""

    def find_spec(self, name, path=None, target=None):
        spec = importlib.machinery.PathFinder.find_spec(name, path) if name in RUNNERS else None
        if spec is not None and spec.origin:
            file = ahp_tell.own(spec.origin)
            if file:
                ahp_tell.replaced("sys.modules.%s" % name, file)
        return None


class OnImport(object):
    """Adds the report when unittest's runner is loaded, and costs nothing where it is not."""

    def find_spec(self, name, path=None, target=None):
        if name != "unittest.runner":
            return None
        sys.meta_path.remove(self)
        spec = importlib.machinery.PathFinder.find_spec(name, path)
        run = spec.loader.exec_module

        def exec_module(module):
            run(module)
            import ahp_unittest

            ahp_unittest.watch(module)

        spec.loader.exec_module = exec_module
        return spec


sys.meta_path[:0] = [Origin(), OnImport()]

# What lies compiled beside a module of the project may be of another source.
_machinery = importlib._bootstrap_external
_cached = _machinery.cache_from_source


def cache_from_source(path, *rest, **more):
    if ahp_tell.own(path):
        raise NotImplementedError
    return _cached(path, *rest, **more)


_machinery.cache_from_source = cache_from_source


def watch_exec(name):
    """Tells where a file of tests puts another program in the place of the run, before or while it is reported."""
    original, process = getattr(os, name), os.getpid()

    def replaced_by(path, *rest):
        # A child that was made for it is no run.
        if "unittest.main" in sys.modules and os.getpid() == process:
            ahp_tell.tell("- cut", os.path.basename(str(path)), "took the place of the process before the tests were reported")
        return original(path, *rest)

    setattr(os, name, replaced_by)


if "AHP_SEAL" in os.environ and hasattr(os, "execve"):
    for way in ("execv", "execve"):
        watch_exec(way)

# The one that would have been loaded without this.
others = [path for path in sys.path if os.path.abspath(path) != HERE]
other = importlib.machinery.PathFinder.find_spec("sitecustomize", others)
if other is not None and other.loader is not None:
    other.loader.exec_module(importlib.util.module_from_spec(other))
