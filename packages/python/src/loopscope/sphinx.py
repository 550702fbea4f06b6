"""An extension of Sphinx: ``.. loopscope::`` and fenced blocks as elements, the page in ``_static``, and the script on each page.

Output other than HTML shows the manifest as code.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.config import Config
from sphinx.transforms import SphinxTransform
from sphinx.transforms.post_transforms import SphinxPostTransform
from sphinx.util import logging
from sphinx.util.docutils import SphinxDirective

from ._command import copy_page
from ._picture import draw
from .block import ATTRIBUTES, BlockError, Draw, element, embed

FOLDER = "loopscope"
#: Attribute of a block of code with the HTML that stands for it.
HTML = "loopscope"
logger = logging.getLogger(__name__)


def _draw(config: Config) -> Draw | None:
    return draw(config.language) if config.loopscope_pictures else None


def _value(argument: str | None) -> str | None:
    return argument


class LoopscopeDirective(SphinxDirective):
    """``.. loopscope::`` with attributes as options, and the manifest as content."""

    has_content = True
    option_spec = {name: _value for name in ATTRIBUTES}

    def run(self) -> list[nodes.Node]:
        """Returns a block of code with its element."""
        text = "\n".join(self.content)
        block = nodes.literal_block(text, text, language="yaml")
        block[HTML] = element(list(self.options.items()), text, _draw(self.config))
        self.set_source_info(block)
        return [block]


class BlockTransform(SphinxTransform):
    """Finds the blocks of code that ask for an element by their language."""

    default_priority = 200

    def apply(self, **_: Any) -> None:
        """Marks the blocks of a document."""
        for block in self.document.findall(nodes.literal_block):
            try:
                html = embed(block.get("language", ""), block.astext(), _draw(self.config))
            except BlockError as error:
                logger.warning(str(error), location=block, type="loopscope")
                continue
            if html is not None:
                block[HTML], block["language"] = html, "yaml"


class ElementTransform(SphinxPostTransform):
    """Puts elements in the place of their blocks, in HTML."""

    default_priority = 200
    formats = ("html",)

    def run(self, **_: Any) -> None:
        """Replaces the blocks of a document."""
        for block in list(self.document.findall(nodes.literal_block)):
            if HTML in block:
                block.replace_self(nodes.raw("", block[HTML], format="html"))


def _copy(app: Sphinx, error: Exception | None) -> None:
    if error is None and app.builder.format == "html":
        copy_page(Path(app.outdir) / "_static" / FOLDER)


def setup(app: Sphinx) -> dict[str, Any]:
    """Registers the extension."""
    app.add_config_value("loopscope_pictures", True, "env")
    app.add_directive("loopscope", LoopscopeDirective)
    app.add_transform(BlockTransform)
    app.add_post_transform(ElementTransform)
    app.add_js_file(f"{FOLDER}/embed.js", loading_method="defer")
    app.connect("build-finished", _copy)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
