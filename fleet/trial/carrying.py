"""What the system layer says of carrying logs: a full spool, a token, a client certificate, a server that is down, and whose logs
leave. The logs are real ones, written by `ahp hook`. Runs where /etc/ahp is not the machine's (bundles.py)."""

import json
import os
import pathlib
import subprocess

from receivers import Nginx, free_port
from server import Server

ETC = pathlib.Path("/etc/ahp/hooks.yaml")


class Developer:
    """A user with two projects, in each of which something was judged."""

    def __init__(self, ahp, root):
        self.ahp, self.root = ahp, root
        self.env = {"PATH": os.environ["PATH"], "HOME": str(root / "home"), "AHP_MACHINE_ID": "machine-9"}
        (root / "home").mkdir(parents=True)
        self.projects = [root / "one", root / "two"]
        for project in self.projects:
            (project / ".ahp").mkdir(parents=True)
            (project / ".ahp/hooks.yaml").write_text(
                "hooks: {pre-tool-use: [{oracle: PermissionChecker, id: x, config: {dangerous_commands: [frobnicate]}}]}\n")
            self.judged(project)

    def run(self, *argv, cwd=None, **more):
        return subprocess.run([str(part) for part in argv], env=self.env, cwd=cwd or self.root, capture_output=True, text=True, **more)

    def judged(self, project):
        event = {"hook_event_name": "PreToolUse", "session_id": "s", "cwd": str(project), "tool_name": "Bash",
                 "tool_input": {"command": "frobnicate"}, "tool_use_id": "t"}
        return self.run(self.ahp, "hook", "--host", "claude-code", input=json.dumps(event), cwd=project).stdout

    def logs(self):
        return [(project / ".ahp/signals.jsonl").read_bytes() for project in self.projects]

    def forget(self):
        self.run("rm", "-rf", self.root / "home/.local/state/ahp/ship")

    def ship(self, settings, *more):
        ETC.write_text(f"settings: {{fleet: {{ship: {json.dumps(settings)}}}}}\n")
        return self.run(self.ahp, "fleet", "ship", *more)


def kept(www):
    return len(list(www.rglob("*.parquet")))


def try_carrying(ahp, root, check):
    root = root / "carrying"
    developer = Developer(ahp, root)
    try:
        try_faults(developer, check)
        try_doors(developer, check)
        try_marks(developer, check)
    finally:
        ETC.unlink(missing_ok=True)


def try_faults(developer, check):
    alone = developer.root / "alone"
    alone.mkdir()
    developer.run("cp", developer.ahp, alone / "ahp")
    done = developer.run(alone / "ahp", "fleet", "ship")
    check("without `ahp-fleet` one line says so", done.returncode == 1 and "is not installed beside" in done.stderr
          and len(done.stderr.splitlines()) == 1, done)
    ETC.write_text("settings: {fleet: {salt: short}}\n")
    done = developer.run(developer.ahp, "fleet", "ship", "--to", f"dir:{developer.root}/lake")
    check("a short salt is refused in one line", done.returncode == 1 and len(done.stderr.splitlines()) == 1, done)

    before = developer.logs()
    port = free_port()
    down = developer.ship({"to": f"http://127.0.0.1:{port}/", "spool": "1B"}, "--for", "1s")
    check("a server that is down: exit 1, and the logs are as they were", down.returncode == 1 and developer.logs() == before, down)
    check("with a full spool nothing more is read", "bytes are waiting to be sent" in down.stderr, down.stderr)
    check("and hooks go on judging", '"deny"' in developer.judged(developer.projects[1]))
    server = Server(developer.root / "up")
    up = developer.ship({"to": f"{server.url}/", "spool": "1B"})
    check("when it is up again all of it leaves", up.returncode == 0 and kept(server.root) == 6, (up, kept(server.root)))


