"""Lets unittest write a report for `ahp`. Python loads this at its start, since its folder stands in PYTHONPATH."""

import importlib.machinery
import importlib.util
import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))


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


sys.meta_path.insert(0, OnImport())

# The one that would have been loaded without this.
others = [path for path in sys.path if os.path.abspath(path) != HERE]
other = importlib.machinery.PathFinder.find_spec("sitecustomize", others)
if other is not None and other.loader is not None:
    other.loader.exec_module(importlib.util.module_from_spec(other))
