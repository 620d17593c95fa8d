"""CUDA graphs: a fixed sequence of kernels, recorded once and launched as one.

At batch 1 a pass is hundreds of kernels of a few microseconds each; launched one by one they are bound by the host.
Where there is no GPU a recorded call is the call itself, so that the code around it is the same. Knows nothing of
what it records.
"""

from collections.abc import Callable

import torch
from torch import Tensor

Run = Callable[[], Tensor]
WARM_UPS = 2  # the first call of a kernel chooses and allocates, which must not happen while recording


class Graphs:
    """Records calls. All graphs of one object share a memory pool, so only the newest result of any of them is valid.

    A recorded call must use the same tensors every time and must not look at their values on the host.
    """

    def __init__(self, device: torch.device, *, enabled: bool = True) -> None:
        self.enabled = enabled and device.type == "cuda"
        self.recorded = 0
        self._device = device
        # one stream for all: the matrix library keeps a workspace of 32 MB for each that it is called on
        self._stream = torch.cuda.Stream(device) if self.enabled else None  # type: ignore[no-untyped-call]
        self._pool = torch.cuda.graph_pool_handle() if self.enabled else None

    @torch.inference_mode()
    def record(self, run: Run) -> Run:
        """Run it `WARM_UPS` times, record it, and return what replays it; the result is the same tensor every time."""
        if self._stream is None:
            return run
        stream = self._stream
        stream.wait_stream(torch.cuda.current_stream(self._device))
        with torch.cuda.stream(stream):
            for _ in range(WARM_UPS):
                run()
        torch.cuda.current_stream(self._device).wait_stream(stream)
        graph = torch.cuda.CUDAGraph()
        # Another thread may answer requests meanwhile, with a pair that is about to be replaced: not its calls count.
        with torch.cuda.graph(graph, pool=self._pool, stream=stream, capture_error_mode="thread_local"):
            result = run()
        self.recorded += 1

        def replay() -> Tensor:
            graph.replay()
            return result

        return replay
