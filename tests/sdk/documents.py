#!/usr/bin/env python3
"""Runs the Python of the pages that show it, block by block, in one place each.

documents.py --ahp PROGRAM
"""

import argparse
import os
import re
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "packaging/python/src"))
parser = argparse.ArgumentParser()
parser.add_argument("--ahp", required=True, type=Path)
ahp = parser.parse_args().ahp.resolve()

with tempfile.TemporaryDirectory() as place:
    os.chdir(place)
    os.environ["HOME"] = place
    os.environ["PATH"] = f"{ahp.parent}:{os.environ['PATH']}"
    for page in ("docs/how-to/host-sdk.md", "packaging/python/README.md"):
        blocks = re.findall(r"^```python\n(.*?)^```", (ROOT / page).read_text(), re.MULTILINE | re.DOTALL)
        assert blocks, f"{page} shows no Python"
        names: dict[str, object] = {}
        for block in blocks:
            exec(compile(block, page, "exec"), names)
        print(f"ok      {page}: {len(blocks)} blocks")
