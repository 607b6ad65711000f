#!/usr/bin/env python3
"""Drives a real Claude Code whose hook before a tool is an address: what it does with each answer, and with that of `ahp serve`.

  over_http.py [--ahp PROGRAM] [--jobs N]

Each row is one run with a fresh HOME and a fresh project.  `onFailure: block` is what `ahp install claude-code --http` stands
on: without it, whatever is not an answer lets the call run.
"""
import argparse
import concurrent.futures
import http.server
import json
import os
import shlex
import shutil
import sys
import time

import suite

DENY = json.dumps({"hookSpecificOutput": {"hookEventName": "PreToolUse", "permissionDecision": "deny",
                                          "permissionDecisionReason": "that word is not for agents"}})
PORT = 8371

# what the server answers: status, body, seconds it takes; and what becomes of the call without and with the key
ANSWERS = {
    "200, deny": ((200, DENY, 0), "refused", "refused"),
    "200, empty": ((200, "", 0), "runs", "runs"),
    "200, plain text": ((200, "no", 0), "runs", "refused"),
    "500, deny": ((500, DENY, 0), "runs", "refused"),
    "no server": (None, "runs", "refused"),
    "no answer in time": ((200, DENY, 30), "runs", "refused"),
}


def serve(status, body, seconds):
    """Answers every request so, in a process that goes on."""
    class Handler(http.server.BaseHTTPRequestHandler):
        def do_POST(self):
            self.rfile.read(int(self.headers["Content-Length"]))
            time.sleep(seconds)
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body.encode())))
            self.end_headers()
            self.wfile.write(body.encode())

    server = http.server.ThreadingHTTPServer(("127.0.0.1", PORT), Handler)
    if os.fork():
        os._exit(0)
    null = os.open(os.devnull, os.O_RDWR)
    for stream in (0, 1, 2):
        os.dup2(null, stream)
    server.serve_forever()


def drive(setup, within=""):
    """What became of a call, and what the client was told."""
    report, base, work = suite.drive("claude", *suite.SCENARIOS["block"][1:], setup, within)
    ran = os.path.exists(os.path.join(work, "ran.txt"))
    shutil.rmtree(base, ignore_errors=True)
    played = report.get("turns_played", "0 of 0").split(" of ")
    # What never got as far as the model was stopped at the prompt, which is told over HTTP too.
    came_to = ("runs" if ran else "refused" if played[0] == played[1] != "0" else
               "refused at the prompt" if report.get("main_requests") == 0 else "did not start")
    return came_to, json.dumps(report.get("tool_results", report))


def answered(answer, closed):
    handler = {"type": "http", "url": "http://127.0.0.1:%d/hook" % PORT, "timeout": 3}
    if closed:
        handler["onFailure"] = "block"
    settings = json.dumps({"hooks": {"PreToolUse": [{"hooks": [handler]}]}})
    setup = "mkdir -p ~/.claude; printf %s " + shlex.quote(settings) + " > ~/.claude/settings.json"
    if answer:
        setup += "; " + shlex.join([sys.executable, os.path.abspath(__file__), "--serve", json.dumps(answer)])
    return drive(setup)


TOKEN = "sh -c 'AHP_TOKEN=$(cat $HOME/.local/state/ahp/serve.token) exec \"$@\"' sh"


def by_ahp(ahp, runs, token):
    """The judge itself, wired by its own installer."""
    setup = "%s install claude-code --http --all-events; %s trust -y" % (ahp, ahp)
    if runs:
        setup += ("; %s serve --http 127.0.0.1:%d > /dev/null 2>&1 &\n until [ -S ~/.local/state/ahp/run/serve.sock ]; do sleep 0.05; done"
                  % (ahp, PORT))
    return drive(setup, TOKEN if token else "")


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--ahp", default=os.path.join(suite.ROOT, "target/debug/ahp"))
    options.add_argument("--jobs", type=int, default=2)
    options.add_argument("--serve", metavar="JSON", help="answer so, and nothing else")
    options = options.parse_args()
    if options.serve:
        return serve(*json.loads(options.serve))
    os.environ.setdefault("HOSTS_BIN", os.path.join(suite.ROOT, "target/hosts/bin"))
    if not suite.installed("claude") or not suite.runs_bare("claude"):
        print("SKIPPED: hooks over HTTP: Claude Code is not installed, or does not run here", file=sys.stderr)
        return 0
    ahp = shlex.quote(os.path.abspath(options.ahp))
    words = "not for agents"
    rows = [("%s%s" % (name, ", closed" if closed else ""), lambda a=answer, c=closed: answered(a, c), wanted,
             words if "deny" in name and wanted == "refused" and answer[0] == 200 else "")
            for name, (answer, *both) in ANSWERS.items() for closed, wanted in zip((False, True), both)]
    rows += [("ahp serve", lambda: by_ahp(ahp, True, True), "refused", words),
             ("ahp serve, no token", lambda: by_ahp(ahp, True, False), "refused at the prompt", ""),
             ("no ahp serve", lambda: by_ahp(ahp, False, True), "refused at the prompt", "")]
    wrong = 0
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        for (name, _, wanted, said), (came_to, told) in zip(rows, pool.map(lambda row: row[1](), rows)):
            ok = came_to == wanted and said in told
            wrong += not ok
            print("%-4s %-28s %s%s" % ("ok" if ok else "FAIL", name, came_to, "" if ok else " (wanted: %s)  %s" % (wanted, told[:600])),
                  flush=True)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
