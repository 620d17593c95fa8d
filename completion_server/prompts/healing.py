"""Token healing: which tokens at the end of a prompt a continuation may replace.

A cursor is rarely between two tokens of the text that is going to be there: `retu|` is not how a model reads
`return`. So the last tokens are taken off, back to a place where tokens end whatever follows, and the model must
first give back their bytes. Knows nothing of how generation is constrained.
"""

from collections.abc import Sequence

from completion_server.tokenization import TextTokenizer

MAX_HEALED = 4  # tokens


def healed_length(ids: Sequence[int], tokenizer: TextTokenizer) -> int:
    """How many of `ids` stay in the prompt; the others, at most `MAX_HEALED`, are to be generated again."""
    keep = len(ids)
    while keep > 0 and len(ids) - keep < MAX_HEALED:
        piece = tokenizer.token_bytes(ids[keep - 1])
        if not piece:
            break
        keep -= 1
        if keep == 0 or _is_stable(tokenizer.token_bytes(ids[keep - 1]), piece, tokenizer):
            break
    return keep


def _is_stable(left: bytes, right: bytes, tokenizer: TextTokenizer) -> bool:
    """No continuation of `right` can make one token out of the end of `left` and the beginning of `right`."""
    if not left:
        return True
    if left[-1] == 0x0A and right[0] in b" \t":
        return tokenizer.boundary.line_starts
    if left[-1] == right[0] == 0x20:  # a run of spaces leaves its last one to the word behind it
        return not right.isspace()
    return (left[-1], right[0]) not in tokenizer.joins
