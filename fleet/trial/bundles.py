#!/usr/bin/env python3
"""Tries bundles with the real programs: `minisign` signs, `nginx` serves, root puts them in force, and `ahp hook` judges an agent's
call by what lies in /etc/ahp. Runs as root in a mount namespace of its own, where /etc/ahp is empty and not the machine's.

bundles.py DIRECTORY_OF_AHP
"""

import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time

from carrying import try_carrying
from privacy import try_privacy
from receivers import Nginx

failures = []


def check(what, is_so, found=""):
    print(("ok      " if is_so else "FAILED  ") + what + ("" if is_so else f": {found}"), flush=True)
    if not is_so:
        failures.append(what)


def main():
    if os.environ.get("AHP_TRIAL_INSIDE") != "1":
        os.makedirs("/etc/ahp", exist_ok=True)
        inside = ["unshare", "--mount", "--propagation", "private", sys.executable, *sys.argv]
        os.execvpe("unshare", inside, {**os.environ, "AHP_TRIAL_INSIDE": "1"})
    subprocess.run(["mount", "-t", "tmpfs", "-o", "mode=755", "tmpfs", "/etc/ahp"], check=True)
    ahp = pathlib.Path(sys.argv[1]).resolve() / "ahp"
    with tempfile.TemporaryDirectory() as root:
        os.chmod(root, 0o755)
        try_privacy(ahp, pathlib.Path(root), check)
        try_carrying(ahp, pathlib.Path(root), check)
        try_all(ahp, pathlib.Path(root))
    print(f"{len(failures)} failed" if failures else "all as it must be")
    sys.exit(1 if failures else 0)


def quickest(run, times=20):
    """How long something takes at best, in seconds."""
    def once():
        begun = time.perf_counter()
        run()
        return time.perf_counter() - begun
    return min(once() for _ in range(times))


class Organisation:
    def __init__(self, ahp, root):
        self.ahp, self.root = ahp, root
        self.policy, self.www = root / "policy", root / "www"
        for folder in (self.policy, self.www, root / "home", root / "project/.ahp"):
            folder.mkdir(parents=True)
        self.env = {"PATH": os.environ["PATH"], "HOME": str(root / "home"), "USER": "ada", "AHP_MACHINE_ID": "machine-1"}
        subprocess.run(["minisign", "-G", "-W", "-p", root / "acme.pub", "-s", root / "acme.key"], check=True, capture_output=True)
        self.key = (root / "acme.pub").read_text().splitlines()[1]

    def run(self, *arguments, **more):
        return subprocess.run([self.ahp, *map(str, arguments)], env=self.env, cwd=self.root / "project",
                              capture_output=True, text=True, **more)

    def bundle(self, version, policy, *further, comment=None, id="acme", key="acme.key"):
        """Makes and signs a bundle; returns its path."""
        (self.policy / "hooks.yaml").write_text(policy)
        file = self.root / f"{id}-{version}.tar.zst"
        built = self.run("bundle", "build", self.policy, "--id", id, "--version", version, "-o", file,
                         *([] if "--expires" in further else ["--expires", "30d"]), *further)
        assert built.returncode == 0, built.stderr
        comment = comment or f"ahp-bundle {id} {version}"
        subprocess.run(["minisign", "-S", "-W", "-m", file, "-s", self.root / key, "-t", comment],
                       check=True, capture_output=True)
        return file

    def serve(self, file):
        shutil.copy(file, self.www / "acme.tar.zst")
        shutil.copy(f"{file}.minisig", self.www / "acme.tar.zst.minisig")

    def judged(self):
        """What a host is answered about a harmless call."""
        event = {"hook_event_name": "PreToolUse", "session_id": "s", "cwd": str(self.root / "project"), "tool_name": "Bash",
                 "tool_input": {"command": "echo marker-7"}, "tool_use_id": "t"}
        ran = self.run("hook", "--host", "claude-code", input=json.dumps(event))
        return "deny" if '"deny"' in ran.stdout or ran.returncode == 2 else "passes", ran.stdout + ran.stderr


