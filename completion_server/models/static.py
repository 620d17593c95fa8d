"""A decoder whose passes have a few fixed shapes, each recorded as a CUDA graph: how models run on a GPU.

Same `forward` as `Decoder`; whoever feeds it need not know. What a row feeds is cut into pieces (`pieces`), pieces of
several rows share a pass, what is missing is padding. On a CPU the same passes run without graphs.

One canonical width makes lossless exact in bf16: with a single narrow width in the plan, every token whose logits are
wanted goes through a pass equally wide at the same bucket, alone or behind drafts, so its bits are the same. A pass of
more *rows* is another arithmetic: in bf16 a token may come out otherwise when several editors share a pass.

Knows nothing of requests, text or drafting.
"""

from collections import deque
from collections.abc import Callable, Iterator, Sequence

import torch
from torch import Tensor
from transformers import PreTrainedModel

from completion_server.errors import UnsupportedModel
from completion_server.kv.memory import KvMemory
from completion_server.kv.static_memory import StaticMemory, cells_for
from completion_server.models import static_attention
from completion_server.models.decoder import Decoder, Feed
from completion_server.models.graphs import Graphs, Run
from completion_server.models.pieces import Piece, Plan, at_least, cut
from completion_server.models.static_pass import PassShape, padding, run_pass

TARGET = Plan()
DRAFT = Plan(narrow=(1, 2, 16), rows=(1,))  # a draft's bits are nobody's concern, and its rows come one by one


class PreparedPass:
    """A shape's input tensor and what runs on it."""

    def __init__(self, model: PreTrainedModel, memory: StaticMemory, shape: PassShape) -> None:
        self.inputs = padding(memory, shape)
        self.run: Run = lambda: run_pass(model, memory, shape, self.inputs)


