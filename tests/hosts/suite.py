#!/usr/bin/env python3
"""Drives every real client against the scripted model, with `ahp` wired by its own installer.

  suite.py [--ahp PROGRAM] [--hosts a,b] [--only SCENARIO] [--jobs N] [--table FILE] [--keep]

Each cell is one run of a client with a fresh HOME and a fresh project.  What a cell must come to is written
below (EXPECTED); any other outcome fails the suite.  The table of what was proved is written into FILE
between its two marks.  A client that is not installed, or that does not run here even without `ahp`, is
skipped, loudly, and counted.
"""
import argparse
import concurrent.futures
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))

# client in the harness -> (ahp's name of the host, title with version)
CLIENTS = {
    "claude": ("claude-code", "Claude Code 2.1.329"),
    "codex": ("codex", "Codex 0.169.0"),
    "copilot": ("copilot", "Copilot CLI 1.0.102"),
    "gemini": ("gemini-cli", "Gemini CLI 0.61.0"),
    "kimi": ("kimi-cli", "Kimi CLI 1.50.0"),
    "kimi-code": ("kimi-code", "Kimi Code 2.1.0"),
    "qwen": ("qwen-code", "Qwen Code 0.24.4"),
    "opencode": ("opencode", "OpenCode 1.18.33"),
    "cline": ("cline", "Cline 3.0.65"),
}

POLICY = """settings:
  max_stop_blocks: 1
hooks:
  pre-tool-use: [{oracle: suite}]
  pre-agent-turn: [{oracle: suite}]
  pre-agent-turn-stop: [{oracle: suite}]
  pre-issue-submit: [{oracle: ChecklistValidator}, {id: tasks, oracle: ChecklistValidator, when: {issue.type: task}}]
"""

SCRIPT = r"""//! Gives each intensity on a word in the command.

fn evaluate(ctx) {
    if ctx.trigger == "pre-agent-turn" {
        return if file_exists("greet") { aid("the word of the day is heliotrope") } else { accept() };
    }
    if ctx.trigger == "pre-agent-turn-stop" {
        return if file_exists("gate") { block("the notes are missing", ["write notes.txt"]) } else { accept() };
    }
    let command = ctx.tool.command;
    if command == () {
        return accept();
    }
    if command.contains("forbidden") {
        return block("that word is not for agents", ["say permitted in its place"]);
    }
    if command.contains("perilous") {
        return prompt("that is perilous, a person must say yes").must_be_answered();
    }
    if command.contains("sloppy") {
        let tidy = "echo tidy > tidy.txt";
        return if ctx.tool.name == "run_commands" {
            control([modify("tool.input.commands", [command], [tidy], "tidier")])
        } else {
            control([modify("tool.input.command", command, tidy, "tidier")])
        };
    }
    if command.contains("advice") {
        return aid("remember the marmalade");
    }
    accept()
}
"""

# No push before the tests have passed since the last edit: a mark that the results of tools feed.
TESTS = """marks:
  tests_passed:
    on: post-tool-use
    when: {tool.command: "~ ^sh ./check.sh", tool.ok: true}
    until: [{on: post-tool-use, when: {tool.kind: [write, edit]}}]
hooks:
  pre-tool-use:
    - {oracle: Say, when: {tool.command: "~ pushed", marks.tests_passed: 0}, config: {intensity: block, text: no tests since the edit}}
"""

ISSUE = """---
id: FEAT-0001
type: feature
status: open
stage: doing
title: A feature
---

## Acceptance Criteria

- [x] written
- [ ] tested with marmots
"""

SHELL = lambda command: [{"text": "I will run it.", "shell": command}, {"delay": 0.3, "text": "all done"}]

# name -> (column title, turns, files of the project besides the policy)
SCENARIOS = {
    "none": ("no opinion", SHELL("echo plain > ran.txt"), {}),
    "block": ("block", SHELL("echo forbidden > ran.txt"), {}),
    "ask": ("ask", SHELL("echo perilous > ran.txt"), {}),
    "rewrite": ("changed input", SHELL("echo sloppy > ran.txt"), {}),
    "advice": ("advice before a tool", SHELL("echo advice > ran.txt"), {}),
    "greet": ("advice at the prompt", [{"text": "all done"}], {"greet": ""}),
    "stop": ("stop gate", [{"text": "all done"}, {"text": "now it is really done"}], {"gate": ""}),
    "broken": ("broken policy", SHELL("echo plain > ran.txt"), {".ahp/hooks.yaml": "hooks:\n  pre-tool-yuse: []\n"}),
    "submit": ("`monoco issue submit`", SHELL("touch ran.txt && FOO=1 uv run monoco issue submit FEAT-0001"), {}),
}

