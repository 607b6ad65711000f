#!/usr/bin/env python3
"""Run one headless prompt in a real coding-agent client, offline, with a hook command.

  run_host.py HOST HOOK_COMMAND SCRIPT_JSON WORKDIR [options]

The client talks to fake_model.py on 127.0.0.1, which plays SCRIPT_JSON (see there; the
script's optional "prompt" is the user's prompt).  Every hook event the client knows is
pointed at HOOK_COMMAND ("{event}" in it stands for the event's name in that client's
own configuration).  A JSON report goes to stdout.  Nothing is installed; the client
must be in $HOSTS_BIN (default: target/hosts/bin) or on PATH.  The client gets a fresh HOME,
a clean environment and, where the kernel allows it, a network namespace that has
nothing but loopback.
"""
import argparse
import json
import os
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
BIN = os.environ.get("HOSTS_BIN", os.path.abspath("target/hosts/bin"))

CLAUDE_EVENTS = """PreToolUse PostToolUse PostToolUseFailure PostToolBatch Notification
    UserPromptSubmit UserPromptExpansion SessionStart SessionEnd Stop StopFailure SubagentStart
    SubagentStop PreCompact PostCompact PermissionRequest PermissionDenied Setup TaskCreated
    TaskCompleted ConfigChange InstructionsLoaded CwdChanged FileChanged""".split()
GEMINI_EVENTS = """SessionStart SessionEnd BeforeAgent AfterAgent BeforeModel AfterModel
    BeforeToolSelection BeforeTool AfterTool PreCompress Notification""".split()
CODEX_EVENTS = """SessionStart SessionEnd UserPromptSubmit PreToolUse PostToolUse PermissionRequest
    PreCompact PostCompact SubagentStart SubagentStop Stop Interrupt""".split()
COPILOT_EVENTS = """sessionStart sessionEnd userPromptSubmitted preToolUse postToolUse
    postToolUseFailure permissionRequest notification agentStop subagentStart subagentStop
    preCompact errorOccurred""".split()
COPILOT_PASCAL_EVENTS = """SessionStart SessionEnd UserPromptSubmit PreToolUse PostToolUse
    PostToolUseFailure PermissionRequest Notification Stop SubagentStart SubagentStop PreCompact
    ErrorOccurred""".split()
KIMI_EVENTS = """PreToolUse PostToolUse PostToolUseFailure UserPromptSubmit Stop StopFailure
    SessionStart SessionEnd SubagentStart SubagentStop PreCompact PostCompact Notification""".split()
KIMI_CODE_EVENTS = KIMI_EVENTS + """PermissionRequest PermissionResult Interrupt UserPromptQueued TurnStarted
    SessionHeartbeat TaskStarted""".split()
CLINE_EVENTS = """TaskStart TaskResume TaskCancel TaskComplete TaskError PreToolUse PostToolUse
    UserPromptSubmit PreCompact SessionShutdown""".split()
QWEN_EVENTS = """PreToolUse PostToolUse PostToolUseFailure Notification UserPromptSubmit SessionStart
    SessionEnd Stop StopFailure SubagentStart SubagentStop PreCompact PostCompact
    PermissionRequest""".split()


class Run:
    def __init__(self, a):
        self.a = a
        self.work = os.path.abspath(a.workdir)
        self.dir = tempfile.mkdtemp(prefix="run-", dir=os.environ.get("HOSTS_TMP"))
        self.home = os.path.join(self.dir, "home")
        self.rec = os.path.join(self.dir, "hooks")
        for d in (self.home, self.rec, self.work):
            os.makedirs(d, exist_ok=True)
        with open(a.script) as f:
            script = json.load(f)
        self.prompt = script.get("prompt", "please do it") if isinstance(script, dict) else "please do it"
        self.turns = script["turns"] if isinstance(script, dict) else script
        self.url = None
        self.env = {"HOME": self.home, "LANG": "C.UTF-8", "TERM": "dumb", "NO_COLOR": "1", "CI": "1",
                    "PATH": ":".join([BIN, os.path.dirname(sys.executable), "/usr/local/bin", "/usr/bin", "/bin"])}

    def hook(self, event):
        """The command line to put in a client's configuration for an event."""
        return " ".join(shlex.quote(x) for x in [
            sys.executable, os.path.join(HERE, "hookrec.py"), self.rec, event, self.a.hook])

    def events(self, default):
        return [] if self.a.events == "none" else self.a.events.split(",") if self.a.events else default

    def put(self, path, content):
        path = os.path.join(self.home, path)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w") as f:
            f.write(content if isinstance(content, str) else json.dumps(content, indent=1))
        return path

    def claude_style(self, events, matcher=None, **extra):
        group = {} if matcher is None else {"matcher": matcher}
        return {e: [dict(group, hooks=[dict(type="command", command=self.hook(e), **extra)])] for e in events}

    def kimi_toml(self, events):
        return "".join('[[hooks]]\nevent = "%s"\ncommand = %s\ntimeout = %d\n\n' % (
            e, json.dumps(self.hook(e)), self.a.hook_timeout) for e in events)


