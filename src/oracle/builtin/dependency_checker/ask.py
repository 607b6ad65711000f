import sys
# The project's own folder, in which any file could stand for a module.
sys.path[:] = [entry for entry in sys.path if entry.startswith("/")]
import re
from importlib import metadata
try:
    from packaging.requirements import Requirement
except ImportError:
    try:
        from pip._vendor.packaging.requirements import Requirement
    except ImportError:
        Requirement = None
for line in sys.stdin:
    line, *locked = line.strip().split("\t")
    if Requirement:
        try:
            wanted = Requirement(line)
        except ValueError as error:
            print(f"{line} ({str(error).splitlines()[0]})")
            continue
        if wanted.marker and not wanted.marker.evaluate({"extra": ""}):
            continue
        name, specifier = wanted.name, str(wanted.specifier)
        holds = lambda version: wanted.specifier.contains(version, prereleases=True)
    else:
        if ";" in line:
            continue
        name, specifier = re.match(r"([\w.-]+)(?:\s*\[.*?\])?\s*(.*)", line).groups()
        if specifier and not re.fullmatch(r"===?\s*[\w.+!-]+", specifier):
            sys.exit(f"neither `packaging` nor `pip` is there to compare `{line}`")
        holds = lambda version: not specifier or version == specifier.lstrip("= ")
    if locked:
        if not any(holds(version) for version in locked):
            print(f"{name} is locked as {', '.join(locked)} and not {specifier}")
        continue
    try:
        here = metadata.version(name)
    except metadata.PackageNotFoundError:
        print(name)
    else:
        if not holds(here):
            print(f"{name} is {here} and not {specifier}")