SCENARIOS["tests"] = ("a push before and after the tests", [
    {"text": "I will edit it.", "write": {"path": "a.txt", "content": "x\n"}},
    {"text": "I will push it.", "shell": "touch pushed-1"},
    {"text": "I will test it.", "shell": "sh ./check.sh"},
    {"text": "I will push it.", "shell": "touch pushed-2"},
    {"delay": 0.3, "text": "all done"},
], {".ahp/hooks.yaml": TESTS, "check.sh": "exit 0\n"})

# A stop gate in nothing but the layout of the HOOK.md standard: no policy at all beside it.
SCENARIOS["hook-md"] = ("a stop gate of HOOK.md alone", [{"text": "done %d" % n} for n in range(8)], {
    ".ahp/hooks.yaml": None,
    "~/.config/agents/hooks/notes/HOOK.md": "---\nname: notes\ndescription: Asks for notes\ntrigger: pre-agent-turn-stop\n---\n",
    "~/.config/agents/hooks/notes/scripts/run.sh": "#!/bin/sh\necho 'the notes are missing' >&2\nexit 2\n"})
# The permission event alone, as where the call itself was not told of before.
SCENARIOS["permission"] = ("a permission event", SHELL("echo forbidden > ran.txt"), {})
SCENARIOS["task"] = ("a task is completed", [
    {"tool": {"name": "TaskCreate", "args": {"subject": "Write notes", "description": "- [ ] write about marmots"}}},
    {"tool": {"name": "TaskUpdate", "args": {"taskId": "1", "status": "completed"}}},
    {"text": "all done"}],
    {"~/.claude/settings.json": '{"env": {"CLAUDE_CODE_ENABLE_TODO_TOOLS": "1"}}'})
SCENARIOS["system"] = ("block by `--system`", SHELL("echo forbidden > ran.txt"), {})
# Our plugin in the place of wires; and where there is no `ahp`, which it says and refuses everything.
SCENARIOS["plugin"] = ("block by the plugin", SHELL("echo forbidden > ran.txt"), {})
SCENARIOS["absent"] = ("the plugin without `ahp`", SHELL("echo plain > ran.txt"), {})
SCENARIOS["another"] = ("the plugin with another `ahp`", SHELL("echo plain > ran.txt"), {})
SCENARIOS["deep"] = ("`ahp doctor --deep`", [], {})
# A handler that does not pass on what comes before a tool: no hook of any settings file is asked then.
SCENARIOS["mod"] = ("`ahp doctor --deep` with a mod", [], {
    "~/.claude/skills/quiet/.claude-plugin/plugin.json": '{"name": "quiet", "version": "1.0.0", "description": "quiet"}',
    "~/.claude/skills/quiet/hooks/hooks.json": '{"modules": ["./register.js"]}',
    "~/.claude/skills/quiet/hooks/register.js": "export function register(on) { on('classic.PreToolUse', () => ({})) }\n"})

# Those that our plugin wires.
PLUGIN = ("plugin", "absent", "another")

# Scenarios of which some clients have no part.
ONLY = {"permission": ("claude", "copilot"), "task": ("claude",), "system": ("claude", "codex", "copilot", "gemini"),
        **dict.fromkeys(PLUGIN, ("claude", "codex", "copilot")),
        "deep": ("claude", "codex", "copilot", "gemini", "qwen"), "mod": ("claude",)}

# What is proved where nothing else is said below; each word is checked by `outcome`.
USUAL = {"none": "runs", "block": "refused", "ask": "refused", "rewrite": "changed", "advice": "heard",
         "greet": "heard", "stop": "held once", "broken": "refused at the prompt", "submit": "refused",
         "tests": "after the tests", "hook-md": "held 3 times", "permission": "refused", "task": "refused",
         "system": "refused", "plugin": "refused", "absent": "refused", "another": "refused", "deep": "asks", "mod": "told"}
