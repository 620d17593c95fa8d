"""Two opinions about the next token made into one chance, by adding up log-odds.

A *guess* was found in the text and is right with chance c; the draft model says a token of probability p. The
coefficients are a logistic regression of being right on the log-odds of c and p, over 4,100 tokens that the embedded
target wrote in 80 places of Python, JavaScript and C++ files. Pooling opinions like this: Genest & Zidek, "Combining
Probability Distributions", Statistical Science 1 (1986), section 3. What is wrong in it for another model or text the
policy sets right, which counts how often such chances come true.
"""

import math

_EDGE = 0.005  # nothing is taken for surer than this


def said(p: float) -> float:
    """That the model is right where nothing was guessed: small models are too sure of themselves."""
    return _chance(-0.4 + 0.75 * _log_odds(p))


def agreed(c: float, p: float) -> float:
    """That both are right, where the model says what was guessed."""
    return _chance(1.45 + 0.75 * _log_odds(c) + 0.45 * _log_odds(p))


def doubted(c: float) -> float:
    """That the guess is right, where the model says another token."""
    return _chance(-0.3 + 0.95 * _log_odds(c))


def against(c: float, p: float) -> float:
    """That the model is right, where something else was guessed."""
    return _chance(-1.3 - 0.75 * _log_odds(c) + 0.6 * _log_odds(p))


def _log_odds(p: float) -> float:
    p = min(max(p, _EDGE), 1 - _EDGE)
    return math.log(p / (1 - p))


def _chance(log_odds: float) -> float:
    return 1 / (1 + math.exp(-log_odds))
