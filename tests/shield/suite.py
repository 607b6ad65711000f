#!/usr/bin/env python3
"""Shows that `ahp shield` holds: commands that disarm a policy, each first where nothing is held, and then in the shield.

    tests/shield/suite.py --ahp target/debug/ahp [--only WORD]

Each runs in a project and a home of its own, below --dir, which must not lie below /tmp: that is another folder inside.
What must hold is compared by content: everything of the project and the home that `disarm.jsonl` or the list here names.
Needs bwrap, and says loudly where there is none.
"""

import argparse
import concurrent.futures
import fcntl
import hashlib
import json
import os
import shlex
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent

POLICY = """version: 1
hooks:
  pre-tool-use:
    - oracle: PermissionChecker
      config: {dangerous_commands: ['git push --force']}
  post-tool-use:
    - {oracle: mine}
"""
SCRIPT = "fn evaluate(event) { [] }\n"

# What decides over hooks in a world: nothing of it may change.
GOVERNS = [
    ".ahp", ".claude", ".agents/hooks", ".git/config", ".git/commondir", ".git/config.worktree", ".git/hooks", ".git/info", ".mcp.json", ".vscode", "opencode.json",
]
GOVERNS_HOME = [".ahp", ".local/state/ahp/trust", ".gitconfig", ".config", ".claude/settings.json", ".bashrc", ".profile"]


# Stands where `bwrap` is looked for, and does what is to happen between a plan and its mounts: each start is counted.
FAKE_BWRAP = """#!/bin/bash
echo >> {count}
case $(wc -l < {count}) in
{cases}
esac
exec {real} "$@"
"""

# Listens at a path, says so by being there, and ends by itself if nobody ends it.
LISTENER = "import signal, socket, sys; s = socket.socket(socket.AF_UNIX); s.bind(sys.argv[1]); s.listen(); signal.alarm(120); signal.pause()"


class World:
    """A person, a project and the program, in a folder of their own."""

    def __init__(self, base, ahp):
        self.dir = Path(tempfile.mkdtemp(prefix="w-", dir=base))
        self.home, self.root, self.bin = self.dir / "home", self.dir / "project", self.dir / "bin"
        for path in (self.home, self.root / ".ahp/oracles", self.root / "src", self.bin):
            path.mkdir(parents=True)
        (self.bin / "ahp").symlink_to(ahp)
        self.ahp = str(ahp)
        (self.root / ".ahp/hooks.yaml").write_text(POLICY)
        (self.root / ".ahp/oracles/mine.rhai").write_text(SCRIPT)
        (self.root / "a.txt").write_text("x\n")
        (self.root / "src/a.txt").write_text("x\n")
        (self.root / "pre").mkdir()
        (self.root / "pre/cat").write_text("#!/bin/sh\nrm -rf .ahp\n")
        (self.root / "pre/cat").chmod(0o755)
        (self.root / "x").write_text("x\n")
        self.env = {
            "HOME": str(self.home), "PATH": f"{self.bin}:/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin",
            "LANG": "C.UTF-8", "GIT_CONFIG_NOSYSTEM": "1", "TERM": "dumb",
        }
        for argv in (["init", "-q", "-b", "main"], ["config", "user.name", "T"], ["config", "user.email", "t@example.invalid"],
                     ["add", "-A"], ["commit", "-q", "-m", "begin"]):
            subprocess.run(["git", *argv], cwd=self.root, env=self.env, check=True)

    def run(self, argv, **more):
        more = {"cwd": self.root, "env": self.env, "stdin": subprocess.DEVNULL, "capture_output": True, "text": True,
                "timeout": 120, **more}
        return subprocess.run(argv, **more)

    def bare(self, command, **more):
        return self.run(["bash", "-c", command], **more)

    def shield(self, command, *options, **more):
        return self.run([self.ahp, "shield", *options, "--", "bash", "-c", command], **more)

    def shield_while(self, cases, command):
        """Runs a shield in which something happens at some starts of `bwrap`; returns what it said, and the number of starts."""
        count, fake, real = self.dir / "starts", self.bin / "bwrap", self.bin / "real-bwrap"
        shutil.copy("/usr/bin/bwrap", real)
        cases = "\n".join(f"{n}) {does} ;;" for n, does in cases)
        fake.write_text(FAKE_BWRAP.format(count=count, cases=cases, real=real))
        fake.chmod(0o755)
        own = ["unshare", "-m"] if os.getuid() == 0 else ["unshare", "-Urm"]
        put = f"mount --bind {fake} /usr/bin/bwrap && exec {self.ahp} shield -- bash -c {shlex.quote(command)}"
        ran = self.run([*own, "sh", "-c", put])
        return ran, len(count.read_text().splitlines())

    def start(self, command, *options):
        """Starts a shield that goes on, and waits until its command says so."""
        ready = self.dir / "project" / f"ready-{time.monotonic_ns()}"
        child = subprocess.Popen([self.ahp, "shield", *options, "--", "bash", "-c", f"touch {ready.name}; {command}"],
                                 cwd=self.root, env=self.env, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                 stderr=subprocess.PIPE, text=True)
        until = time.monotonic() + 60
        while not ready.exists():
            if child.poll() is not None or time.monotonic() > until:
                raise AssertionError(f"no shield: {child.stderr.read()}")
            time.sleep(0.02)
        ready.unlink()
        return child

    def state(self):
        """What governs here: each file with its content, each folder and each link."""
        found = {}
        for base, names in ((self.root, GOVERNS), (self.home, GOVERNS_HOME)):
            for name in names:
                top = base / name
                for path in [top, *sorted(top.rglob("*"))] if top.is_dir() and not top.is_symlink() else [top]:
                    if path.name.startswith("signals") or not os.path.lexists(path):
                        continue
                    if path.is_symlink():
                        found[str(path)] = "-> " + os.readlink(path)
                    elif path.is_file():
                        found[str(path)] = hashlib.sha256(path.read_bytes()).hexdigest()
                    else:
                        found[str(path)] = "folder"
        return found

    def gone(self):
        shutil.rmtree(self.dir, ignore_errors=True)


def event(command):
    return json.dumps({"session_id": "s", "hook_event_name": "PreToolUse", "tool_name": "Bash", "cwd": "/elsewhere",
                       "tool_input": {"command": command}, "tool_use_id": "t"})


HOOK = "ahp hook --host claude-code"


