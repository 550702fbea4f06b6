"""Pictures of manifests, drawn by ``loopscope picture``."""

from __future__ import annotations

import subprocess
import tempfile
from functools import lru_cache
from pathlib import Path

from ._command import command
from .block import Attribute, Draw

#: Seconds after which a picture is given up.
TIMEOUT = 30.0


class PictureError(Exception):
    """A picture that the command did not draw."""


def picture(
    text: str,
    *,
    view: str | None = None,
    lang: str | None = None,
    theme: str | None = None,
    at: float | None = None,
) -> str:
    """Returns the SVG of a manifest, or of a link copied with Share, once its cluster has settled, or ``at`` seconds after its start."""
    with tempfile.TemporaryDirectory(prefix="loopscope-") as folder:
        file = Path(folder) / "manifest.yaml"
        file.write_text(text, encoding="utf-8")
        options = [f"--{name}={value}" for name, value in (("view", view), ("lang", _language(lang))) if value]
        if theme == "dark":
            options.append("--dark")
        if at is not None:
            options.append(f"--at={round(at * 1000)}ms")
        svg = run(["picture", *options, str(file)])
    if "<text" not in svg:
        raise PictureError("there is nothing to draw")
    return svg


def draw(lang: str | None) -> Draw:
    """Returns what draws the blocks of a page in a language. A picture that fails is left out."""
    return lambda words, text: _still(text, dict(words).get("view"), lang, dict(words).get("theme"))


@lru_cache(maxsize=256)
def _still(text: str, view: str | None, lang: str | None, theme: str | None) -> str | None:
    try:
        return picture(text, view=view, lang=lang, theme=theme)
    except PictureError:
        return None


def run(arguments: list[str]) -> str:
    """Returns the output of the command; raises PictureError if it fails."""
    try:
        ran = subprocess.run([str(command()), *arguments], capture_output=True, timeout=TIMEOUT, check=True)
    except subprocess.CalledProcessError as error:
        raise PictureError(error.stderr.decode(errors="replace").strip()) from None
    except (OSError, subprocess.TimeoutExpired) as error:
        raise PictureError(str(error)) from None
    return ran.stdout.decode()


def _language(lang: str | None) -> str | None:
    return lang and ("zh" if lang.lower().startswith("zh") else "en")
