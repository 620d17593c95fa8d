"""Tiny random models with a byte-level tokenizer, made on the fly: whole engines for tests and for dry runs of benches.

The weights are random but fixed by a seed, so greedy text is arbitrary and reproducible. Knows nothing of files.
"""

from collections.abc import Iterable
from typing import Any

import torch
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedModel, Qwen2Config, Qwen2ForCausalLM

from completion_server.models.loader import LoadedModel, TokenizerFiles, max_positions, wrap

END_OF_TEXT = "<|endoftext|>"
FIM_TOKENS = ("<|fim_prefix|>", "<|fim_suffix|>", "<|fim_middle|>", "<|fim_pad|>", "<|repo_name|>", "<|file_sep|>")
SAMPLE = (
    "def add(left, right):\n    return left + right\n\nclass Point:\n    def __init__(self, x):\n        self.x = x\n"
)


def tiny_tokenizer(*, fim: bool = False, merges: int = 64, text: str = SAMPLE) -> Tokenizer:
    """A byte-level BPE with `merges` merges learned from `text`, an end of text and perhaps Qwen's fill-in tokens."""
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    special = [END_OF_TEXT, *(FIM_TOKENS if fim else ())]
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    trainer = trainers.BpeTrainer(
        vocab_size=256 + merges + len(special),
        special_tokens=special,
        initial_alphabet=alphabet,
        show_progress=False,
    )
    tokenizer.train_from_iterator([text], trainer)
    return tokenizer


def tiny_model(
    tokenizer: Tokenizer | None = None,
    *,
    seed: int = 0,
    dtype: torch.dtype = torch.float64,
    layers: int = 2,
    hidden: int = 48,
    padded_to: int | None = None,
    architecture: str = "llama",
    stop: Iterable[str] = (END_OF_TEXT,),
) -> LoadedModel:
    """A random `llama` or `qwen2` of about a hundred thousand weights over `tokenizer`.

    `padded_to` widens the output beyond the real vocabulary, as real checkpoints do.
    """
    tokenizer = tokenizer or tiny_tokenizer()
    size = tokenizer.get_vocab_size()
    shape: dict[str, Any] = {
        "vocab_size": padded_to or size,
        "hidden_size": hidden,
        "intermediate_size": 2 * hidden,
        "num_hidden_layers": layers,
        "num_attention_heads": 4,
        "num_key_value_heads": 2,
        "max_position_embeddings": 2048,
        "bos_token_id": None,
        "eos_token_id": None,
        "initializer_range": 0.3,  # wide, so that the text is not the same token for ever
    }
    random_state = torch.random.get_rng_state()
    torch.manual_seed(seed)
    try:
        model: PreTrainedModel
        if architecture == "qwen2":
            model = Qwen2ForCausalLM(Qwen2Config(**shape))
        else:
            model = LlamaForCausalLM(LlamaConfig(**shape))
    finally:
        torch.random.set_rng_state(random_state)
    model.to(dtype)  # type: ignore[arg-type]
    ids = {token: index for token, index in tokenizer.get_vocab().items() if token in set(stop)}
    files = TokenizerFiles(json=tokenizer.to_str(), real_size=size, bos_id=None, eos_ids=frozenset(ids.values()))
    return LoadedModel(wrap(model), files, max_positions(model))