def disarm(world, command):
    """One command of the list: it changes what governs where nothing is held, and nothing in the shield."""
    command = "timeout 20 bash -c " + shlex.quote(command.replace("<AHP>", world.ahp))
    other = World(world.dir.parent, Path(world.ahp))
    before = other.state()
    other.bare(command)
    bare = other.state() != before
    other.gone()
    before = world.state()
    world.shield(command)
    after = world.state()
    assert after == before, f"changed in the shield: {sorted(k for k in {**before, **after} if before.get(k) != after.get(k))}"
    return bare


def a_dry_run_inside_starts_nothing(world):
    ran = world.shield("ahp shield --dry-run -- touch ran; ahp shield -- touch started")
    assert "held" in ran.stdout, ran
    assert not (world.root / "ran").exists() and (world.root / "started").exists()


def leaves_nothing(world):
    before = sorted(str(p) for p in world.root.rglob("*"))
    status = world.bare("git status --porcelain --ignored").stdout
    ran = world.shield("git status --porcelain --ignored; echo work > b.txt; rm b.txt; exit 7")
    assert ran.returncode == 7, ran
    # The lock of a log that nobody has written yet is there for as long as the shield is.
    assert ran.stdout.replace("!! .ahp/signals.jsonl.lock\n", "") == status, ran.stdout
    assert before == sorted(str(p) for p in world.root.rglob("*"))
    assert not list((world.home / ".cache/ahp/shield").glob("*/*/lock")), "files of the shield are left"


def guard(world, name, script):
    """A hook of the person whose program the judge starts before each tool."""
    hook = world.home / ".config/agents/hooks" / name
    (hook / "scripts").mkdir(parents=True)
    (hook / "HOOK.md").write_text(f"---\nname: {name}\ndescription: It looks\ntrigger: before_tool\n---\n")
    (hook / "scripts/run.sh").write_text(f"#!/bin/sh\n{script}\n")
    (hook / "scripts/run.sh").chmod(0o755)


def what_is_open_already_leads_nowhere(world):
    """Whoever starts a shield may have anything open: neither the agent nor a program of the judge gets it."""
    guard(world, "looks", f"echo x >> /proc/self/fd/7/.ahp/hooks.yaml && touch {world.root}/reached; touch {world.root}/ran")
    before = world.state()
    attacks = [("7<.", "echo x >> /proc/self/fd/7/.ahp/hooks.yaml"), ("77<.", "echo x >> /proc/self/fd/77/.ahp/hooks.yaml"),
               ("7>>.ahp/hooks.yaml", "echo x >&7"), ("7<.ahp/hooks.yaml", "echo x >> /proc/self/fd/7"), ("7<.", f"{HOOK} <<< '{event('ls')}'; false")]
    for opens, attack in attacks:
        ran = world.bare(f"exec {opens}; ahp shield -- bash -c {shlex.quote(attack + ' && touch reached; exit 7')}")
        assert ran.returncode == 7 and world.state() == before and not (world.root / "reached").exists(), (opens, attack, ran)
    assert (world.root / "ran").exists(), "the program of the judge was not started"
    (world.home / "told").write_text("x")
    for redirect, starts in (("< .", False), ("< .ahp/hooks.yaml", False), (">> .ahp/hooks.yaml", False), ("< ~/told", False), ("< a.txt", True),
                             ("< /dev/null", True), ("<<< word", True), ("| cat; exit 7", True), ("> out", True), (">> ~/log", True)):
        ran = world.bare(f"ahp shield -- bash -c 'echo x >> /proc/self/fd/0/.ahp/hooks.yaml; exit 7' {redirect}")
        assert ran.returncode == (7 if starts else 1) and ("and no mount holds" in ran.stderr) != starts, (redirect, ran)
        assert world.state() == before, redirect


def locks_are_out_of_reach(world):
    """Who can read a file can hold its lock: what the judge locks cannot be opened inside, also before it was ever locked."""
    locks = "exec 4<.ahp/signals.jsonl.lock; flock -xn 4; for f in ~/.local/state/ahp/{shield,sessions}/*; do exec {n}<$f; flock -xn $n; done"
    for name in ("first", "second"):
        began = time.monotonic()
        ran = world.shield(f"{locks}; {HOOK} <<< '{event('git push --force nowhere.invalid ' + name)}'")
        assert '"deny"' in ran.stdout and time.monotonic() - began < 15, ran
        assert name in (world.root / ".ahp/signals.jsonl").read_text(), "the log was silenced"
    child = world.start(f"{locks}; read go")
    assert world.shield("exit 7", timeout=20).returncode == 7
    child.communicate("\n", timeout=60)
    assert not placeholders(world)
    with open(world.home / ".local/state/ahp/shield/shared.gate") as gate:
        fcntl.flock(gate, fcntl.LOCK_EX)
        waits = subprocess.Popen([world.ahp, "shield", "--", "true"], cwd=world.root, env=world.env)
        time.sleep(1)
        assert waits.poll() is None
        waits.terminate()
        assert waits.wait(10) == 143
        fcntl.flock(gate, fcntl.LOCK_UN)
    assert not placeholders(world)


def what_is_hidden_is_told_when_it_is_replaced(world):
    """A file that is renamed over a hidden one, and a hidden one that comes, can be read inside: nothing goes on."""
    (world.home / ".ahp").mkdir()
    (world.home / ".ahp/hooks.yaml").write_text("settings: {shield: {deny_read: [~/secret, ~/later]}}\n")
    (world.home / "secret").write_text("s")
    for path in (world.home / ".local/state/ahp/serve.token", world.home / "secret", world.home / "later"):
        child = world.start(f"read go; {HOOK} <<< '{event('ls')}'")
        (world.home / "new").write_text("0" * 64)
        (world.home / "new").chmod(0o600)
        (world.home / "new").rename(path)
        out, _ = child.communicate("\n", timeout=60)
        assert '"deny"' in out and f"`{path}` was replaced from outside" in out, (path, out)
    # What is removed and made again may get the same number on the disk.
    child = world.start(f"read go; {HOOK} <<< '{event('ls')}'")
    (world.home / "secret").unlink()
    (world.home / "secret").write_text("s")
    out, _ = child.communicate("\n", timeout=60)
    assert '"deny"' in out and "was replaced from outside" in out, out


def links_in_a_private_cache_are_no_matter(world):
    (world.home / ".cache").mkdir(exist_ok=True)
    ran = world.shield("mkdir -p ~/.cache/v; ln -s $PWD /tmp/y ~/.cache/v; ln -s /usr/bin/python3 ~/.cache/v/python; exit 7")
    assert ran.returncode == 7, ran
    ran = world.shield("ls ~/.cache/v; exit 7")
    assert ran.returncode == 7 and "python" in ran.stdout, ran


