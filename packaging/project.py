"""What all makers of products need to know: the version, the targets, and where things lie."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
DIST = ROOT / "dist"
LICENCES = ("LICENSE-APACHE", "LICENSE-MIT")

#: The version, which stands in `Cargo.toml`.
VERSION = re.search(r'^version = "(.+)"$', (ROOT / "Cargo.toml").read_text(), re.MULTILINE)[1]  # type: ignore[index]
#: The one line that says what it is.
DESCRIPTION = re.search(r'^description = "(.+)"$', (ROOT / "Cargo.toml").read_text(), re.MULTILINE)[1]  # type: ignore[index]
TARGETS: list[dict[str, Any]] = json.loads((ROOT / "packaging/targets.json").read_text())


def archive(triple: str) -> Path:
    """Returns where the archive of a target lies."""
    return DIST / f"ahp-{VERSION}-{triple}.tar.gz"
