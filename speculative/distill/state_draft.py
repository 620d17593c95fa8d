"""The draft: a small recurrent step that goes on from the target's last hidden state.

    x = fuse [norm(embedding(t_p)) ; s_{p-1}]
    x = x + mlp_i(norm_i(x))        for each block i
    s_p ≈ norm(x)                   logits_p = s_p @ head.T

t_p is the token at position p and s_{p-1} the target's state one position before; behind that the draft goes on from
its own s. This is EAGLE (Li et al., 2024, section 3) without attention, as in Hydra (Ankner et al., 2024, section 3):
the target's state has seen the context already. There is nothing to prefill and nothing to remember between passes.
Embeddings and head are the target's and stay as they are. Knows nothing of data, loss or quantization.
"""

import torch
from torch import Tensor, nn
from torch.nn import functional

from speculative.distill.target import MlpWeights, Shape, Target

_RIDGE = 1e-3  # of the mean variance: rare directions of the inputs stay small


class StateDraft(nn.Module):
    """Holds what is trained. The last block begins as the MLP of the target's last layer, others add nothing yet."""

    def __init__(self, shape: Shape, blocks: int = 1) -> None:
        super().__init__()
        self.shape = shape
        self.fuse = nn.Linear(2 * shape.hidden, shape.hidden, bias=False)
        self.blocks = nn.ModuleList(Block(shape) for _ in range(blocks))
        self.norm = Norm(shape)

    def forward(self, embedded: Tensor, states: Tensor) -> Tensor:
        """Predicted states `[…, H]` from embeddings of the tokens and the states before them, `[…, H]`."""
        x: Tensor = self.fuse(self.inputs(embedded, states))
        for block in self.blocks:
            x = x + block(x)
        predicted: Tensor = self.norm(x)
        return predicted

    def inputs(self, embedded: Tensor, states: Tensor) -> Tensor:
        """What the fusion reads, `[…, 2 H]`. Embeddings are small beside states, so they are brought to size 1."""
        normed = functional.rms_norm(embedded, embedded.shape[-1:], None, self.shape.norm_eps)
        return torch.cat([normed, states], dim=-1)

    @torch.no_grad()
    def begin_at(self, target: Target, tokens: Tensor, states: Tensor, seed: int = 0) -> None:
        """Start where the target stands: its last MLP and norm, and a fusion that guesses what this MLP reads.

        The guess is the least-squares fit over `tokens` `[N, L]` and `states` `[N, L, H]` (some thousand positions):
        training from there is worth many minutes of training from a random fusion.
        """
        generator = torch.Generator().manual_seed(seed)
        *others, last = (block for block in self.blocks if isinstance(block, Block))
        for block in others:
            block.begin_idle(generator)
        last.begin_as(target.last_mlp)
        self.norm.weight.copy_(target.final_norm)
        embedded = target.embeddings[tokens[:, 1:]].float()
        inputs = self.inputs(embedded, states[:, :-1].float()).flatten(0, 1)
        wanted = target.last_mlp_inputs(tokens)[:, 1:].flatten(0, 1).float()
        squares = inputs.T @ inputs
        squares.diagonal().add_(_RIDGE * squares.diagonal().mean())
        self.fuse.weight.copy_(torch.linalg.solve(squares, inputs.T @ wanted).T)


class Block(nn.Module):
    """A gated MLP (SwiGLU) with its norm, named as in Llama; `[…, H]` in and out."""

    def __init__(self, shape: Shape) -> None:
        super().__init__()
        self.norm = Norm(shape)
        self.gate_proj = nn.Linear(shape.hidden, shape.intermediate, bias=False)
        self.up_proj = nn.Linear(shape.hidden, shape.intermediate, bias=False)
        self.down_proj = nn.Linear(shape.intermediate, shape.hidden, bias=False)

    def forward(self, x: Tensor) -> Tensor:
        inner = self.norm(x)
        out: Tensor = self.down_proj(functional.silu(self.gate_proj(inner)) * self.up_proj(inner))
        return out

    @torch.no_grad()
    def begin_as(self, mlp: MlpWeights) -> None:
        self.norm.weight.copy_(mlp.norm)
        self.gate_proj.weight.copy_(mlp.gate)
        self.up_proj.weight.copy_(mlp.up)
        self.down_proj.weight.copy_(mlp.down)

    @torch.no_grad()
    def begin_idle(self, generator: torch.Generator) -> None:
        """Add nothing yet."""
        for layer in (self.gate_proj, self.up_proj):
            nn.init.normal_(layer.weight, std=layer.in_features**-0.5, generator=generator)
        nn.init.zeros_(self.down_proj.weight)


class Norm(nn.Module):
    """RMSNorm in the precision of its weights."""

    def __init__(self, shape: Shape) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.ones(shape.hidden))
        self._eps = shape.norm_eps

    def forward(self, x: Tensor) -> Tensor:
        return functional.rms_norm(x.to(self.weight.dtype), x.shape[-1:], self.weight, self._eps)