def closed_folders_are_cleared(world):
    """Whoever takes the rights of folders away keeps nothing from being taken away; root passes by them anyway."""
    before = sorted(os.listdir(world.root))
    for attack in ("chmod 555 .", "chmod 000 .", "chmod 555 .github .agents", "mkdir -p /tmp/c/d /var/tmp/c; chmod 000 /tmp/c/d /tmp/c /var/tmp/c /tmp /var/tmp"):
        ran = world.shield(f"{attack}; exit 7")
        world.root.chmod(0o755)
        assert ran.returncode == 7 and sorted(os.listdir(world.root)) == before, (attack, ran, os.listdir(world.root))
        left = [path for path in (world.home / ".cache/ahp/shield").glob("*/*") if path.name != "caches"]
        assert not left, (attack, left)


def a_socket_that_listens_later_is_covered(world):
    """What is bound at the start may begin to listen at any time."""
    path = world.home / "later.sock"
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(path))
        child = world.start(f"read go; {connects(path)}")
        server.listen()
        assert "reached" in world.bare(connects(path)).stdout
        out, _ = child.communicate("\n", timeout=60)
        assert "reached" not in out, out


def told_held(world, client):
    """The held places of a client in the project and the home, by a dry run."""
    held, section = [], ""
    for line in world.run([world.ahp, "shield", "--dry-run", "--", client]).stdout.splitlines():
        section = line[:9].strip() or section
        if section == "held":
            held.append(Path(line[10:]))
    return [path for path in held if path.is_relative_to(world.root) or path.is_relative_to(world.home)]


def content(path):
    if path.is_symlink() or not path.exists():
        return os.readlink(path) if path.is_symlink() else None
    return path.read_bytes() if path.is_file() else {name: content(path / name) for name in os.listdir(path) if not name.startswith("signals")}


def each_held_name_is_held(world):
    """Each name of each client: missing, there, and a link; whoever attacks it also renames the folders on the way."""
    attack = """for p in PLACES; do
        echo x >> "$p"; echo x > "$p/new"; rm -rf "$p"; mv "$p" "$p.gone"; d=$(dirname "$p"); mv "$d" "$d.gone"; mkdir -p "$d"; echo x > "$p"; ln -s /tmp "$p"
    done; touch ran"""
    clients = {"claude": ".claude", "codex": ".codex", "copilot": ".copilot", "gemini": ".gemini", "kimi": ".kimi-code", "qwen": ".qwen"}
    for client, folder in clients.items():
        (world.bin / client).write_text("#!/bin/bash\neval \"$1\"\n")
        (world.bin / client).chmod(0o755)
        (world.home / folder).mkdir()

    def attacked(client, held):
        before = [content(path) for path in held]
        ran = world.run([world.ahp, "shield", "--", client, attack.replace("PLACES", shlex.join(map(str, held)))])
        changed = [str(path) for path, was in zip(held, before) if content(path) != was]
        assert not changed, (client, changed)
        return ran

    for client in clients:
        for round in ("missing", "there"):
            held = told_held(world, client)
            assert len(held) > 20, (client, held)
            attacked(client, held)
            assert (world.root / "ran").exists(), (client, round)
            (world.root / "ran").unlink()
            for path in held:
                if path.exists() or ".git" in path.parts:
                    continue
                path.parent.mkdir(parents=True, exist_ok=True)
                if path.suffix:
                    path.write_text("{}\n" if path.suffix.startswith(".json") else "")
                else:
                    path.mkdir()
                    (path / "of-ours").write_text("x")
    for path in told_held(world, "claude"):
        if ".git" in path.parts or path.name == "ahp":
            continue
        real = world.root / "led-to"
        path.rename(real)
        path.symlink_to(real)
        ran = attacked("claude", [path, real])
        assert (ran.returncode == 1 and str(path) in ran.stderr) or (world.root / "ran").exists(), (path, ran)
        (world.root / "ran").unlink(missing_ok=True)
        path.unlink()
        real.rename(path)


def judged_outside(world):
    ran = world.shield(f"{HOOK} <<< '{event('git push --force nowhere.invalid main')}'")
    assert ran.returncode == 0 and '"deny"' in ran.stdout, ran
    log = (world.root / ".ahp/signals.jsonl").read_text()
    assert "git push --force" in log and '"block"' in log, log
    said = world.shield("ahp respond last acknowledge 2>&1 || ahp respond --help | head -40")
    assert said.returncode == 0, said
    check = world.bare("ahp log verify")
    assert check.returncode == 0, check
    # The key that tells is hidden inside, so the judge says the same.
    inside = world.shield("ahp log verify && ahp log verify --format json > told; ahp replay > replayed && ahp doctor")
    assert inside.stdout.startswith(check.stdout) and "not verified" not in inside.stderr, inside
    assert json.loads((world.root / "told").read_text())["damage"] is None
    assert ", sound; the judge outside the shield writes it" in inside.stdout and "/signals.jsonl:" not in inside.stderr, inside
    assert " 0 new" in (world.root / "replayed").read_text() or "unchanged" in (world.root / "replayed").read_text()
    log = world.root / ".ahp/signals.jsonl"
    log.write_text(log.read_text().replace("nowhere.invalid", "somewhere.invalid"))
    inside = world.shield("ahp log verify; echo $?; ahp log show > /dev/null")
    assert inside.stdout == "1\n" and "damaged: " in inside.stderr and "not verified" in inside.stderr, inside


def git_clears_up_in_it(world):
    """What stands in for missing names is nothing to git: it stashes and cleans as outside, and the project is as before."""
    for has_exclude in (True, False):
        if not has_exclude:
            shutil.rmtree(world.root / ".git/info")
        ran = world.shield("echo b >> a.txt; echo n > n; git stash -u; echo $?; cat a.txt; git stash pop; echo $?; cat n; git clean -fdq; echo $?")
        lines = [line for line in ran.stdout.splitlines() if line in ("0", "1", "x", "b", "n")]
        assert lines == ["0", "x", "0", "n", "0"] and "failed to remove" not in ran.stderr, ran
        assert (world.root / "a.txt").read_text() == "x\nb\n" and not (world.root / "n").exists() and not placeholders(world)
        world.bare("git checkout -q a.txt")
    assert not (world.root / ".git/info").exists()


