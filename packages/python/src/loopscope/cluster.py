"""A simulated cluster in a process of its own, over the HTTP of ``loopscope serve``."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import tempfile
import urllib.error
import urllib.parse
import urllib.request
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Mapping, Sequence

from ._command import command

if TYPE_CHECKING:
    from .jupyter import Follow

#: Seconds of real time after which an answer is given up.
TIMEOUT = 60.0


class ClusterError(Exception):
    """A request that the server refused, or a server that did not start."""


class CommandError(ClusterError):
    """A kubectl command that failed; ``result`` is what it printed."""

    def __init__(self, line: str, result: CommandResult) -> None:
        super().__init__(f"kubectl {line}: exit code {result.exit}\n{result.stderr or result.stdout}")
        self.result = result


@dataclass(frozen=True)
class CommandResult:
    """Output of a kubectl command; ``exit`` is None while it waits."""

    stdout: str
    stderr: str
    exit: int | None


@dataclass(frozen=True)
class Time:
    """Virtual time of a cluster, in seconds since its start."""

    seconds: float
    #: Time of the next task, None if nothing is due.
    next: float | None
    #: Time of the last change other than to Events.
    changed: float
    #: Time of day that objects show.
    wall: str
    #: resourceVersion of the store.
    version: int


class Cluster:
    """A running cluster. Use it as a context manager, or call ``stop``."""

    def __init__(self, process: subprocess.Popen[str], address: str, folder: Path) -> None:
        self._process = process
        self._folder = folder
        #: Address of the API server, without a slash at the end.
        self.address = address
        #: File for kubectl, Helm and client libraries.
        self.kubeconfig = folder / "kubeconfig"

    @classmethod
    def start(
        cls,
        *,
        setup: Sequence[str] = (),
        nodes: int = 3,
        seed: int | None = None,
        speed: float = 0,
        page: bool = False,
    ) -> Cluster:
        """Starts a cluster on a free port.

        ``setup`` holds manifests that are applied first. With ``speed`` 0 the clock stands still until ``advance`` or ``settle`` moves it,
        and the same calls give the same history; otherwise it is the number of virtual seconds per second. With ``page`` the page follows
        the cluster at ``page_address``.
        """
        folder = Path(tempfile.mkdtemp(prefix="loopscope-"))
        arguments = [str(command()), "serve", "--listen", "127.0.0.1:0", "--speed", str(speed), "--nodes", str(nodes)]
        arguments += ["--kubeconfig", str(folder / "kubeconfig")]
        if seed is not None:
            arguments += ["--seed", str(seed)]
        for number, manifest in enumerate(setup):
            file = folder / f"setup-{number}.yaml"
            file.write_text(manifest, encoding="utf-8")
            arguments += ["--setup", str(file)]
        if page:
            arguments.append("--page")
        # The API sends no token: the server listens on this machine alone.
        env = {name: value for name, value in os.environ.items() if name != "LOOPSCOPE_TOKEN"}
        with open(folder / "log", "w", encoding="utf-8") as log:
            process = subprocess.Popen(arguments, stdout=subprocess.PIPE, stderr=log, text=True, encoding="utf-8", env=env)
        assert process.stdout is not None
        line = process.stdout.readline()
        if not line.startswith("serving at "):
            process.kill()
            process.wait()
            process.stdout.close()
            said = (folder / "log").read_text(encoding="utf-8").strip()
            shutil.rmtree(folder, ignore_errors=True)
            raise ClusterError(f"the server did not start: {said or line}")
        return cls(process, line.removeprefix("serving at ").strip(), folder)

    def stop(self) -> None:
        """Ends the server and removes its files."""
        if self._process.poll() is None:
            self._process.terminate()
        self._process.wait()
        if self._process.stdout is not None:
            self._process.stdout.close()
        shutil.rmtree(self._folder, ignore_errors=True)

    def __enter__(self) -> Cluster:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.stop()

    @property
    def page_address(self) -> str:
        """Address of the page that follows the cluster, if it was started with ``page``."""
        return f"{self.address}/page/?follow"

    def widget(self, view: str = "ownership", height: int = 420, lang: str | None = None, theme: str | None = None) -> Follow:
        """Returns a widget of Jupyter whose page follows the cluster; needs ``loopscope[jupyter]``."""
        from .jupyter import Follow

        return Follow(self, view, height, lang, theme)

    def request(self, method: str, path: str, body: bytes | None = None, headers: Mapping[str, str] | None = None) -> Any:
        """Sends a request to the API server; returns the JSON of the answer, or its text. Raises ClusterError if it is refused."""
        request = urllib.request.Request(self.address + path, data=body, method=method, headers=dict(headers or {}))
        # A proxy of the environment is for other machines.
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        try:
            with opener.open(request, timeout=TIMEOUT) as answer:
                text = answer.read().decode()
                return json.loads(text) if "json" in answer.headers.get("content-type", "") else text
        except urllib.error.HTTPError as error:
            text = error.read().decode(errors="replace")
            try:
                text = json.loads(text)["message"]
            except (ValueError, KeyError, TypeError):
                pass
            raise ClusterError(f"{method} {path}: {error.code}: {text}") from None

    def get(self, path: str) -> Any:
        """Reads an object or a list by its path: ``/apis/apps/v1/namespaces/default/deployments/web``."""
        return self.request("GET", path)

    def time(self) -> Time:
        """Returns the virtual time."""
        return Time(**self.request("GET", "/loopscope/time"))

    def advance(self, seconds: float) -> Time:
        """Moves the clock forward; returns when everything due has happened."""
        return Time(**self._post("time", json.dumps({"seconds": seconds})))

    def settle(self) -> Time:
        """Moves the clock until nothing but Events has changed for 3 seconds, at most 90 seconds."""
        return Time(**self._post("time", json.dumps({"until": "settled"})))

    def apply(self, manifest: str) -> None:
        """Applies a manifest; raises ClusterError, with lines, if a part of it is refused."""
        answer = self._post("apply", manifest)
        wrong = [f"line {one['line']}: {one['message']}" for one in answer["diagnostics"] if one["error"]]
        if wrong or answer["failed"]:
            raise ClusterError("\n".join(wrong) or "the manifest was refused")

    def fault(self, line: str) -> None:
        """Injects a fault: ``node-down node-1``, ``exit pod/{{pod:web:0}} 1``, ``lose Pod``."""
        self._post("fault", line)

    def run(self, line: str, *, stdin: str = "", patience: float = 600) -> CommandResult:
        """Runs a kubectl command, and moves the clock by up to ``patience`` virtual seconds for one that waits."""
        answer = self._post("run", json.dumps({"command": line, "stdin": stdin}))
        path = f"run/{answer['id']}"
        waited = 0.0
        while answer["exit"] is None and waited < patience:
            self.advance(1)
            waited += 1
            answer = self._post(path, "")
        return CommandResult(answer["stdout"], answer["stderr"], answer["exit"])

    def kubectl(self, line: str, *, stdin: str = "") -> str:
        """Runs a kubectl command to its end; returns its output, or raises CommandError."""
        result = self.run(line, stdin=stdin)
        if result.exit != 0:
            raise CommandError(line, result)
        return result.stdout

    def snapshot(self, name: str) -> None:
        """Keeps the cluster as it is, under a name."""
        self._snapshot("PUT", name)

    def restore(self, name: str) -> None:
        """Returns to a snapshot; watches end, as their versions may come again with other content."""
        self._snapshot("POST", name)

    def delete_snapshot(self, name: str) -> None:
        """Deletes a snapshot."""
        self._snapshot("DELETE", name)

    def _snapshot(self, method: str, name: str) -> None:
        self.request(method, f"/loopscope/snapshots/{urllib.parse.quote(name, safe='')}", b"" if method != "DELETE" else None)

    def _post(self, path: str, body: str) -> Any:
        return self.request("POST", f"/loopscope/{path}", body.encode())
