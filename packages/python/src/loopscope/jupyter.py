"""Widgets of Jupyter: a manifest that is simulated in the notebook, and a page that follows a running cluster.

The page travels from the kernel to the notebook through the widget's comm, once for each open notebook, and runs in a sandboxed frame. The
browser asks no server, so that kernels on other machines work too. Beside the widget stands a picture, for where no widget can be shown.
"""

from __future__ import annotations

import base64
import gzip
import hashlib
import html
import http.client
import json
import re
import tempfile
import threading
import time
import urllib.request
import uuid
from functools import lru_cache
from pathlib import Path
from typing import Any

try:
    import anywidget
    import traitlets
except ImportError as error:
    raise ImportError("widgets need anywidget: pip install 'loopscope[jupyter]'") from error

from ._command import page
from .cluster import Cluster, ClusterError
from ._picture import PictureError, picture, run

#: Bytes of the page in one message.
CHUNK = 1 << 18
#: Requests that a page which follows may send to its cluster, below ``/loopscope/``.
SENT = ("apply", "fault", "kubectl", "time")
# Seconds for each byte, at the rate that widget.mjs keeps to.
SECONDS_A_BYTE = 3.2 / (2 << 20)
# Frames that follow a cluster at the same time.
MOST_FRAMES = 8


@lru_cache(maxsize=1)
def _packed_page() -> bytes:
    return gzip.compress((page() / "single.html").read_bytes(), 6, mtime=0)


@lru_cache(maxsize=1)
def _digest() -> str:
    return hashlib.sha256(_packed_page()).hexdigest()


class _Frame(anywidget.AnyWidget):
    """A frame with the page, and the picture that is shown until it has drawn its own."""

    _esm = Path(__file__).parent / "widget.mjs"

    view = traitlets.Unicode("ownership").tag(sync=True)
    height = traitlets.Int(420).tag(sync=True)
    lang = traitlets.Unicode(None, allow_none=True).tag(sync=True)
    theme = traitlets.Unicode(None, allow_none=True).tag(sync=True)
    #: SVG.
    picture = traitlets.Unicode("").tag(sync=True)
    #: Class of the pictures that stand beside the widget in the output.
    still = traitlets.Unicode("").tag(sync=True)
    #: Name of the page's content.
    page = traitlets.Unicode("").tag(sync=True)
    follows = traitlets.Bool(False).tag(sync=True)

    def __init__(self, **values: Any) -> None:
        super().__init__(still=f"loopscope-{uuid.uuid4().hex}", page=_digest(), **values)
        self.on_msg(self._hear)

    def draw(self) -> str:
        """Draws the picture; returns its SVG, empty if it cannot be drawn."""
        raise NotImplementedError

    def _ipython_display_(self, **_: Any) -> None:
        from IPython.display import display

        self.picture = self.draw()
        # An output of its own: where a notebook keeps the state of widgets but has no network, nbconvert would show nothing else.
        if self.picture:
            display(_still(self.picture, self.still), raw=True)  # type: ignore[no-untyped-call]
        bundle = self._repr_mimebundle_()
        if bundle is not None:
            display(bundle[0], metadata=bundle[1], raw=True)  # type: ignore[no-untyped-call]

    def _hear(self, _: Any, message: Any, buffers: Any) -> None:
        if message.get("type") == "page":
            whole = _packed_page()
            start = int(message["start"])
            self.send({"type": "page", "start": start, "size": len(whole)}, [whole[start : start + CHUNK]])


def _still(svg: str, name: str) -> dict[str, str]:
    found = re.search(r"<title>(.*?)</title>", svg, re.DOTALL)
    title = html.unescape(found[1]) if found else "Loopscope"
    source = "data:image/svg+xml;base64," + base64.b64encode(svg.encode()).decode()
    image = f'<img class="{name}" alt="{html.escape(title)}" src="{source}" style="max-width:100%">'
    return {"text/html": image, "image/svg+xml": svg, "text/plain": title}