class StaticDecoder(Decoder):
    """A `Decoder` of fixed shapes over a `StaticMemory`; over any other memory it is an ordinary one.

    `graphs` record what `prepare` is asked to; a shape that was not prepared runs as it is, which is slower and gives
    the same. `eight_bit` holds keys and values in int8. Raises UnsupportedModel as `Decoder` does.
    """

    def __init__(
        self, model: PreTrainedModel, plan: Plan = TARGET, *, graphs: Graphs | None = None, eight_bit: bool = False
    ) -> None:
        super().__init__(model)
        static_attention.register()
        model.set_attn_implementation(static_attention.NAME)
        if model.config._attn_implementation != static_attention.NAME:
            raise UnsupportedModel(f"{model.config.model_type} models do not let their attention be exchanged")
        self.plan = plan
        self.graphs = graphs or Graphs(self.device)
        self._eight_bit = eight_bit

    def memory(self, slots: int, capacity: int, *, states: bool = False) -> StaticMemory:
        """Memory for `slots` sequences, and one place more. It is allocated at once: graphs must know where it is.

        Raises UnsupportedModel where hidden states are to be kept too.
        """
        if states:
            raise UnsupportedModel(
                "this draft reads the target's hidden states, which passes of fixed shape do not keep; "
                "set static_passes = off or choose another draft"
            )
        shape = self.kv_shape
        return StaticMemory(shape, slots, capacity, self.dtype, self.device, eight_bit=self._eight_bit)

    def slot_bytes(self, capacity: int) -> int:
        """Bytes of one place of such a memory."""
        cells = cells_for(capacity)
        if not self._eight_bit:
            return self.kv_shape.position_bytes(self.dtype) * cells
        scales = 2 * self.kv_shape.layers * self.kv_shape.kv_heads * self.dtype.itemsize
        return (self.kv_shape.position_bytes(torch.int8) + scales) * cells

    def shapes(self, memory: StaticMemory) -> Iterator[PassShape]:
        """Every shape that a pass over `memory` can have; those of one narrow row first."""
        buckets = self.plan.buckets(memory.cells)
        for rows in self.plan.rows:
            if rows <= memory.places:
                yield from (PassShape(rows, width, bucket) for bucket in buckets for width in self.plan.narrow)
        yield from (PassShape(1, width, bucket, logits=False) for bucket in buckets for width in self.plan.wide)

    def prepare(self, memory: StaticMemory, progress: Callable[[float], None] = lambda _: None) -> None:
        """Record every shape, so that no request has to wait for it. `progress` is told the share that is done."""
        shapes = list(self.shapes(memory))
        for done, shape in enumerate(shapes):
            found = self._pass(memory, shape)
            found.run = self.graphs.record(found.run)
            progress((done + 1) / len(shapes))

    @torch.inference_mode()
    def forward(self, memory: KvMemory, feeds: Sequence[Feed]) -> list[Tensor]:
        """As `Decoder.forward`, in as many passes as the pieces need: wide ones one by one, narrow ones together."""
        if not isinstance(memory, StaticMemory):
            return super().forward(memory, feeds)
        buckets = self.plan.buckets(memory.cells)
        waiting = [deque(cut(f.start, len(f.tokens), f.logits, self.plan, buckets)) for f in feeds]
        found: list[list[Tensor]] = [[] for _ in feeds]
        most = max(rows for rows in self.plan.rows if rows <= memory.places)
        while any(waiting):
            turn = [i for i, pieces in enumerate(waiting) if pieces and pieces[0].wide][:1]
            turn = turn or [i for i, pieces in enumerate(waiting) if pieces][:most]
            batch = [(feeds[i], waiting[i].popleft()) for i in turn]
            for i, logits in zip(turn, self._together(memory, batch), strict=True):
                found[i].append(logits)
        return [parts[0] if len(parts) == 1 else torch.cat(parts) for parts in found]

    def _together(self, memory: StaticMemory, batch: list[tuple[Feed, Piece]]) -> list[Tensor]:
        """One pass; per piece the logits that it wants, copied out of what the next pass overwrites."""
        rows = at_least(self.plan.rows, len(batch))
        width, bucket = (max(getattr(piece, size) for _, piece in batch) for size in ("width", "bucket"))
        shape = PassShape(rows, width, bucket, logits=not batch[0][1].wide)
        places = memory.bring([feed.slot for feed, _ in batch], rows)
        filled = self._pass(memory, shape)
        filled.inputs.copy_(self._inputs(memory, shape, batch, places), non_blocking=True)
        logits = filled.run()
        self.passes += 1
        wanted = []
        for (feed, piece), place in zip(batch, places, strict=True):
            memory.written(feed.slot, piece.start + piece.count)
            end = place * width + piece.count if piece.logits else 0
            wanted.append(logits[end - piece.logits : end].clone())
        return wanted

    def _inputs(
        self, memory: StaticMemory, shape: PassShape, batch: list[tuple[Feed, Piece]], places: Sequence[int]
    ) -> Tensor:
        """Ids, positions and cells, on the host: a tensor that is not pinned may be forgotten once it is being sent."""
        ids, positions = [0] * shape.tokens, [0] * shape.tokens
        cells = [memory.base(row) + memory.scratch for row in range(shape.rows) for _ in range(shape.width)]
        for (feed, piece), place in zip(batch, places, strict=True):
            at, stop = place * shape.width, place * shape.width + piece.count
            first = piece.start - feed.start
            ids[at:stop] = feed.tokens[first : first + piece.count]
            positions[at:stop] = range(piece.start, piece.start + piece.count)
            base = memory.base(place)
            cells[at:stop] = range(base + piece.start, base + piece.start + piece.count)
        return torch.tensor([ids, positions, cells])

    def _pass(self, memory: StaticMemory, shape: PassShape) -> PreparedPass:
        found: PreparedPass | None = memory.prepared.get(shape)
        if found is None:
            found = memory.prepared[shape] = PreparedPass(self.model, memory, shape)
        return found
