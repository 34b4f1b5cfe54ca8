"""Writes the inputs of the kernel registry's published figures to stdout.

    python3 inputs.py NAME...            their values
    python3 inputs.py --sha256 NAME...   their lines of inputs.json

Names are those of `inputs.json`: `gemm::512x512x512`, `rope::8_d64`, ... The operands of each follow
one another as bf16, little-endian, row-major, with nothing in between. Exit code 3: no numpy.

Seeds, generators and their order are those of the harnesses in Xilinx/mlir-air at e972f294. The
values are numpy's: no other generator gives them.
"""

import hashlib
import math
import sys

try:
    import numpy as np
except ImportError:
    sys.exit(3)

# A generator's draws do not depend on how they are split, and small pieces stay in the cache.
PIECE = 1 << 18
THETA = 500_000.0


def bf16(values):
    """Narrows as ml_dtypes does: to f32 first, then to bf16, both to nearest even."""
    bits = np.ascontiguousarray(values, np.float32).view(np.uint32)
    bits = bits + np.uint32(0x7FFF) + ((bits >> np.uint32(16)) & np.uint32(1))
    return (bits >> np.uint32(16)).astype("<u2").data


def draw(generator, count, scale=1.0):
    for start in range(0, count, PIECE):
        yield generator(min(PIECE, count - start)) * scale


def legacy(seed):
    np.random.seed(seed)
    return np.random.randn


def modern(seed, dtype):
    generator = np.random.default_rng(seed)
    return lambda count: generator.standard_normal(count, dtype=dtype)


# Each kernel yields its operands in the order in which they are drawn, an operand being its pieces.
def gemm(m, k, n):
    generator, scale = legacy(42), 1.0 / math.sqrt(k)
    yield draw(generator, m * k, scale)
    yield draw(generator, k * n, scale)


def gemv(m, k):
    generator = legacy(42)
    yield draw(generator, m * k, 4.0)
    yield draw(generator, k, 4.0)


def rms_norm(rows, cols):
    generator = legacy(0)
    yield draw(generator, rows * cols)
    yield draw(generator, cols)


def layer_norm(rows, cols):
    generator = legacy(0)
    yield draw(generator, rows * cols)
    # Weight, then bias: one operand.
    yield draw(generator, 2 * cols)


def flash_attention(tokens, head_dim, heads, kv_heads):
    generator = modern(42, np.float64)
    for count in (heads, kv_heads, kv_heads):
        yield draw(generator, count * tokens * head_dim)


def rope(rows, head_dim):
    yield draw(modern(0, np.float32), rows * head_dim)
    frequencies = 1.0 / THETA ** (2.0 * np.arange(head_dim // 2) / head_dim)
    angles = np.outer(np.arange(rows), frequencies)
    yield [np.concatenate([np.cos(angles), np.sin(angles)], axis=1)]


def flat(operands, count):
    generator = modern(0, np.float32)
    for _ in range(operands):
        yield draw(generator, count)


KERNELS = {
    "gemm": gemm,
    "gemv": gemv,
    "rms_norm": rms_norm,
    "layer_norm": layer_norm,
    "flash_attention": flash_attention,
    "rope": rope,
    "add": lambda count: flat(2, count),
    "silu_mul": lambda count: flat(2, count),
    "gelu": lambda count: flat(1, count),
}


def operands(name):
    """Those of `gemm::512x512x512`, `rope::8_d64`, `flash_attention::s512_d64_q2_kv2`."""
    kernel, shape = name.split("::")
    digits = "".join(c if c.isdigit() else " " for c in shape)
    return KERNELS[kernel](*(int(number) for number in digits.split()))


def digest(operand):
    sha256 = hashlib.sha256()
    for piece in operand:
        sha256.update(bf16(piece))
    return f'"{sha256.hexdigest()}"'


def main(names):
    if names and names[0] == "--sha256":
        for name in names[1:]:
            print(f'"{name}": [{", ".join(digest(operand) for operand in operands(name))}],')
        return
    for name in names:
        for operand in operands(name):
            for piece in operand:
                sys.stdout.buffer.write(bf16(piece))
    sys.stdout.buffer.flush()


main(sys.argv[1:])