# ---- one function per client: write its configuration, return its command line ---------

def claude(r):
    settings = r.put("settings.json", {"hooks": r.claude_style(r.events(CLAUDE_EVENTS), timeout=r.a.hook_timeout)})
    r.env.update(ANTHROPIC_BASE_URL=r.url, ANTHROPIC_API_KEY="dummy", DISABLE_AUTOUPDATER="1",
                 DISABLE_TELEMETRY="1", CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC="1")
    return ["claude", "-p", r.prompt, "--settings", settings, "--output-format", "json"] + (
        [] if r.a.ask else ["--allowedTools", "Bash", "Write", "Read", "Edit"])


def claude_old(r):
    return ["claude-2.1.197"] + claude(r)[1:]


def gemini(r):
    r.put(".gemini/settings.json", {
        "hooks": r.claude_style(r.events(GEMINI_EVENTS), matcher="*", timeout=1000 * r.a.hook_timeout),
        "security": {"auth": {"selectedType": "gemini-api-key"}, "folderTrust": {"enabled": False}},
        "general": {"disableAutoUpdate": True, "enableAutoUpdate": False},
        "privacy": {"usageStatisticsEnabled": False}, "telemetry": {"enabled": False}})
    r.env.update(GOOGLE_GEMINI_BASE_URL=r.url, GEMINI_API_KEY="dummy", GEMINI_TELEMETRY_ENABLED="false")
    return ["gemini", "-p", r.prompt, "-m", "gemini-2.5-pro", "--output-format", "json"] + (
        [] if r.a.ask else ["--approval-mode", "yolo"])


def codex(r):
    r.put(".codex/config.toml", """model = "gpt-5.5"
model_provider = "fake"
approval_policy = "%s"
sandbox_mode = "%s"
check_for_update_on_startup = false
[analytics]
enabled = false
[model_providers.fake]
name = "fake"
base_url = "%s/v1"
wire_api = "responses"
env_key = "FAKE_KEY"
request_max_retries = 0
stream_max_retries = 0
[features]
hooks = true
""" % (("on-request", "read-only", r.url) if r.a.ask else ("never", "danger-full-access", r.url)))
    r.put(".codex/hooks.json", {"hooks": r.claude_style(r.events(CODEX_EVENTS), timeout=r.a.hook_timeout)})
    r.env.update(FAKE_KEY="dummy")
    return ["codex", "exec", "--skip-git-repo-check", "--json", "-C", r.work, r.prompt] + (
        [] if r.a.trust else ["--dangerously-bypass-hook-trust"])


def copilot(r, events=COPILOT_EVENTS):
    r.put(".copilot/hooks/all.json", {"version": 1, "hooks": {
        e: [{"type": "command", "bash": r.hook(e), "timeoutSec": r.a.hook_timeout}] for e in r.events(events)}})
    r.env.update(COPILOT_PROVIDER_BASE_URL=r.url + "/v1", COPILOT_PROVIDER_API_KEY="dummy", COPILOT_MODEL="fake-model",
                 COPILOT_OFFLINE="true", COPILOT_AUTO_UPDATE="false")
    return ["copilot", "-p", r.prompt, "--output-format", "json"] + ([] if r.a.ask else ["--allow-all-tools"])


