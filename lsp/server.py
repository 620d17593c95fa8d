"""The language server: LSP in, LSP out. What to show is decided by `completor`, one for each open document.

Run as `python -m lsp` or `foretype lsp`. Loads neither torch nor transformers nor numpy; `initialize` is answered
before anything is done about the engine.
"""

import argparse
import asyncio
import logging
import time
from collections.abc import Sequence
from dataclasses import replace
from itertools import count
from typing import Any

from lsprotocol import types
from pygls.lsp.server import LanguageServer

from completion_server import __version__
from completion_server.client import connect, connect_or_start
from completion_server.protocol import Usage
from lsp import commands, features
from lsp.answer import Answer
from lsp.audience import Audience
from lsp.completor import Completor
from lsp.document import Document
from lsp.engine_link import Connect, Engine, EngineLink, OnState
from lsp.events import Listener
from lsp.figures import Figures
from lsp.item import to_items
from lsp.logs import configure_logging
from lsp.neighbours import Neighbours
from lsp.reporter import EditorReporter
from lsp.reports import Reports
from lsp.settings import Settings, read_settings
from lsp.totals import Totals
from lsp.trace import METHOD as TRACE
from lsp.trace import trace_params
from lsp.warmer import Warmer
from lsp.wire import WireProtocol

logger = logging.getLogger(__name__)

GROW = "foretype/grow"

_RequestId = int | str | None

_NOTEBOOKS = types.NotebookDocumentSyncOptions([types.NotebookDocumentFilterWithNotebook(notebook="*")])