def try_doors(developer, check):
    """A token and a client certificate, with nginx as the server."""
    www, pki = developer.root / "www", developer.root / "pki"
    www.mkdir()
    pki.mkdir()

    def openssl(*argv):
        subprocess.run(["openssl", *map(str, argv)], cwd=pki, check=True, capture_output=True)
    # An authority, and two certificates of it: the server's and the machine's.
    (pki / "names").write_text("subjectAltName = IP:127.0.0.1\n")
    openssl("req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", "ca.key", "-out", "ca.pem", "-days", "2", "-subj", "/CN=acme")
    for name in ("server", "machine"):
        openssl("req", "-newkey", "rsa:2048", "-nodes", "-keyout", f"{name}.key", "-out", f"{name}.csr", "-subj", f"/CN={name}")
        openssl("x509", "-req", "-in", f"{name}.csr", "-CA", "ca.pem", "-CAkey", "ca.key", "-CAcreateserial", "-out", f"{name}.pem",
                "-days", "2", "-extfile", "names")
    (pki / "machine.both").write_text((pki / "machine.pem").read_text() + (pki / "machine.key").read_text())
    (pki / "token").write_text("letmein\n")
    put = "dav_methods PUT; create_full_put_path on; "
    server = Nginx(developer.root / "tls", f"ssl_certificate {pki}/server.pem; ssl_certificate_key {pki}/server.key; "
                   f"ssl_client_certificate {pki}/ca.pem; ssl_verify_client on; root {www}; location / {{ {put} }}", " ssl")
    url = f"https://127.0.0.1:{server.port}/"
    try:
        developer.forget()
        done = developer.ship({"to": url, "certificate": str(pki / "machine.both")}, "--for", "1s")
        check("a server of an unknown authority gets nothing", done.returncode == 1 and not kept(www), done.stderr)
        developer.forget()
        done = developer.ship({"to": url, "ca": str(pki / "ca.pem")}, "--for", "1s")
        check("nginx takes nothing without a client certificate", done.returncode == 1 and not kept(www), done.stderr)
        doctor = developer.run(developer.ahp, "doctor", cwd=developer.projects[0])
        check("which `ahp doctor` tells", "is not carried on: the server answered 400" in doctor.stdout, doctor.stdout)
        developer.forget()
        done = developer.ship({"to": url, "ca": str(pki / "ca.pem"), "certificate": str(pki / "machine.both")})
        check("with the client certificate nginx takes the tables", done.returncode == 0 and kept(www) == 6
              and any(" 201 " in line for line in server.log()), (done.stderr, server.log()[-3:]))
        done = developer.ship({"to": f"otlp:{url}", "certificate": str(pki / "token")})
        check("a file without a certificate is named", done.returncode == 1 and "holds no certificate" in done.stderr, done.stderr)
    finally:
        server.stop()
    developer.run("rm", "-r", www)
    www.mkdir()
    server = Nginx(developer.root / "token", f'root {www}; location / {{ if ($http_authorization != "Bearer letmein") {{ return 401; }} {put} }}')
    try:
        developer.forget()
        done = developer.ship({"to": server.url})
        check("nginx takes nothing without the token", done.returncode == 1 and "401" in done.stderr and not kept(www), done.stderr)
        done = developer.ship({"to": server.url, "token_file": str(pki / "token")})
        check("with it the batch that was kept leaves", done.returncode == 0 and kept(www) == 6, done.stderr)
    finally:
        server.stop()


def try_marks(developer, check):
    """A log that another machine began does not leave this one, unless a person names it."""
    lake = developer.root / "marked"
    developer.forget()
    key = developer.root / "home/.local/state/ahp/key"
    own = key.read_bytes()
    key.write_bytes(bytes(len(own)) if own != bytes(len(own)) else b"1" * len(own))
    done = developer.ship({"to": f"dir:{lake}"})
    check("a log that was begun elsewhere stays", done.returncode == 1 and "was begun on another machine" in done.stderr and not kept(lake), done)
    named = developer.ship({"to": f"dir:{lake}"}, "--log", developer.projects[0] / ".ahp/signals.jsonl")
    check("but leaves where it is named", named.returncode == 0 and kept(lake) == 3, named)
    key.write_bytes(own)
