"""The report of made-up figures: what it shows, what it cannot be made to say, and how it looks in a real browser."""

import copy
import shutil
import subprocess
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
from PIL import Image

from bench.compare.charts import log_axis, share_axis
from bench.compare.figures import names
from bench.compare.page import page

SOON = 60
LIGHT, DARK = (0xF6, 0xF7, 0xF9), (0x14, 0x17, 0x1C)


def made_up(*pairs: str) -> dict[str, Any]:
    """The object of a comparison in which pair number n takes n times as long."""
    return {
        "best": {"pair": pairs[0], "by": "goodput", "sentence": f"{pairs[0]} is best: so.", "rule": "so"},
        "pairs": {name: one(number) for number, name in enumerate(pairs, 1)},
        "limits_ms": {"first_tokens": 80.0, "whole": 150.0},
        "parts": ["replay", "quality", "engine"],
        "files": 3,
        "extensions": [".py", ".ts"],
        "interrupted": False,
        "conditions": [],
        "command": f"foretype bench --pairs {','.join(pairs)}",
        "environment": {
            "date": "2026-01-01 00:00 UTC",
            "commit": "0123456789ab",
            "versions": {"python": "3.11", "torch": None},
            "system": "Linux x86_64",
            "processor": "a processor",
            "cores": 2,
            "threads": 2,
            "gpu": None,
            "models": {"embedded": {"model.safetensors": "ab" * 32}},
        },
    }


def one(number: int) -> dict[str, Any]:
    figures: dict[str, float] = dict.fromkeys(names(), 0.5)
    counts = ("keystrokes", "shown", "answered_by_engine", "failed", "wasted_tokens", "cursors", "shown_at_cursors")
    figures |= dict.fromkeys(counts, 40) | {"keystroke_to_suggestion_p95_ms": 100.0 * number}
    return {
        "target": "embedded", "draft": None, "drafters": ["tail"], "failure": None, "device": "cpu", "dtype": "int8",
        "notes": [], "turns": {"replay": 10, "quality": 10, "engine": 8}, "figures": figures,
        "intervals_95": {"edit_similarity": [0.4, 0.6], "keystroke_to_suggestion_p95_ms": [90 * number, 110 * number]},
        "less_best": {} if number == 1 else {"goodput": {"difference": -0.125, "interval_95": [-0.25, -0.0625]}},
        "acceptance": {"tail": [{"drafted": 20, "accepted": 15}, {"drafted": 10, "accepted": 5}]},
        "distributions": {
            "keystroke_to_suggestion_ms": [number * float(ms) for ms in range(1, 101)],
            "ttft_ms": [number * 0.8 * ms for ms in range(1, 101)],
        },
    }  # fmt: skip


class Words(HTMLParser):
    """The text, and how many elements there are of each tag and class."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.text = ""
        self.counts: dict[str, int] = {}
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        for name in (tag, *(f".{word}" for word in (dict(attrs).get("class") or "").split())):
            self.counts[name] = self.counts.get(name, 0) + 1

    def handle_data(self, data: str) -> None:
        self.text += f" {data}"


def test_it_says_which_pair_is_best_why_and_where_it_was_measured() -> None:
    words = Words(page(made_up("embedded", "embedded:n-gram")))
    for text in (
        "embedded is best: so.",
        "The rule: so",
        "foretype bench --pairs",
        "0123456789ab",
        "ab" * 32,
        "2 cores",
    ):
        assert text in words.text
    assert "-12.5 (-25.0 to -6.2)" in words.text  # goodput, in points of per cent
    assert "50.0 %" in words.text


def test_curves_points_and_limits_are_drawn_once_for_each_width() -> None:
    counts = Words(page(made_up("a", "b", "c"))).counts
    assert counts["polyline"] == 2 * (3 + 3 + 3)  # two distributions, and the drafts of each pair
    assert counts[".reach-line"] == 2 * 3 * 2
    assert counts[".limit"] == 2 * 3
    assert counts[".narrow"] == counts[".wide"] - 2 == 3 + 3  # beside charts two sections are wide


def test_names_are_text_whatever_is_in_them() -> None:
    text = page(made_up("<script>alert(1)</script>", '"><img src=x>'))
    words = Words(text)
    assert "script" not in words.counts
    assert "img" not in words.counts
    assert "<script>alert(1)</script> is best" in words.text


def test_what_was_not_measured_is_left_out_and_nothing_is_none() -> None:
    found = made_up("a", "b")
    for pair in found["pairs"].values():
        pair["figures"] = dict.fromkeys(names())
        pair["intervals_95"] = {"edit_similarity": None, "keystroke_to_suggestion_p95_ms": None}
        pair["distributions"] = {"keystroke_to_suggestion_ms": [], "ttft_ms": []}
        pair["acceptance"] = {}
    found["parts"] = ["engine"]
    words = Words(page(found))
    assert "svg" not in words.counts
    assert "Typing" not in words.text
    assert "None" not in words.text


def test_who_failed_is_told_and_has_no_column() -> None:
    found = made_up("a", "b")
    found["pairs"]["b"] = {"target": "t", "draft": None, "drafters": [], "failure": "pull it first"}
    words = Words(page(found))
    assert "b took no part: pull it first" in words.text
    assert words.counts["th"] - words.counts.get(".head", 0) == words.counts["tr"] - words.counts[".head"] + 1


def test_an_object_is_not_changed_by_its_report() -> None:
    found = made_up("a", "b")
    before = copy.deepcopy(found)
    page(found)
    assert found == before


def test_axes_have_round_steps_around_all_values() -> None:
    axis = log_axis("time", [37.0, 1_600.0], "ms")
    assert (axis.low, axis.high) == (20.0, 2_000.0)
    assert [name for _, name in axis.ticks] == ["20 ms", "50 ms", "100 ms", "200 ms", "500 ms", "1 s", "2 s"]
    wide = log_axis("time", [1.0, 40_000.0], "ms")
    assert [name for _, name in wide.ticks] == ["1 ms", "10 ms", "100 ms", "1 s", "10 s"]
    shares = share_axis("share", 0.37, 0.52)
    assert [name for _, name in shares.ticks] == ["35 %", "40 %", "45 %", "50 %", "55 %"]


@pytest.fixture(scope="module")
def browser() -> str:
    for name in ("chromium", "chromium-browser", "google-chrome"):
        if found := shutil.which(name):
            return found
    pytest.skip("no Chromium is installed: apt-get install chromium")


@pytest.mark.parametrize(("scheme", "colour"), [("light", LIGHT), ("dark", DARK)])
def test_a_real_browser_paints_it_and_complains_of_nothing(browser, scheme, colour, tmp_path: Path) -> None:
    """Its policy names the style by hash: with a wrong one the browser would complain, and paint it white."""
    report, picture = tmp_path / "report.html", tmp_path / "report.png"
    report.write_text(page(made_up("embedded", "embedded:n-gram", "embedded:target-only")))
    command = [
        browser, "--headless=new", "--no-sandbox", "--disable-gpu", f"--user-data-dir={tmp_path / 'profile'}",
        "--enable-logging=stderr", f"--blink-settings=preferredColorScheme={0 if scheme == 'dark' else 1}",
        "--window-size=700,900", f"--screenshot={picture}", report.as_uri(),
    ]  # fmt: skip
    run = subprocess.run(command, capture_output=True, text=True, timeout=SOON, check=True)
    assert [line for line in run.stderr.splitlines() if "CONSOLE" in line] == []
    with Image.open(picture) as painted:
        assert painted.convert("RGB").getpixel((2, 2)) == colour
        assert len(painted.convert("RGB").getcolors(1 << 20)) > 50
