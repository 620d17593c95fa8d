"""Which pairs can be loaded beside the one in use, and which not at all: by name, files and bytes."""

import json
from dataclasses import replace
from pathlib import Path

import pytest
import torch
from safetensors.torch import save_file

from completion_server.engine.pair_loader import Needs, PairLoader
from completion_server.engine.turns import Turns
from completion_server.errors import ModelNotFound, SettingsError
from completion_server.folders import config_folder
from completion_server.models import device
from completion_server.models.device import BFLOAT16, FLOAT32
from completion_server.models.footprint import Footprint, footprint
from completion_server.settings import EngineSettings, MemoryBudget

SETTINGS = EngineSettings(pair="small", device="cpu", dtype="float32", context_tokens=100, slots=2)
WEIGHTS = 1_000_000  # of the model `small`


def model(folder: Path, weights: int, **more: object) -> None:
    """Of 4 layers with 2 heads of 8 for keys and values."""
    folder.mkdir()
    config = {
        "model_type": "llama",
        "hidden_size": 64,
        "num_attention_heads": 8,
        "num_key_value_heads": 2,
        "num_hidden_layers": 4,
        **more,
    }
    (folder / "config.json").write_text(json.dumps(config))
    save_file({"weight": torch.zeros(weights // 2, 2, dtype=torch.bfloat16)}, folder / "model.safetensors")


@pytest.fixture
def loader(tmp_path: Path) -> PairLoader:
    """Knows `small`, `big` of three times the size, and `absent`."""
    model(tmp_path / "small", WEIGHTS)
    model(tmp_path / "big", 3 * WEIGHTS)
    config_folder().mkdir(parents=True)
    entries = [f"[[pair]]\nname = '{name}'\ntarget = '{tmp_path / name}'\n" for name in ("small", "big", "absent")]
    (config_folder() / "pairs.toml").write_text("\n".join(entries))
    return PairLoader(SETTINGS, Turns())


def free(monkeypatch: pytest.MonkeyPatch, amount: int) -> None:
    monkeypatch.setattr(device, "free_memory", lambda _: amount)


def test_bytes_of_a_model_are_read_off_its_files(tmp_path: Path) -> None:
    model(tmp_path / "m", 1_000)
    # Four bytes a weight and a quarter more; keys and values of 4 layers × 2 heads × 8, of 4 bytes each.
    assert footprint(tmp_path / "m", FLOAT32) == Footprint(5_000, 2 * 4 * 2 * 8 * 4)
    assert footprint(tmp_path / "m", BFLOAT16) == Footprint(2_500, 2 * 4 * 2 * 8 * 2)
    model(tmp_path / "q", 1_000, quantization_config={"quant_method": "awq"})
    size = (tmp_path / "q" / "model.safetensors").stat().st_size
    assert footprint(tmp_path / "q", FLOAT32).weights == int(1.25 * size)


def test_there_is_room_beside_where_no_document_has_less() -> None:
    settings = replace(SETTINGS, kv_budget=MemoryBudget(share=0.5))
    needs = Needs(weights=100, kv=50)
    assert needs.fit_beside(200, settings)  # 100 are left, half of them for keys and values
    assert not needs.fit_beside(199, settings)
    assert needs.fit_beside(151, replace(settings, kv_budget=MemoryBudget(share=1.0)))
    assert not needs.fit_beside(99, replace(settings, kv_budget=MemoryBudget(share=1.0)))


@pytest.mark.parametrize(("gigabytes", "beside"), [(1.0, True), (0.011, False)])
def test_memory_decides_between_beside_and_instead(
    monkeypatch: pytest.MonkeyPatch, loader: PairLoader, gigabytes: float, beside: bool
) -> None:
    free(monkeypatch, int(gigabytes * 1e9))  # `big` needs 15 MB, `small` gives 5 MB back
    candidate = loader.find("big")
    assert (candidate.pair, candidate.beside) == ("big", beside)


def test_what_fits_in_no_way_is_refused_in_one_line(monkeypatch: pytest.MonkeyPatch, loader: PairLoader) -> None:
    free(monkeypatch, 1_000_000)
    with pytest.raises(SettingsError, match=r"^big needs about 0\.0 GiB and there are 0\.0 GiB, .*smaller pair$"):
        loader.find("big")


def test_an_unknown_pair_and_one_whose_model_is_not_here(loader: PairLoader) -> None:
    with pytest.raises(SettingsError, match="no pair is called 'nonsense'"):
        loader.find("nonsense")
    with pytest.raises(ModelNotFound, match="there is no folder"):
        loader.find("absent")


def test_a_draft_asked_for_by_hand_stays_with_its_pair(
    monkeypatch: pytest.MonkeyPatch, loader: PairLoader, tmp_path: Path
) -> None:
    from completion_server.engine import loading

    asked: list[EngineSettings] = []
    monkeypatch.setattr(loading, "load_engine", lambda settings, *_: asked.append(settings))
    free(monkeypatch, 10**9)
    given = replace(SETTINGS, pair=None, target=str(tmp_path / "small"), draft="n-gram", threads=3)
    by_hand = PairLoader(given, Turns())
    by_hand.load(lambda *_: None)
    by_hand.find("big").load(lambda *_: None)
    by_hand.load(lambda *_: None)  # the first pair again
    assert [(one.pair, one.target, one.draft) for one in asked] == [
        (None, given.target, "n-gram"),
        ("big", None, None),
        (None, given.target, "n-gram"),
    ]
    assert {one.threads for one in asked} == {3}


def test_threads_are_those_that_torch_had_before_any_pass(monkeypatch: pytest.MonkeyPatch, loader: PairLoader) -> None:
    from completion_server.engine import loading

    asked: list[int] = []
    monkeypatch.setattr(loading, "load_engine", lambda settings, *_: asked.append(settings.threads))
    for seen in (2, 1):  # a pass on one thread came in between
        monkeypatch.setattr(torch, "get_num_threads", lambda seen=seen: seen)
        loader.load(lambda *_: None)
    assert asked == [2, 2]
