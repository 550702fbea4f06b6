"""Loopscope as the cluster of a test, with the official Python client: `pip install kubernetes`, then `python3 examples/client.py`.

The clock stands (`--speed 0`) until the test moves it: the same test gives the same result each time.
"""

import json
import multiprocessing
import subprocess
import sys
import tempfile
import time
import urllib.request
from functools import partial
from pathlib import Path

from kubernetes import client, config, watch
from kubernetes.leaderelection import electionconfig, leaderelection
from kubernetes.leaderelection.resourcelock.leaselock import LeaseLock
from kubernetes.stream import stream

# `cargo build` leaves it there; `cargo install --path .` puts it on the PATH.
COMMAND = sys.argv[1] if len(sys.argv) > 1 else "loopscope"


class Cluster:
    """A served cluster, and its clock."""

    def __init__(self, *flags):
        self.folder = tempfile.TemporaryDirectory()
        self.path = str(Path(self.folder.name) / "config")
        words = [COMMAND, "serve", "--listen", "127.0.0.1:0", "--kubeconfig", self.path, *flags]
        self.process = subprocess.Popen(words, stdout=subprocess.PIPE, text=True)
        self.address = self.process.stdout.readline().split()[-1]
        self.process.stdout.readline()
        config.load_kube_config(self.path)

    def post(self, path, body):
        request = urllib.request.Request(self.address + path, body.encode(), {"content-type": "application/json"})
        with urllib.request.urlopen(request) as reply:
            return json.load(reply)

    def advance(self, seconds):
        return self.post("/loopscope/time", json.dumps({"seconds": seconds}))

    def fault(self, line):
        return self.post("/loopscope/fault", line)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.folder.cleanup()


def deployment(name, replicas):
    labels = {"app": name}
    container = client.V1Container(name="c", image="busybox", command=["sh", "-c", "echo hello; sleep 3600"])
    template = client.V1PodTemplateSpec(metadata=client.V1ObjectMeta(labels=labels), spec=client.V1PodSpec(containers=[container]))
    spec = client.V1DeploymentSpec(replicas=replicas, selector=client.V1LabelSelector(match_labels=labels), template=template)
    return client.V1Deployment(metadata=client.V1ObjectMeta(name=name), spec=spec)


def rollout_survives_a_node():
    """A node goes down: after five minutes its Pods run elsewhere. Ten virtual minutes, some real milliseconds."""
    with Cluster("--speed", "0") as cluster:
        apps, core = client.AppsV1Api(), client.CoreV1Api()
        apps.create_namespaced_deployment("default", deployment("web", 3))
        cluster.advance(10)
        assert apps.read_namespaced_deployment("web", "default").status.ready_replicas == 3
        cluster.fault("node-down node-1")
        cluster.advance(600)
        assert apps.read_namespaced_deployment("web", "default").status.ready_replicas == 3
        running = core.list_namespaced_pod("default", field_selector="status.phase=Running").items
        here = [pod for pod in running if pod.metadata.deletion_timestamp is None]
        assert {pod.spec.node_name for pod in here} == {"node-2", "node-3"}


def informer_sees_each_change():
    """List, then watch from the list's version: nothing is missed and nothing comes twice."""
    with Cluster("--speed", "0") as cluster:
        core = client.CoreV1Api()
        listed = core.list_namespaced_config_map("default")
        known = {item.metadata.name for item in listed.items}
        for index in range(20):
            body = client.V1ConfigMap(metadata=client.V1ObjectMeta(name=f"m{index}"), data={"a": "b"})
            core.create_namespaced_config_map("default", body)
        core.delete_namespaced_config_map("m3", "default")
        seen = []
        events = watch.Watch()
        for event in events.stream(core.list_namespaced_config_map, "default", resource_version=listed.metadata.resource_version):
            seen.append((event["type"], event["object"].metadata.name))
            if len(seen) == 21:
                events.stop()
        assert seen == [("ADDED", f"m{index}") for index in range(20)] + [("DELETED", "m3")], seen
        assert not known & {name for _, name in seen}


def exec_and_logs():
    with Cluster("--jump") as cluster:
        core = client.CoreV1Api()
        client.AppsV1Api().create_namespaced_deployment("default", deployment("web", 1))
        for event in watch.Watch().stream(core.list_namespaced_pod, "default", timeout_seconds=20):
            pod = event["object"]
            if pod.status.phase == "Running":
                break
        name = pod.metadata.name
        assert core.read_namespaced_pod_log(name, "default") == "hello\n"
        answer = stream(core.connect_get_namespaced_pod_exec, name, "default", command=["sh", "-c", "echo $HOSTNAME; exit 3"],
                        stdout=True, stderr=True, stdin=False, tty=False, _preload_content=False)
        answer.run_forever(timeout=10)
        assert (answer.read_stdout().strip(), answer.returncode) == (name, 3)


def server_side_apply():
    with Cluster("--speed", "0"):
        core = client.CoreV1Api()
        body = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "conf"}, "data": {"a": "1"}}
        apply = {"_content_type": "application/apply-patch+yaml", "field_manager": "one"}
        core.patch_namespaced_config_map("conf", "default", body, **apply)
        body["data"]["a"] = "2"
        try:
            core.patch_namespaced_config_map("conf", "default", body, **{**apply, "field_manager": "two"})
            raise AssertionError("the field belongs to another manager")
        except client.ApiException as refusal:
            assert refusal.status == 409, refusal
        forced = core.patch_namespaced_config_map("conf", "default", body, force=True, **{**apply, "field_manager": "two"})
        assert forced.data == {"a": "2"}


def stand(path, name, leads):
    """Stands for election until its process ends."""
    config.load_kube_config(path)
    election = electionconfig.Config(LeaseLock("leader", "default", name), lease_duration=3, renew_deadline=2, retry_period=1,
                                     onstarted_leading=partial(leads.put, name), onstopped_leading=None)
    leaderelection.LeaderElection(election).run()


def one_leader_at_a_time():
    """Who holds the Lease leads; it ends without a word, and the other one leads once the Lease has run out."""
    with Cluster("--speed", "0") as cluster:
        leases, leads = client.CoordinationV1Api(), multiprocessing.Queue()
        holder = lambda: leases.read_namespaced_lease("leader", "default").spec.holder_identity
        one, two = (multiprocessing.Process(target=stand, args=(cluster.path, name, leads), daemon=True) for name in ["one", "two"])
        one.start()
        assert leads.get(timeout=20) == "one"
        two.start()
        time.sleep(5)
        assert leads.empty() and holder() == "one", "two lead"
        one.kill()
        assert leads.get(timeout=20) == "two"
        assert holder() == "two"
        two.kill()


if __name__ == "__main__":
    for example in [rollout_survives_a_node, informer_sees_each_change, exec_and_logs, server_side_apply, one_leader_at_a_time]:
        example()
        print(f"{example.__name__}: ok")
