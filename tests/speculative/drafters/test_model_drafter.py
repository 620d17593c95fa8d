import pytest
import torch

from speculative import NO_DRAFT, DraftRequest, ModelDrafter, PrefixConstraint, Sampling, SeededRandomness, TokenBytes
from speculative.fakes import TableModel


class Watched(TableModel):
    """Writes down how many tokens each pass was fed."""

    def __init__(self, *args, **options):
        super().__init__(*args, **options)
        self.widths = []

    def extend(self, tokens):
        self.widths.append(len(tokens))
        return super().extend(tokens)


def request(tokens, k=4, **options):
    defaults = {
        "prompt_length": 3,
        "vocab_size": 9,
        "sampling": Sampling(),
        "stop_ids": frozenset(),
        "constraint": None,
        "randomness": SeededRandomness(1),
        "cancelled": lambda: False,
    }
    return DraftRequest(tokens=tokens, k=k, **{**defaults, **options})


def test_greedy_drafts_are_what_the_model_says():
    model = Watched(9, levels=50)
    drafted = ModelDrafter(model, 9, name="small").propose(request([1, 2, 3]))
    assert drafted.tokens == tuple(model.greedy([1, 2, 3], 4))
    assert (drafted.drafter, drafted.probs) == ("small", None)
    assert model.widths == [3, 1, 1, 1]


@pytest.mark.parametrize(
    ("accepted", "fed"),
    [(4, 2), (3, 1), (2, 1), (0, 1)],  # all: its own last token and the target's; otherwise the target's alone
)
def test_after_a_round_only_the_difference_is_fed(accepted, fed):
    model = Watched(9, levels=50)
    drafter = ModelDrafter(model, 9)
    context = [1, 2, 3]
    drafted = drafter.propose(request(context)).tokens
    own = (drafted[accepted] + 1) % 9 if accepted < 4 else 0
    context = [*context, *drafted[:accepted], own]
    model.widths.clear()
    assert drafter.propose(request(context)).tokens == tuple(model.greedy(context, 4))
    assert model.widths == [fed, 1, 1, 1]


def test_sampled_drafts_carry_the_distributions_they_were_drawn_from():
    model = TableModel(9, levels=3)
    sampling = Sampling(0.8, top_k=4)
    drafted = ModelDrafter(model, 9).propose(request([1, 2, 3], k=3, sampling=sampling))
    assert drafted.probs.shape == (3, 9)
    assert torch.allclose(drafted.probs.sum(-1), torch.ones(3, dtype=torch.float64))
    assert all(drafted.probs[i, token] > 0 for i, token in enumerate(drafted.tokens))
    again = ModelDrafter(model, 9).propose(request([1, 2, 3], k=3, sampling=sampling))
    assert again.tokens == drafted.tokens


@pytest.mark.parametrize(("own", "target"), [(5, 9), (9, 5)])
def test_only_ids_that_both_models_have_are_drafted(own, target):
    for seed in range(20):
        model = TableModel(9, seed=seed)
        drafter = ModelDrafter(model, own)
        sampled = request([1, 2, 3], k=8, vocab_size=target, sampling=Sampling(2.0), randomness=SeededRandomness(seed))
        assert max(drafter.propose(sampled).tokens) < 5
        assert drafter.propose(sampled).probs.shape[1] == 5
        assert max(drafter.propose(request([1, 2, 3], k=8, vocab_size=target)).tokens) < 5


def test_a_stop_token_is_the_last():
    model = Watched(9, levels=50)
    first, second = model.greedy([1, 2, 3], 2)
    assert first != second
    assert ModelDrafter(model, 9).propose(request([1, 2, 3], stop_ids=frozenset({second}))).tokens == (first, second)
    assert len(model.widths) == 2


def test_it_drafts_under_the_constraint():
    constraint = PrefixConstraint(TokenBytes([b"a", b"b", b"c", b"ab", b"d", b"e", b"f", b"g", b"h"]), b"abc")
    for sampling in (Sampling(), Sampling(1.0)):
        tokens = (
            ModelDrafter(TableModel(9), 9)
            .propose(request([1, 2, 3, 0], sampling=sampling, constraint=constraint))
            .tokens
        )
        assert tokens[:2] == (1, 2)  # "a" is generated already