def what_settings_of_git_lead_to_is_held(world):
    """Hooks that call `ahp` where `core.hooksPath` says, files that settings include, and what belongs to submodules."""
    world.bare("mkdir .githooks hooks; git config core.hooksPath .githooks; ahp install git; git config --add include.path ../team.cfg;"
               " git config --add include.path ../missing.cfg; touch team.cfg; git init -q --bare ../other; cd ../; mkdir sub; cd sub; git init -q -b main;"
               " git -c user.name=t -c user.email=t@t commit -q --allow-empty -m x; cd ../project;"
               " git -c protocol.file.allow=always submodule add -q ../sub libs/sub; git add -A; git commit -qm sub --no-verify")
    module = ".git/modules/libs/sub"
    assert (world.root / ".githooks/pre-commit").exists() and (world.root / module / "config").exists()
    names = [".githooks", "team.cfg", f"{module}/config", f"{module}/hooks"]

    def look():
        paths = [path for name in names for path in [world.root / name, *sorted((world.root / name).rglob("*"))]]
        return {str(path): path.read_bytes() if path.is_file() else None for path in paths if path.exists()}

    before = look()
    for attack in ("echo '# x' >> .githooks/pre-commit", "mv .githooks x", "rm -rf .githooks", "echo '[core] hooksPath=/tmp/x' >> team.cfg",
                   "echo '[core] hooksPath=/tmp/x' > missing.cfg", "mv team.cfg x", f"echo x > {module}/hooks/pre-commit",
                   "git -C libs/sub config core.hooksPath /tmp/z"):
        world.shield(attack)
        assert look() == before, attack
        assert not (world.root / "missing.cfg").exists(), attack
    ran = world.shield("git status --porcelain; cd libs/sub && git status --porcelain && git -c user.name=t -c user.email=t@t commit -q --allow-empty -m y && git log --format=%s -1 && cd ../.."
                       " && git submodule status && git worktree add -q wt && echo done")
    assert ran.stdout.rstrip().endswith("done") and "\ny\n" in f"\n{ran.stdout}", ran
    # What is not held goes away, and what is stays held the next time too.
    for attack in ("mv .git/modules m", f"mv {module} n", f"echo x >> {module}/config; echo x > {module}/hooks/pre-push"):
        world.shield(attack)
        assert look() == before, attack


def commands_of_ours_ask_the_judge(world):
    """`ahp exec` inside is judged and logged outside, as a hook is."""
    ran = world.shield("ahp exec -- git push --force nowhere.invalid main; echo $?; ahp exec -- touch ran; echo $?")
    assert ran.stdout == "2\n0\n" and (world.root / "ran").exists() and "git push --force" in ran.stderr, ran
    log = (world.root / ".ahp/signals.jsonl").read_text()
    assert '"nowhere.invalid"' in log and '["touch","ran"]' in log, log
    call = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "f", "arguments": {"a": "told"}}})
    world.shield(f"ahp mcp run --name s -- cat <<< '{call}'")
    assert "mcp__s__f" in (world.root / ".ahp/signals.jsonl").read_text()


def another_build_is_told(world):
    """The judge answers an `ahp` of another build that it is of another; nobody is told that it does not answer."""
    ran = world.shield(f"cp $(readlink -f $(command -v ahp)) other; ./other hook --host claude-code <<< '{event('ls')}'")
    assert '"deny"' in ran.stdout and "is of another version" in ran.stdout and "does not answer" not in ran.stdout, ran


def judge_is_needed(world):
    # The judge is stopped, not the agent: what it is asked before the deed is refused, and a stop is let through.
    child = world.start("read go; " + f"{HOOK} --timeout 2 <<< '{event('ls')}' > out; {HOOK} --timeout 2 --event Stop <<< "
                        + "'{\"session_id\":\"s\",\"hook_event_name\":\"Stop\",\"cwd\":\"/\"}' > out2")
    os.kill(child.pid, signal.SIGSTOP)
    child.stdin.write("\n")
    child.stdin.flush()
    until = time.monotonic() + 60
    while not (world.root / "out2").exists() or not (world.root / "out2").stat().st_size:
        assert time.monotonic() < until, "no answer"
        time.sleep(0.05)
    os.kill(child.pid, signal.SIGCONT)
    child.wait(60)
    assert '"deny"' in (world.root / "out").read_text(), (world.root / "out").read_text()
    assert "does not answer" in (world.root / "out").read_text()
    assert '"block"' not in (world.root / "out2").read_text()


def replaced_from_outside(world):
    child = world.start(f"read go; {HOOK} <<< '{event('ls')}'")
    os.rename(world.root / ".ahp", world.root / "old")
    shutil.copytree(world.root / "old", world.root / ".ahp")
    out, _ = child.communicate("\n", timeout=60)
    assert '"deny"' in out and "was replaced from outside" in out, out
    child = world.start(f"read go; {HOOK} <<< '{event('ls')}'")
    shutil.rmtree(world.root / ".ahp")
    shutil.copytree(world.root / "old", world.root / ".ahp")
    out, _ = child.communicate("\n", timeout=60)
    assert '"deny"' in out and "was replaced from outside" in out, out


def programs_of_the_judge_are_held(world):
    """A program that a hook starts runs what the agent may have written."""
    guard(world, "guard", f"sh {world.root}/check.sh")
    (world.root / "check.sh").write_text(f"cd {world.root}; echo >> .ahp/hooks.yaml; echo ran > ran\n")
    before = world.state()
    world.bare(f"{HOOK} <<< '{event('ls')}'")
    assert (world.root / "ran").exists() and world.state() != before, "the program was not started"
    (world.root / "ran").unlink()
    (world.root / ".ahp/hooks.yaml").write_text(POLICY)
    before = world.state()
    world.shield(f"{HOOK} <<< '{event('ls')}'")
    assert (world.root / "ran").exists(), "the program was not started in the shield"
    assert world.state() == before


GATE = """version: 1
hooks:
  pre-agent-turn-stop:
    - {oracle: TestGate, timeout: 1m, on_error: block, config: {command: COMMAND}}
"""
STOP = json.dumps({"session_id": "s", "hook_event_name": "Stop", "cwd": "/"})

# A test that passes, one that fails, and one that changes what governs and passes. Each says that it ran.
UNIT = """import os, unittest
class T(unittest.TestCase):
    def test_it(self):
        open("ran", "w").close()
        os.path.exists("attacks") and attack()
        self.assertFalse(os.path.exists("fails"))
def attack():
    for path in (".ahp/hooks.yaml", ".git/config", "/run/x", "/run/ahp/shield.json"):
        try:
            open(path, "a").write("#")
        except OSError:
            pass
"""
NODE = """const fs = require('fs'), test = require('node:test'), assert = require('assert');
test('it', () => { fs.writeFileSync('ran', ''); assert.ok(!fs.existsSync('fails')); });
"""


