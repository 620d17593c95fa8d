"""An engine without a model, for tests of front ends and for demonstrations: `python -m completion_server.scripted`."""

from completion_server.scripted.backend import MAX_QUEUE as MAX_QUEUE
from completion_server.scripted.backend import ScriptedBackend as ScriptedBackend
from completion_server.scripted.script import Rule as Rule
from completion_server.scripted.script import Script as Script
from completion_server.scripted.script import read_script as read_script