EXPECTED = {
    # Codex does not tell how a command ended.
    "gemini": {}, "claude": {"absent": "refused at the prompt", "another": "refused at the prompt"},
    "codex": {"tests": "never", "absent": "refused at the prompt", "another": "refused at the prompt"},
    # What a hook says on stderr the model never gets.
    "copilot": {"absent": "refused without words", "another": "refused without words"},
    # It lets go by itself after once.
    "kimi": {"rewrite": "refused", "advice": "waits", "greet": "waits", "hook-md": "held once"},
    "kimi-code": {"rewrite": "refused", "advice": "waits", "hook-md": "held once"},
    "qwen": {"rewrite": "refused"},
    "opencode": {"stop": "not held", "hook-md": "not held"},
    # It ends the whole run where a tool is refused, and calls no hook for the prompt without a terminal.
    "cline": {"block": "ends the run", "ask": "ends the run", "broken": "ends the run", "submit": "ends the run",
              "tests": "ends the run", "greet": "waits", "stop": "not held", "hook-md": "not held"},
}
WORDS = {"block": "not for agents", "ask": "perilous", "rewrite": "tidy.txt", "advice": "marmalade", "greet": "heliotrope",
         "stop": "notes are missing", "broken": "hooks.yaml:2", "submit": "tested with marmots",
         "hook-md": "notes are missing", "permission": "not for agents", "task": "write about marmots",
         "system": "not for agents", "plugin": "not for agents", "absent": "ahp did not answer"}

# Made before the client starts, beside the wires: what is the client's alone is done in its HOME, and what is the machine's in a
# namespace of mounts that nobody else sees.
INSTALL = "%(ahp)s install %(host)s --user --all-events && %(ahp)s trust -y"
SETUPS = {
    "permission": INSTALL + " && for f in \"$HOME\"/.claude/settings.json \"$HOME\"/.copilot/hooks/ahp.json; do "
                  "[ ! -f \"$f\" ] || sed -i 's/\"[pP]reToolUse\":/\"Elsewhere\":/' \"$f\"; done",
    "system": "cp -a /etc \"$HOME/etc\" && mount --bind \"$HOME/etc\" /etc && mkdir \"$HOME/bin\" && cp %(ahp)s \"$HOME/bin/ahp\" && "
              "chmod 755 \"$HOME/bin\" && mount --bind \"$HOME/bin\" /usr/local/bin && "
              "/usr/local/bin/ahp install %(host)s --system --all-events && %(ahp)s trust -y",
    "deep": INSTALL + " && { %(ahp)s doctor %(host)s --deep --format json > \"$HOME/../doctor.json\" || true; } && "
            "cp \"$HOME/../doctor.json\" .",
}
SETUPS["mod"] = SETUPS["deep"]
# Installed by each client's own commands, from a copy of what a marketplace lists.
MARKET = "mkdir \"$HOME/market\" && cp -a %(root)s/.claude-plugin \"$HOME/market\" && mkdir \"$HOME/market/packaging\" && " \
         "cp -a %(root)s/packaging/plugin \"$HOME/market/packaging\" && %(client)s plugin marketplace add \"$HOME/market\" && " \
         "%(client)s plugin %(add)s ahp@ahp && %(ahp)s trust -y"
SETUPS["absent"] = MARKET
SETUPS["another"] = "mkdir \"$HOME/bin\" && printf '#!/bin/sh\\nexit 1\\n' > \"$HOME/bin/ahp\" && chmod 755 \"$HOME/bin/ahp\" && " \
    "mount --bind \"$HOME/bin\" /usr/local/bin && " + MARKET
SETUPS["plugin"] = "mkdir \"$HOME/bin\" && cp %(ahp)s \"$HOME/bin/ahp\" && mount --bind \"$HOME/bin\" /usr/local/bin && " + MARKET + \
    " && found=$(%(ahp)s doctor %(host)s || true) && echo \"$found\" | grep -q 'wired (plugin)'"
# Of a policy with faults the programs are trusted; approved it is not, and that is said by the exit code.
SETUPS["broken"] = INSTALL + " || [ $? = 1 ]"


def outcome(scenario, report, work):
    """One word for what happened."""
    heard = json.dumps(report["conversation"], ensure_ascii=False)
    ran = os.path.exists(os.path.join(work, "ran.txt"))
    tidy = os.path.exists(os.path.join(work, "tidy.txt"))
    words = WORDS.get(scenario)
    told = words is not None and words in heard
    if report.get("timed_out"):
        return "hung"
    if scenario == "tests":
        pushed = [os.path.exists(os.path.join(work, "pushed-%d" % n)) for n in (1, 2)]
        if pushed[0]:
            return "before the tests"
        if "no tests since" not in heard:
            return "ends the run" if report["turns_played"].startswith("2 ") else "refused without words"
        return "after the tests" if pushed[1] else "never"
    if scenario == "none":
        return "runs" if ran and '"result"' in heard else "does not run"
    if scenario in ("deep", "mod"):
        with open(os.path.join(work, "doctor.json")) as f:
            found = json.load(f)
        came_to = found["hosts"][0]["deep"]["result"]
        fails = any("without asking" in problem for problem in found["problems"])
        return {"held": "asks", "ran": "told" if fails else "passed by"}.get(came_to, came_to)
    if scenario == "task":
        return "refused" if told else "completed"
    if scenario in ("block", "ask", "broken", "submit", "permission", "system", *PLUGIN):
        if ran:
            return "ran"
        if told:
            return "refused"
        if scenario in ("broken", "absent", "another") and report["main_requests"] == 0:
            return "refused at the prompt"
        return "ends the run" if report["turns_played"].startswith("1 ") else "refused without words"
    if scenario == "rewrite":
        if tidy and not ran:
            return "changed"
        return "ran unchanged" if ran else "refused" if told else "refused without words"
    if scenario in ("advice", "greet"):
        if scenario == "advice" and not ran:
            return "did not run"
        return "heard" if told else "waits"
    if scenario in ("stop", "hook-md"):
        if not told:
            return "not held"
        return "held once" if report["main_requests"] == 2 else "held %d times" % (report["main_requests"] - 1)
    raise ValueError(scenario)


