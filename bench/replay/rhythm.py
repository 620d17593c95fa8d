"""How long people take from one key to the next, and how often they mistype: numbers, their sources, draws.

Within a word and where one begins: the two log-normal components of Roeser, De Maeyer, Leijten & Van Waes, "Modelling
typing disfluencies as finite mixture process", Reading and Writing 37 (2024), table 3, frequent letter pairs: a fluent
median of 158 ms (scale 0.29), and with probability 0.34 a hesitation of 95 ms more (scale 1.16). They fitted keys of
words alone; that hesitations come where a word begins or a sign was typed is ours, and gives about five keys a second.
That log-normal is a good shape for free text: González, Calot, Ierache & Hasperué, Heliyon 7 (2021) e08413.
Least gap 60 ms, greatest 5 s, and 6.3 % of the keys are corrections: Dhakal, Feit, Kristensson & Oulasvirta,
"Observations on typing from 136 million keystrokes", CHI 2018 (whose typists took 239 ms a key on average).
Pauses before a line, looks at another place or file, and how often one goes there: no source, chosen.
"""

import math
import random
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Rhythm:
    """Medians in milliseconds with the scale of their logarithm; shares and probabilities from 0 to 1."""

    fluent_ms: float = 158.0
    fluent_sigma: float = 0.29
    hesitation: float = 0.34  # of the keys that begin a word or come behind a sign
    hesitation_ms: float = 253.0
    hesitation_sigma: float = 1.16
    line_ms: float = 700.0  # before the first key of a line
    line_sigma: float = 0.8
    look_ms: float = 1_500.0  # at another place or another file
    look_sigma: float = 0.5
    least_ms: float = 60.0
    greatest_ms: float = 5_000.0
    slip: float = 0.067  # of the letters; each costs about 1.4 deletions, together 6.3 % of all keys
    slip_goes_on: float = 1 / 3  # of the slips are noticed one key later, as many again another one later
    jump: float = 0.5  # of the visits to a file see one to an earlier line of it
    visit_least: int = 50  # keys in one file before the person goes to another
    visit_greatest: int = 110

    def gap(self, dice: random.Random, before: str, key: str) -> float:
        """Seconds between the key `before` and `key`."""
        if "\n" in before:
            return self._drawn(dice, self.line_ms, self.line_sigma)
        begins = key.isalnum() and not before.isalnum()
        return self.hesitate(dice) if begins and dice.random() < self.hesitation else self.fluent(dice)

    def fluent(self, dice: random.Random) -> float:
        return self._drawn(dice, self.fluent_ms, self.fluent_sigma)

    def hesitate(self, dice: random.Random) -> float:
        return self._drawn(dice, self.hesitation_ms, self.hesitation_sigma)

    def look(self, dice: random.Random) -> float:
        return self._drawn(dice, self.look_ms, self.look_sigma)

    def _drawn(self, dice: random.Random, median_ms: float, sigma: float) -> float:
        drawn = dice.lognormvariate(math.log(median_ms), sigma)
        return min(max(drawn, self.least_ms), self.greatest_ms) / 1e3