def copilot_pascal(r):
    return copilot(r, COPILOT_PASCAL_EVENTS)


def kimi(r):
    r.put(".kimi/config.toml", """default_model = "fake"
telemetry = false
[models.fake]
provider = "fake"
model = "fake-model"
max_context_size = 200000
[providers.fake]
type = "kimi"
base_url = "%s/v1"
api_key = "dummy"

""" % r.url + r.kimi_toml(r.events(KIMI_EVENTS)))
    r.env.update(KIMI_CLI_NO_AUTO_UPDATE="1", KIMI_DISABLE_TELEMETRY="1")
    return ["kimi", "--print", "--output-format", "stream-json", "-w", r.work, "-p", r.prompt]


def kimi_code(r):
    r.put(".kimi-code/config.toml", """default_model = "fake"
telemetry = false
[models.fake]
provider = "fake"
model = "fake-model"
max_context_size = 200000
[providers.fake]
type = "kimi"
base_url = "%s/v1"
api_key = "dummy"

""" % r.url + r.kimi_toml(r.events(KIMI_CODE_EVENTS)))
    r.env.update(KIMI_CODE_NO_AUTO_UPDATE="1", KIMI_DISABLE_TELEMETRY="1")
    return ["kimi-code", "--output-format", "stream-json", "-p", r.prompt]


def cline(r):
    for e in r.events(CLINE_EVENTS):
        os.chmod(r.put(".cline/hooks/" + e, "#!/bin/sh\nexec %s\n" % r.hook(e)), 0o755)
    r.put(".cline/data/settings/providers.json", {
        "version": 1, "lastUsedProvider": "openai-compatible", "modes": {},
        "providers": {"openai-compatible": {"updatedAt": "2026-01-01T00:00:00.000Z", "tokenSource": "manual", "settings": {
            "provider": "openai-compatible", "apiKey": "dummy", "model": "fake-model", "baseUrl": r.url + "/v1"}}}})
    r.env.update(CLINE_TELEMETRY_DISABLED="1", CLINE_NO_AUTO_UPDATE="1")
    return ["cline", "--json", "-c", r.work, "--auto-approve", "false" if r.a.ask else "true", r.prompt]


def opencode(r):
    """opencode has no hook commands, only JavaScript plugins: this one calls the command."""
    if r.a.events != "none":
        r.put(".config/opencode/plugin/hooks.js", OPENCODE_PLUGIN % json.dumps([
            sys.executable, os.path.join(HERE, "hookrec.py"), r.rec, r.a.hook]))
    deps = {"dependencies": {"@opencode-ai/plugin": "*"}}  # or it would wait for an npm install
    for d in (".config/opencode", ".opencode"):
        r.put(d + "/package.json", deps)
        r.put(d + "/package-lock.json", {"lockfileVersion": 3, "packages": {"": deps}})
        r.put(d + "/node_modules/.keep", "")
    r.put(".config/opencode/opencode.json", {
        "$schema": "https://opencode.ai/config.json", "autoupdate": False, "share": "disabled",
        "model": "fake/fake-model", "small_model": "fake/fake-model",
        "provider": {"fake": {"npm": "@ai-sdk/openai-compatible", "name": "fake",
                              "options": {"baseURL": r.url + "/v1", "apiKey": "dummy"},
                              "models": {"fake-model": {"name": "fake", "limit": {"context": 200000, "output": 8000}}}}}})
    r.env.update(OPENCODE_DISABLE_AUTOUPDATE="1", OPENCODE_DISABLE_MODELS_FETCH="1", OPENCODE_DISABLE_LSP_DOWNLOAD="1")
    return ["opencode", "run", "--format", "json", r.prompt]


