# May import nothing.
"""Pages for browsers. Their sources lie here as files; `page` joins them to one file that loads nothing."""

from __future__ import annotations

import re
from html import escape
from pathlib import Path

FOLDER = Path(__file__).parent
LOADED = re.compile(r'<link rel="stylesheet" href="([\w.-]+)">|<script src="([\w.-]+)"></script>')


def page(name, title=None, scripts=()) -> str:
    """The text of a page, such as "model.html", with its style sheets and scripts written into it. `given` has further scripts."""
    def inlined(match):
        style, script = match.groups()
        text = scripts[script] if script in scripts else FOLDER.joinpath(style or script).read_text(encoding="utf-8")
        return f"<style>\n{text}</style>" if style else f"<script>\n{in_page(text)}</script>"

    text = FOLDER.joinpath(name).read_text(encoding="utf-8")
    return LOADED.sub(inlined, text if title is None else text.replace("@title@", escape(title)))


def in_page(text) -> str:
    """The same script or JSON, in which no tag ends: within texts and comments, `<\\/` means `</`."""
    return text.replace("</", "<\\/").replace("<!--", "<\\!--")
