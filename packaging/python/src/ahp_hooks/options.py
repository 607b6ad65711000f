"""Options of an engine: each is checked where the engine is made, so that a mistake is told there and not at an event."""

from __future__ import annotations

import os
from collections.abc import Mapping
from numbers import Real
from pathlib import Path
from typing import Any

#: The bounds of `timeout`, in seconds. `ahp` is told it in thousandths.
SHORTEST, LONGEST = 0.01, 3600


def timeout_of(given: Any) -> float:
    """Returns a number of seconds."""
    expected = f"`timeout` is a number of seconds from {SHORTEST} to {LONGEST}; given: {given!r}"
    if isinstance(given, bool) or not isinstance(given, Real):
        raise TypeError(expected)
    seconds = float(given)
    if not SHORTEST <= seconds <= LONGEST:
        raise ValueError(expected)
    return seconds


def one_of(name: str, given: Any, words: tuple[str, ...]) -> str:
    """Returns one of some words."""
    expected = f"`{name}` is {' or '.join(map(repr, words))}; given: {given!r}"
    if not isinstance(given, str):
        raise TypeError(expected)
    if given not in words:
        raise ValueError(expected)
    return given


def path_of(name: str, given: Any) -> str:
    """Returns a path from the root: the child starts later, and the working directory may be another then."""
    return path_from_root(text_of(name, given))


def path_from_root(path: str) -> str:
    """Resolves a relative path. `..` is kept: behind a symbolic link it means another directory than the text says."""
    return path if os.path.isabs(path) else str(Path.cwd() / path)


def program_of(given: Any) -> str | None:
    """Returns a path from the root, or a bare name, which is looked for on PATH."""
    if given is None:
        return None
    name = text_of("program", given)
    return path_of("program", name) if os.sep in name else name


def text_of(name: str, given: Any) -> str:
    """Returns the text of a path."""
    expected = f"`{name}` is a path, as text or `os.PathLike`; given: {given!r}"
    try:
        path = os.fspath(given)
    except TypeError:
        raise TypeError(expected) from None
    if not isinstance(path, str):
        raise TypeError(expected)
    if not path or "\0" in path:
        raise ValueError(expected)
    return path


def tools_of(given: Any) -> Mapping[str, str]:
    """Returns which tool of the vocabulary each tool of a framework is."""
    if given is None:
        return {}
    if not isinstance(given, Mapping) or not all(isinstance(word, str) for pair in given.items() for word in pair):
        raise TypeError(f'`tools` is a mapping of texts such as {{"exec": "Bash"}}; given: {given!r}')
    return given
