#!/usr/bin/env python3
"""Makes the tables of docs/performance.md from what the benches print.

    benches/performance.py               runs all of them, which takes the better part of an hour
    benches/performance.py engine stats  runs these
    benches/performance.py engine -      reads what that bench printed from the standard input

A table stands in the page between `<!-- made by COMMAND -->` and `<!-- end -->`. What a command prints as a Markdown
table is taken as it is; of what divan prints, the figures that ROWS names: the median, and the fastest, which tells more where
the machine was busy.
"""

import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs/performance.md"
BLOCK = re.compile(r"<!-- made by `(?P<command>[^`]+)` -->\n(?P<table>.*?)<!-- end -->\n", re.DOTALL)

# For each bench that divan runs: what is measured, where it stands in divan's tree, and what is wanted.
ROWS = {
    "engine": [
        ("a look into a file, 100 bindings of which none fires", ["none_fires_on_a_look/100"], "≤ 10 µs"),
        ("a command line, 100 bindings of which none fires", ["none_fires/100"], "≤ 10 µs"),
        ("an event, its command line parsed and judged", ["shell_parse_and_permission_checker"], "≤ 30 µs"),
        ("the same, a command line of 200 characters", ["two_hundred_characters"], ""),
        ("three of 100, of 10,000 bindings fire", ["three_fire/100", "three_fire/10000"], "≤ 2 × as long"),
        ("a script of twenty lines", ["script_of_twenty_lines"], ""),
        ("events of 256 sessions on one core, each a command line, logged", ["sustained_with_the_log/Shell#"], "≥ 100,000 a second"),
        ("the same, each a look into a file", ["sustained_with_the_log/Read#"], "≥ 100,000 a second"),
    ],
    "config": [
        ("1,000 bindings of six triggers, known from before", ["engine_cached/1000"], "≤ 5 ms"),
        ("1,000 bindings of one trigger, known from before", ["engine_cached_one_trigger/1000"], "≤ 5 ms"),
        ("10, 50, 500, 1,000 bindings, known from before", ["engine_cached/10", "engine_cached/50", "engine_cached/500", "engine_cached/1000"], "linear"),
        ("10, 50, 500, 1,000 bindings, read and checked", ["engine/10", "engine/50", "engine/500", "engine/1000"], "linear"),
    ],
    "hook_md": [
        ("10, 100, 1,000 folders, known from before", ["unchanged/10", "unchanged/100", "unchanged/1000"], "≤ 5 ms for 1,000"),
        ("10, 100, 1,000 folders, read", ["first_time/10", "first_time/100", "first_time/1000"], "≤ 25 ms for 1,000"),
    ],
    "growth": [
        ("1, 4, 16, 64 layers of ten bindings", ["layers/1", "layers/4", "layers/16", "layers/64"], "linear"),
        ("10, 100, 1,000 items on an issue's checklist", ["checklist_items/10", "checklist_items/100", "checklist_items/1000"], "linear"),
        ("10, 100, 1,000 changed files", ["changed_files/10", "changed_files/100", "changed_files/1000"], "linear"),
        ("1, 2, 4, 8, 16 writers at once, until all have written", [f"writers_at_once/{n}" for n in (1, 2, 4, 8, 16)], "linear"),
    ],
    "security_scanner": [
        ("file by file, an event for each, all rules", ["scan/no-secrets,no-sql-injection#"], ""),
        ("the same, secrets alone", ["scan/no-secrets#"], ""),
        ("the same, injectable SQL alone", ["scan/no-sql-injection#"], ""),
        ("the whole tree from the disk, all rules, all cores", ["tree#"], "≥ 100 MB a second a core"),
    ],
}


def divan(text):
    """Reads divan's tree: fastest and median of each bench, and under its name with `#` how many of something a second."""
    found, path = {}, []
    for line in text.splitlines():
        branch = re.match(r"(?P<above>(?:│  |   )*)[├╰]─ (?P<name>\S+)(?P<columns>.*)", line)
        if branch:
            path = path[: len(branch["above"]) // 3] + [branch["name"]]
        columns = [column.strip() for column in (branch["columns"] if branch else line.lstrip("│ ")).split("│")]
        if path and len(columns) == 6 and columns[2]:
            found["/".join(path) + ("" if branch else "#")] = [
                figure.replace("item/s", " a second").replace("B/s", "B a second") for figure in (columns[0], columns[2])
            ]
    return found


def table(bench, text):
    rows = ROWS.get(bench)
    if rows is None:
        return [line for line in text.splitlines() if line.startswith("|")]
    found = divan(text)
    lines = ["| what | wanted | fastest | median |", "|---|---|---|---|"]
    for what, paths, wanted in rows:
        missing = [path for path in paths if path not in found]
        if missing:
            sys.exit(f"{bench} did not print {missing}:\n{text}")
        fastest, median = (" · ".join(found[path][n] for path in paths) for n in (0, 1))
        lines.append(f"| {what} | {wanted} | {fastest} | {median} |")
    return lines


def run(command):
    print(f"$ {command}", file=sys.stderr)
    # A bench that fails because a figure is not what is wanted has a table all the same.
    return subprocess.run(command, shell=True, cwd=ROOT, stdout=subprocess.PIPE, text=True).stdout


def main():
    page = PAGE.read_text()
    wanted = [argument for argument in sys.argv[1:] if argument != "-"]
    given = sys.stdin.read() if "-" in sys.argv else None
    for block in list(BLOCK.finditer(page)):
        command = block["command"]
        bench = re.search(r"(\w+?)(?:_against_\w+\.sh|\.py)?(?: \d+)?$", command)[1]
        if wanted and bench not in wanted:
            continue
        printed = given or run(command)
        lines = table(bench, printed)
        if not lines:
            sys.exit(f"`{command}` printed no table:\n{printed}")
        page = page.replace(block[0], f"<!-- made by `{command}` -->\n" + "\n".join(lines) + "\n<!-- end -->\n")
        # Each at once: what was measured is kept, whatever becomes of the next.
        PAGE.write_text(page)


main()