def test_gates_judge_in_the_shield(world):
    """Test runners report in a shield as they do outside: who passes is let through, who fails is told, and nobody is accused."""
    (world.root / "test_it.py").write_text(UNIT)
    (world.root / "it.test.js").write_text(NODE)
    world.bare("git add -A; git commit -q -m tests")
    runners = ["python3 -m unittest", "node --test"] if shutil.which("node", path=world.env["PATH"]) else ["python3 -m unittest"]
    inside_project = {**world.env, "TMPDIR": str(world.root / "scratch")}
    (world.root / "scratch").mkdir()
    (world.root / ".gitignore").write_text("scratch/\n__pycache__/\nran\nfails\nattacks\n")
    for command, env in [(runner, env) for runner in runners for env in (world.env, inside_project)]:
        (world.root / ".ahp/hooks.yaml").write_text(GATE.replace("COMMAND", command))
        world.bare("ahp trust -y")
        for name in ("", "fails", "attacks"):
            for path in ("ran", "fails", "attacks"):
                (world.root / path).unlink(missing_ok=True)
            if name:
                (world.root / name).touch()
            # Evidence is kept by the tree: each is another one.
            (world.root / "tree").write_text(f"{command} {name} {env is inside_project}")
            before = world.state()
            ran = world.shield(f"{HOOK} <<< '{STOP}'", env=env)
            assert (world.root / "ran").exists(), f"{command} did not run: {ran}"
            assert "was changed" not in ran.stdout and "in the place of" not in ran.stdout, ran
            assert ('"block"' in ran.stdout) == (name == "fails"), (command, name, ran)
            # The judge itself keeps what passed.
            changed = dict(set(world.state().items()) ^ set(before.items()))
            assert set(changed) <= {str(world.root / ".ahp/evidence.json")}, (command, name, changed)
    assert not list((world.root / "scratch").iterdir()), "a folder of reports is left"


def a_command_of_a_gate_runs_in_the_shield(world):
    """A command that reports nothing, and of which the exit code suffices, is run all the same."""
    gate = GATE.replace("COMMAND", "'sh gate.sh', exit_code_suffices: true")
    (world.root / ".ahp/hooks.yaml").write_text(gate)
    (world.root / "gate.sh").write_text("ls -d /tmp/ahp-tests-* /run/ahp-tests-* > ran; echo x >> .ahp/hooks.yaml; exit 0\n")
    world.bare("ahp trust -y")
    ran = world.shield(f"{HOOK} <<< '{STOP}'; ls -A /run /tmp > seen")
    assert '"block"' not in ran.stdout, ran
    assert (world.root / "ran").read_text().startswith("/run/ahp-tests-"), ran
    assert "ahp-tests" not in (world.root / "seen").read_text(), "the agent sees where reports are written"
    assert (world.root / ".ahp/hooks.yaml").read_text() == gate


def a_socket_may_go(world):
    """What is covered may be closed by whoever listens there; the programs of the judge are started all the same."""
    guard(world, "guard", f"echo ran > {world.root}/ran")
    path = world.home / "s"
    with listening_at(path):
        child = world.start(f"read go; {HOOK} <<< '{event('ls')}'")
    path.unlink()
    out, _ = child.communicate("\n", timeout=60)
    assert (world.root / "ran").exists(), out


def listening_at(path):
    server = socket.socket(socket.AF_UNIX)
    server.bind(str(path))
    server.listen()
    return server


def connects(path):
    """A command that says `reached` where somebody listens."""
    code = f"import socket; s = socket.socket(socket.AF_UNIX); s.connect({str(path)!r}); print('reached')"
    return f"python3 -c {shlex.quote(code)}"


def a_socket_may_go_while_it_is_made(world):
    """What is covered may be closed between the plan and the mounts, of the trial and of the agent: the plan is made again."""
    first, second, stays = (world.home / name for name in ("first", "second", "stays"))
    servers = [listening_at(path) for path in (first, second, stays)]
    cases = [(1, f"rm {first}"), (3, f"rm {second}")]
    ran, starts = world.shield_while(cases, f"{connects(stays)}; echo ran >> ran; exit 7")
    assert ran.returncode == 7 and starts >= 4, (starts, ran)
    assert (world.root / "ran").read_text() == "ran\n", "it did not run once"
    assert "reached" not in ran.stdout, ran
    for path in (first, second):
        assert f"`{path}` came or went" in ran.stderr, ran
    for server in servers:
        server.close()


def a_socket_that_comes_is_covered(world):
    """Whoever begins to listen before the mounts are made is covered when the agent begins."""
    late, pid = world.home / "late", world.dir / "pid"
    listens = f"python3 -c '{LISTENER}' {late} > {pid}.out 2>&1 & echo $! > {pid}; until [ -S {late} ]; do :; done"
    try:
        ran, starts = world.shield_while([(2, listens)], f"{connects(late)}; echo ran >> ran; exit 7")
        assert "reached" in world.bare(connects(late)).stdout, "nobody listens"
        assert ran.returncode == 7 and starts >= 3 and "reached" not in ran.stdout, (starts, ran)
        assert (world.root / "ran").read_text() == "ran\n", "it did not run once"
    finally:
        if pid.exists():
            os.kill(int(pid.read_text()), signal.SIGTERM)


