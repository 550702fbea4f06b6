"""The installed package: API, command, fixture. Run by pytest in an environment that has nothing but the wheel and the client."""

import subprocess
import sys

import pytest
from loopscope import Cluster, ClusterError, CommandError, page

DEPLOYMENT = """\
apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  replicas: 2
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec: {containers: [{name: nginx, image: "nginx:1.27"}]}
"""


def ready(cluster):
    return cluster.get("/apis/apps/v1/namespaces/default/deployments/web")["status"].get("readyReplicas", 0)


def test_clock_moves_only_when_told(loopscope_cluster):
    cluster = loopscope_cluster
    cluster.apply(DEPLOYMENT)
    assert ready(cluster) == 0
    before = cluster.time()
    after = cluster.settle()
    assert ready(cluster) == 2
    assert after.seconds > before.seconds and after.version > before.version
    assert cluster.advance(60).seconds == pytest.approx(after.seconds + 60)
    assert cluster.time().seconds == pytest.approx(after.seconds + 60)


def test_fault_and_snapshot(loopscope_cluster):
    cluster = loopscope_cluster
    cluster.apply(DEPLOYMENT)
    cluster.settle()
    cluster.snapshot("calm")
    pod = cluster.kubectl("get pods -o name").split()[0]
    cluster.fault(f"unready {pod}")
    cluster.advance(2)
    assert ready(cluster) == 1
    cluster.restore("calm")
    assert ready(cluster) == 2
    cluster.delete_snapshot("calm")
    with pytest.raises(ClusterError):
        cluster.restore("calm")
    with pytest.raises(ClusterError, match="no-such"):
        cluster.fault("exit pod/no-such 1")


def test_kubectl_waits_and_fails(loopscope_cluster):
    cluster = loopscope_cluster
    cluster.apply(DEPLOYMENT)
    assert "successfully rolled out" in cluster.kubectl("rollout status deployment/web")
    with pytest.raises(CommandError) as failed:
        cluster.kubectl("get pod nope")
    assert failed.value.result.exit == 1 and "NotFound" in failed.value.result.stderr


def test_refusals_have_lines(loopscope_cluster):
    with pytest.raises(ClusterError, match="line 5"):
        loopscope_cluster.apply(DEPLOYMENT.replace("replicas: 2", "replica: 2"))
    with pytest.raises(ClusterError, match="404"):
        loopscope_cluster.get("/api/v1/namespaces/default/pods/nope")


def test_options_and_page():
    assert (page() / "index.html").is_file()
    with Cluster.start(setup=[DEPLOYMENT], nodes=1, seed=7, page=True) as cluster:
        assert cluster.kubeconfig.read_text(encoding="utf-8").count(cluster.address) == 1
        assert len(cluster.get("/api/v1/nodes")["items"]) == 1
        assert "<!doctype html>" in cluster.request("GET", "/page/").lower()
    with pytest.raises(ClusterError):
        Cluster.start(setup=["kind: ["])


def test_command():
    out = subprocess.run([sys.executable, "-m", "loopscope", "version"], capture_output=True, text=True, check=True)
    assert out.stdout.startswith("loopscope ")