OPENCODE_PLUGIN = """import { spawnSync } from "node:child_process"
const [python, rec, dir, command] = %s
function call(event, input) {
  const p = spawnSync(python, [rec, dir, event, command], { input: JSON.stringify(input), encoding: "utf8" })
  if (p.status === 2) throw new Error((p.stderr || "blocked by hook").trim())
  let out = {}
  try { out = JSON.parse(p.stdout || "{}") } catch {}
  if (out.hookSpecificOutput?.permissionDecision === "deny") throw new Error(out.hookSpecificOutput.permissionDecisionReason)
  return out
}
export const Hooks = async ({ directory }) => ({
  "chat.message": async (i, o) => { call("chat.message", { ...i, directory, ...o }) },
  "tool.execute.before": async (i, o) => {
    const out = call("tool.execute.before", { ...i, directory, ...o })
    if (out.hookSpecificOutput?.updatedInput) o.args = Object.assign(o.args, out.hookSpecificOutput.updatedInput)
  },
  "tool.execute.after": async (i, o) => { call("tool.execute.after", { ...i, directory, ...o }) },
  "permission.ask": async (i, o) => { call("permission.ask", { ...i, directory, ...o }) },
  event: async ({ event }) => {
    if (["session.created", "session.idle", "session.error"].includes(event.type)) call(event.type, event)
  },
})
"""


def qwen(r):
    r.put(".qwen/settings.json", {
        "hooks": r.claude_style(r.events(QWEN_EVENTS), timeout=1000 * r.a.hook_timeout),
        "security": {"auth": {"selectedType": "openai"}, "folderTrust": {"enabled": False}},
        "general": {"disableAutoUpdate": True, "enableAutoUpdate": False},
        "privacy": {"usageStatisticsEnabled": False}, "telemetry": {"enabled": False}})
    r.env.update(OPENAI_BASE_URL=r.url + "/v1", OPENAI_API_KEY="dummy", OPENAI_MODEL="fake-model")
    return ["qwen", "-p", r.prompt, "--output-format", "json"] + ([] if r.a.ask else ["--approval-mode", "yolo"])


HOSTS = {"claude": claude, "claude-2.1.197": claude_old, "gemini": gemini, "codex": codex, "copilot": copilot,
         "copilot-pascal": copilot_pascal, "kimi": kimi, "kimi-code": kimi_code, "qwen": qwen,
         "cline": cline, "opencode": opencode}


# ---- the run ------------------------------------------------------------------------

def offline():
    """A command prefix that leaves a process nothing but loopback, and ends whatever it
    leaves running; [] if impossible."""
    up = "ip link set lo up && exec \"$@\""
    for flags in (["-npf", "--kill-child", "--mount-proc"], ["-rnpf", "--kill-child", "--mount-proc"]):
        cmd = ["unshare"] + flags + ["sh", "-c", up, "sh"]
        try:
            if subprocess.run(cmd + ["true"], capture_output=True, timeout=10).returncode == 0:
                return cmd
        except (OSError, subprocess.TimeoutExpired):
            pass
    return []


def tree(d):
    out = {}
    for base, dirs, files in os.walk(d):
        for f in files:
            p = os.path.join(base, f)
            try:
                out[os.path.relpath(p, d)] = (os.path.getmtime(p), os.path.getsize(p))
            except OSError:
                pass
    return out


def kill_group(p):
    try:
        os.killpg(p.pid, signal.SIGKILL)
    except ProcessLookupError:
        pass
    p.wait()


def read_jsonl(path):
    try:
        with open(path) as f:
            return [json.loads(line) for line in f]
    except FileNotFoundError:
        return []


