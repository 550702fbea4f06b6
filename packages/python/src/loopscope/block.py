"""A fenced block of Markdown as a ``<loop-scope>`` element: ``loopscope view=nodes``, or ``yaml play view=nodes``."""

from __future__ import annotations

import html
import re
import urllib.parse
from typing import Callable, Optional

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
#: As encodeURIComponent does.
_UNESCAPED = "!~*'()"
_SEPARATORS = re.compile(r"[\s,{}]*")

#: Name of an attribute, and its value if it has one.
Attribute = tuple[str, Optional[str]]
#: Draws the manifest of a block with these attributes as SVG, None if it cannot.
Draw = Callable[[list[Attribute], str], Optional[str]]


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


def element(words: list[Attribute], text: str, draw: Draw | None = None) -> str:
    """Returns the HTML of an element with a manifest or lesson, which may be empty, and the picture of a manifest."""
    open_tag = "".join(f" {name}" if value is None else f' {name}="{_escape(value)}"' for name, value in words)
    text = text.rstrip()
    svg = draw(words, text) if draw is not None and _is_drawn(words, text) else None
    inner = ([] if svg is None else [_image(svg)]) + ([f"<pre>\n{_escape(text)}\n</pre>"] if text else [])
    lines = "".join(f"{part}\n" for part in inner)
    return f"<loop-scope{open_tag}>" + (f"\n{lines}" if lines else "") + "</loop-scope>"


def embed(info: str, text: str, draw: Draw | None = None) -> str | None:
    """Returns the HTML that a block becomes, None for a block that stays code."""
    words = attributes(info)
    return None if words is None else element(words, text, draw)


def _is_drawn(words: list[Attribute], text: str) -> bool:
    # A lesson has no picture, and the author's own comes first.
    return bool(text) and not re.search("^lesson:", text, re.MULTILINE) and all(name != "poster" for name, _ in words)


def _image(svg: str) -> str:
    found = re.search("<title>(.*?)</title>", svg, re.DOTALL)
    alt = " ".join(found[1].split()).replace('"', "&quot;") if found else ""
    return f'<img src="data:image/svg+xml,{urllib.parse.quote(svg.strip(), safe=_UNESCAPED)}" alt="{alt}">'


def _escape(text: str) -> str:
    return html.escape(text, quote=False).replace('"', "&quot;")
