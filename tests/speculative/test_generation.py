"""The state machine of one sequence: where texts end, what is counted, what is refused."""

import math

import pytest
import torch

from speculative import (
    LENGTH,
    STOPPED,
    Draft,
    FixedPolicy,
    Generation,
    GenerationError,
    PrefixConstraint,
    Sampling,
    TokenBytes,
    by_position,
)
from speculative.drafters.fakes import FunctionDrafter
from speculative.policy import Choice, Round

VOCAB = 20
STOP = 19
SCRIPT = [5, 6, 7, 8, 9, 10, 11, 12]  # what the target says behind the prompt
PROMPT = [1, 2, 3]


def scripted(script):
    """A drafter that knows the script."""
    return FunctionDrafter("script", lambda r: script[len(r.tokens) - r.prompt_length :][: r.k])


def start(script=SCRIPT, *, k=4, limit=100, drafters=None, policy=None, **options):
    return Generation(
        PROMPT,
        max_new_tokens=limit,
        stop_ids=frozenset({STOP}),
        vocab_size=VOCAB,
        policy=policy or FixedPolicy(k),
        drafters=[scripted(script)] if drafters is None else drafters,
        **options,
    )


def logits_for(script, generation, draft, vocab=VOCAB):
    done = len(generation.generated)
    rows = [*script, *[0] * 20][done : done + 1 + len(draft.tokens)]
    return torch.nn.functional.one_hot(torch.tensor(rows), vocab).float()


def step(generation, script=SCRIPT, budget=16):
    return generation.commit(logits_for(script, generation, generation.propose(budget)))


def gained(committed):
    """What it is but for the log-probabilities."""
    return committed.tokens, committed.accepted, committed.finished


class Spy:
    """A policy that drafts k tokens of the named drafter and writes down what it saw."""

    def __init__(self, name, k):
        self.choice = Choice(name, k)
        self.offered, self.rounds = [], []

    def choose(self, offers, tail, length=0):
        self.offered.append((tuple(o.drafter for o in offers), tail))
        return self.choice if any(o.drafter == self.choice.drafter for o in offers) else Choice("", 0)

    def outlook(self, tail, length=0):
        return None

    def observe(self, round_):
        self.rounds.append(round_)


def test_a_round_commits_the_accepted_run_and_one_token():
    generation = start(k=3)
    assert generation.propose(16).tokens == (5, 6, 7)
    committed = generation.commit(logits_for(SCRIPT, generation, Draft((5, 6, 7), "script")))
    assert gained(committed) == ((5, 6, 7, 8), 3, None)
    assert generation.generated == [5, 6, 7, 8]
    assert generation.tokens == [1, 2, 3, 5, 6, 7, 8]


@pytest.mark.parametrize("at", range(7))
@pytest.mark.parametrize("k", [0, 1, 4, 8])
def test_a_stop_token_ends_it_at_every_position(at, k):
    script = [*SCRIPT[:at], STOP, *SCRIPT[at:]]
    generation = start(script, k=k)
    committed = []
    while generation.finished is None:
        committed += step(generation, script).tokens
    assert generation.finished == STOPPED
    assert committed == generation.generated == SCRIPT[:at]


def test_log_probabilities_are_those_of_the_committed_tokens_among_the_real_ids():
    generation = start([5, 6, STOP], k=2)
    logits = logits_for([5, 6, STOP], generation, generation.propose(16), vocab=VOCAB + 4)
    logits[:, VOCAB:] = 50.0  # padding
    committed = generation.commit(logits)
    assert committed.tokens == (5, 6)
    assert committed.logprobs == pytest.approx([1 - math.log(math.e + VOCAB - 1)] * 2)


