"""Whether a token's logits really are the same to the bit however many tokens share its pass: tried out at load.

The products of `int8` are exact by arithmetic. Attention is so by the way in which the matrix library adds up, which we
do not control: another library, version or processor may do it differently. Knows nothing of why.
"""

import torch

from completion_server.models.decoder import Decoder, Feed

_STARTS = (0, 250, 700)  # sums are cut into blocks in different ways at these lengths
_WIDTHS = (5, 16)


@torch.inference_mode()
def rows_agree(decoder: Decoder) -> bool:
    """Compare passes of one token with wider ones, behind random keys and values."""
    width = max(_WIDTHS)
    memory = decoder.memory(slots=1, capacity=max(_STARTS) + width)
    generator = torch.Generator().manual_seed(0)
    tokens = torch.randint(0, int(decoder.model.config.vocab_size), (width,), generator=generator).tolist()
    memory.block(0).normal_(generator=generator)
    for start in _STARTS:
        singly = [decoder.forward(memory, [Feed(0, start + i, [tokens[i]], 1)])[0] for i in range(min(_WIDTHS))]
        for together in _WIDTHS:
            (logits,) = decoder.forward(memory, [Feed(0, start, tokens[:together], together)])
            if not torch.equal(logits[: min(_WIDTHS)], torch.cat(singly)):
                return False
    return True
