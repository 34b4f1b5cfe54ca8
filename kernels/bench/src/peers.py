"""Runs a peer once for each line of standard input, and prints the time in seconds."""

import sys
import time

THREADS = int(sys.argv[1])
modules = []
try:
    import numpy as np

    modules.append("numpy")
except ImportError:
    pass
try:
    import torch

    torch.set_num_threads(THREADS)
    modules.append("torch")
except ImportError:
    pass


def gemm(m, k, n):
    """torch's bf16 matrix product, both operands in bf16."""
    generator = torch.Generator().manual_seed(42)
    a = torch.randn(m, k, generator=generator).to(torch.bfloat16)
    b = torch.randn(k, n, generator=generator).to(torch.bfloat16)
    c = torch.empty(m, n, dtype=torch.bfloat16)

    def run():
        with torch.inference_mode():
            torch.matmul(a, b, out=c)

    return run


def to_bf16(x):
    bits = x.view(np.uint32)
    rounded = bits + np.uint32(0x7FFF) + ((bits >> np.uint32(16)) & np.uint32(1))
    return (rounded & np.uint32(0xFFFF0000)).view(np.float32)


def compare(rows, columns):
    """The figures of one kernel's output in f64, also by row, column and head."""
    rng = np.random.default_rng(42)
    r = rng.standard_normal((rows, columns), dtype=np.float32)
    y = to_bf16(r + np.float32(1e-3) * rng.standard_normal((rows, columns), dtype=np.float32))

    def run():
        assert np.isfinite(y).all() and np.isfinite(r).all()
        device, exact = y.astype(np.float64), r.astype(np.float64)
        stored = to_bf16(r).astype(np.float64)
        size = np.abs(stored)
        abs_error = np.abs(device - stored)
        rel_error = abs_error / np.maximum(size, 1e-6)
        mismatches = np.count_nonzero(~(abs_error <= 1.5e-3 + 1.6e-2 * size))
        error = device - exact
        yy, rr, yr, ee = device * device, exact * exact, device * exact, error * error
        figures = [abs_error.max(), abs_error.argmax(), abs_error.mean(), rel_error.max()]
        figures += [rel_error.mean(), size.mean(), error.mean(), mismatches]
        for product in (yy, rr, yr, ee):
            by_column = product.sum(axis=0)
            by_head = by_column.reshape(-1, 64).sum(axis=1)
            figures += [product.sum(axis=1), by_column, by_head, by_column.sum()]
        return figures

    return run


print(*modules, flush=True)
peers = {"gemm": gemm, "compare": compare}
made = {}
for line in sys.stdin:
    if line not in made:
        name, *shape = line.split()
        made[line] = peers[name](*map(int, shape))
    start = time.perf_counter()
    made[line]()
    print(time.perf_counter() - start, flush=True)
