"""The extension in the real editor's extension host: `editor-clients/vscode/test/host/index.ts`."""

import pytest

from bench.vscode_install import EXTENSION


@pytest.mark.editor
@pytest.mark.slow
async def test_in_the_extension_host(workplace) -> None:
    workplace.start_engine()
    async with workplace.editor(tests=EXTENSION / "build" / "host.js") as editor:
        code, log = await editor.finished()
    ours = [line for line in log if line.startswith(("ok ", "FAILED "))]
    assert code == 0, "\n".join(ours or log)
    assert len(ours) > 5, log
    painted = [message["params"] for message in workplace.said("foretype/event") if "paintMs" in message["params"]]
    assert painted, "no suggestion had its times told"
    for times in painted:
        assert times["event"] == "painted"
        assert times["id"]
        assert min(times.get("keyMs", 0), times["replyMs"], times["paintMs"]) >= 0
    assert any(times.get("keyMs", 0) > 0 for times in painted)
    moved = [message["params"] for message in workplace.said("foretype/cursor")]
    assert {"line": 1, "character": 2} in [
        told["position"] for told in moved if "moved.py" in told["textDocument"]["uri"]
    ]
