"""A draft made token by token: what was found in the text, and a small model where it is worth a step.

    guess    what the free drafters put next, and how likely it is right
    ask      the model, where it is expected to be right more often than the guess        outlook.py
    weigh    it says the same: surer than either; it says another: the likelier one       odds.py
    stop     where a token is less likely to be committed than its place in the pass is worth

Behind a token of the model the text is looked at anew, so that n-grams go on where the model leads and the model where
they end. For greedy decoding: what is left out or exchanged here would change the distribution of a sampled draft.
"""

from collections.abc import Callable, Sequence

from speculative import odds
from speculative.draft import NO_DRAFT, Draft, DraftRequest, Mark, Opinion, Steps
from speculative.drafters.model import ModelDrafter
from speculative.outlook import Outlook

Behind = Callable[[Sequence[int]], Draft]
"""What free drafters put behind these drafted tokens."""

_ASKED = -1  # kind of what the model says whatever it thinks of it; −2 for its second token in a draft and later ones
_BUCKETS = 10  # of chances that count as alike
_WEIGHED = 1_000  # added to the kind of a token that two opinions were weighed for


def advised(model: ModelDrafter, request: DraftRequest, guesses: Draft, behind: Behind, outlook: Outlook) -> Draft:
    """At most `request.k` tokens; `guesses` are what free drafters put first, perhaps nothing.

    Its `steps` and `opinions` tell what was asked, also where nothing came of it.
    """
    growing = _Growing(model, request, guesses, behind, outlook)
    while len(growing.tokens) < request.k and growing.grow():
        pass
    return growing.draft()


class _Growing:
    def __init__(
        self, model: ModelDrafter, request: DraftRequest, guesses: Draft, behind: Behind, outlook: Outlook
    ) -> None:
        self.tokens: list[int] = []
        self._marks: list[Mark] = []
        self._opinions: list[Opinion] = []
        self._survives = 1.0
        self._model, self._request, self._outlook = model, request, outlook
        self._steps = Steps(model.name, 0)
        self._talk = model.consult(request)
        self._behind = behind
        self._guesses = guesses
        self._used = 0  # of the guesses

    def draft(self) -> Draft:
        first = self._marks[0].drafter if self._marks else ""
        return Draft(tuple(self.tokens), first, None, tuple(self._marks), self._steps, tuple(self._opinions))

    def grow(self) -> bool:
        """Add a token; False where the draft ends before it or with it."""
        guess = self._guess()
        chosen = self._weighed(guess)
        if chosen is None:
            return False
        token, mark = chosen
        survives = self._survives * self._outlook.chance(mark)
        if not self._outlook.pays(survives, len(self.tokens) + 1, self._steps):
            return False
        self._survives = survives
        self.tokens.append(token)
        self._marks.append(mark)
        if guess is not None and token == guess[0]:
            self._used += 1
        else:
            self._guesses, self._used = NO_DRAFT, 0
        return token not in self._request.stop_ids

    def _guess(self) -> tuple[int, Mark] | None:
        if self.tokens and self._used == len(self._guesses.tokens):
            self._guesses, self._used = self._behind(self.tokens), 0
        if self._used == len(self._guesses.tokens):
            return None
        return self._guesses.tokens[self._used], self._guesses.marks[self._used]

    def _weighed(self, guess: tuple[int, Mark] | None) -> tuple[int, Mark] | None:
        """The guess, or what it is after the model was asked; None where there is neither."""
        chance = 0.0 if guess is None else self._outlook.chance(guess[1])
        said = self._ask(chance, new=guess is None)
        if said is None:
            return guess
        token, p, own = said
        if guess is None:
            return token, own
        if token == guess[0]:
            return token, _mark(guess[1].drafter, odds.agreed(chance, p), _WEIGHED)
        for_model = _mark(self._model.name, odds.against(chance, p), _WEIGHED)
        for_guess = _mark(guess[1].drafter, odds.doubted(chance), _WEIGHED)
        if self._outlook.chance(for_model) > self._outlook.chance(for_guess):
            return token, for_model
        return guess[0], for_guess

    def _ask(self, chance: float, *, new: bool) -> tuple[int, float, Mark] | None:
        """The model's token, its probability and mark, if asking pays where a guess is right with `chance`."""
        later = min(1, len({opinion.position for opinion in self._opinions}))
        asked = Mark(self._model.name, _ASKED - later, self._model.expected[min(later, len(self._model.expected) - 1)])
        more = self._talk.missing(self.tokens)
        gain = self._outlook.chance(asked) - chance
        if not self._outlook.asks(self._survives, gain, len(self.tokens) + 1, self._steps, more, new=new):
            return None
        said = self._talk.ask(self.tokens)
        if said is None:
            return None
        self._steps = Steps(self._model.name, self._steps.number + more)
        token, p = said
        own = _mark(self._model.name, odds.said(p), _BUCKETS * later)
        self._opinions += [Opinion(len(self.tokens), token, mark) for mark in (asked, own)]
        return token, p, own


def _mark(drafter: str, chance: float, kinds: int) -> Mark:
    """Tokens whose stated chance is about the same are of one kind, counted from `kinds`."""
    return Mark(drafter, kinds + min(int(_BUCKETS * chance), _BUCKETS - 1), chance)
