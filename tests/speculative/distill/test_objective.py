import torch
from torch.nn import functional

from speculative.distill.objective import _CrossEntropy


def test_value_and_gradient_are_those_of_cross_entropy() -> None:
    generator = torch.Generator().manual_seed(0)
    states = torch.randn(5, 4, generator=generator, dtype=torch.float64, requires_grad=True)
    head = torch.randn(7, 4, generator=generator, dtype=torch.float64)
    wanted = torch.softmax(torch.randn(5, 7, generator=generator, dtype=torch.float64), dim=-1)
    weights = torch.tensor([1.0, 3.0, 0.0, 0.5, 2.0])
    loss = _CrossEntropy.apply(states, head, wanted, weights)
    (2 * loss).backward()
    again = states.detach().clone().requires_grad_()
    expected = (functional.cross_entropy(again @ head.T, wanted, reduction="none") * weights).sum()
    (2 * expected).backward()
    torch.testing.assert_close(loss.double(), expected, rtol=1e-5, atol=1e-5)
    torch.testing.assert_close(states.grad, again.grad)