def main():
    ap = argparse.ArgumentParser(usage="run_host.py HOST HOOK_COMMAND SCRIPT_JSON WORKDIR [options]")
    ap.add_argument("host", choices=sorted(HOSTS))
    ap.add_argument("hook")
    ap.add_argument("script")
    ap.add_argument("workdir")
    ap.add_argument("--events", help="only these events, comma-separated; none: configure no hook")
    ap.add_argument("--setup", metavar="COMMAND", help="run this before the client, in WORKDIR, with the client's HOME "
                    "and environment (say, an installer under test); a hook it configures as "
                    "\"$HOOKREC EVENT 'COMMAND'\" is in the report too")
    ap.add_argument("--arg", action="append", default=[], help="one more argument for the client")
    ap.add_argument("--within", default="", metavar="COMMAND", help="start the client by this command: `ahp shield --`")
    ap.add_argument("--ask", action="store_true", help="do not allow tools beforehand")
    ap.add_argument("--trust", action="store_true", help="leave the client's own trust checks of hooks on")
    ap.add_argument("--timeout", type=float, default=50, help="of the whole run, in seconds")
    ap.add_argument("--hook-timeout", type=int, default=20, help="of one hook, in seconds, where the client can set it")
    ap.add_argument("--keep", action="store_true", help="keep the run's HOME and logs; their folder is in the report")
    ap.add_argument("--full", action="store_true", help="log whole request bodies (with --keep)")
    a = ap.parse_args()
    if os.environ.get("RUN_HOST_INSIDE") != "1":
        prefix = offline()
        os.environ["RUN_HOST_INSIDE"] = "1"
        os.environ["RUN_HOST_NETNS"] = "1" if prefix else "0"
        argv = prefix + [sys.executable] + [os.path.abspath(sys.argv[0])] + sys.argv[1:]
        os.execvp(argv[0], argv)
    r = Run(a)
    log = os.path.join(r.dir, "model.jsonl")
    server = client = None
    report = {"host": a.host, "network": "loopback only" if os.environ.get("RUN_HOST_NETNS") == "1" else "not isolated"}
    try:
        server = subprocess.Popen([sys.executable, os.path.join(HERE, "fake_model.py"), "--script", a.script, "--log", log]
                                  + (["--full"] if a.full else []), stdout=subprocess.PIPE, text=True)
        r.url = "http://127.0.0.1:" + server.stdout.readline().split()[1]
        argv = shlex.split(a.within) + HOSTS[a.host](r) + a.arg
        if a.setup:
            subprocess.run(["/bin/sh", "-ec", a.setup], cwd=r.work, check=True, timeout=120, stdout=sys.stderr, env=dict(
                r.env, HOOKREC="%s %s %s" % (sys.executable, os.path.join(HERE, "hookrec.py"), r.rec)))
        before = tree(r.work)
        t0 = time.time()
        out, err = open(os.path.join(r.dir, "stdout"), "w+"), open(os.path.join(r.dir, "stderr"), "w+")
        client = subprocess.Popen(argv, cwd=r.work, env=r.env, stdin=subprocess.DEVNULL, stdout=out, stderr=err,
                                  start_new_session=True)
        try:
            client.wait(a.timeout)
        except subprocess.TimeoutExpired:
            report["timed_out"] = True
            kill_group(client)
        report.update(seconds=round(time.time() - t0, 2), exit=client.returncode)
        for _ in range(20):  # hooks that the client does not wait for
            n = len(os.listdir(r.rec))
            time.sleep(0.1)
            if len(os.listdir(r.rec)) == n:
                break
        hooks = []
        for f in sorted(f for f in os.listdir(r.rec) if f.endswith(".json")):
            with open(os.path.join(r.rec, f)) as fh:
                h = json.load(fh)
            h["t"] = round(h["t"] - t0, 2)
            h.pop("stdin_raw" if h["stdin"] is not None else "stdin")
            hooks.append(h)
        requests = [q for q in read_jsonl(log) if q.get("api") in ("anthropic", "chat", "responses", "gemini")]
        main_requests = [q for q in requests if q["turn"] is not None or q["text"] == "script over"]
        last = main_requests[-1]["history"] if main_requests else []
        after = tree(r.work)
        for f in (out, err):
            f.seek(0)
        report.update(
            events_fired=[h["event"] for h in hooks], hooks=hooks,
            turns_played="%d of %d" % (sum(q["turn"] is not None for q in main_requests), len(r.turns)),
            requests=len(requests), main_requests=len(main_requests),
            tools_offered=main_requests[0]["tools"] if main_requests else None,
            tool_results=[{k: v for k, v in h.items() if k != "role"} for h in last if "result" in h],
            conversation=last, files_changed=sorted(p for p in after if after[p] != before.get(p)),
            stdout=out.read()[-6000:], stderr=err.read()[-3000:])
    finally:
        for p in (client, server):
            if p and p.poll() is None:
                kill_group(p) if p is client else (p.terminate(), p.wait())
        if a.keep:
            report["run_dir"] = r.dir
        else:
            shutil.rmtree(r.dir, ignore_errors=True)
    print(json.dumps(report, indent=1, ensure_ascii=False))


if __name__ == "__main__":
    main()
