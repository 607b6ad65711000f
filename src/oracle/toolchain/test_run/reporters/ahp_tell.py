"""Tells `ahp` what becomes of a run, through a pipe: what was told once, nobody takes back.

Only who has the seal is believed that anything went well; it is taken out of the environment, so that no test finds it there.
"""

import functools
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
    import hashlib

    content = text.encode("utf-8", "replace")
    with open(os.path.join(DIR, name), "wb") as file:
        file.write(content)
    tell("%s sealed %s %s" % (seal, name, hashlib.sha256(content).hexdigest()))


def part(seal, name, which, count):
    """Tells that a run was one part of several."""
    tell("%s part %s %s/%s" % (seal, name, which, count))


def replaced(what, file):
    """Bad news, which anybody may tell."""
    tell("- replaced", what, os.getcwd(), file)


def proves_nothing(case):
    """Why a test that passed proves nothing, whatever it says; None where it may prove something."""
    import inspect

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
    code = code_of(function)
    return own(code.co_filename) if code else None


@functools.lru_cache(maxsize=None)
def own(file):
    file = os.path.realpath(file)
    is_own = file.startswith(ROOT + os.sep) and os.path.isfile(file) and not INSTALLED.intersection(file.split(os.sep))
    return file if is_own else None


def place(kind):
    """The file of the tests of a class; nothing where it comes with Python or is installed."""
    file = os.path.realpath(getattr(sys.modules.get(kind.__module__), "__file__", None) or "")
    is_foreign = not os.path.isfile(file) or INSTALLED.intersection(file.split(os.sep))
    return "" if is_foreign or file.startswith(os.path.dirname(os.__file__) + os.sep) else file


class Watch(object):
    """Sees whether the code that is written for a test begins to run: metaclasses, decorators, hooks and importers may put other code in its place."""

    def __init__(self, name, places):
        self.name, self.is_seen = name, False
        self.written = next(filter(None, (written(file).get(path) for file, path in places)), None)

    def __enter__(self):
        import threading

        self.before = sys.getprofile()
        threading.setprofile(self)
        sys.setprofile(self)

    def __exit__(self, *_):
        if not self.is_seen:
            self.stop()

    def stop(self):
        import threading

        threading.setprofile(None)
        enable = getattr(self.before, "enable", None)
        enable() if enable else sys.setprofile(self.before)

    def __call__(self, frame, event, arg):
        if self.is_seen:
            sys.setprofile(None)
        elif event == "call" and self.is_it(frame.f_code):
            self.is_seen = True
            self.stop()

    def is_it(self, code):
        for known in self.written:
            if code is known.code or code.co_name == self.name and code.co_firstlineno == known.first:
                return code is known.code or own(code.co_filename) == known.file and known.lines <= lines(code)
        return False

    def stands_for(self, called):
        """Why a test that passed is none, where another function was called in its place, and whether the project's own was. None
        where that function may know of the test and runs it elsewhere."""
        file = file_of(called)
        if self.is_seen or self.reaches(called, set()) and (not file or self.is_it(code_of(called))):
            return None
        if file:
            module = os.path.splitext(os.path.basename(file))[0]
            replaced("%s.%s" % (module, code_of(called).co_name), file)
        return "the code of the test, as it is written, never ran", bool(file)

    def reaches(self, function, seen):
        """Whether a function knows the code of the test: by itself, what it wraps, or what it closes over."""
        if id(function) in seen or len(seen) > 1000:
            return False
        seen.add(id(function))
        code = code_of(function)
        if code and self.is_it(code):
            return True
        cells = [cell.cell_contents for cell in getattr(function, "__closure__", None) or () if cell != EMPTY]
        kept = [getattr(function, name, None) for name in ("__func__", "__wrapped__", "func", "fget")]
        return any(callable(part) and self.reaches(part, seen) for part in cells + kept)


# A cell of a function that closes over what is not there yet.
EMPTY = type((lambda x: lambda: x)(0).__closure__[0])()


class Written(object):
    """What is written for a function: the line on which it begins, and those of its statements."""

    def __init__(self, file, first, lines, code=None):
        self.file, self.first, self.lines, self.code = file, first, lines, code


def lines(code):
    import dis

    return {line for _, line in dis.findlinestarts(code) if line}


@functools.lru_cache(maxsize=None)
def written(file):
    """The functions of a file of the project by their names within it, as its source has them."""
    import ast
    import inspect

    found = {}
    try:
        with open(file, "rb") as source:
            tree = ast.parse(source.read())
        whole = compile(tree, file, "exec", dont_inherit=True)
    except (OSError, SyntaxError, ValueError):
        return found
    begun = {node.lineno for node in ast.walk(tree) if isinstance(node, ast.stmt)}

    def add(code, above):
        for part in code.co_consts:
            if inspect.iscode(part):
                path = above + part.co_name
                found.setdefault(path, []).append(Written(file, part.co_firstlineno, lines(part) & begun))
                if not part.co_flags & inspect.CO_OPTIMIZED:
                    add(part, path + ".")

    add(whole, "")
    return found


def places(kind, name):
    """Where the source of a method may stand: the file and the path in it of a class and of each that it is made of."""
    for kind in getattr(kind, "__mro__", ()):
        file = own(getattr(sys.modules.get(kind.__module__), "__file__", None) or "")
        if file:
            yield file, "%s.%s" % (kind.__qualname__, name)


def tell_loaders(modules):
    """Tells where modules of tests come from something else of the project than their source."""
    for module in modules:
        file = own(getattr(module, "__file__", None) or "")
        if file and file.endswith(".pyc"):
            replaced("sys.modules.%s" % module.__name__, file)
        loader = getattr(getattr(module, "__spec__", None), "loader", None) or getattr(module, "__loader__", None)
        for way in ("create_module", "exec_module", "load_module", "get_code", "get_data", "get_source", "source_to_code"):
            function = getattr(loader, way, None)
            file = file_of(function)
            if file:
                replaced("%s.%s" % (type(loader).__name__, way), file)


def code_of(function):
    return getattr(getattr(function, "__func__", function), "__code__", None)