def try_all(ahp, root):
    org = Organisation(ahp, root)
    house = ("hooks:\n  pre-tool-use:\n    - id: house\n      oracle: PermissionChecker\n"
             "      config: {dangerous_commands: [echo marker-7]}\n")
    server = Nginx(root, f"root {org.www}; location /moved/ {{ return 302 /acme.tar.zst; }}")
    url = f"{server.url}/acme.tar.zst"
    try:
        check("without any policy the call passes", org.judged()[0] == "passes", org.judged()[1])
        etc = pathlib.Path("/etc/ahp/hooks.yaml")
        etc.write_text(f"settings: {{fleet: {{bundle: {{url: '{url}', keys: ['{org.key}']}}}}}}\n")
        verdict, said = org.judged()
        check("keys without a bundle block", verdict == "deny" and "no signed policy" in said, said)
        first = org.bundle(1, house)
        verified = org.run("bundle", "verify", first, "--key", root / "acme.pub")
        check("what minisign signs is verified", verified.returncode == 0, verified.stderr)
        # A figure and a ratio: what else the machine does is in both.
        ours, theirs = (quickest(run) for run in (lambda: org.run("bundle", "verify", first, "--key", root / "acme.pub"),
                                                  lambda: subprocess.run(["minisign", "-V", "-q", "-m", first, "-p", root / "acme.pub"], check=True)))
        start = quickest(lambda: org.run("--version"))
        print(f"bench   a bundle is verified in {ours * 1000:.1f} ms, by minisign itself in {theirs * 1000:.1f} ms (both with their start)", flush=True)
        check("a bundle is verified in less than 10 ms", ours - start < 0.010, (ours, start))
        check("verifying a bundle takes no more than twenty times what minisign takes", ours < 20 * theirs, (ours, theirs))
        org.serve(first)
        pulled = org.run("bundle", "pull")
        check("nginx gives it, and it is in force", pulled.returncode == 0 and "acme@1 is in force" in pulled.stdout, pulled)
        verdict, said = org.judged()
        check("the hook judges by it", verdict == "deny" and "no signed policy" not in said, said)
        again = org.run("bundle", "pull")
        last = server.log()[-1]
        check("what has not changed is not fetched again", again.stdout == "nothing new\n" and " 304 " in last, (again, last))

        explained = org.run("explain", "pre-tool-use")
        check("explain names it", "acme@1:hooks.yaml:3" in explained.stdout, explained.stdout)
        (root / "project/.ahp/hooks.yaml").write_text("hooks: {pre-tool-use: [{id: house, enabled: false}]}\n")
        checked = org.run("check")
        check("a project that switches it off has a fault", "which the bundle layer locks" in checked.stdout, checked.stdout)
        check("and the call stays blocked", org.judged()[0] == "deny")
        (root / "project/.ahp/hooks.yaml").unlink()
        for command in ("ahp bundle rollback", "sudo ahp fleet bundle break-glass --for 1h --reason x"):
            event = {"hook_event_name": "PreToolUse", "session_id": "s", "cwd": str(root / "project"), "tool_name": "Bash",
                     "tool_input": {"command": command}, "tool_use_id": "t"}
            ran = org.run("hook", "--host", "claude-code", input=json.dumps(event))
            check(f"an agent may not `{command}`", '"deny"' in ran.stdout, ran.stdout)

        mixed = org.bundle(2, house, comment="ahp-bundle acme 3")
        tampered = org.bundle(3, house)
        tampered.write_bytes(tampered.read_bytes()[:-1] + b"\0")
        subprocess.run(["minisign", "-G", "-W", "-p", root / "foreign.pub", "-s", root / "foreign.key"], check=True, capture_output=True)
        half = org.bundle(5, house)
        half.write_bytes(half.read_bytes()[:-40])
        old = org.bundle(9, house, "--expires", "1s")
        time.sleep(1.5)
        commented = org.bundle(10, house)
        signature = pathlib.Path(f"{commented}.minisig")
        signature.write_text(signature.read_text().replace("acme 10", "acme 11"))
        for file, told in ((org.bundle(6, house, key="foreign.key"), "signed it so"), (org.bundle(7, house, id="other"), "has the policy of `acme`"),
                           (org.bundle(8, house, "--not-before", "2999-01-01T00:00:00Z", "--expires", "2999-02-01T00:00:00Z"), "it begins at"),
                           (half, "signed it so"), (old, "it expired at"), (commented, "signed it so"),
                           (mixed, "its signature is for"), (tampered, "signed it so")):
            refused = org.run("bundle", "install", file)
            check(f"refused: {told}", refused.returncode == 1 and told in refused.stderr, refused)
        status = json.loads(org.run("bundle", "status", "--json").stdout)
        check("the old one stays", status["in_force"]["version"] == 1, status)

        org.serve(org.bundle(4, "hooks: {}\n"))
        check("the next version is taken", org.run("bundle", "pull").returncode == 0 and org.judged()[0] == "passes")
        older = org.run("bundle", "install", first)
        check("refused: an older version", older.returncode == 1 and "has had version 4" in older.stderr, older)
        rolled = org.run("bundle", "rollback")
        check("a rollback brings the one before", rolled.returncode == 0 and org.judged()[0] == "deny", rolled)
        pulled = org.run("bundle", "pull")
        check("what was taken back is not fetched again", org.judged()[0] == "deny", pulled)

        glass = org.run("bundle", "break-glass", "--for", "1h", "--reason", "outage 7")
        verdict, said = org.judged()
        check("broken glass leaves advice", glass.returncode == 0 and verdict == "passes", said)
        log = (root / "project/.ahp/signals.jsonl").read_text()
        check("which the log says", '"note":"break-glass"' in log and '"policy":"acme@1+' in log)
        doctor = org.run("doctor")
        check("and doctor says", "the glass is broken until" in doctor.stdout, doctor.stdout)
        org.run("bundle", "break-glass", "--end")
        check("until it ends", org.judged()[0] == "deny")

        os.chmod("/etc/ahp/bundle/acme-1/hooks.yaml", 0o666)
        verdict, said = org.judged()
        check("a file that others may write blocks", verdict == "deny" and "may be changed by others" in said, said)
    finally:
        server.stop()


if __name__ == "__main__":
    main()
