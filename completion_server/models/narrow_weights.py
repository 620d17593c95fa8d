"""Linear layers with weights of eight bits for GPUs: half the bytes of bf16, so about half the time of a narrow pass.

`fp8`: weights in e4m3 with one scale per output channel, activations in e4m3 with one scale per row, multiplied by the
tensor cores. `int8`: the arithmetic of `int8`, activations split into a high and a low part, so that they lose next to
nothing; its two rows per token also lift a narrow pass over the 16 rows that the GPU's int8 product asks for. Both take
their scales on the device, without a look at the host, so that a CUDA graph can record them. The output layer stays as
it is: it is often the embedding too. Knows nothing of attention or of which model it is in.
"""

from typing import Literal

import torch
from torch import Tensor, nn

Form = Literal["int8", "fp8"]
LEVELS = 127
_FINE = 254  # the low part counts in 1/254 of the high part's step, so that half a step is 127
_FP8_MOST = 448.0  # the largest e4m3
_LEAST_ROWS = 32  # of an int8 product on a GPU: more than 16


class Fp8Linear(nn.Module):
    """x · Wᵀ + b with `x` `[…, in]` in bf16; `in` and `out` are multiples of 16 on a GPU."""

    weight: Tensor  # [out, in]
    scale: Tensor  # [1, out]

    def __init__(self, layer: nn.Linear) -> None:
        super().__init__()
        weight = layer.weight.detach().float()
        scale = weight.abs().amax(dim=1, keepdim=True).clamp_(min=_tiny()) / _FP8_MOST
        self.register_buffer("weight", (weight / scale).to(torch.float8_e4m3fn))
        self.register_buffer("scale", scale.t().contiguous())
        self.bias = layer.bias

    def forward(self, hidden: Tensor) -> Tensor:
        rows = hidden.reshape(-1, hidden.shape[-1])
        scale = rows.float().abs().amax(dim=1, keepdim=True).clamp_(min=_tiny()) / _FP8_MOST
        codes = (rows.float() / scale).to(torch.float8_e4m3fn)
        if hidden.is_cuda:
            product = torch._scaled_mm(codes, self.weight.t(), scale, self.scale, out_dtype=hidden.dtype)
        else:
            product = (codes.float() @ self.weight.float().t()).mul_(scale).mul_(self.scale).to(hidden.dtype)
        return _finish(product, self.bias, hidden)


class Int8Linear(nn.Module):
    """x · Wᵀ + b with `x` `[…, in]`; `in` and `out` are multiples of 8 on a GPU. Sums of products are exact."""

    weight: Tensor  # [out, in]
    scale: Tensor  # [out]

    def __init__(self, layer: nn.Linear) -> None:
        super().__init__()
        weight = layer.weight.detach().float()
        scale = weight.abs().amax(dim=1).clamp_(min=_tiny()) / LEVELS
        self.register_buffer("weight", torch.round(weight / scale[:, None]).to(torch.int8))
        self.register_buffer("scale", scale)
        self.bias = layer.bias

    def forward(self, hidden: Tensor) -> Tensor:
        rows = hidden.reshape(-1, hidden.shape[-1]).float()
        count = len(rows)
        step = rows.abs().amax(dim=1, keepdim=True).clamp_(min=_tiny()) / LEVELS
        exact = rows / step
        high = torch.round(exact)
        low = torch.round((exact - high) * _FINE)
        codes = rows.new_zeros(max(_LEAST_ROWS, 2 * count), rows.shape[1], dtype=torch.int8)
        codes[:count], codes[count : 2 * count] = high, low
        sums = torch._int_mm(codes, self.weight.t())
        product = sums[count : 2 * count].float().mul_(1 / _FINE).add_(sums[:count])
        return _finish(product.mul_(step).mul_(self.scale).to(hidden.dtype), self.bias, hidden)


def narrow(model: nn.Module, form: Form, output_layer: nn.Module | None) -> None:
    """Exchange every linear layer of `model` but its output layer."""
    kind = {"fp8": Fp8Linear, "int8": Int8Linear}[form]
    for module in list(model.modules()):
        for name, child in list(module.named_children()):
            if isinstance(child, nn.Linear) and child is not output_layer:
                setattr(module, name, kind(child))


def _finish(product: Tensor, bias: Tensor | None, hidden: Tensor) -> Tensor:
    if bias is not None:
        product = product + bias
    return product.view(*hidden.shape[:-1], -1)


def _tiny() -> float:
    return torch.finfo(torch.float32).tiny * 1024  # so that dividing by it stays finite
