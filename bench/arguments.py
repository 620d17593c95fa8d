"""Numbers on the command lines of the benches: a count that makes no sense is refused, not measured."""

import argparse
from collections.abc import Callable


def at_least(least: int) -> Callable[[str], int]:
    """For `type=` of an argument: a whole number that is not smaller than `least`."""

    def parse(text: str) -> int:
        try:
            number = int(text)
        except ValueError:
            raise argparse.ArgumentTypeError(f"{text!r} is no whole number") from None
        if number < least:
            raise argparse.ArgumentTypeError(f"must be at least {least}, not {number}")
        return number

    return parse