def project(work, home, files):
    all_files = {".ahp/hooks.yaml": POLICY, ".ahp/oracles/suite.rhai": SCRIPT,
                 "Issues/Features/open/FEAT-0001-a-feature.md": ISSUE}
    all_files.update(files)
    for name, text in all_files.items():
        path = os.path.join(home, name[2:]) if name.startswith("~/") else os.path.join(work, name)
        if text is not None:
            os.makedirs(os.path.dirname(path), exist_ok=True)
            with open(path, "w") as f:
                f.write(text)


def drive(client, turns, files, setup=None, within="", more=("--trust",)):
    """One run of a client with a fresh HOME and a fresh project: what it reports, and where it worked."""
    base = tempfile.mkdtemp(prefix="ahp-hosts-")
    work, home = os.path.join(base, "project"), os.path.join(base, "home")
    os.makedirs(work)
    os.makedirs(home)
    project(work, home, files)
    script = os.path.join(base, "script.json")
    with open(script, "w") as f:
        json.dump({"prompt": "please do it", "turns": turns}, f)
    argv = [sys.executable, os.path.join(HERE, "run_host.py"), client, "true", script, work, "--events", "none",
            "--timeout", "60", "--within", within, *more, "--setup", "cp -a '%s/.' \"$HOME\"%s" % (home, setup and " && " + setup or "")]
    p = subprocess.run(argv, capture_output=True, text=True)
    try:
        return json.loads(p.stdout), base, work
    except ValueError as error:
        return {"stderr": p.stderr[-2000:], "error": repr(error)}, base, work


def runs_bare(client):
    """Whether the client runs a command here without `ahp`; if it does not, its cells would say nothing of `ahp`."""
    for _ in range(2):
        report, base, work = drive(client, *SCENARIOS["none"][1:])
        ran = os.path.exists(os.path.join(work, "ran.txt"))
        shutil.rmtree(base, ignore_errors=True)
        if ran:
            return True
    print("     %s: %s" % (client, str(report.get("stderr"))[-1500:]), file=sys.stderr, flush=True)
    return False


def run(client, scenario, a):
    _, turns, files = SCENARIOS[scenario]
    started = time.time()
    setup = SETUPS.get(scenario, INSTALL) % {
        "ahp": a.ahp, "host": CLIENTS[client][0], "client": client, "add": "add" if client == "codex" else "install", "root": ROOT}
    report, base, work = drive(client, turns, files, setup, "%s shield --" % a.ahp if a.shield else "",
                                # Codex runs hooks of a plugin once a person has looked at them.
                                [] if scenario in PLUGIN else ["--trust"] + ["--ask"] * (scenario == "permission"))
    try:
        came_to = outcome(scenario, report, work)
    except KeyError as error:
        came_to = "failed"
        report.setdefault("error", repr(error))
    log = os.path.join(work, ".ahp", "signals.jsonl")
    logged = 0
    if os.path.exists(log):
        with open(log) as f:
            logged = sum('"kind":"evaluation"' in line for line in f)
    # "It ran" proves nothing where no hook was called, and "it waits" nothing where the client fell over.
    if came_to == "runs" and not logged:
        came_to = "runs without a hook"
    said = report.get("stderr", "") + report.get("stdout", "")
    # Codex ends a turn whose prompt is refused without the words of the hook.
    began = WORDS.get(scenario, "") in said or client == "codex" and '"turn.completed"' in said
    if not logged and report.get("turns_played", "").startswith("0 ") and not began:
        came_to = "did not start"
    if a.keep:
        with open(os.path.join(base, "report.json"), "w") as f:
            json.dump(report, f, indent=1)
    else:
        shutil.rmtree(base, ignore_errors=True)
    return came_to, report, time.time() - started, base


