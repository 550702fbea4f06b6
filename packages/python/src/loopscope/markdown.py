"""An extension of Python-Markdown that turns fenced blocks into ``<loop-scope>`` elements."""

from __future__ import annotations

import re
from typing import Any

from markdown import Markdown
from markdown.extensions import Extension
from markdown.preprocessors import Preprocessor

from ._picture import draw
from .block import Draw, embed

_OPENING = re.compile(r"^([ \t]*)(`{3,}|~{3,})\s*([^`]*?)\s*$")


class BlockPreprocessor(Preprocessor):
    """Replaces blocks by HTML before fenced code is read."""

    def __init__(self, md: Markdown, draw: Draw | None) -> None:
        super().__init__(md)
        self._draw = draw

    def run(self, lines: list[str]) -> list[str]:
        """Replaces the blocks of a page."""
        out: list[str] = []
        at = 0
        while at < len(lines):
            opening = _OPENING.match(lines[at])
            if not opening:
                out.append(lines[at])
                at += 1
                continue
            indent, fence, info = opening.groups()
            closing = re.compile(rf"^[ \t]*{re.escape(fence[0])}{{{len(fence)},}}\s*$")
            end = next((line for line in range(at + 1, len(lines)) if closing.match(lines[line])), len(lines))
            body = [line.removeprefix(indent) for line in lines[at + 1 : end]]
            found = embed(info, "\n".join(body), self._draw)
            if found is None:
                out += lines[at : end + 1]
            else:
                out += ["", indent + self.md.htmlStash.store(found), ""]
            at = end + 1
        return out


class LoopscopeExtension(Extension):
    """Turns fenced blocks into elements; the page has to load ``embed.js``."""

    def __init__(self, **options: Any) -> None:
        self.config = {
            "lang": ["en", "Language of the pictures"],
            "pictures": [True, "Draw pictures for readers without JavaScript"],
        }
        super().__init__(**options)

    def extendMarkdown(self, md: Markdown) -> None:
        """Registers the preprocessor."""
        # Otherwise the element would be put into a paragraph, which cannot hold <pre>.
        md.block_level_elements.append("loop-scope")
        pictures = draw(self.getConfig("lang")) if self.getConfig("pictures") else None
        # Before blocks of code (25), and after line ends are made alike (30).
        md.preprocessors.register(BlockPreprocessor(md, pictures), "loopscope", 27)


def makeExtension(**options: Any) -> LoopscopeExtension:
    """Returns the extension, as Python-Markdown asks for it."""
    return LoopscopeExtension(**options)
