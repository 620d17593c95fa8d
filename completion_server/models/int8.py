"""Linear layers in row-wise int8, exact to the bit at every width: the fast arithmetic of CPUs.

Weights get one scale per output channel. Activations get one scale per row and are split into a high and a low int8
part, x ≈ s · (hi + lo / 254), which are two rows of one int8 product: sixteen bits of activation for the price of
eight and a half. Products of int8 add up exactly in int32, and everything else is done element by element, so the
result of a row depends neither on the other rows nor on how many there are. Speculative and plain decoding therefore
give the same bits, which is why drafting stays lossless here without a canonical width.

Per-row activation scales are those of LLM.int8() (Dettmers et al., 2022, section 2.1, "vector-wise quantization").
Knows nothing of attention or of which model it is in, but for the names of layers that read the same input.
"""

from collections.abc import Iterable

import torch
from torch import Tensor, nn

_TOGETHER = (("q_proj", "k_proj", "v_proj"), ("gate_proj", "up_proj"))
_LEVELS = 127
_FINE = 254  # the low part counts in 1/254 of the high part's step, so that ±half a step is ±127


class Int8Linear(nn.Module):
    """One linear layer of a `Group`."""

    def __init__(self, group: "Group", part: int) -> None:
        super().__init__()
        self._group = group
        self._part = part

    def forward(self, hidden: Tensor) -> Tensor:
        return self._group.outputs(hidden)[self._part]


class Group:
    """Linear layers that read the same input: it is quantized once and multiplied once, by all their weights.

    Not a module: transformers must not find the weights twice. `layers` are fp32 or fp64, with or without bias.
    """

    def __init__(self, layers: Iterable[nn.Linear]) -> None:
        layers = list(layers)
        self._sizes = [layer.out_features for layer in layers]
        self._dtype = layers[0].weight.dtype
        weight = torch.cat([layer.weight.detach() for layer in layers]).float()
        self._scale = weight.abs().amax(dim=1).clamp_(min=torch.finfo(torch.float32).tiny) / _LEVELS
        codes = torch.round(weight / self._scale[:, None]).to(torch.int8)
        self._weight = codes.t()  # the transposed view of [out, in] is the layout that the int8 product is fast with
        self._bias = torch.cat([_bias(layer) for layer in layers]) if any(x.bias is not None for x in layers) else None
        self._input: Tensor | None = None
        self._outputs: tuple[Tensor, ...] = ()

    def outputs(self, hidden: Tensor) -> tuple[Tensor, ...]:
        """Per layer `[…, out]` for `hidden` `[…, in]`. The layers of a group ask one after the other."""
        if hidden is not self._input:
            self._outputs = torch.split(self._product(hidden), self._sizes, dim=-1)
            self._input = hidden
        return self._outputs

    def _product(self, hidden: Tensor) -> Tensor:
        rows = hidden.reshape(-1, hidden.shape[-1]).float()
        count = len(rows)
        if count == 0:
            return hidden.new_empty(*hidden.shape[:-1], sum(self._sizes))
        largest = rows.abs().amax(dim=1, keepdim=True).clamp_(min=torch.finfo(torch.float32).tiny)
        steps = rows * (_LEVELS / largest)
        codes = torch.empty(2 * count, rows.shape[1], dtype=torch.int8)
        codes[:count] = high = torch.round(steps)
        codes[count:] = steps.sub_(high).mul_(_FINE).round_()
        sums = torch._int_mm(codes, self._weight)
        product = sums[count:].float().mul_(1 / _FINE).add_(sums[:count])
        product = product.mul_(largest / _LEVELS).mul_(self._scale)
        if self._bias is not None:
            product += self._bias
        return product.to(self._dtype).view(*hidden.shape[:-1], -1)


def quantize(model: nn.Module) -> None:
    """Exchange every linear layer of `model`, the output layer too. Embeddings stay as they are."""
    for module in list(model.modules()):
        linear = {name: child for name, child in module.named_children() if isinstance(child, nn.Linear)}
        for names in _groups(linear):
            group = Group(linear[name] for name in names)
            for part, name in enumerate(names):
                setattr(module, name, Int8Linear(group, part))


def is_fast_here() -> bool:
    """Whether this processor multiplies int8 in hardware (VNNI or AMX); elsewhere fp32 is faster."""
    supported = getattr(torch.cpu, "_is_vnni_supported", None)
    return bool(supported and supported()) and hasattr(torch, "_int_mm")


def _groups(linear: dict[str, nn.Linear]) -> list[tuple[str, ...]]:
    together = [names for names in _TOGETHER if all(name in linear for name in names)]
    grouped = {name for names in together for name in names}
    return together + [(name,) for name in linear if name not in grouped]


def _bias(layer: nn.Linear) -> Tensor:
    return layer.weight.new_zeros(layer.out_features) if layer.bias is None else layer.bias.detach()
