"""What all makers of products need to know: the version, the targets, and where things lie."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
DIST = ROOT / "dist"
LICENCES = ("LICENSE-APACHE", "LICENSE-MIT")
#: What is built. Wheels and npm packages have the first alone.
PROGRAMS = ("ahp", "ahp-fleet")

#: The version, which stands in `Cargo.toml`.
VERSION = re.search(r'^version = "(.+)"$', (ROOT / "Cargo.toml").read_text(), re.MULTILINE)[1]  # type: ignore[index]
#: The one line that says what it is.
DESCRIPTION = re.search(r'^description = "(.+)"$', (ROOT / "Cargo.toml").read_text(), re.MULTILINE)[1]  # type: ignore[index]
TARGETS: list[dict[str, Any]] = json.loads((ROOT / "packaging/targets.json").read_text())


def archive(triple: str) -> Path:
    """Returns where the archive of a target lies."""
    return DIST / f"ahp-{VERSION}-{triple}.tar.gz"


def links(page: Path) -> list[Path]:
    """Returns what a page links to beside addresses: files and folders, from the page's own folder."""
    text = re.sub(r"^(```|~~~).*?^\1", "", page.read_text(), flags=re.MULTILINE | re.DOTALL)
    found = re.findall(r"\]\(([^)\s#]+)[^)]*\)", re.sub(r"`[^`\n]*`", "", text))
    return [page.parent / link for link in found if "://" not in link and not link.startswith("mailto:")]


def documents() -> list[str]:
    """Returns the pages for readers, and every file that they link to, relative to the root."""
    found: set[Path] = set()
    waiting = [*ROOT.glob("README*.md"), *(ROOT / "docs").rglob("*.md")]
    while waiting:
        path = waiting.pop().resolve()
        if path.is_dir() or path in found:
            continue
        found.add(path)
        if path.suffix == ".md":
            waiting += links(path)
    return sorted(str(path.relative_to(ROOT)) for path in found)
