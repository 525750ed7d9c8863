"""What is chosen, playing and measured: observable, and without Qt, so that tests and scripts can drive it."""

from gemmviz.bench.figures import Row, Samples
from gemmviz.session.found import Entry, Found
from gemmviz.session.picture import picture_params
from gemmviz.session.playback import SPEEDS
from gemmviz.session.state import Answer, Message, Session

__all__ = ["SPEEDS", "Answer", "Entry", "Found", "Message", "Row", "Samples", "Session", "picture_params"]
