"""The command line of a replay: what can be asked for, and what goes together."""

import argparse
import math
from collections.abc import Callable, Sequence
from pathlib import Path

from bench.arguments import at_least

LOCKSTEP_KEYS, HUMAN_KEYS, EDITORS_KEYS = 500, 500, 120
WARM_UP = 20


def parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    """The options, with `pace` one of lockstep, human, trace and editors. Ends the process on options that clash."""
    parser = _parser()
    options = parser.parse_args(arguments)
    asked = options.pace
    options.pace = "trace" if options.trace else "editors" if options.editors else asked or "lockstep"
    if asked == "lockstep" and options.pace != asked:
        parser.error("in lockstep there is one editor and no trace: leave --pace out, or take --pace human")
    if options.trace and options.editors:
        parser.error("a trace is typed in one editor: take --trace or --editors")
    if options.trace and options.files:
        parser.error("a trace brings its documents along: take --trace or --files")
    if options.write_trace and options.pace not in ("human", "trace"):
        parser.error("--write-trace goes with --pace human")
    if options.pace == "lockstep" and (options.stream or options.speed != 1.0):
        parser.error("--stream and --speed go with --pace human: in lockstep every key waits for a whole answer")
    usual = {"lockstep": LOCKSTEP_KEYS, "editors": EDITORS_KEYS}
    options.keys = options.keys or usual.get(options.pace, HUMAN_KEYS)
    return options


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m bench.replay",
        description="Type real files key by key through the language server.",
        epilog="The paces of human typing, traces and editors run in real time; nothing is typed twice there, so that "
        "identical_to_target_only is null: the lockstep pace judges that. See docs/replay.md.",
    )
    parser.add_argument("--pair", default="embedded", help="a pair by name, see `foretype pairs`")
    parser.add_argument(
        "--files", action="append", metavar="GLOB", help="files to type in; may be repeated (default: Foretype's own)"
    )
    parser.add_argument(
        "--pace",
        choices=("lockstep", "human"),
        help="lockstep: every key waits for its answer (default); human: keys come as people type",
    )
    parser.add_argument("--trace", type=Path, metavar="FILE", help="type what a trace says, at its own times")
    parser.add_argument(
        "--editors", type=at_least(1), metavar="N", help="1, 2, 4 … up to N editors at once, human pace"
    )
    parser.add_argument("--write-trace", type=Path, metavar="FILE", help="write what was typed, text included")
    parser.add_argument(
        "--keys",
        type=at_least(1),
        metavar="N",
        help=f"keys of the author's text (default: {HUMAN_KEYS}; with --editors {EDITORS_KEYS} in each)",
    )
    parser.add_argument(
        "--warm-up",
        type=at_least(0),
        default=WARM_UP,
        metavar="N",
        help=f"keys before the first that counts, in real time (default: {WARM_UP})",
    )
    parser.add_argument(
        "--stream",
        action="store_true",
        help="suggestions grow, as in VS Code: answered with their first line (not in lockstep)",
    )
    parser.add_argument("--speed", type=_positive("speed"), default=1.0, metavar="X", help="X times as fast as people")
    parser.add_argument("--limit-first-ms", type=_positive("limit"), default=80.0, metavar="MS", help="default: 80")
    parser.add_argument("--limit-whole-ms", type=_positive("limit"), default=150.0, metavar="MS", help="default: 150")
    parser.add_argument("--seed", type=int, default=0, metavar="S", help="chooses places and rhythm (default: 0)")
    parser.add_argument(
        "--cold", type=at_least(0), default=5, metavar="N", help="prompts without any cache (default: 5)"
    )
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    return parser


def _positive(name: str) -> Callable[[str], float]:
    def parse_number(text: str) -> float:
        try:
            number = float(text)
        except ValueError:
            number = math.nan
        if not 0 < number < math.inf:
            raise argparse.ArgumentTypeError(f"the {name} must be a number above 0, not {text!r}")
        return number

    return parse_number