def test_a_long_context_is_fed_in_chunks():
    model = Watched(9, levels=50)
    context = [i % 9 for i in range(10)]
    drafted = ModelDrafter(model, 9, chunk=4).propose(request(context, k=2))
    assert drafted.tokens == tuple(model.greedy(context, 2))
    assert model.widths == [4, 4, 2, 1]


@pytest.mark.parametrize("passes", range(6))
def test_cancel_is_seen_between_passes_and_leaves_a_row_to_go_on_with(passes):
    model = Watched(9, levels=50)
    drafter = ModelDrafter(model, 9, chunk=2)
    context = [1, 2, 3, 4]
    drafted = drafter.propose(request(context, k=4, cancelled=lambda: len(model.widths) >= passes))
    assert len(model.widths) == min(passes, 5)
    assert drafted.tokens == tuple(model.greedy(context, max(0, passes - 1) if passes < 5 else 4))
    if passes < 2:
        assert drafted == NO_DRAFT
    assert drafter.propose(request(context)).tokens == tuple(model.greedy(context, 4))


class Reduced(Watched):
    """Scores only the tokens in `IDS`."""

    def extend(self, tokens):
        return super().extend(tokens)[IDS]


IDS = torch.tensor([0, 2, 3, 5, 8])


def test_a_reduced_output_layer_drafts_in_the_targets_ids():
    model = Reduced(9, levels=50)
    drafted = ModelDrafter(model, 9, output_ids=IDS).propose(request([1, 2, 3]))
    context = [1, 2, 3]
    for token in drafted.tokens:
        logits = TableModel(9, levels=50).forward(context, 1)[0]
        assert token == max(IDS.tolist(), key=lambda i: logits[i])
        context.append(token)


def test_its_probabilities_are_spread_over_the_targets_ids():
    drafter = ModelDrafter(Reduced(9, levels=3), 9, output_ids=IDS)
    found = drafter.propose(request([1, 2, 3], k=3, sampling=Sampling(1.0)))
    assert found.probs.shape == (3, 9)
    assert (found.probs[:, IDS] > 0).all()
    assert (found.probs[:, [1, 4, 6, 7]] == 0).all()
    assert torch.allclose(found.probs.sum(-1), torch.ones(3, dtype=torch.float64))
    assert set(found.tokens) <= set(IDS.tolist())


def test_ids_that_the_target_may_not_emit_are_not_drafted():
    for seed in range(10):
        drafter = ModelDrafter(Reduced(9, seed=seed), 9, output_ids=IDS)
        wanted = request([1, 2, 3], k=8, vocab_size=5, sampling=Sampling(2.0), randomness=SeededRandomness(seed))
        found = drafter.propose(wanted)
        assert set(found.tokens) <= {0, 2, 3}
        assert found.probs.shape == (8, 5)


@pytest.mark.parametrize("sampling", [Sampling(), Sampling(1.0)], ids=["greedy", "sampled"])
def test_the_constraint_holds_under_the_map_and_ends_a_draft_that_cannot_go_on(sampling):
    spelled = TokenBytes([b"a", b"b", b"c", b"ab", b"d", b"e", b"f", b"g", b"h"])
    drafter = ModelDrafter(Reduced(9), 9, output_ids=IDS)
    # "c" is token 2, which the draft has; "b" is token 1, which it lacks.
    found = drafter.propose(request([1, 2, 3], k=1, sampling=sampling, constraint=PrefixConstraint(spelled, b"c")))
    assert found.tokens == (2,)
    model = Reduced(9)
    nothing = ModelDrafter(model, 9, output_ids=IDS).propose(
        request([1, 2, 3], sampling=sampling, constraint=PrefixConstraint(spelled, b"b"))
    )
    assert nothing == NO_DRAFT
    assert model.widths == []  # no pass is run for it