def test_log_probabilities_are_those_under_the_mask_whatever_the_temperature():
    vocabulary = TokenBytes([b"", b"a", b"b", b"ab", *[b"x"] * 16])
    constraint = PrefixConstraint(vocabulary, b"a")  # 1 and 3 may come
    generation = start(drafters=[], constraint=constraint, sampling=Sampling(temperature=0.01))
    generation.propose(16)
    logits = torch.zeros(1, VOCAB)
    logits[0, 3], logits[0, 7] = math.log(3), 50.0
    committed = generation.commit(logits)
    assert committed.tokens == (3,)
    assert committed.logprobs == pytest.approx([math.log(3 / 4)])


def test_nothing_is_drafted_behind_a_stop_token_and_an_agreed_one_counts_as_accepted():
    policy = Spy("script", 8)
    script = [5, 6, STOP, 7, 8]
    generation = start(script, policy=policy)
    assert generation.propose(16).tokens == (5, 6, STOP)
    assert gained(step(generation, script)) == ((5, 6), 3, STOPPED)
    assert policy.rounds == [Round("script", by_position("script", 3), accepted=3, chosen=3, length=3)]


def test_a_stop_token_of_the_target_behind_drafts_is_not_an_accepted_one():
    policy = Spy("script", 2)
    script = [5, 6, STOP]
    assert gained(step(start(script, policy=policy), script)) == ((5, 6), 2, STOPPED)
    assert policy.rounds == [Round("script", by_position("script", 2), accepted=2, chosen=3, length=3)]


@pytest.mark.parametrize("limit", range(1, 8))
@pytest.mark.parametrize("k", [0, 1, 4, 8])
def test_the_limit_holds_at_every_position(limit, k):
    generation = start(k=k, limit=limit)
    while generation.finished is None:
        assert len(generation.propose(16).tokens) < generation.remaining
        step(generation)
    assert generation.finished == LENGTH
    assert generation.generated == SCRIPT[:limit]
    assert generation.remaining == 0


def test_a_stop_token_right_at_the_limit_is_a_stop():
    script = [5, 6, STOP]
    generation = start(script, k=2, limit=3)
    assert step(generation, script).finished == STOPPED


@pytest.mark.parametrize("keep", range(6))
def test_it_can_be_ended_from_outside_within_a_draft(keep):
    generation = start(k=4)
    step(generation)
    generation.finish("end-of-line", keep=keep)
    assert generation.finished == "end-of-line"
    assert generation.generated == SCRIPT[:keep]
    assert generation.tokens == PROMPT + SCRIPT[:keep]
    with pytest.raises(GenerationError, match="end-of-line"):
        generation.propose(4)
    with pytest.raises(GenerationError, match="end-of-line"):
        generation.commit(torch.zeros(1, VOCAB))


def test_ending_from_outside_keeps_everything_unless_told():
    generation = start(k=2)
    step(generation)
    with pytest.raises(GenerationError, match="cannot keep 4 of 3"):
        generation.finish("x", keep=4)
    generation.finish("x")
    assert generation.generated == SCRIPT[:3]


@pytest.mark.parametrize("budget", [0, 1, 2, 7])
def test_the_budget_bounds_the_draft(budget):
    assert start(k=5).propose(budget).tokens == tuple(SCRIPT[: min(budget, 5)])


def test_padding_of_the_vocabulary_is_never_chosen():
    generation = start(k=0)
    logits = torch.zeros(1, VOCAB + 4)
    logits[0, VOCAB + 1] = 9
    logits[0, 7] = 1
    logits[0, STOP] = -torch.inf
    generation.propose(0)
    assert generation.commit(logits).tokens == (7,)
    sampled = start(k=0, sampling=Sampling(1.0), limit=300)
    while sampled.finished is None:
        sampled.propose(0)
        sampled.commit(logits)
    assert len(sampled.generated) == 300
    assert max(sampled.generated) < VOCAB


@pytest.mark.parametrize("sampling", [Sampling(), Sampling(1.0)], ids=["greedy", "sampled"])
@pytest.mark.parametrize("stranger", [VOCAB, -1, 2**50])
def test_a_deterministic_draft_ends_before_an_id_that_does_not_exist(stranger, sampling):
    drafter = FunctionDrafter("odd", lambda _: [5, stranger, 6])
    assert start(drafters=[drafter], sampling=sampling).propose(16).tokens == (5,)


