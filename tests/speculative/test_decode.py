from speculative import FixedPolicy, Generation, ModelDrafter, generate
from speculative.drafters import fakes
from speculative.fakes import TableModel


class Watched(TableModel):
    """Writes down how many tokens each pass was fed."""

    def __init__(self, *args, **options):
        super().__init__(*args, **options)
        self.widths = []

    def forward(self, tokens, last):
        self.widths.append(len(tokens))
        return super().forward(tokens, last)


def start(prompt, k, drafters, limit=12):
    return Generation(
        prompt, max_new_tokens=limit, stop_ids=frozenset(), vocab_size=9, policy=FixedPolicy(k), drafters=drafters
    )


def test_only_what_the_row_lacks_is_fed():
    target = Watched(9, levels=50)
    prompt = [1, 2, 3, 4, 5]
    target.tokens = prompt[:3]
    generation = start(prompt, 3, [fakes.oracle(target.greedy)], limit=9)
    assert [step.accepted for step in generate(target, generation)] == [3, 3, 0]
    # Two of the prompt and three drafts; then the bonus token and three drafts; then the bonus token.
    assert target.widths == [5, 4, 1]
    assert target.tokens == generation.tokens[:-1]


def test_a_row_that_holds_the_whole_prompt_is_fed_its_last_token_again():
    target = Watched(9, levels=50)
    prompt = [1, 2, 3]
    target.tokens = [*prompt, 7, 7]
    expected = target.greedy(prompt, 4)
    generation = start(prompt, 0, [], limit=4)
    assert [t for step in generate(target, generation) for t in step.tokens] == expected
    assert target.widths == [1, 1, 1, 1]


def test_rejected_drafts_leave_no_trace_when_it_is_closed_in_the_middle():
    target = Watched(9, levels=50)
    generation = start([1, 2, 3], 4, [fakes.always_wrong(target.greedy)])
    loop = generate(target, generation)
    next(loop)
    next(loop)
    loop.close()
    assert target.tokens == generation.tokens[:-1]
    assert generation.finished is None


def test_the_draft_row_is_fed_two_tokens_after_a_fully_accepted_round():
    target, draft = TableModel(9, levels=50), Watched(9, levels=50)
    generation = start([1, 2, 3], 4, [ModelDrafter(draft, 9)])
    list(generate(target, generation))
    # First pass without the model; its prefill of 3 + 1 tokens and 3 more steps; after 5 tokens were committed of which
    # it has seen 3, two tokens and 3 more steps; one place left for the target then.
    assert draft.widths == [4, 1, 1, 1, 2, 1, 1, 1]
    assert generation.counters.accepted == {"model": 8}
    assert generation.counters.passes == 4