class Server(LanguageServer):
    """Holds the documents' completors, the link to the engine, and those who hear what becomes of suggestions.

    `engine` replaces the way to one, for tests; `listeners` hear of every event beside the totals of the status.
    """

    protocol: WireProtocol

    def __init__(self, engine: Connect | None = None, listeners: Sequence[Listener] = ()) -> None:
        super().__init__("foretype", __version__, protocol_cls=WireProtocol, notebook_document_sync=_NOTEBOOKS)
        self.protocol.on_close = self._close
        self.settings = Settings()
        self.may_begin_below = False  # see `trim.Surroundings`
        self.pair: str | None = None  # that a person chose, over that of the settings
        self.log_file: str | None = None
        self.figures = Figures()
        self.totals = Totals()
        self.reports = Reports(lambda report: self.link.report(report))
        self.audience = Audience([self.totals, self.reports, *listeners])
        self.reporter = EditorReporter(self)
        self.link = EngineLink(engine or self._connect, self.reporter)
        self.warmer = Warmer()
        self._completors: dict[str, Completor] = {}
        self._neighbours = Neighbours(
            lambda document: self.protocol.documents().cells(document), self.completor, self._completors.values
        )
        self._active: Completor | None = None
        self._ids = count(1)
        self._problems: list[str] = []

    # -- what the features below call ----------------------------------------------------------------------------------

    def configure(self, options: object) -> None:
        """Take settings; what is wrong with them is told once the client is ready to hear it."""
        self.settings, self._problems = read_settings(options)
        self.audience.enabled = self.reports.enabled = self.settings.events
        for completor in self._completors.values():
            completor.configure(self.settings)

    def begin(self) -> None:
        """The client is ready: tell it what is wrong with its settings, and look for an engine if there is need."""
        if self._problems:
            message = "Foretype: " + " ".join(self._problems)
            self.window_show_message(types.ShowMessageParams(types.MessageType.Warning, message))
            self._problems = []
        if self.settings.enabled and not self.link.halted:
            self.link.start()

    def completor(self, uri: str) -> Completor | None:
        """The completor of an open document."""
        document = self.protocol.documents().find(uri)
        if document is None:
            return None
        if document.key not in self._completors:
            documents = self.protocol.documents()
            self._completors[document.key] = Completor(
                document,
                documents.relative_path(document),
                documents.paths_of(document),
                self.link,
                self.settings,
                new_id=lambda: f"s{next(self._ids)}",
                grow=self._grow,
                neighbours=self._neighbours,
                may_begin_below=self.may_begin_below,
            )
            document.listen(lambda edit: self.audience.on_edit(document, edit))
        return self._completors[document.key]

    def touched(self, uri: str) -> None:
        """A document was opened or edited: any prefill gives way, and begins anew when the typing rests."""
        self.warmer.cancel()
        completor = self.completor(uri)
        if completor is not None:
            self._active = completor
            self.warmer.schedule(completor)

    def looked(self, uri: str, position: types.Position) -> None:
        """The person has gone to `position`: where they rest the text is prefilled, before their first key there."""
        completor = self.completor(uri)
        if completor is not None:
            self._active = completor
            completor.last_cursor = completor.document.position(position)
            self.warmer.schedule(completor)

    async def suggest(self, params: types.InlineCompletionParams) -> types.InlineCompletionList:
        """Answer one request. Raises `asyncio.CancelledError` where the client has cancelled it."""
        self.warmer.cancel()
        completor = self.completor(params.text_document.uri)
        if completor is None:
            return types.InlineCompletionList([])
        self._active = completor
        version, cursor = completor.document.version, completor.document.position(params.position)
        request = self.protocol.msg_id
        received = time.monotonic()
        answer = Answer("error", version, cursor)
        try:
            invoked = params.context.trigger_kind == types.InlineCompletionTriggerKind.Invoked
            answer = await completor.suggest(cursor, invoked=invoked)
            items = to_items(completor.document, answer, params.context)
            if answer.ghosts and not items:
                answer = replace(answer, outcome="unwanted", ghosts=())
        except asyncio.CancelledError:
            answer = Answer("cancelled", version, cursor)
            raise
        finally:
            self._trace(request, params, answer)
            self.reports.answered(answer, completor.document.language, received)
        for item, ghost in items:
            self.audience.offered(completor.document, ghost, str(item.insert_text))
        self._count(answer.usage)
        self._begin_growth(request, params, answer)
        return types.InlineCompletionList([item for item, _ in items])

    def prefer(self, document: Document, own_id: str) -> None:
        """The suggestion that a person sees in `document`."""
        if (completor := self._completors.get(document.key)) is not None:
            completor.prefer(own_id)

    def engine_ready(self) -> None:
        """The models are loaded: prefill where the person is."""
        if self._active is not None:
            self.warmer.schedule(self._active)

    def report_server_error(self, error: Exception, source: Any) -> None:  # noqa: ARG002
        """Not into the editor: it is no trouble that a person could mend, and its text may be theirs."""
        logger.error("a message could not be handled: %s", type(error).__name__)

    # -- private -------------------------------------------------------------------------------------------------------

    async def _connect(self, on_state: OnState) -> Engine:
        if self.settings.engine.start:
            return await connect_or_start(name="lsp", pair=self.pair or self.settings.pair, on_state=on_state)
        return await connect(name="lsp", on_state=on_state)

    def _close(self, document: Document) -> None:
        self._neighbours.forget(document)
        self.audience.closed(document)
        completor = self._completors.pop(document.key, None)
        if completor is not None:
            completor.close()
        if completor is self._active:
            self._active = None
            self.warmer.cancel()

    def _trace(self, request: _RequestId, params: types.InlineCompletionParams, answer: Answer) -> None:
        if self.settings.trace:
            self.protocol.notify(TRACE, trace_params(request, params.text_document.uri, answer))

    def _count(self, usage: Usage | None) -> None:
        if usage is not None:
            self.figures.take(usage)
            self.reporter.refresh()

    def _begin_growth(self, request: _RequestId, params: types.InlineCompletionParams, answer: Answer) -> None:
        growth = answer.growth
        if growth is None:
            return
        if answer.outcome == "growing":

            def grown(usage: Usage | None) -> None:
                self._count(usage)
                self._trace(request, params, replace(answer, outcome="grown", usage=usage))

            growth.when_over = grown
        self.protocol.after_reply(request, growth.begin)

    def _grow(self, own_id: str, text: str, done: bool) -> None:
        self.audience.grew(own_id, text)
        self.protocol.notify(GROW, {"id": own_id, "text": text, "done": done})


def create_server(engine: Connect | None = None, listeners: Sequence[Listener] = ()) -> Server:
    """A server that is ready to run, not yet running."""
    server = Server(engine, listeners)
    features.register(server)
    commands.register(server)
    return server


def run(log_file: str | None = None) -> int:
    """Serve one editor on stdin and stdout until it hangs up. The exit code: 1 where it did so without `shutdown`."""
    configure_logging(log_file)
    server = create_server()
    server.log_file = log_file
    server.start_io()
    return 0 if server.protocol.shut_down else 1


def main(argv: Sequence[str] | None = None) -> int:
    """Entry point of `python -m lsp`."""
    parser = argparse.ArgumentParser(
        prog="foretype lsp", description="Foretype's language server, on stdin and stdout."
    )
    parser.add_argument(
        "--stdio", action="store_true", help="accepted because editors append it; there is no other way"
    )
    parser.add_argument("--log-file", metavar="FILE", help="write the log there, not to stderr; never holds user text")
    arguments = parser.parse_args(argv)
    return run(arguments.log_file)
