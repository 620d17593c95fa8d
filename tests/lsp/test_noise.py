"""What nobody wants to see."""

import pytest

from lsp.noise import is_noise


@pytest.mark.parametrize(
    ("text", "before", "above", "noise"),
    [
        ("########", "", [], True),
        (" ------ ", "# ", [], True),
        ("---", "", [], False),  # a document of YAML begins so
        ("))))", "(f (g (h (i", [], False),
        ("x = 1", "", ["x = 1"], False),
        ("x = 1", "", ["x = 1", "x = 1"], True),
        ("= 1", "x ", ["x = 1", "", "x = 1"], True),
        ("x = 1\ny = 2", "", ["x = 1", "x = 1"], True),
        ("x = 2", "", ["x = 1", "x = 1"], False),
        ("x = 1", "", ["x = 1", "x = 1", "y = 2"], False),
        ("Do it.", "    # ", ["    # Do it."], True),
        ("// Do it.", "", ["// Do it."], True),
        ("Do that.", "# ", ["# Do it."], False),
        ("", "x = 1", ["x = 1", "x = 1"], False),
    ],
)
def test_noise(text: str, before: str, above: list[str], noise: bool) -> None:
    assert is_noise(text, before, above) is noise
