"""A transformers model as the target of a distillation. Implements `speculative.distill.Target`.

The stock model with an attention of its own, for whole batches of one length: this is throughput, not typing.
"""

from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional
from transformers import AttentionInterface, AutoModelForCausalLM, PreTrainedModel
from transformers.utils import logging as transformers_logging

from completion_server.errors import UnsupportedModel
from speculative.distill.target import MlpWeights, Shape

NAME = "foretype-teacher"
_CLOSE = 0.02  # of the largest logit: what bfloat16 may differ by


class Teacher:
    """The model in `folder` on `device`, in `dtype`.

    Raises UnsupportedModel where it is not built as Llama is, or transformers cannot load it.
    """

    def __init__(self, folder: Path, device: torch.device, dtype: torch.dtype) -> None:
        model: Any = _load(folder, dtype)
        self._model: PreTrainedModel = model.to(device).eval()
        self._decoder = model.get_decoder()
        AttentionInterface.register(NAME, _attention)
        self._model.set_attn_implementation(NAME)
        config = model.config.get_text_config()
        try:
            last = self._decoder.layers[-1]
            self._mlp_norm = last.post_attention_layernorm
            modules = (self._mlp_norm, last.mlp.gate_proj, last.mlp.up_proj, last.mlp.down_proj)
            self.last_mlp = MlpWeights(*(module.weight.detach() for module in modules))
            self.final_norm = self._decoder.norm.weight.detach()
            self.shape = Shape(config.hidden_size, config.intermediate_size, config.rms_norm_eps)
            self._kv_shape = (config.num_key_value_heads, last.self_attn.head_dim)
        except (AttributeError, KeyError) as error:
            raise UnsupportedModel(f"{config.model_type} models are not built as Llama is; no draft is made") from error
        self.embeddings = model.get_input_embeddings().weight.detach()
        self.head = model.get_output_embeddings().weight.detach()
        self.device = device
        self._layers = len(self._decoder.layers)
        self._check_head()

    @torch.inference_mode()
    def continue_(
        self, prompts: Tensor, count: int, temperatures: Tensor, generator: torch.Generator
    ) -> tuple[Tensor, Tensor]:
        """See `Target`."""
        tokens = prompts.to(self.device)
        rows, length = tokens.shape
        cache = self._cache(rows, length + count)
        states = [self._states(tokens, cache)]
        for _ in range(count):
            chosen = _choose(states[-1][:, -1] @ self.head.T, temperatures, generator)[:, None]
            tokens = torch.cat([tokens, chosen], dim=1)
            states.append(self._states(chosen, cache))
        return tokens, torch.cat(states, dim=1)

    @torch.inference_mode()
    def last_mlp_inputs(self, tokens: Tensor) -> Tensor:
        """See `Target`."""
        seen: list[Tensor] = []
        hook = self._mlp_norm.register_forward_pre_hook(lambda _, inputs: seen.append(inputs[0]))
        try:
            self._states(tokens.to(self.device), self._cache(*tokens.shape))
        finally:
            hook.remove()
        return seen[0]

    @torch.inference_mode()
    def _check_head(self) -> None:
        """Some models do more to their states than multiply them by the head; a draft would not know that."""
        tokens = torch.arange(8, device=self.device)[None] % len(self.head)
        states = self._states(tokens, self._cache(1, 8))
        output: Any = self._model(input_ids=tokens, use_cache=False, cache_of_teacher=self._cache(1, 8))
        error = (output.logits - states @ self.head.T).abs().max() / output.logits.abs().max()
        if not error < _CLOSE:
            raise UnsupportedModel(
                f"{self._model.config.model_type} models make their logits not from the head alone; no draft is made"
            )

    def _cache(self, rows: int, capacity: int) -> "_Cache":
        size = (self._layers, 2, rows, self._kv_shape[0], capacity, self._kv_shape[1])
        return _Cache(torch.empty(size, dtype=self._model.dtype, device=self.device))

    def _states(self, tokens: Tensor, cache: "_Cache") -> Tensor:
        positions = torch.arange(cache.length, cache.length + tokens.shape[1], device=self.device)[None]
        output = self._decoder(input_ids=tokens, position_ids=positions, use_cache=False, cache_of_teacher=cache)
        cache.length += tokens.shape[1]
        states: Tensor = output.last_hidden_state
        return states


class _Cache:
    """Keys and values of a batch whose rows have one length: written in place, so that no step copies them."""

    def __init__(self, blocks: Tensor) -> None:
        """`blocks` `[layers, 2, N, kv_heads, capacity, d]`."""
        self.blocks = blocks
        self.length = 0


def _attention(
    module: nn.Module,
    query: Tensor,
    key: Tensor,
    value: Tensor,
    _mask: Tensor | None,
    *,
    cache_of_teacher: _Cache,
    scaling: float,
    **_: Any,
) -> tuple[Tensor, None]:
    """`query` `[N, heads, T, d]`, `key`, `value` `[N, kv_heads, T, d]`; returns `[N, T, heads, d]`.

    T is 1, or the cache is empty. The fused kernel takes twenty times as long for one query on a CPU in bfloat16.
    """
    keys, values = cache_of_teacher.blocks[int(module.layer_idx)]  # type: ignore[arg-type]
    rows, heads, count, dim = query.shape
    kv_heads, start = key.shape[1], cache_of_teacher.length
    end = start + count
    keys[:, :, start:end], values[:, :, start:end] = key, value
    if count > 1:
        mixed = functional.scaled_dot_product_attention(
            query, key, value, scale=scaling, is_causal=True, enable_gqa=kv_heads < heads
        )
        return mixed.transpose(1, 2), None
    folded = query.view(rows, kv_heads, heads // kv_heads, dim)
    scores = folded @ keys[:, :, :end].transpose(2, 3) * scaling
    precision = torch.promote_types(scores.dtype, torch.float32)
    weights = torch.softmax(scores, dim=-1, dtype=precision).to(values.dtype)
    return (weights @ values[:, :, :end]).view(rows, 1, heads, dim), None


def _load(folder: Path, dtype: torch.dtype) -> Any:
    transformers_logging.set_verbosity_error()  # type: ignore[no-untyped-call]
    transformers_logging.disable_progress_bar()  # type: ignore[no-untyped-call]
    try:
        return AutoModelForCausalLM.from_pretrained(
            folder, dtype=dtype, use_safetensors=True, trust_remote_code=False, local_files_only=True
        )
    except Exception as error:  # a folder can hold anything
        raise UnsupportedModel(f"transformers cannot load {folder.name} ({type(error).__name__})") from error


def _choose(logits: Tensor, temperatures: Tensor, generator: torch.Generator) -> Tensor:
    greedy = logits.argmax(dim=-1)
    sampled = temperatures.to(logits.device) > 0
    if not sampled.any():
        return greedy
    scaled = logits[sampled].float().cpu() / temperatures[temperatures > 0][:, None]
    drawn = torch.multinomial(torch.softmax(scaled, dim=-1), 1, generator=generator)[:, 0]
    greedy[sampled] = drawn.to(greedy.device)
    return greedy
