"""Linear layers in row-wise int8, exact to the bit at every width: the fast arithmetic of CPUs.

Weights get one scale per output channel. Activations get one scale per row and are split into a high and a low byte,
x ≈ s · (256 · hi + lo), which are two rows of one int8 product: sixteen bits of activation for the price of little more
than eight. Products of int8 add up exactly in int32, and everything else is done element by element, so the result of
a row depends neither on the other rows nor on how many there are. Speculative and plain decoding therefore give the
same bits, which is why drafting stays lossless here without a canonical width.

Per-row activation scales are those of LLM.int8() (Dettmers et al., 2022, section 2.1, "vector-wise quantization").
The product is oneDNN's, on weights that were packed for it once. Knows nothing of attention or of which model it is in,
but for the names of layers that read the same input.
"""

from collections.abc import Iterable

import torch
from torch import Tensor, nn

_TOGETHER = (("q_proj", "k_proj", "v_proj"), ("gate_proj", "up_proj"))
_LEVELS = 127
_MIDDLE = 128  # the byte that stands for 0
_FINE = 256  # low bytes per high byte
_LARGEST = 32_639.0  # so that the bytes of the sum of x and `_ZERO` neither pass 255 nor fall below 0
_SMALLEST = 1e-30  # of a row's largest; what is smaller counts as 0
_ZERO = _FINE * _MIDDLE + _MIDDLE + 0.5  # cutting off behind the half rounds


class Int8Matrix:
    """`weight` `[out, in]` of a linear layer, fp32 or fp64, in int8; `bias` `[out]` stays as it is."""

    def __init__(self, weight: Tensor, bias: Tensor | None = None) -> None:
        self._dtype = weight.dtype
        self._bias = bias
        self._columns = len(weight)
        weight = weight.detach().float()
        scale = weight.abs().amax(dim=1).clamp_(min=torch.finfo(torch.float32).tiny) / _LEVELS
        codes = torch.round(weight / scale[:, None]).to(torch.int8)
        self._packed = torch.ops.onednn.qlinear_prepack(codes, None)
        self._scale = scale * (_FINE / _LARGEST)
        self._zero = torch.tensor(_ZERO)
        self._zeros = torch.zeros(len(codes), dtype=torch.int32)

    def __call__(self, rows: Tensor) -> Tensor:
        """`rows` `[m, in]` → `[m, out]`."""
        if len(rows) == 0:
            return rows.new_empty(0, self._columns)
        codes, largest = self._codes(rows if rows.dtype == torch.float32 else rows.float())
        low, high = self._product(codes).chunk(2)
        out = torch.add(high, low, alpha=1 / _FINE).mul_(largest)
        if self._dtype != torch.float32:
            out = out.to(self._dtype)
        return out if self._bias is None else out.add_(self._bias)

    def _codes(self, rows: Tensor) -> tuple[Tensor, Tensor]:
        """fp32 `[m, in]` → low bytes of all rows, then high bytes, uint8 `[2m, in]`; and the largest, `[m, 1]`."""
        largest = rows.abs().amax(dim=1, keepdim=True).clamp_(min=_SMALLEST)
        steps = torch.addcmul(self._zero, rows, largest.reciprocal(), value=_LARGEST)
        whole = steps.to(torch.int32)
        return torch.cat((whole, whole >> 8)).to(torch.uint8), largest  # the conversion keeps the low byte

    def _product(self, codes: Tensor) -> Tensor:
        """uint8 `[2m, in]` around `_MIDDLE` → fp32 `[2m, out]`, times the weights' scales."""
        product: Tensor = torch.ops.onednn.qlinear_pointwise(
            codes, 1.0, _MIDDLE, self._packed, self._scale, self._zeros, None, 1.0, 0, torch.float32, "none", [], ""
        )
        return product


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
        self._matrix = Int8Matrix(torch.cat([layer.weight.detach() for layer in layers]), joined_bias(layers))
        self._input: Tensor | None = None
        self._outputs: tuple[Tensor, ...] = ()

    def outputs(self, hidden: Tensor) -> tuple[Tensor, ...]:
        """Per layer `[…, out]` for `hidden` `[…, in]`. The layers of a group ask one after the other."""
        if hidden is not self._input:
            product = self._matrix(hidden.reshape(-1, hidden.shape[-1])).view(*hidden.shape[:-1], sum(self._sizes))
            self._outputs = torch.split(product, self._sizes, dim=-1)
            self._input = hidden
        return self._outputs


def quantize(model: nn.Module) -> None:
    """Exchange every linear layer of `model`, the output layer too. Embeddings stay as they are."""
    for module in list(model.modules()):
        linear = {name: child for name, child in module.named_children() if isinstance(child, nn.Linear)}
        for names in _groups(linear):
            group = Group(linear[name] for name in names)
            for part, name in enumerate(names):
                setattr(module, name, Int8Linear(group, part))


def joined_bias(layers: Iterable[nn.Linear]) -> Tensor | None:
    """The biases of `layers` behind one another, zeros where one has none; None where none has."""
    layers = list(layers)
    if all(layer.bias is None for layer in layers):
        return None
    return torch.cat([_bias(layer) for layer in layers])


def is_fast_here() -> bool:
    """Whether this processor multiplies int8 in hardware (VNNI or AMX); elsewhere fp32 is faster."""
    supported = getattr(torch.cpu, "_is_vnni_supported", None)
    return bool(supported and supported()) and hasattr(torch.ops.onednn, "qlinear_pointwise")


def _groups(linear: dict[str, nn.Linear]) -> list[tuple[str, ...]]:
    together = [names for names in _TOGETHER if all(name in linear for name in names)]
    grouped = {name for names in together for name in names}
    return together + [(name,) for name in linear if name not in grouped]


def _bias(layer: nn.Linear) -> Tensor:
    return layer.weight.new_zeros(layer.out_features) if layer.bias is None else layer.bias.detach()