class Manifest(_Frame):
    """A manifest, simulated in the notebook. Its traits can be changed while it is shown."""

    text = traitlets.Unicode("").tag(sync=True)
    autoplay = traitlets.Bool(False).tag(sync=True)

    def __init__(
        self,
        text: str,
        view: str = "ownership",
        height: int = 420,
        autoplay: bool = False,
        lang: str | None = None,
        theme: str | None = None,
    ) -> None:
        super().__init__(text=text, view=view, height=height, autoplay=autoplay, lang=lang, theme=theme)

    def draw(self) -> str:
        """Draws the manifest once its cluster has settled."""
        try:
            return picture(self.text, view=self.view, lang=self.lang, theme=self.theme)
        except PictureError:
            return ""


class Follow(_Frame):
    """A page that follows a running cluster; what is done on it is sent there."""

    def __init__(
        self,
        cluster: Cluster,
        view: str = "ownership",
        height: int = 420,
        lang: str | None = None,
        theme: str | None = None,
    ) -> None:
        self._cluster = cluster
        self._readers: dict[str, _Reader] = {}
        super().__init__(view=view, height=height, lang=lang, theme=theme, follows=True)

    def draw(self) -> str:
        """Draws the cluster as it is now."""
        try:
            with tempfile.TemporaryDirectory(prefix="loopscope-") as folder:
                record = Path(folder) / "record.jsonl"
                record.write_text(self._cluster.request("GET", "/loopscope/record"), encoding="utf-8")
                link = run(["replay", str(record), "--link"])
            return picture(link, view=self.view, lang=self.lang, theme=self.theme, at=self._cluster.time().seconds)
        except (PictureError, ClusterError, OSError, http.client.HTTPException):
            return ""

    def close(self) -> None:
        """Ends the widget, and stops following."""
        for reader in self._readers.values():
            reader.stop()
        self._readers.clear()
        super().close()

    def _hear(self, widget: Any, message: Any, buffers: Any) -> None:
        kind, frame = message.get("type"), str(message.get("frame"))
        if kind in ("follow", "leave"):
            before = self._readers.pop(frame, None)
            if before is not None:
                before.stop()
        if kind == "follow":
            # A page that is loaded again does not say that its frames are gone.
            while len(self._readers) >= MOST_FRAMES:
                self._readers.pop(next(iter(self._readers))).stop()
            self._readers[frame] = _Reader(self, self._cluster.address, frame)
            self._readers[frame].start()
        elif kind == "send" and message.get("path") in SENT:
            self.send({"frame": frame, **self._sent(message["path"], str(message["body"]))})
        else:
            super()._hear(widget, message, buffers)

    def _sent(self, path: str, body: str) -> dict[str, str]:
        try:
            answer = self._cluster.request("POST", f"/loopscope/{path}", body.encode(), {"content-type": "application/json"})
        except ClusterError as error:
            answer = {"status": "Failure", "message": str(error)}
        except (OSError, http.client.HTTPException):
            return {"type": "lost"}
        return {"type": "answer", "text": answer if isinstance(answer, str) else json.dumps(answer)}


class _Reader(threading.Thread):
    """Reads the record of a cluster as it grows, for one frame."""

    def __init__(self, widget: Follow, address: str, frame: str) -> None:
        super().__init__(name="loopscope-follow", daemon=True)
        self._widget = widget
        self._address = address
        self._frame = frame
        self._stopped = False

    def stop(self) -> None:
        """Stops at the next line that comes."""
        self._stopped = True

    def run(self) -> None:
        """Sends the lines to the frame, until the server ends."""
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        try:
            with opener.open(f"{self._address}/loopscope/record?follow=true") as stream:
                rest = b""
                while not self._stopped and (read := stream.read1(1 << 16)):
                    *events, rest = (rest + read).split(b"\n\n")
                    lines = [event.removeprefix(b"data:").strip().decode() for event in events if event.startswith(b"data:")]
                    if lines and not self._stopped:
                        self._widget.send({"type": "record", "frame": self._frame, "lines": lines})
                        # A Jupyter server drops what comes faster (widget.mjs).
                        time.sleep(SECONDS_A_BYTE * len(read))
        except (OSError, http.client.HTTPException):
            pass
        if not self._stopped:
            self._widget.send({"type": "lost", "frame": self._frame})