def retried(client, scenario, a):
    """A cell that fails is tried once more: a busy machine makes clients miss what they would not miss."""
    wanted = dict(USUAL, **EXPECTED[client])[scenario]
    result = run(client, scenario, a)
    return result if result[0] == wanted else run(client, scenario, a)


def installed(client):
    bin_dir = os.environ.get("HOSTS_BIN", os.path.join(ROOT, "target/hosts/bin"))
    return os.access(os.path.join(bin_dir, client), os.X_OK)


def table(results):
    names = list(SCENARIOS)
    lines = ["| client | " + " | ".join(SCENARIOS[n][0] for n in names) + " |", "|---" * (len(names) + 1) + "|"]
    for client, cells in results.items():
        row = [CLIENTS[client][1]] + [cells.get(n, "—") if cells else "*skipped*" for n in names]
        lines.append("| " + " | ".join(row) + " |")
    return "\n".join(lines) + "\n"


def write_table(path, text):
    begin, end = "<!-- proved: begin -->\n", "<!-- proved: end -->\n"
    with open(path) as f:
        doc = f.read()
    head, rest = doc.split(begin)
    _, tail = rest.split(end)
    with open(path, "w") as f:
        f.write(head + begin + text + end + tail)


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--ahp", default=os.path.join(ROOT, "target/debug/ahp"))
    ap.add_argument("--hosts", default=",".join(CLIENTS))
    ap.add_argument("--only", help="only these scenarios, comma-separated")
    ap.add_argument("--jobs", type=int, default=2)
    ap.add_argument("--table", help="write what was proved into this file, where every client was driven")
    ap.add_argument("--names", action="store_true", help="say which clients there are, and drive none")
    ap.add_argument("--shield", action="store_true", help="start each client by `ahp shield`, which must change nothing here; "
                    "TMPDIR and HOSTS_TMP must not lie below /tmp")
    ap.add_argument("--keep", action="store_true", help="keep each run's folder")
    a = ap.parse_args()
    if a.names:
        print(",".join(CLIENTS))
        return
    a.ahp = os.path.abspath(a.ahp)
    os.environ.setdefault("HOSTS_BIN", os.path.join(ROOT, "target/hosts/bin"))
    clients = [c for c in CLIENTS if c in a.hosts.split(",")]
    scenarios = a.only.split(",") if a.only else list(SCENARIOS)
    skipped = {c: "is not installed" for c in clients if not installed(c)}
    with concurrent.futures.ThreadPoolExecutor(a.jobs) as pool:
        present = [c for c in clients if c not in skipped]
        skipped.update((c, "does not run here, even without ahp") for c, runs in zip(present, pool.map(runs_bare, present)) if not runs)
    cells = [(c, s) for s in scenarios for c in clients if c not in skipped and c in ONLY.get(s, CLIENTS)]
    results = {c: ({} if c not in skipped else None) for c in clients}
    wrong = []
    started = time.time()
    with concurrent.futures.ThreadPoolExecutor(a.jobs) as pool:
        futures = {pool.submit(retried, c, s, a): (c, s) for c, s in cells}
        for future in concurrent.futures.as_completed(futures):
            client, scenario = futures[future]
            came_to, report, seconds, base = future.result()
            wanted = dict(USUAL, **EXPECTED[client])[scenario]
            results[client][scenario] = came_to
            ok = came_to == wanted
            print("%-4s %-10s %-8s %s%s  %.1f s%s" % (
                "ok" if ok else "FAIL", client, scenario, came_to, "" if ok else " (wanted: %s)" % wanted, seconds,
                "  " + base if a.keep else ""), flush=True)
            if not ok:
                wrong.append((client, scenario))
                print("     " + json.dumps({k: report.get(k) for k in (
                    "conversation", "turns_played", "exit", "stderr", "error")})[:1500], flush=True)
    if a.table and not a.only and len(clients) == len(CLIENTS):
        write_table(a.table, table(results))
    print("%d cells in %.0f s: %d as expected, %d not" % (
        len(cells), time.time() - started, len(cells) - len(wrong), len(wrong)))
    for client, why in skipped.items():
        print("SKIPPED: %s %s; %d cells were not run" % (client, why, len(scenarios)), file=sys.stderr)
    if skipped:
        print("SKIPPED %d OF %d CLIENTS" % (len(skipped), len(clients)), file=sys.stderr)
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
