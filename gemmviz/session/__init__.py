"""The state of a session: choice, playback, results; observable and without Qt, so that tests and scripts drive it."""

from gemmviz.session.models.findings import FindingGroup
from gemmviz.session.models.playback import SPEEDS
from gemmviz.session.session import Session
from gemmviz.session.values.message import Answer, Message
from gemmviz.session.values.picture_size import picture_params

__all__ = [
    "SPEEDS",
    "Answer",
    "FindingGroup",
    "Message",
    "Session",
    "picture_params",
]
