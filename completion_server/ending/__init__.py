"""Where the text of a suggestion ends."""

from completion_server.ending.ending import Ending as Ending
from completion_server.ending.ending import ending_of as ending_of
from completion_server.ending.raw_text import RawText as RawText
