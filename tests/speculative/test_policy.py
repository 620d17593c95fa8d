"""Examples by hand use passes of 10 ms and 1 ms for each drafted token, unless they say otherwise."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from speculative.costs import PassCosts
from speculative.draft import Mark, Steps
from speculative.policy import AdaptivePolicy, Choice, FixedPolicy, Offer, Round

COSTS = PassCosts({1: 10.0, 11: 20.0}, {"model": 4.0})
NONE = Choice("", 0)


def policy(costs=COSTS, **options):
    return AdaptivePolicy(costs, **{"fade": 1.0, "prior_weight": 4.0, **options})


def marks(drafter, count, match=0):
    return tuple(Mark(drafter, 16 * match + position) for position in range(count))


def offer(drafter, available, match=0):
    return Offer(drafter, marks(drafter, available, match))


def see(policy, drafter, drafted, accepted, times=1, match=0):
    for _ in range(times):
        policy.observe(Round(drafter, marks(drafter, drafted, match), accepted, accepted + 1))


def test_without_offers_nothing_is_drafted():
    assert policy().choose([]) == NONE


def test_the_prior_decides_at_first():
    # With a = 1/2: k = 1 gives 1.5 / 11 = 0.1364, k = 2 1.75 / 12 = 0.1458, k = 3 1.875 / 13 = 0.1442 tokens per ms.
    assert policy().choose([offer("other", 8)]) == Choice("other", 2)
    # No more than there is.
    assert policy().choose([offer("other", 1)]) == Choice("other", 1)


def test_a_draft_step_costs():
    # The model's tokens cost 5 ms each. With a = 0.7: k = 1 gives 1.7 / 15 = 0.1133, k = 2 2.19 / 20 = 0.1095.
    assert policy().choose([offer("model", 8)]) == Choice("model", 1)
    # With a = 0.4: 1.4 / 15 = 0.0933 is less than 0.1 of a plain pass.
    assert policy(priors={"model": 0.4}).choose([offer("model", 8)]) == NONE


def test_the_better_offer_wins_and_the_first_among_equals():
    offers = [offer("a", 4), offer("b", 4)]
    assert policy(priors={"b": 0.6}).choose(offers).drafter == "b"
    assert policy().choose(offers).drafter == "a"


def test_failures_end_drafting():
    failing = policy(start_passes=8)
    see(failing, "other", 1, 0, times=12)
    assert list(failing.acceptance(marks("other", 1))) == [2 / 16]  # 1.125 / 11 is still above 1 / 10
    assert failing.choose([offer("other", 1)]) == Choice("other", 1)
    see(failing, "other", 1, 0, times=8)
    assert list(failing.acceptance(marks("other", 1))) == [2 / 24]  # 1.083 / 11 is not
    assert failing.choose([offer("other", 1)]) == NONE


def test_success_makes_drafts_longer():
    lucky = policy()
    see(lucky, "other", 8, 8, times=10)
    assert next(lucky.acceptance(marks("other", 8))) == 12 / 14
    assert lucky.choose([offer("other", 8)]) == Choice("other", 8)


def test_positions_are_told_apart():
    # The second token is always wrong. Position 1: (2 + 20) / 24. Position 2, and from there on: (0 + 4 · 22/24) / 24.
    cut = policy()
    see(cut, "other", 2, 1, times=20)
    assert list(cut.acceptance(marks("other", 3))) == pytest.approx([22 / 24, 4 * 22 / 24 / 24, 4 * 22 / 24 / 24])
    assert cut.choose([offer("other", 8)]) == Choice("other", 1)


def test_positions_that_were_never_reached_are_not_blamed():
    # The first token is wrong half of the time, so the second was tried 10 times of 20, and right each time.
    seen = policy(start_passes=8)
    see(seen, "other", 2, 0, times=10)
    see(seen, "other", 2, 2, times=10)
    first = (4 / 2 + 10) / 24
    assert list(seen.acceptance(marks("other", 2))) == pytest.approx([first, (4 * first + 10) / 14])


def test_matches_of_different_length_are_told_apart():
    seen = policy(start_passes=8)
    see(seen, "n-gram", 2, 0, times=20, match=1)
    assert seen.choose([offer("n-gram", 2, match=1)]) == NONE
    assert seen.choose([offer("n-gram", 2, match=3)]) == Choice("n-gram", 2)


def test_the_tail_of_a_prompt_is_no_argument():
    # Interpolation makes every token 1 ms wherever it stands, so the choice is the same with any tail …
    assert policy().choose([offer("other", 8)], tail=5) == policy().choose([offer("other", 8)])
    # … and where a wide pass is dearer by the token, less is drafted in it.
    steep = PassCosts({1: 10.0, 11: 20.0, 21: 70.0})
    assert policy(steep).choose([offer("other", 8)], tail=11) == NONE


def test_padded_widths_are_filled():
    # Two to eight tokens cost the same pass: once it pays at all, all the places are used.
    padded = PassCosts({1: 10.0, 8: 12.0}, padded=True)
    assert policy(padded).choose([offer("other", 12)]) == Choice("other", 7)


def test_an_empty_purse_allows_nothing_and_fills_by_two_percent():
    broke = policy(start_passes=0)
    assert broke.choose([offer("other", 4)]) == NONE
    broke.observe(Round("", (), 0, 1))
    assert broke.purse_ms == pytest.approx(0.2)
    for _ in range(4):
        broke.observe(Round("", (), 0, 1))
    assert broke.choose([offer("other", 4)]) == Choice("other", 1)  # 1 ms is there
    broke.observe(Round("other", marks("other", 1), 0, 1))
    assert broke.purse_ms == pytest.approx(0.2)
    broke.observe(Round("other", marks("other", 1), 1, 2))
    assert broke.purse_ms == pytest.approx(0.2 - 1 + 10 + 0.4)


def test_an_accepted_stop_token_saves_one_pass_less():
    ended = policy(start_passes=1)
    ended.observe(Round("other", marks("other", 1), accepted=1, chosen=1))
    assert ended.purse_ms == pytest.approx(10 - 1 + 0.2)


def test_the_purse_has_a_bottom_and_a_top():
    rich = policy(purse_passes=2)
    see(rich, "other", 4, 4, times=5)
    assert rich.purse_ms == 20.0
    see(rich, "other", 10, 0, times=5)
    assert rich.purse_ms == 0.0


def test_a_drafter_that_failed_is_tried_again():
    recovering = policy(fade=0.98, start_passes=8)
    see(recovering, "model", 1, 0, times=10)
    assert recovering.choose([offer("model", 4)]) == NONE
    waited = 0
    while recovering.choose([offer("model", 4)]) == NONE:
        recovering.observe(Round("", (), 0, 1))
        waited += 1
    # 10 failures fade to below what keeps (4 · 0.7) / (4 + n) above 1/2, that is n < 1.6: 0.98^t < 0.16, t ≈ 90.
    assert 60 < waited < 130
    see(recovering, "model", 1, 1, times=20)
    assert recovering.choose([offer("model", 4)]).k >= 1


def test_same_observations_same_choices():
    def run():
        subject = policy(fade=0.98)
        choices = []
        for i in range(300):
            choice = subject.choose([offer("n-gram", i % 7 + 1, i % 3 + 1), offer("model", 6)])
            accepted = min(choice.k, i * i % 9)
            subject.observe(Round(choice.drafter, marks(choice.drafter, choice.k, i % 3 + 1), accepted, accepted + 1))
            choices.append(choice)
        return choices

    assert run() == run()
    assert len(set(run())) > 3


def time_of(subject, costs, accept, rounds, offers):
    """Milliseconds with drafts and without, for a text whose acceptance `accept(round, k)` says."""
    spent = plain = 0.0
    for i in range(rounds):
        tail = 3 if i % 10 == 0 else 0
        choice = subject.choose(offers, tail)
        accepted = min(accept(i, choice.k), choice.k)
        steps = Steps(choice.drafter, choice.k)
        drafted = marks(choice.drafter, choice.k, 2)
        subject.observe(Round(choice.drafter, drafted, accepted, accepted + 1, tail, steps=steps))
        spent += costs.target(1 + tail + choice.k) + costs.draft(choice.drafter, choice.k)
        plain += costs.target(1 + tail) + accepted * costs.target(1)
    return spent, plain


MEASURED = [
    PassCosts({1: 32.0, 8: 48.0, 16: 53.0}),
    PassCosts({1: 58.0, 8: 120.0}, {"model": 30.0}),
    PassCosts({1: 3.0, 2: 3.0, 4: 3.05, 8: 3.1, 16: 3.3}, {"model": 0.4}, padded=True),
]
OFFERS = [offer("tail", 12, 2), offer("n-gram", 8, 2), offer("model", 15)]


@pytest.mark.parametrize("costs", MEASURED, ids=["int8", "eager", "graphs"])
def test_adversarial_text_is_never_slower_than_0_97_of_none(costs):
    def never(i, k):
        return 0

    def until_trusted(i, k):  # agrees until long drafts are made, then fails as long as there are any
        return k if k < 3 else 0

    def in_turns(i, k):
        return k if i // 40 % 2 else 0

    for accept in (never, until_trusted, in_turns):
        spent, plain = time_of(AdaptivePolicy(costs), costs, accept, 1_000, OFFERS)
        assert plain / spent >= 0.97, accept.__name__


@given(
    st.sampled_from(MEASURED),
    st.lists(st.integers(0, 15), min_size=1, max_size=60),
    st.floats(0.0, 0.2),
    st.sampled_from([0.9, 0.98, 1.0]),
)
def test_the_loss_is_bounded_on_any_text(costs, accepted, eagerness, fade):
    subject = AdaptivePolicy(costs, eagerness=eagerness, fade=fade, start_passes=2)
    spent, plain = time_of(subject, costs, lambda i, _: accepted[i % len(accepted)], 2 * len(accepted), OFFERS)
    assert spent <= plain * (1 + eagerness) + 2 * costs.target(1) + 1e-6


@pytest.mark.parametrize("costs", MEASURED, ids=["int8", "eager", "graphs"])
def test_text_that_repeats_itself_gets_faster(costs):
    spent, plain = time_of(AdaptivePolicy(costs), costs, lambda _, k: k, 300, OFFERS)
    assert plain / spent > 1.8


def test_the_fixed_policy_takes_the_first_offer():
    assert FixedPolicy(3).choose([offer("a", 2), offer("b", 9)], 0) == Choice("a", 2)
    assert FixedPolicy(0).choose([offer("a", 2)], 0) == NONE
    assert FixedPolicy(3).choose([], 0) == NONE


def test_behind_a_long_sequence_wide_passes_pay_less():
    costs = PassCosts({1: 10.0, 9: 12.0}, longer_ms={1: 11.0, 9: 60.0}, longer_positions=4000)
    subject = policy(costs)
    assert subject.choose([offer("other", 8)], 0, 0).k > subject.choose([offer("other", 8)], 0, 4000).k


def test_steps_are_paid_also_where_nothing_came_of_them():
    subject = policy(start_passes=1)
    subject.observe(Round("", (), 0, 1, steps=Steps("model", 2)))
    assert subject.purse_ms == pytest.approx(10 - 2 * 4 + 0.2)


def test_opinions_count_whether_they_were_drafted_or_not():
    subject = policy()
    for right in (True, False, False, False):
        subject.observe(Round("", (), 0, 1, opinions=((Mark("model", 7), right),)))
    assert next(subject.acceptance((Mark("model", 7, 0.5),))) == (4 * 0.5 + 1) / 8


def test_the_outlook_has_the_rate_of_the_passes_so_far():
    subject = policy(fade=0.5)
    assert subject.outlook(0).rate == 1 / 10
    # 1 / 2 + 3 tokens in 10 / 2 + 10 + 2 ms, of which two drafted tokens took the last.
    subject.observe(Round("other", marks("other", 2), 2, 3))
    assert subject.outlook(0).rate == pytest.approx(3.5 / 17)
    assert subject.outlook(0).purse_ms == subject.purse_ms


def test_the_fixed_policy_weighs_no_single_tokens():
    assert FixedPolicy(3).outlook(0) is None
