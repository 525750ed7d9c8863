"""The types of tables that are not checked yet, and of data that is made only to be written."""

from typing import Any

Plain = dict[str, Any]
"""Texts, numbers, lists, dictionaries and, between processes, arrays; see `gemmviz.engine.messages` for typed forms."""
Unread = dict[str, object]
"""A table of a file as the parser of TOML or JSON returns it: its values have no type before they are checked."""
