"""Files by pattern, and modules of the standard library."""

import pytest

from bench.sources import FILES, read_sources, standard_library
from completion_server.errors import SettingsError


def test_files_that_are_no_text_are_left_out(tmp_path):
    (tmp_path / "a.py").write_bytes(b"\xff\xfe")
    with pytest.raises(SettingsError):
        read_sources([str(tmp_path / "*.py")])
    (tmp_path / "b.py").write_text("x = 1\n")
    assert [source.path.name for source in read_sources([str(tmp_path / "*.py"), str(tmp_path / "b.py")])] == ["b.py"]


def test_modules_of_the_standard_library_are_files():
    assert [path.stem for path in standard_library(["textwrap", "no_such_module", "shlex"])] == ["textwrap", "shlex"]
    assert len(standard_library()) == len(FILES)
