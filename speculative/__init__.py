"""Speculative decoding that changes nothing but the speed.

A target model gives one token per pass, and a pass over a few tokens costs hardly more than a pass over one. So
something cheap guesses the next tokens, and one target pass checks all of them:

    draft    a drafter proposes d1 … dk to follow the committed tokens        drafters/, policy.py
    verify   one target pass over [last, d1 … dk] gives k + 1 rows of logits;
             d1 is right if row 0 chooses it, d2 if row 1 does, and so on     verify.py
    commit   the right ones, and the target's own choice behind them          generation.py

Every pass commits at least one token, so the target alone is the case k = 0. Greedy text is the target's token for
token; sampled text has the target's distribution. Neither depends on what the drafters do.

    policy = AdaptivePolicy(PassCosts({1: 32.0, 8: 48.0}))                  # one per pair of models, learns as it goes
    generation = Generation(prompt, max_new_tokens=96, stop_ids=frozenset({0}), vocab_size=49_152,
                            policy=policy, drafters=[NgramDrafter()])
    for committed in generate(target, generation):
        show(committed.tokens)

`generate` is the loop for one sequence. Who decodes many at once calls `propose` on each `Generation`, runs one target
pass over all of them and hands each its logits with `commit`.

Needs torch. Knows nothing of tokenizers, devices, KV memory or how models are loaded.
"""

from speculative.constraint import Constraint, PrefixConstraint, TokenBytes
from speculative.costs import CostError, PassCosts
from speculative.counters import Counters
from speculative.decode import TargetModel, generate
from speculative.draft import NO_DRAFT, Draft, Drafter, DraftRequest, Mark, Opinion, Steps, by_position
from speculative.drafters import (
    Corpus,
    DraftModel,
    ModelDrafter,
    NgramDrafter,
    NgramIndex,
    OpeningDrafter,
    Suggestions,
    TailDrafter,
)
from speculative.generation import LENGTH, STOPPED, Committed, Generation, GenerationError
from speculative.outlook import Outlook
from speculative.policy import AdaptivePolicy, Choice, FixedPolicy, Offer, Policy, Round
from speculative.randomness import Randomness, SeededRandomness
from speculative.sampling import Sampling, SamplingError, distribution
from speculative.verify import Verdict, verify_greedy, verify_sampled

__all__ = [
    "LENGTH",
    "NO_DRAFT",
    "STOPPED",
    "AdaptivePolicy",
    "Choice",
    "Committed",
    "Constraint",
    "Corpus",
    "CostError",
    "Counters",
    "Draft",
    "DraftModel",
    "DraftRequest",
    "Drafter",
    "FixedPolicy",
    "Generation",
    "GenerationError",
    "Mark",
    "ModelDrafter",
    "NgramDrafter",
    "NgramIndex",
    "Offer",
    "OpeningDrafter",
    "Opinion",
    "Outlook",
    "PassCosts",
    "Policy",
    "PrefixConstraint",
    "Randomness",
    "Round",
    "Sampling",
    "SamplingError",
    "SeededRandomness",
    "Steps",
    "Suggestions",
    "TailDrafter",
    "TargetModel",
    "TokenBytes",
    "Verdict",
    "by_position",
    "distribution",
    "generate",
    "verify_greedy",
    "verify_sampled",
]