def test_a_sampled_draft_is_never_cut_for_what_was_drawn():
    class Odd:
        name, free = "odd", True

        def propose(self, request):
            return Draft((5, VOCAB, 6), self.name, torch.full((3, VOCAB + 1), 1 / (VOCAB + 1)))

    generation = start(drafters=[Odd()], sampling=Sampling(1.0))
    assert generation.propose(16).tokens == (5, VOCAB, 6)
    generation.commit(torch.zeros(4, VOCAB))
    assert max(generation.generated) < VOCAB


def test_a_deterministic_draft_ends_where_the_constraint_forbids_it():
    spelled = TokenBytes([bytes([97 + i]) for i in range(VOCAB)])
    generation = start(constraint=PrefixConstraint(spelled, b"fgi"))
    assert generation.propose(16).tokens == (5, 6)
    assert step(generation).tokens == (5, 6, 8)  # the target wanted 7, which is b"h"
    free = start(constraint=PrefixConstraint(spelled, b"fgx"))  # no token spells b"x": nothing is forced
    assert free.propose(16).tokens == (5, 6, 7, 8)


def test_drafters_that_cost_time_wait_for_the_second_pass():
    policy = Spy("slow", 2)
    slow = FunctionDrafter("slow", lambda r: SCRIPT[len(r.tokens) - 3 :][: r.k], free=False)
    generation = start(drafters=[slow, scripted(SCRIPT)], policy=policy)
    assert generation.propose(8, tail=11).tokens == ()
    generation.commit(logits_for(SCRIPT, generation, Draft((), "")))
    assert generation.propose(8).tokens == (6, 7)
    assert policy.offered == [(("script",), 11), (("slow", "script"), 0)]
    assert policy.rounds == [Round("", (), accepted=0, chosen=1, tail=11, length=3)]


def test_drafters_with_nothing_to_say_are_not_offered():
    policy = Spy("script", 2)
    generation = start(drafters=[FunctionDrafter("mute", lambda _: ()), scripted(SCRIPT)], policy=policy)
    assert generation.propose(8).tokens == (5, 6)
    assert policy.offered == [(("script",), 0)]


def test_passes_and_drafts_are_counted_by_drafter_and_position():
    wrong_third = FunctionDrafter("w", lambda r: [*SCRIPT[len(r.tokens) - 3 :][:2], 0, 0][: r.k])
    generation = start(drafters=[wrong_third], k=4, limit=6)
    step(generation)  # drafts 5 6 0 0, commits 5 6 7
    step(generation)  # room for two drafts: 8 9, commits 8 9 10
    counters = generation.counters
    assert counters.passes == 2
    assert counters.drafted == {"w": 6}
    assert counters.accepted == {"w": 4}
    assert counters.drafted_at == {("w", 0): 2, ("w", 1): 2, ("w", 2): 1, ("w", 3): 1}
    assert counters.accepted_at == {("w", 0): 2, ("w", 1): 2}


def test_a_proposal_may_be_repeated_before_it_is_verified():
    generation = start(k=4)
    generation.propose(4)
    assert generation.propose(1).tokens == (5,)
    assert generation.commit(logits_for(SCRIPT, generation, Draft((5,), ""))).tokens == (5, 6)
    assert generation.counters.drafted == {"script": 1}


