"""A distilled draft in its folder, loaded for its target."""

import json
from pathlib import Path

import pytest
import torch
from safetensors.torch import save_file

from completion_server.errors import PairMismatch, UnsupportedModel
from completion_server.models import state_draft, vocabulary
from completion_server.models.device import FLOAT64, INT8
from completion_server.models.loader import LoadedModel
from completion_server.models.tiny import tiny_model
from speculative.distill import Shape, StateDraft, artefact

IDS = torch.tensor([3, 4, 9, 40, 41, 200])


@pytest.fixture(scope="module")
def target() -> LoadedModel:
    return tiny_model(seed=1)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A draft with random weights, as `foretype distill` writes it."""
    torch.manual_seed(0)
    draft = StateDraft(Shape(hidden=48, intermediate=96, norm_eps=1e-6), blocks=2)
    save_file(artefact.tensors(draft), tmp_path / "model.safetensors")
    vocabulary.write(tmp_path, IDS)
    configuration = artefact.configuration(draft, len(IDS), "a tiny target", (0.44, 0.3))
    (tmp_path / "config.json").write_text(json.dumps(configuration))
    return tmp_path


def test_a_step_is_what_was_trained_with_the_rows_of_the_target(target: LoadedModel, folder: Path) -> None:
    model = target.decoder.model
    loaded = state_draft.load(folder, model, folder, FLOAT64)
    state = torch.randn(48, dtype=torch.float64, generator=torch.Generator().manual_seed(0))
    predicted, logits = loaded.step(7, state)
    draft = StateDraft(Shape(hidden=48, intermediate=96, norm_eps=1e-6), blocks=2).double()
    stored = artefact.weights(state_draft.Safetensors().load(folder / "model.safetensors"))
    draft.load_state_dict(stored)
    expected = draft(model.get_input_embeddings().weight[7], state)
    torch.testing.assert_close(predicted, expected)
    torch.testing.assert_close(logits, model.get_output_embeddings().weight[IDS] @ expected)
    assert torch.equal(loaded.output_ids, IDS)
    torch.testing.assert_close(loaded.advance(7, state), expected)
    assert loaded.expected == (0.44, 0.3)


def test_one_that_does_not_say_how_good_it_is_is_loaded_too(target: LoadedModel, folder: Path) -> None:
    configuration = json.loads((folder / "config.json").read_text())
    del configuration["acceptance"]
    (folder / "config.json").write_text(json.dumps(configuration))
    assert state_draft.load(folder, target.decoder.model, folder, FLOAT64).expected == state_draft.UNKNOWN


def test_in_int8_it_says_nearly_the_same(target: LoadedModel, folder: Path) -> None:
    state = torch.randn(48, generator=torch.Generator().manual_seed(0))
    exact = state_draft.load(folder, target.decoder.model, folder, FLOAT64).step(7, state.double())[1]
    model = tiny_model(seed=1, dtype=torch.float32).decoder.model
    coarse = state_draft.load(folder, model, folder, INT8).step(7, state)[1]
    assert (coarse - exact).abs().max() < 0.02 * exact.abs().max()


def test_only_its_own_kind_is_one(folder: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    assert state_draft.is_state_draft(folder)
    other = tmp_path_factory.mktemp("other")
    assert not state_draft.is_state_draft(other)
    (other / "config.json").write_text('{"model_type": "llama"}')
    assert not state_draft.is_state_draft(other)


def test_the_draft_of_another_target_is_refused(folder: Path) -> None:
    with pytest.raises(PairMismatch, match="made for a tiny target"):
        state_draft.load(folder, tiny_model(hidden=64).decoder.model, folder, FLOAT64)


@pytest.mark.parametrize("lost", ["model.safetensors", "vocabulary.safetensors"])
def test_a_folder_that_is_not_whole_is_refused(target: LoadedModel, folder: Path, lost: str) -> None:
    (folder / lost).unlink()
    with pytest.raises(UnsupportedModel, match="distill or copy it anew"):
        state_draft.load(folder, target.decoder.model, folder, FLOAT64)


def test_weights_of_another_shape_are_refused(target: LoadedModel, folder: Path) -> None:
    save_file({"fuse.weight": torch.zeros(3, 3)}, folder / "model.safetensors")
    with pytest.raises(UnsupportedModel, match="not whole"):
        state_draft.load(folder, target.decoder.model, folder, FLOAT64)
