"""A plugin of MkDocs: fenced blocks as elements, the page beside the site, and the script on each page."""

from __future__ import annotations

from pathlib import Path

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.plugins import BasePlugin

from ._command import copy_page

FOLDER = "loopscope"


class LoopscopePlugin(BasePlugin):  # type: ignore[no-untyped-call,type-arg]
    """``plugins: [search, loopscope]``."""

    def on_config(self, config: MkDocsConfig) -> MkDocsConfig:
        """Adds the extension and the script."""
        config.markdown_extensions.append("loopscope.markdown")
        config.extra_javascript.append(f"{FOLDER}/embed.js")
        return config

    def on_post_build(self, *, config: MkDocsConfig) -> None:
        """Copies the page."""
        copy_page(Path(config.site_dir) / FOLDER)
