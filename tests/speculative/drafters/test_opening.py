from speculative import NO_DRAFT, FixedPolicy, Generation, generate
from speculative.drafters import OpeningDrafter
from speculative.fakes import TableModel


def drafts(opening, generated, k=8):
    """What is proposed where `generated` has been committed behind a prompt of two tokens."""
    seen = []

    class Spy(OpeningDrafter):
        def propose(self, request):
            seen.append(super().propose(request))
            return NO_DRAFT

    generation = Generation(
        [1, 2], max_new_tokens=20, stop_ids=frozenset(), vocab_size=50, policy=FixedPolicy(8), drafters=[Spy(opening)]
    )
    generation._tokens += generated
    generation.propose(k)
    return seen[0].tokens


def test_the_opening_is_proposed_from_where_it_has_come_to():
    assert drafts([7, 8, 9], []) == (7, 8, 9)
    assert drafts([7, 8, 9], [7]) == (8, 9)
    assert drafts([7, 8, 9], [], k=2) == (7, 8)


def test_nothing_behind_it_or_where_the_text_began_differently():
    assert drafts([7, 8], [7, 8]) == ()
    assert drafts([7, 8], [7, 8, 3]) == ()
    assert drafts([7, 8], [5]) == ()
    assert drafts([], []) == ()


def test_the_text_is_the_targets_whatever_the_opening():
    def text(drafters):
        generation = Generation(
            [1, 2], max_new_tokens=12, stop_ids=frozenset(), vocab_size=20, policy=FixedPolicy(4), drafters=drafters
        )
        for _ in generate(TableModel(vocab_size=20, seed=3), generation):
            pass
        return list(generation.generated)

    plain = text([])
    assert text([OpeningDrafter(plain[:3])]) == text([OpeningDrafter([0, 1, 2])]) == plain
