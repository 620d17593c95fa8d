"""Which tokens a draft can say."""

import torch

from speculative.distill.fakes import ChainTarget
from speculative.distill.vocabulary import coverage, frequent
from speculative.distill.words import Words


def test_what_the_target_wrote_counts_four_times() -> None:
    given = torch.tensor([[1, 1, 1, 2, 2, 5]])
    own = torch.tensor([[3, 7]])
    # 3 and 7 count 4, 1 counts 3, 2 counts 2, 5 counts 1
    assert frequent(given, own, 3, 10).tolist() == [1, 3, 7]
    assert frequent(given, own, 4, 10).tolist() == [1, 2, 3, 7]


def test_equally_frequent_tokens_are_taken_by_id_and_all_of_them_ascend() -> None:
    assert frequent(torch.tensor([9, 4, 6]), torch.tensor([8]), 3, 12).tolist() == [4, 6, 8]
    assert frequent(torch.tensor([2]), torch.tensor([2]), 99, 5).tolist() == [0, 1, 2, 3, 4]


def test_coverage() -> None:
    assert coverage(torch.tensor([1, 3]), torch.tensor([[1, 2], [3, 3]])) == 0.75


def test_rows_of_the_head_are_those_of_the_ids(target: ChainTarget) -> None:
    words = Words.of(target, torch.tensor([2, 5]))
    assert torch.equal(words.head, target.head[[2, 5]])
    assert torch.equal(words.embeddings, target.embeddings)
