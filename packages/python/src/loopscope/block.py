"""A fenced block of Markdown as a ``<loop-scope>`` element: ``loopscope view=nodes``, or ``yaml play view=nodes``."""

from __future__ import annotations

import html
import re
from typing import Optional

#: Languages whose blocks are embedded if their info string has the word ``play``.
PLAYED = ("yaml", "yml", "kubernetes", "k8s")
#: Attributes of the element.
ATTRIBUTES = (
    "src",
    "hash",
    "lesson",
    "view",
    "speed",
    "pace",
    "autoplay",
    "start-at",
    "loop",
    "idle-time-limit",
    "markers",
    "pause-on-markers",
    "preload",
    "poster",
    "controls",
    "fit",
    "height",
    "theme",
    "title",
)

_WORD = re.compile(r"""([^\s,{}="']+)(?:=(?:"([^"]*)"|'([^']*)'|([^\s,{}"']*)))?(?=[\s,{}]|$)[\s,{}]*""")
_SEPARATORS = re.compile(r"[\s,{}]*")

#: Name of an attribute, and its value if it has one.
Attribute = tuple[str, Optional[str]]


class BlockError(ValueError):
    """An info string that cannot be read, or that names an attribute that does not exist."""


def attributes(info: str) -> list[Attribute] | None:
    """Returns the attributes of the element that an info string asks for, None for a block that stays code."""
    end = _SEPARATORS.match(info).end()  # type: ignore[union-attr]
    words: list[Attribute] = []
    while found := _WORD.match(info, end):
        quoted, single, bare = found[2], found[3], found[4]
        words.append((found[1], next((value for value in (quoted, single, bare) if value is not None), None)))
        end = found.end()
    if not words or words[0][1] is not None:
        return None
    language = words.pop(0)[0]
    if language != "loopscope":
        if language not in PLAYED or ("play", None) not in words:
            return None
        words = [word for word in words if word != ("play", None)]
    if end < len(info):
        raise BlockError(f"loopscope: cannot read {info[end:]!r} in {info!r}")
    for name, _ in words:
        if name not in ATTRIBUTES:
            raise BlockError(f"loopscope: there is no attribute {name!r}; there are {', '.join(ATTRIBUTES)}")
    return words


def element(words: list[Attribute], text: str) -> str:
    """Returns the HTML of an element with a manifest or lesson, which may be empty."""
    open_tag = "".join(f" {name}" if value is None else f' {name}="{_escape(value)}"' for name, value in words)
    text = text.rstrip()
    manifest = f"\n<pre>\n{_escape(text)}\n</pre>\n" if text else ""
    return f"<loop-scope{open_tag}>{manifest}</loop-scope>"


def embed(info: str, text: str) -> str | None:
    """Returns the HTML that a block becomes, None for a block that stays code."""
    words = attributes(info)
    return None if words is None else element(words, text)


def _escape(text: str) -> str:
    return html.escape(text, quote=False).replace('"', "&quot;")
