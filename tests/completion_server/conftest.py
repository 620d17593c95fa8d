"""Tokenizers for tests: the real one of Qwen2.5, and two built here in the manner of GPT-2 and of Llama."""

import lzma
from pathlib import Path

import pytest
from tokenizers import AddedToken, Tokenizer, decoders, models, normalizers, pre_tokenizers, processors, trainers

from completion_server.tokenization import TextTokenizer

_ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="session")
def qwen_backend() -> Tokenizer:
    return Tokenizer.from_str(lzma.open(_ROOT / "tests/data/qwen2.5-tokenizer.json.xz", "rt", encoding="utf-8").read())


@pytest.fixture(scope="session")
def qwen(qwen_backend: Tokenizer) -> TextTokenizer:
    return TextTokenizer(qwen_backend, end_ids=[151643, 151645])


@pytest.fixture(scope="session")
def gpt2_like_backend() -> Tokenizer:
    """Byte-level; a line break and the indentation behind it are one chunk."""
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.post_processor = processors.ByteLevel(trim_offsets=True)
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=600,
        special_tokens=["<|endoftext|>", "<fim_prefix>", "<fim_middle>", "<fim_suffix>"],
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    files = sorted((_ROOT / "completion_server/prompts").glob("*.py"))
    tokenizer.train_from_iterator([file.read_text() for file in files], trainer)
    return tokenizer


@pytest.fixture(scope="session")
def gpt2_like(gpt2_like_backend: Tokenizer) -> TextTokenizer:
    return TextTokenizer(gpt2_like_backend, end_ids=[0])


@pytest.fixture(scope="session")
def llama_like_backend() -> Tokenizer:
    """Byte fallback, no chunks, a space before every text, `<s>` in front."""
    pieces = ["<unk>", "<s>", "</s>", *(f"<0x{byte:02X}>" for byte in range(256)), *"▁abcdefghijklmnopqrstuvwxyz()=:"]
    merges = [("d", "e"), ("de", "f"), ("▁", "def"), ("▁", "▁"), ("▁▁", "▁▁"), ("r", "e"), ("▁", "re"), ("i", "f")]
    pieces += ["".join(pair) for pair in merges]
    vocabulary = {piece: index for index, piece in enumerate(pieces)}
    tokenizer = Tokenizer(models.BPE(vocabulary, merges, unk_token="<unk>", byte_fallback=True, fuse_unk=True))
    tokenizer.normalizer = normalizers.Sequence([normalizers.Prepend("▁"), normalizers.Replace(" ", "▁")])
    tokenizer.decoder = decoders.Sequence([decoders.Replace("▁", " "), decoders.ByteFallback(), decoders.Fuse()])
    tokenizer.add_special_tokens([AddedToken(piece, normalized=False) for piece in ("<unk>", "<s>", "</s>")])
    tokenizer.post_processor = processors.TemplateProcessing(single="<s> $A", special_tokens=[("<s>", 1)])
    return tokenizer


@pytest.fixture(scope="session")
def llama_like(llama_like_backend: Tokenizer) -> TextTokenizer:
    return TextTokenizer(llama_like_backend, end_ids=[2])


@pytest.fixture(scope="session", params=["qwen", "gpt2_like", "llama_like"])
def tokenizer(request: pytest.FixtureRequest) -> TextTokenizer:
    return request.getfixturevalue(request.param)
