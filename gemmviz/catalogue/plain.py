"""The type of data that is read from elsewhere and not checked yet, and of data that is made only to be written."""

from typing import Any

Plain = dict[str, Any]
"""Texts, numbers, lists, dictionaries and, between processes, arrays; see `gemmviz.engine.messages` for typed forms."""
