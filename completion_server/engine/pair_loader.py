"""Loads pairs for one engine process: the one that its settings ask for, and others by name. Torch comes with them."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from completion_server.engine.candidate import Candidate
from completion_server.engine.turns import Turns
from completion_server.errors import ForetypeError, SettingsError
from completion_server.pairs import Pair, choose, load_pairs
from completion_server.pull import locate
from completion_server.settings import EngineSettings

if TYPE_CHECKING:
    from completion_server.engine.engine import Engine

_GIB = 2**30


@dataclass(frozen=True, slots=True)
class Needs:
    """Bytes: of the weights, and of keys and values of as many documents as the settings ask for."""

    weights: int
    kv: int

    def fit_beside(self, free: int, settings: EngineSettings) -> bool:
        """Whether there is room while another pair stays: with no document less than there would be without it."""
        return self.weights <= free and self.kv <= settings.kv_budget.resolve(free - self.weights)


class PairLoader:
    """Passes that are measured while a pair is loaded alternate with those of requests, by `turns`."""

    def __init__(self, settings: EngineSettings, turns: Turns) -> None:
        self._given = settings
        self._settings = settings  # with the pair in use
        self._turns = turns
        self._threads = settings.threads

    def load(self, progress: Callable[[str, float], None]) -> "Engine":
        """The pair of the settings. Raises as `load_engine` does."""
        return self._load(self._given, progress)

    def find(self, name: str) -> Candidate:
        """The pair called `name`; a draft that was asked for beside the pair in use stays with that one.

        Raises SettingsError for an unknown name, or where it has no room even in place of the pair in use, and
        ModelNotFound where its models are not here.
        """
        settings = replace(self._settings, pair=name, target=None, draft=None)
        pair = choose(load_pairs(), name)
        for model in pair.models:
            locate(model)

        def load(progress: Callable[[str, float], None]) -> "Engine":
            engine = self._load(settings, progress)
            self._settings = settings
            return engine

        return Candidate(name, load, self._fits_beside(pair))

    def _fits_beside(self, pair: Pair) -> bool:
        from completion_server.models.device import choose_device, free_memory

        free, needs = free_memory(choose_device(self._settings.device)), self._needs(pair)
        if needs.fit_beside(free, self._settings):
            return True
        room = free + self._in_use().weights
        if needs.weights > room:
            raise SettingsError(
                f"{pair.name} needs about {needs.weights / _GIB:.1f} GiB and there are {room / _GIB:.1f} GiB, "
                "those of the pair in use counted in: close other programs, or choose a smaller pair"
            )
        return False

    def _in_use(self) -> Needs:
        """Of the pair in use; nothing where that cannot be told: then it is not loaded either."""
        settings = self._settings
        try:
            return self._needs(choose(load_pairs(), settings.pair, settings.target, settings.draft))
        except ForetypeError:
            return Needs(0, 0)

    def _needs(self, pair: Pair) -> Needs:
        from completion_server.models.device import choose_arithmetic, choose_device
        from completion_server.models.footprint import footprint

        settings = self._settings
        arithmetic = choose_arithmetic(settings.dtype, choose_device(settings.device))
        found = [footprint(locate(model), arithmetic) for model in pair.models]
        kv = sum(one.position for one in found) * settings.context_tokens * settings.slots
        return Needs(sum(one.weights for one in found), kv)

    def _load(self, settings: EngineSettings, progress: Callable[[str, float], None]) -> "Engine":
        import torch

        from completion_server.engine.loading import load_engine

        # Once passes were computed torch says how many threads the last one had, and on every thread of Python.
        self._threads = self._threads or torch.get_num_threads()
        return load_engine(replace(settings, threads=self._threads), progress, self._turns.second)
