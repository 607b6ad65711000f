"""Spark standalone as local processes: a master and two workers of one core, of which one is killed in the middle of a sum."""

import json
import os
import pathlib
import signal
import subprocess
import sys
import time

from receivers import free_port, wait_for

SUMS = pathlib.Path(__file__).resolve().parent.parent / "sums.py"


class Cluster:
    def __init__(self, root):
        import pyspark
        self.home, self.root = pathlib.Path(pyspark.__file__).parent, root
        root.mkdir()
        self.env = {**os.environ, "SPARK_HOME": str(self.home), "SPARK_LOCAL_IP": "127.0.0.1", "SPARK_LOCAL_DIRS": str(root)}
        port = free_port()
        self.url = f"spark://127.0.0.1:{port}"
        own = ["--host", "127.0.0.1", "--webui-port", "0"]
        self.processes = [self.start("master", "org.apache.spark.deploy.master.Master", *own, "--port", str(port))]
        wait_for(port)
        self.processes += [self.start(name, "org.apache.spark.deploy.worker.Worker", *own, "-c", "1", "-m", "1G",
                                      "--work-dir", str(root / name), self.url) for name in ("one", "two")]

    def start(self, name, *argv):
        log = open(self.root / f"{name}.log", "w")
        return subprocess.Popen([self.home / "bin/spark-class", *argv], env=self.env, stdout=log, stderr=log, start_new_session=True)

    def has_begun(self, worker):
        """Whether a worker has finished a part of a sum."""
        return any("Finished task" in log.read_text() for log in (self.root / worker).glob("app-*/*/stderr"))

    def sums(self, lake, query):
        """Returns the rows, and whether a worker was killed before they were there."""
        with open(self.root / "rows", "w") as rows, open(self.root / "told", "w") as told:
            argv = [sys.executable, SUMS, lake, query, "--engine", "spark", "--master", self.url]
            job = subprocess.Popen(argv, env=self.env, stdout=rows, stderr=told)
            was_killed = False
            while job.poll() is None:
                if not was_killed and self.has_begun("one"):
                    # With it goes the process that it has started.
                    os.killpg(self.processes[1].pid, signal.SIGKILL)
                    was_killed = True
                time.sleep(0.1)
        if job.returncode:
            raise RuntimeError((self.root / "told").read_text()[-2000:])
        return [json.loads(line) for line in (self.root / "rows").read_text().splitlines()], was_killed

    def stop(self):
        for process in self.processes:
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
