"""Ask `ahp`, a policy engine between AI coding agents and their work, what an agent may do.

>>> from ahp_hooks import Engine
>>> with Engine(project=".") as ahp:                                             # doctest: +SKIP
...     verdict = ahp.evaluate("pre-tool-use", tool="Bash", input={"command": "git push --force origin main"})
>>> verdict.stops, verdict.message                                               # doctest: +SKIP
"""

from .engine import AsyncEngine, Engine
from .errors import AhpError, AhpUnavailable, BadEvent, Timeout
from .verdict import Decision, Verdict

__all__ = [
    "AhpError",
    "AhpUnavailable",
    "AsyncEngine",
    "BadEvent",
    "Decision",
    "Engine",
    "Timeout",
    "Verdict",
]
