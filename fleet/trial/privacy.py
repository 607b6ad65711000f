"""What leaves a machine of a log full of marked words: none of them, and with names and words asked for those and no others."""

import glob
import json
import os
import pathlib
import subprocess

# A command, a path, what a policy names, a prompt, a secret, a session, a person, a remote, and what she said.
WORDS = {"command": "markedcommand", "policy": "markedpolicy", "path": "/srv/markedpath", "file": "markedfile.py", "prompt": "markedprompt",
         "token": "markedtoken1234", "session": "markedsession", "user": "markeduser", "org": "markedorg", "note": "markednote", "pack": "markedpack", "tool": "markedtool", "credential": "markedcredential"}
# What `names: true` and `detail: full` let out: names, the words of signals, and notes. What was typed into no signal never leaves.
ASKED_FOR = {"markedcommand", "markedpolicy", "/srv/markedpath", "markedfile.py", "markedsession", "markeduser", "markedorg", "markednote", "markedpack", "markedtool"}


def try_privacy(ahp, root, check):
    project, home = root / "private", root / "private-home"
    (project / ".ahp").mkdir(parents=True)
    home.mkdir()
    # A pack that lies outside of the project and of the home directory is logged with its whole path.
    outside = root / WORDS["pack"] / "house.yaml"
    outside.parent.mkdir()
    outside.write_text("hooks: {pre-tool-use: [{oracle: PermissionChecker, id: y, config: {dangerous_commands: [frobnicate *]}}]}\n")
    (project / ".ahp/hooks.yaml").write_text(
        f"extends: [ahp:standard, {outside}]\n"
        "hooks: {pre-tool-use: [{oracle: PermissionChecker, id: x, config: {dangerous_commands: [frobnicate markedpolicy]}}]}\n")
    env = {"PATH": os.environ["PATH"], "HOME": str(home), "USER": WORDS["user"], "AHP_MACHINE_ID": "machine-1"}

    def run(*argv, **more):
        return subprocess.run([str(part) for part in argv], env=env, cwd=project, capture_output=True, text=True, **more)
    run("git", "init", "-q")
    run("git", "remote", "add", "origin", f"https://ada:p@{WORDS['credential']}@git.example/{WORDS['org']}/shop.git?private_token={WORDS['credential']}")
    calls = [("PreToolUse", {"command": f"frobnicate {WORDS['policy']} {WORDS['command']} {WORDS['path']} --token {WORDS['token']}"}),
             ("PreToolUse", {"command": f"cat .env.{WORDS['file']}"}), ("PreToolUse", {"q": WORDS["prompt"]}), ("UserPromptSubmit", {})]
    for event, tool_input in calls:
        tool = "Bash" if tool_input.get("command") else f"mcp__{WORDS['tool']}__query"
        told = {"hook_event_name": event, "session_id": WORDS["session"], "cwd": str(project), "tool_name": tool, "tool_input": tool_input,
                "tool_use_id": "t", "prompt": WORDS["prompt"]}
        run(ahp, "hook", "--host", "claude-code", input=json.dumps(told))
    answered = run(ahp, "respond", "last", "abort", "--note", WORDS["note"])
    logged = (project / ".ahp/signals.jsonl").read_text()
    check("the log is full of marked words", answered.returncode == 0 and logged.count("marked") > 10, answered.stderr)

    for name, settings, expected in (("by default", "{}", set()), ("with names and words asked for", "{names: true, detail: full}", ASKED_FOR)):
        pathlib.Path("/etc/ahp/hooks.yaml").write_text(f"settings: {{fleet: {settings}}}\n")
        lake = root / f"lake-{len(expected)}"
        sent = run(ahp, "fleet", "ship", "--log", project / ".ahp/signals.jsonl", "--to", f"dir:{lake}")
        assert sent.returncode == 0, sent.stderr
        run("rm", "-r", home / ".local/state/ahp/ship")
        texts = [tables(lake)] + [run(ahp, "log", "export", "--format", form, "--all").stdout if form == "otlp"
                                  else run(ahp, "log", "export", "--format", form).stdout for form in ("otlp", "ocsf")]
        left = {word for word in WORDS.values() if any(word in text for text in texts)}
        check(f"what leaves {name}: {len(expected)} of {len(WORDS)} words", all(texts) and left == expected, left ^ expected)
    pathlib.Path("/etc/ahp/hooks.yaml").unlink()


def tables(lake):
    """Returns every cell of a lake."""
    import duckdb
    cells = []
    for table in ("evaluations", "bindings", "signals", "answers"):
        files = glob.glob(f"{lake}/{table}/*/*.parquet")
        rows = duckdb.execute(f"select * exclude (time) from read_parquet({files})").fetchall() if files else []
        cells += [str(cell) for row in rows for cell in row]
    return "\n".join(cells)
