"""A plugin of MkDocs: fenced blocks as elements, the page beside the site, and the script on each page."""

from __future__ import annotations

from pathlib import Path

from mkdocs.config import config_options
from mkdocs.config.base import Config
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.plugins import BasePlugin

from ._command import copy_page

FOLDER = "loopscope"


class LoopscopeConfig(Config):
    """Options of the plugin."""

    #: Draws pictures for readers without JavaScript.
    pictures = config_options.Type(bool, default=True)


class LoopscopePlugin(BasePlugin[LoopscopeConfig]):  # type: ignore[no-untyped-call]
    """``plugins: [search, loopscope]``."""

    def on_config(self, config: MkDocsConfig) -> MkDocsConfig:
        """Adds the extension and the script."""
        config.markdown_extensions.append("loopscope.markdown")
        language = config.theme.get("language") or config.theme.get("locale") or "en"
        config.mdx_configs["loopscope.markdown"] = {"lang": str(language), "pictures": self.config.pictures}
        config.extra_javascript.append(f"{FOLDER}/embed.js")
        return config

    def on_post_build(self, *, config: MkDocsConfig) -> None:
        """Copies the page."""
        copy_page(Path(config.site_dir) / FOLDER)
