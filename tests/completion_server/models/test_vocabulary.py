"""Drafts whose output layer scores only some tokens: the file that names them, and the layer that fits it."""

import dataclasses
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file, save_file
from tokenizers import Tokenizer
from transformers import PreTrainedTokenizerFast

from completion_server.engine.engine import Engine
from completion_server.engine.job import Job
from completion_server.engine.loading import load_engine
from completion_server.errors import PairMismatch
from completion_server.models import loader, vocabulary
from completion_server.models.decoder import Feed
from completion_server.models.device import choose_arithmetic
from completion_server.models.tiny import tiny_model, tiny_tokenizer
from completion_server.protocol import Complete, Context, Decoding, EngineMessage, Limits, Result
from completion_server.settings import EngineSettings
from speculative import FixedPolicy

CPU = torch.device("cpu")
IDS = torch.arange(0, 304, 3)


def save(folder: Path, tokenizer: Tokenizer, *, seed: int = 0) -> Path:
    tiny_model(tokenizer, seed=seed).decoder.model.save_pretrained(folder)
    PreTrainedTokenizerFast(tokenizer_object=tokenizer, eos_token="<|endoftext|>").save_pretrained(folder)  # type: ignore[no-untyped-call]
    return folder


def cut_output(folder: Path, ids: torch.Tensor) -> None:
    """Leave only the rows of `ids` on disk."""
    path = folder / "model.safetensors"
    tensors = load_file(path)
    tensors["lm_head.weight"] = tensors["lm_head.weight"][ids].contiguous()
    save_file(tensors, path, metadata={"format": "pt"})


def logits(model: loader.LoadedModel) -> torch.Tensor:
    memory = model.decoder.memory(1, 16)
    return model.decoder.forward(memory, [Feed(0, 0, [1, 2, 3, 4], 2)])[0]


@pytest.mark.parametrize("on_disk", ["all rows", "these rows"])
def test_the_rows_of_the_map_are_what_the_whole_layer_gives_there(tmp_path: Path, on_disk: str) -> None:
    folder = save(tmp_path / "draft", tiny_tokenizer(), seed=3)
    whole = loader.load(folder, CPU, choose_arithmetic("float64", CPU))
    assert whole.output_ids is None
    vocabulary.write(folder, IDS)
    if on_disk == "these rows":
        cut_output(folder, IDS)
    reduced = loader.load(folder, CPU, choose_arithmetic("float64", CPU))
    assert reduced.output_ids is not None
    assert reduced.output_ids.tolist() == IDS.tolist()
    assert torch.allclose(logits(reduced), logits(whole)[:, IDS])


def ask(engine: Engine, *, drafting: bool) -> Result:
    replies: list[EngineMessage] = []
    context = Context("a.py", 1, "def add(left, right):\n    return ", "", language="python")
    request = Complete(1, context, Limits(max_tokens=24, max_lines=99), Decoding(drafting=drafting))
    engine.add(Job(1, 0, request, 0.0, replies.append, on_close=lambda _: True))
    while engine.busy:
        engine.step()
    engine.disconnect(0)
    (result,) = replies
    assert isinstance(result, Result)
    return result


def test_an_engine_drafts_with_it_and_its_text_is_the_targets(tmp_path: Path) -> None:
    """The draft is the target with a part of its output layer cut off: right where it can say the token."""
    tokenizer = tiny_tokenizer()
    target = save(tmp_path / "target", tokenizer, seed=1)
    draft = save(tmp_path / "draft", tokenizer, seed=1)
    vocabulary.write(draft, torch.arange(0, 280))
    settings = {"device": "cpu", "dtype": "float64", "context_tokens": 256, "slots": 1}
    pair = load_engine(EngineSettings(target=str(target), draft=str(draft), **settings)).pair  # type: ignore[arg-type]
    engine = Engine(dataclasses.replace(pair, drafters=(), policy=FixedPolicy(4)))
    plain, drafted = ask(engine, drafting=False), ask(engine, drafting=True)
    assert drafted.text == plain.text
    assert drafted.usage.accepted_by["model"] > 0


@pytest.mark.parametrize(
    ("ids", "match"),
    [
        (torch.tensor([3, 2]), "must ascend"),
        (torch.tensor([2, 2]), "must ascend"),
        (torch.tensor([-1, 2]), "must ascend"),
        (torch.tensor([1, 2], dtype=torch.int32), "int32"),
        (torch.tensor([[1, 2]]), "must be a list"),
        (torch.tensor([], dtype=torch.int64), "must be a list"),
    ],
)
def test_a_map_that_makes_no_sense_is_refused(tmp_path: Path, ids: torch.Tensor, match: str) -> None:
    vocabulary.write(tmp_path, ids)
    with pytest.raises(PairMismatch, match=match):
        vocabulary.read(tmp_path)


def test_a_file_that_is_no_map_is_refused(tmp_path: Path) -> None:
    assert vocabulary.read(tmp_path) is None
    (tmp_path / vocabulary.FILE).write_bytes(b"nothing")
    with pytest.raises(PairMismatch, match="holds no 'ids'"):
        vocabulary.read(tmp_path)
    save_file({"other": IDS}, tmp_path / vocabulary.FILE)
    with pytest.raises(PairMismatch, match="holds no 'ids'"):
        vocabulary.read(tmp_path)


def test_a_map_that_does_not_fit_the_layer_or_the_target_is_refused(tmp_path: Path) -> None:
    folder = save(tmp_path / "draft", tiny_tokenizer())
    vocabulary.write(folder, torch.tensor([0, 5_000]))
    with pytest.raises(PairMismatch, match="output layer has"):
        loader.load(folder, CPU, choose_arithmetic("float64", CPU))
    vocabulary.write(folder, IDS)
    cut_output(folder, IDS[:-1])
    with pytest.raises(PairMismatch, match="output layer has"):
        loader.load(folder, CPU, choose_arithmetic("float64", CPU))
    vocabulary.check(torch.tensor([0, 319]), 320)
    with pytest.raises(PairMismatch, match="names token 320"):
        vocabulary.check(torch.tensor([0, 320]), 320)
