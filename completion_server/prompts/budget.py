"""How many tokens each part of a prompt may have. Plain arithmetic."""

from dataclasses import dataclass, replace

CONTROL_TOKENS = 16  # room for control tokens, the opening and the path line of a repository prompt's own file
BELOW_TOKENS = 256  # of the text below the cursor that a model without markers reads first
PATH_TOKENS = 96  # of the path between that text and the prefix
SLACK = 1.5  # how far a prefix may outgrow its budget before its window moves


@dataclass(frozen=True, slots=True)
class PromptBudget:
    """Tokens for each part.

    The prefix (with what was typed) grows to `SLACK` times its budget; then the window moves so that it has its
    budget again. A seeded middle longer than `typed_tokens` becomes part of the prefix.
    """

    prefix_tokens: int = 2048
    suffix_tokens: int = 512
    snippet_tokens: int = 1024
    typed_tokens: int = 256
    path_tokens: int = PATH_TOKENS  # in `plain` prompts; elsewhere paths are part of the snippets

    @property
    def prefix_ceiling(self) -> int:
        return int(self.prefix_tokens * SLACK)

    @property
    def ceiling(self) -> int:
        """No prompt is longer than this."""
        return self.prefix_ceiling + self.suffix_tokens + self.snippet_tokens + CONTROL_TOKENS

    def within(self, limit: int, *, plain: bool = False) -> "PromptBudget":
        """This budget, or one scaled down so that no prompt is longer than `limit` tokens.

        In a `plain` prompt, of a model without markers, the prefix has all the room that the text below and the path
        leave; snippets are looked up in, not laid out. There a limit above `ceiling`, which somebody asked for, makes
        it longer.
        """
        spare = max(limit - CONTROL_TOKENS, 8)
        if plain:
            below, path = min(BELOW_TOKENS, spare // 8), min(PATH_TOKENS, spare // 8)
            wanted = int(self.prefix_tokens * max(1.0, limit / self.ceiling))
            return replace(
                self,
                prefix_tokens=min(wanted, int((spare - below - path) / SLACK)),
                suffix_tokens=self.suffix_tokens if below == BELOW_TOKENS else below,
                path_tokens=path,
            )
        if self.ceiling <= limit:
            return self
        share = spare / (self.ceiling - CONTROL_TOKENS)
        return replace(
            self,
            prefix_tokens=max(4, int(self.prefix_tokens * share)),
            suffix_tokens=int(self.suffix_tokens * share),
            snippet_tokens=int(self.snippet_tokens * share),
        )
