"""Does an operator survive a conflict, a full API server and a lost event? Run: `python3 examples/retries.py [loopscope]`.

Only Python's standard library is needed. Two small operators keep `data.state` of ConfigMaps at `data.wanted`. One retries what fails and
lists again from time to time; the other does neither, and is caught by each of the faults.
"""

import json
import subprocess
import sys
import tempfile
import urllib.error
import urllib.request
from pathlib import Path

# `cargo build` leaves it there; `cargo install --path .` puts it on the PATH.
COMMAND = sys.argv[1] if len(sys.argv) > 1 else "loopscope"
MAPS = "/api/v1/namespaces/default/configmaps"


class Cluster:
    """A served cluster whose clock stands still."""

    def __init__(self):
        self.folder = tempfile.TemporaryDirectory()
        path = str(Path(self.folder.name) / "config")
        words = [COMMAND, "serve", "--listen", "127.0.0.1:0", "--speed", "0", "--kubeconfig", path]
        self.process = subprocess.Popen(words, stdout=subprocess.PIPE, text=True)
        self.address = self.process.stdout.readline().split()[-1]

    def ask(self, method, path, body=None, agent="test", stream=False):
        """Sends a request; a refusal is a `urllib.error.HTTPError`."""
        data = None if body is None else body.encode() if isinstance(body, str) else json.dumps(body).encode()
        headers = {"content-type": "application/json", "user-agent": agent}
        request = urllib.request.Request(self.address + path, data, headers, method=method)
        reply = urllib.request.urlopen(request, timeout=60)
        if stream:
            return reply
        with reply:
            return json.load(reply)

    def fault(self, line):
        self.ask("POST", "/loopscope/fault", line)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()
        self.process.stdout.close()
        self.folder.cleanup()


class Operator:
    """A control loop on ConfigMaps, driven by a watch."""

    def __init__(self, cluster, tries):
        self.cluster = cluster
        self.tries = tries
        version = self.ask("GET", MAPS)["metadata"]["resourceVersion"]
        self.events = self.ask("GET", f"{MAPS}?watch=true&resourceVersion={version}", stream=True)

    def ask(self, *words, **options):
        return self.cluster.ask(*words, agent="my-operator/v1", **options)

    def reconcile(self, name):
        """Brings an object to its state; a request that is refused is tried again, if this operator does that."""
        for left in reversed(range(self.tries)):
            try:
                found = self.ask("GET", f"{MAPS}/{name}")
                wanted = found["data"]["wanted"]
                if found["data"].get("state") != wanted:
                    found["data"]["state"] = wanted
                    self.ask("PUT", f"{MAPS}/{name}", found)
                return
            except urllib.error.HTTPError as refusal:
                # A real one would wait for refusal.headers["Retry-After"].
                print(f"  {refusal.code} {json.load(refusal)['message']}")
                if not left:
                    return

    def run(self, until):
        """Handles events up to that about the object of this name."""
        for line in self.events:
            event = json.loads(line)
            name = event["object"]["metadata"].get("name", "")
            if "wanted" in event["object"].get("data", {}):
                self.reconcile(name)
            if name == until:
                return

    def resync(self):
        """Lists and handles everything, as informers with a resync period do."""
        for found in self.ask("GET", MAPS)["items"]:
            if "wanted" in found.get("data", {}):
                self.reconcile(found["metadata"]["name"])


def holds(fault, is_robust):
    """Returns true if an operator has brought an object to its state although this fault has hit it."""
    with Cluster() as cluster:
        operator = Operator(cluster, tries=5 if is_robust else 1)
        cluster.fault(f"client agent=my-operator resource=configmaps {fault}")
        for name, data in [("web", {"wanted": "on"}), ("end", {})]:
            cluster.ask("POST", MAPS, {"metadata": {"name": name}, "data": data})
        operator.run(until="end")
        if is_robust:
            operator.resync()
        operator.events.close()
        return cluster.ask("GET", f"{MAPS}/web")["data"].get("state") == "on"


if __name__ == "__main__":
    for fault in ["verb=update 409 2 times", "429 retry-after 1 2 times", "verb=update 503 1 times", "lose 1 times"]:
        print(fault)
        assert holds(fault, is_robust=True), "the operator that retries must not be caught"
        assert not holds(fault, is_robust=False), "the operator that does not retry must be caught"
        print(f"{fault}: ok")