def test_misuse_is_refused():
    with pytest.raises(GenerationError, match="prompt"):
        Generation([], max_new_tokens=1, stop_ids=frozenset(), vocab_size=4, policy=FixedPolicy(0))
    with pytest.raises(GenerationError, match="at least 1"):
        start(limit=0)
    with pytest.raises(GenerationError, match="same name"):
        start(drafters=[scripted(SCRIPT), scripted(SCRIPT)])
    generation = start(k=2)
    with pytest.raises(GenerationError, match="propose"):
        generation.commit(torch.zeros(1, VOCAB))
    generation.propose(4)
    for shape in [(2, VOCAB), (4, VOCAB), (3, VOCAB - 1), (VOCAB,)]:
        with pytest.raises(GenerationError, match=r"must be \[3, >= 20\]"):
            generation.commit(torch.zeros(shape))
    assert step(generation).tokens == (5, 6, 7)  # still usable


def test_a_seed_repeats_itself():
    def text(seed):
        generation = start(k=3, limit=40, sampling=Sampling(1.0), seed=seed)
        while generation.finished is None:
            draft = generation.propose(3)
            generation.commit(torch.zeros(1 + len(draft.tokens), VOCAB))
        return generation.generated

    assert text(1) == text(1)
    assert len({tuple(text(seed)) for seed in range(8)}) == 8


def at_places(name, tokens, free=True):
    """Says `tokens` wherever the script stands at that place."""

    def propose(request):
        done = len(request.tokens) - len(PROMPT)
        return tokens.get(done, ())[: request.k]

    return FunctionDrafter(name, propose, free)


def test_what_a_free_drafter_leaves_open_another_one_goes_on_with():
    first, second = at_places("first", {0: (5, 6)}), at_places("second", {2: (7, 8, 9), 0: ()})
    generation = Generation(
        PROMPT,
        max_new_tokens=8,
        stop_ids=frozenset({STOP}),
        vocab_size=VOCAB,
        policy=FixedPolicy(4),
        drafters=[first, second],
    )
    draft = generation.propose(4)
    assert draft.tokens == (5, 6, 7, 8)
    assert [mark.drafter for mark in draft.marks] == ["first", "first", "second", "second"]
    logits = torch.zeros(5, VOCAB)
    logits[range(5), [5, 6, 7, 11, 0]] = 1.0  # the target agrees with three of them
    generation.commit(logits)
    assert generation.counters.drafted == {"first": 2, "second": 2}
    assert generation.counters.accepted == {"first": 2, "second": 1}
    assert generation.counters.accepted_at == {("first", 0): 1, ("first", 1): 1, ("second", 2): 1}


def test_a_drafter_does_not_go_on_behind_itself_nor_behind_a_stop_token():
    alone = Generation(
        PROMPT,
        max_new_tokens=8,
        stop_ids=frozenset({STOP}),
        vocab_size=VOCAB,
        policy=FixedPolicy(6),
        drafters=[at_places("a", {0: (5,), 1: (6,)})],
    )
    assert alone.propose(6).tokens == (5,)
    stopping = Generation(
        PROMPT,
        max_new_tokens=8,
        stop_ids=frozenset({STOP}),
        vocab_size=VOCAB,
        policy=FixedPolicy(6),
        drafters=[at_places("a", {0: (STOP,)}), at_places("b", {1: (6,)})],
    )
    assert stopping.propose(6).tokens == (STOP,)


def test_the_first_pass_carries_free_drafts_and_no_model_is_asked_before_its_tokens_are_out():
    asked = []

    def model(request):
        asked.append(len(request.tokens))
        return SCRIPT[len(request.tokens) - len(PROMPT) :][: request.k]

    generation = Generation(
        PROMPT,
        max_new_tokens=8,
        stop_ids=frozenset({STOP}),
        vocab_size=VOCAB,
        policy=FixedPolicy(3),
        drafters=[FunctionDrafter("model", model, free=False), at_places("free", {0: SCRIPT[:2]})],
    )
    assert [mark.drafter for mark in generation.propose(4).marks] == ["free", "free"]
    assert asked == []
    logits = torch.zeros(3, VOCAB)
    logits[range(3), SCRIPT[:3]] = 1.0
    assert generation.commit(logits).accepted == 2
    assert generation.propose(4).drafter == "model"
    assert asked == [len(PROMPT) + 3]