def a_socket_is_covered_by_whatever_name(world):
    """The name that a socket was bound to may be relative to a directory that was left, or be another one by now."""
    (world.home / "deep").mkdir()
    code = """import os, socket, sys
def bound(name):
    made = socket.socket(socket.AF_UNIX); made.bind(name); made.listen(); return made
all = [bound(name) for name in ("relative", "renamed", "linked")]
os.rename("renamed", "deep/other"); os.link("linked", "deep/second"); os.symlink("deep/other", "by-link")
os.chdir("/"); print("ready", flush=True); sys.stdin.read()"""
    server = subprocess.Popen(["python3", "-c", code], cwd=world.home, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    try:
        assert server.stdout.readline() == "ready\n"
        for name in ("relative", "deep/other", "linked", "deep/second", "by-link"):
            assert "reached" in world.bare(connects(world.home / name)).stdout, name
            assert "reached" not in world.shield(connects(world.home / name)).stdout, name
    finally:
        server.stdin.close()
        server.wait()


def a_closed_folder_of_another_person_is_no_matter(world):
    """Root sees a socket that lies there, but nothing inside reaches it, and nothing can be mounted on it."""
    if os.getuid() != 0:
        return
    closed = world.home / "closed"
    closed.mkdir()
    with listening_at(closed / "s"):
        os.chown(closed, 65534, 65534)
        closed.chmod(0o700)
        assert "reached" in world.bare(connects(closed / "s")).stdout, "nobody listens"
        ran = world.shield(f"{connects(closed / 's')}; exit 7")
    assert ran.returncode == 7 and "reached" not in ran.stdout, ran


def sockets_without_end_keep_it_from_starting(world):
    """No shield stands by a list that is old whenever it is mounted, and what it was to hold is as before."""
    paths = [world.home / f"s{n}" for n in range(1, 40)]
    servers = [listening_at(path) for path in paths]
    cases = [(n, f"rm {path}") for n, path in enumerate(paths, 1)]
    ran, starts = world.shield_while(cases, "touch ran")
    assert ran.returncode == 1 and f"in each of {starts} tries a socket came or went" in ran.stderr, ran
    assert not (world.root / "ran").exists() and not (world.root / ".mcp.json").exists()
    for server in servers:
        server.close()


def outside_is_for_the_person_alone(world):
    """A hook that its person lets out of the shield is out of it; the project can neither say so nor change what it does."""
    guard(world, "notify", "echo told > $HOME/told")
    (world.home / ".ahp").mkdir()
    layer = world.home / ".ahp/hooks.yaml"

    def told(of_user, of_project):
        (world.home / "told").unlink(missing_ok=True)
        layer.write_text(f"hooks: {{pre-tool-use: [{{hook: notify{of_user}}}]}}\n")
        (world.root / ".ahp/hooks.yaml").write_text(of_project)
        # What was in force before stays so until a person approves the change.
        world.bare("ahp trust -y")
        ran = world.shield(f"{HOOK} <<< '{event('ls')}'")
        assert ran.returncode == 0, ran
        return (world.home / "told").exists()

    assert not told("", POLICY)
    assert told(", outside: true", POLICY)
    touched = POLICY.replace("  pre-tool-use:\n", "  pre-tool-use:\n    - {hook: notify, priority: 3}\n")
    assert not told(", outside: true", touched), "a layer of the project has a part in it"
    said = touched.replace("priority: 3", "outside: true")
    assert not told("", said)
    assert "cannot let a binding out" in world.bare("ahp check").stdout


def running(command):
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            if path.read_bytes().rstrip(b"\0").split(b"\0") == command.encode().split():
                return True
        except OSError:
            pass
    return False


def cannot_be_prepared(world):
    """Where its own files cannot be made, nothing is started and nothing is left."""
    state = world.home / ".local/state/ahp"
    state.mkdir(parents=True)
    for path in (world.home / ".cache/ahp/shield", state / "shield"):
        shutil.rmtree(path, ignore_errors=True)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("in the way")
        ran = world.shield("touch ran")
        assert ran.returncode == 1 and str(path) in ran.stderr, ran
        assert not (world.root / "ran").exists() and not (world.root / ".mcp.json").exists()
        path.unlink()
    assert world.shield("touch ran").returncode == 0 and (world.root / "ran").exists()


def secrets_are_hidden(world):
    """The token of HTTP and the key of the log are there before the shield, so that they can be hidden in it."""
    ran = world.shield("cd ~/.local/state/ahp && ls; cat serve.token; cat key")
    assert ran.stdout.split() == sorted(ran.stdout.split()) and {"key", "serve.token"} <= set(ran.stdout.split()), ran
    assert ran.stderr.count("Permission denied") == 2, ran


def two_shields(world):
    first = world.start("read go")
    second = world.start("read go; echo x > .mcp.json && echo GONE")
    first.communicate("\n", timeout=60)
    assert (world.root / ".mcp.json").is_dir(), "taken away although another shield needs it"
    out, _ = second.communicate("\n", timeout=60)
    assert "GONE" not in out
    assert not (world.root / ".mcp.json").exists()


def other_projects_keep_their_holds(world):
    """A shield that ends takes nothing away that one of another project or worktree is mounted on: in the home, in the repository."""
    world.bare("rm -rf .git/info; git worktree add -q ../tree")
    client = world.bin / "claude"
    client.write_text("#!/bin/bash\neval \"$1\"\n")
    client.chmod(0o755)
    (world.home / ".claude").mkdir()

    def start(place):
        ready = place / "ready"
        attack = f"touch {ready}; read go; for f in ~/.claude/settings.json {world.root}/.git/info/attributes; do echo x > $f && echo GONE; done"
        child = subprocess.Popen([world.ahp, "shield", "--", "claude", attack], cwd=place, env=world.env, stdin=subprocess.PIPE,
                                 stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        until = time.monotonic() + 60
        while not ready.exists():
            assert child.poll() is None and time.monotonic() < until, child.stderr.read()
            time.sleep(0.02)
        ready.unlink()
        return child

    for first, second in ((world.root, world.dir / "tree"), (world.dir / "tree", world.root)):
        ends, stays = start(first), start(second)
        ends.communicate("\n", timeout=60)
        out, said = stays.communicate("\n", timeout=60)
        assert "GONE" not in out and said.count("\n") >= 2, (out, said)
        assert not (world.home / ".claude/settings.json").exists() and not (world.root / ".git/info").exists()


def killed(world):
    """Who kills the judge ends the agent; what it leaves is taken away later."""
    agent = f"sleep 600.{os.getpid()}{threading.get_ident()}"
    child = world.start(agent)
    until = time.monotonic() + 30
    # The shell says that it is there a moment before it becomes the agent.
    while not running(agent):
        assert time.monotonic() < until, "the agent does not start"
        time.sleep(0.05)
    child.kill()
    child.wait(60)
    until = time.monotonic() + 30
    while running(agent):
        assert time.monotonic() < until, "the agent goes on without its judge"
        time.sleep(0.05)
    assert (world.root / ".mcp.json").is_dir()
    # The next one starts at once.
    ran = world.shield("ls -d .mcp.json; echo x > .mcp.json || exit 9")
    assert ran.returncode == 9 and ".mcp.json" in ran.stdout, ran
    assert not (world.root / ".mcp.json").exists(), "what a killed shield left is still there"
    child = world.start("sleep 600")
    child.kill()
    child.wait(60)
    assert (world.root / ".mcp.json").is_dir()
    said = world.bare("ahp doctor").stdout
    assert "shield" in said, said
    assert not (world.root / ".mcp.json").exists(), "what a killed shield left is still there"


def ends_with_a_signal(world):
    child = world.start("sleep 600")
    child.send_signal(signal.SIGTERM)
    child.wait(60)
    assert child.returncode == 137, child.returncode
    assert not (world.root / ".mcp.json").exists()
    assert world.shield("kill -9 $$").returncode == 137
    child = world.start("trap 'echo told; exit 3' INT; sleep 600 & wait")
    child.send_signal(signal.SIGINT)
    time.sleep(0.3)
    assert child.poll() is None, "the interrupt is the agent's"
    child.terminate()
    child.wait(60)


def placeholders(world):
    """What a shield puts where something is missing, and nothing else makes here."""
    return [name for name in (".mcp.json", ".claude", ".vscode", "opencode.json", ".github") if (world.root / name).exists()]


def a_signal_while_it_starts_leaves_nothing(world):
    """Whoever interrupts a start or a trial finds the project as it was, whenever that is."""
    stopped = 0
    for argv in (["shield", "--", "sleep", "0.3"], ["doctor"]):
        for number, wait in [(number, wait) for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP) for wait in range(10, 130, 8)]:
            child = subprocess.Popen([world.ahp, *argv], cwd=world.root, env=world.env, stdin=subprocess.DEVNULL,
                                     stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            time.sleep(wait / 1000)
            child.send_signal(number)
            stopped += child.wait(60) in (128 + number, -number)
            assert not placeholders(world), (argv, number, wait, placeholders(world))
    assert stopped > 10, "no start was interrupted"


def a_home_by_dots_opens_nothing(world):
    """A home that is told by a way through the project is the one that it is, and is held."""
    env = {**world.env, "HOME": f"{world.root}/../home"}
    world.shield("touch ~/open ../open ../home/open", env=env)
    assert not any((place / "open").exists() for place in (world.home, world.dir)), "it was opened"


def what_a_link_leads_to_is_held(world):
    """A link in a held folder holds nothing by itself: what it leads to governs."""
    (world.root / "ops").mkdir()
    (world.root / ".ahp/hooks.yaml").rename(world.root / "ops/hooks.yaml")
    (world.root / ".ahp/hooks.yaml").symlink_to("../ops/hooks.yaml")
    (world.root / ".claude").mkdir()
    (world.root / ".claude/settings.json").symlink_to("/tmp/set.json")
    ran = world.shield("touch ran")
    assert ran.returncode == 1 and "/tmp/set.json" in ran.stderr and not (world.root / "ran").exists(), ran
    (world.root / ".claude/settings.json").unlink()
    world.shield("echo x > ops/hooks.yaml; mv ops o; rm -f ops/hooks.yaml; touch ran")
    assert (world.root / "ops/hooks.yaml").read_text() == POLICY and (world.root / "ran").exists()


def links_are_refused(world):
    (world.root / "real").mkdir()
    for name in (".claude", ".github"):
        (world.root / name).symlink_to("real")
        ran = world.shield("echo ran")
        assert ran.returncode == 1 and f"/{name}`" in ran.stderr and "ran" not in ran.stdout, ran
        (world.root / name).unlink()


def too_wide(world):
    for place in (world.home, world.dir, "/"):
        ran = world.shield("echo ran", cwd=place)
        assert ran.returncode == 1 and "home directory" in ran.stderr, ran


def log_outside_is_refused(world):
    (world.root / ".ahp/hooks.yaml").write_text("settings: {log: {path: s.jsonl}}\n" + POLICY)
    ran = world.shield("echo ran")
    assert ran.returncode == 1 and "settings.log.path" in ran.stderr, ran


def a_clone_cannot_widen_it(world):
    (world.root / ".ahp/hooks.yaml").write_text("settings: {shield: {write: [/etc]}}\n" + POLICY)
    assert "cannot say what a shield lets in" in world.bare("ahp check").stdout
    (world.root / ".ahp/hooks.yaml").write_text(POLICY)
    (world.home / "more").mkdir()
    (world.home / "secret").write_text("s")
    (world.home / ".ahp").mkdir()
    (world.home / ".ahp/hooks.yaml").write_text("settings: {shield: {write: [~/more], deny_read: [~/secret]}}\n")
    ran = world.shield("echo x > ~/more/f; echo x > ~/no; cat ~/secret")
    assert (world.home / "more/f").exists() and not (world.home / "no").exists()
    assert ran.stdout == "" and "Permission denied" in ran.stderr, ran


def nothing_is_reached(world):
    """Sockets of other programs, signals, the terminal, other namespaces."""
    path = world.home / "seen.sock"
    server = listening_at(path)
    abstract = socket.socket(socket.AF_UNIX)
    name = f"ahp-{os.getpid()}-{threading.get_ident()}"
    abstract.bind("\0" + name)
    abstract.listen()
    try:
        connect = "import socket; s=socket.socket(socket.AF_UNIX); s.connect({!r}); print('reached')"
        for address in (str(path), "\0" + name):
            argv = ["python3", "-c", connect.format(address)]
            assert "reached" in world.run(argv).stdout
            inside = world.run([world.ahp, "shield", "--", *argv])
            assert "reached" not in inside.stdout, (address, inside)
        argv = ["python3", "-c", connect.format(str(path))]
        assert "reached" in world.run([world.ahp, "shield", "--socket", str(path), "--", *argv]).stdout
    finally:
        server.close()
        abstract.close()
    victim = subprocess.Popen(["sleep", "600"])
    try:
        world.shield(f"kill -9 {victim.pid}; for p in /proc/[0-9]*; do [ -e $p/root/etc ] && chroot $p/root true; done")
        assert victim.poll() is None
    finally:
        victim.kill()
    typed = world.shield("python3 -c 'import fcntl; fcntl.ioctl(0, 0x5412, b\"x\")'")
    assert "Operation not permitted" in typed.stderr, typed


# Each tells that it got out by a change of what governs, or by `reached`; none does harm to the machine where it gets out.
WAYS = [
    "mount -o remount,rw .ahp; echo x > .ahp/hooks.yaml",
    "umount .ahp; umount -l .ahp; echo x > .ahp/hooks.yaml",
    "unshare -Urm sh -c 'umount .ahp; mount -o remount,rw,bind .ahp; echo x > .ahp/hooks.yaml'",
    "mkdir m; unshare -Urm sh -c 'mount --bind . m; echo x > m/.ahp/hooks.yaml'",
    "bwrap --bind / / sh -c 'echo x > .ahp/hooks.yaml'",
    "for p in /proc/[0-9]*; do echo x > $p/root$PWD/.ahp/hooks.yaml; [ $p/cwd -ef . ] && echo x > $p/cwd/.ahp/hooks.yaml; done",
    "nsenter -t 1 -m sh -c \"echo x > $PWD/.ahp/hooks.yaml\"",
    "mv .ahp other; mkdir .ahp", "cd .. && mv project p && mkdir project",
    "ln .ahp/hooks.yaml h; echo x > h", "chmod -R 777 .ahp; chown -R 1000 .ahp; echo x > .ahp/hooks.yaml",
    "rm -rf .git/hooks; mkdir -p .git/hooks; printf '#!/bin/sh\\n' > .git/hooks/pre-commit",
    "mv .git g; cp -r g .git; printf '#!/bin/sh\\n' > .git/hooks/pre-commit",
    "mkdir -p evil; cp -r .git/. evil; git config -f evil/config core.hooksPath /tmp; echo ../evil > .git/commondir",
    "echo '[core] hooksPath = /tmp' > .git/config.worktree",
    "git config core.hooksPath /tmp", "git config --global core.hooksPath /tmp", "echo 'x' >> ~/.bashrc",
    "mkdir -p ~/.claude; echo '{}' > ~/.claude/settings.json", "mkdir -p ~/.ahp; echo 'hooks: {}' > ~/.ahp/hooks.yaml",
    "mkdir .claude; echo '{\"disableAllHooks\":true}' > .claude/settings.json", "echo '{}' > .mcp.json; echo {} > opencode.json",
    "dd if=$(findmnt -nvo SOURCE -T .) of=/dev/null bs=1 count=1 && touch reached", "mknod d b 254 0 && touch reached",
    "mkdir -p .agents/hooks/x; echo x > .agents/hooks/x/HOOK.md", "f=/proc/sys/kernel/core_pattern; p=$(cat $f); echo \"$p\" > $f && touch reached",
    "ahp trust -y; ahp init; ahp uninstall claude-code; ahp install claude-code",
    "mount -t overlay overlay -o lowerdir=.ahp,upperdir=src,workdir=/tmp .ahp; echo x > .ahp/hooks.yaml",
    "grep -qaE 'bwrap|ahp' /proc/1/cmdline && gdb -p 1 -batch -ex 'call (int)system(\"echo x > .ahp/hooks.yaml\")'",
    "exec 3<.ahp/hooks.yaml; echo x > /proc/self/fd/3; echo x > /dev/fd/3",
]


def way(world, command):
    before = world.state()
    world.shield(command, timeout=120)
    assert world.state() == before
    assert not (world.root / "reached").exists(), "it got out"


CHECKS = [
    a_dry_run_inside_starts_nothing, leaves_nothing, judged_outside, another_build_is_told, git_clears_up_in_it,
    what_settings_of_git_lead_to_is_held, commands_of_ours_ask_the_judge, judge_is_needed, replaced_from_outside, programs_of_the_judge_are_held,
    test_gates_judge_in_the_shield, a_command_of_a_gate_runs_in_the_shield, a_socket_may_go,
    a_socket_may_go_while_it_is_made, a_socket_that_comes_is_covered, a_socket_is_covered_by_whatever_name, sockets_without_end_keep_it_from_starting,
    a_closed_folder_of_another_person_is_no_matter, outside_is_for_the_person_alone, cannot_be_prepared,
    what_is_open_already_leads_nowhere, locks_are_out_of_reach, what_is_hidden_is_told_when_it_is_replaced, links_in_a_private_cache_are_no_matter,
    closed_folders_are_cleared, a_socket_that_listens_later_is_covered, each_held_name_is_held, secrets_are_hidden, two_shields, other_projects_keep_their_holds, killed,
    ends_with_a_signal, a_signal_while_it_starts_leaves_nothing, a_home_by_dots_opens_nothing, what_a_link_leads_to_is_held, links_are_refused, too_wide, log_outside_is_refused, a_clone_cannot_widen_it, nothing_is_reached,
]


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--ahp", required=True, type=Path)
    options.add_argument("--dir", type=Path, default=Path.home() / ".cache/ahp-shield-suite")
    options.add_argument("--jobs", type=int, default=os.cpu_count())
    options.add_argument("--only", default="")
    options = options.parse_args()
    if not os.access("/usr/bin/bwrap", os.X_OK):
        print("NOT TRIED: the shield: there is no /usr/bin/bwrap (apt install bubblewrap)", file=sys.stderr)
        return 1
    options.dir.mkdir(parents=True, exist_ok=True)
    # A copy: what is built meanwhile must not replace a held program.
    ahp = options.dir / f"ahp-{os.getpid()}"
    shutil.copy(options.ahp, ahp)
    checks = [(f"{check.__name__}", check, ()) for check in CHECKS]
    ways = [(f"way: {command}", way, (command,)) for command in WAYS]
    disarming = [json.loads(line)["command"] for line in (HERE / "disarm.jsonl").read_text().splitlines()]
    ways += [(f"disarm: {command}", disarm, (command,)) for command in disarming]
    # A shield is made again where any socket of the machine comes or goes, so what counts its starts runs alone.
    rounds = [(1, [job for job in checks if options.only in job[0]]), (options.jobs, [job for job in ways if options.only in job[0]])]
    faults, bare = [], 0

    def one(job):
        name, check, arguments = job
        world = World(options.dir, ahp)
        try:
            return name, check, check(world, *arguments), None
        except Exception as error:  # noqa: BLE001: each is told, and fails the run
            return name, check, None, f"{type(error).__name__}: {error}"
        finally:
            world.gone()

    for workers, jobs in rounds:
        with concurrent.futures.ThreadPoolExecutor(workers) as pool:
            for name, check, result, fault in pool.map(one, jobs):
                bare += result is True
                if fault:
                    faults.append(name)
                    print(f"FAILED {name}\n    {fault}", flush=True)
                elif check is disarm and not result:
                    print(f"without a shield it changes nothing on this machine: {name}", flush=True)
    ahp.unlink()
    jobs = [job for _, jobs in rounds for job in jobs]
    tried = sum(job[1] is disarm for job in jobs)
    print(f"{len(jobs)} tried, {len(faults)} failed; of {tried} commands {bare} disarm without a shield, and none within it"
          if not faults else f"{len(jobs)} tried, {len(faults)} failed")
    # Some need programs that are not on every machine; where hardly any does anything, the worlds are wrong.
    if tried == len(disarming) and bare < tried * 0.7:
        faults.append("too few commands disarm anything where nothing is held")
        print(faults[-1], file=sys.stderr)
    return 1 if faults else 0


sys.exit(main())
