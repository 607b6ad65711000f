"""A server that gathers what is carried to it, and fails, resets and lies as it is told to."""

import collections
import email.utils
import gzip
import http.server
import json
import random
import socket
import threading
import time

# What goes wrong on the way. "kept-…": the batch has arrived, and the carrier is not told so.
FAULTS = ("500", "503", "408", "reset", "half", "retry-after", "retry-at", "kept-then-reset", "kept-then-500")


class Server(http.server.ThreadingHTTPServer):
    """Keeps what is PUT and counts what is POSTed. `faults` come one after the other, then a part of all requests fails."""

    daemon_threads = True

    def __init__(self, root):
        self.root, self.faults, self.events, self.drops = root, collections.deque(), [], None
        self.lock, self.rng, self.rate, self.failed = threading.Lock(), random.Random(11), 0, collections.Counter()
        super().__init__(("127.0.0.1", 0), Handler)
        threading.Thread(target=self.serve_forever, daemon=True).start()

    @property
    def url(self):
        return f"http://127.0.0.1:{self.server_address[1]}"

    def handle_error(self, *_):
        """A carrier that was killed has hung up, which is no fault of the server."""

    def next_fault(self):
        with self.lock:
            fault = self.faults.popleft() if self.faults else None
            if not fault and self.rng.random() < self.rate:
                fault = self.rng.choice(FAULTS)
            self.failed.update([fault] if fault else [])
            return fault


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def answer(self, status, body=b"", headers=()):
        self.send_response(status)
        for name, value in headers:
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def hang_up(self):
        self.close_connection = True
        self.connection.shutdown(socket.SHUT_RDWR)

    def take(self, status, said):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        fault = self.server.next_fault()
        if fault is None or fault.startswith("kept-"):
            self.keep(body)
        if fault is None:
            self.answer(status, said)
        elif fault in ("reset", "kept-then-reset"):
            self.hang_up()
        elif fault == "half":
            self.wfile.write(b"HTTP/1.1 200 O")
            self.hang_up()
        elif fault == "retry-after":
            self.answer(429, headers=[("Retry-After", "1")])
        elif fault == "retry-at":
            self.answer(503, headers=[("Retry-After", email.utils.formatdate(time.time() + 1, usegmt=True))])
        elif fault == "rejects":
            self.answer(200, b'{"partialSuccess":{"rejectedLogRecords":"3"}}')
        else:
            self.answer(int(fault.removeprefix("kept-then-")))

    def keep(self, body):
        if self.command == "POST":
            with self.server.lock:
                self.server.events.append(json.loads(gzip.decompress(body)))
            return
        path = self.server.root / self.path.lstrip("/")
        if self.server.drops and self.server.drops in str(path):
            return
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(body)

    def do_PUT(self):
        self.take(201, b"")

    def do_POST(self):
        self.take(200, b'{"partialSuccess":{}}')
