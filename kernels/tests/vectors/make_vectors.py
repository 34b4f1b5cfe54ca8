#!/usr/bin/env python3
"""Expected values for the emulated NPU, from an independent implementation in numpy.

    python3 make_vectors.py        (needs numpy; rewrites the .json files beside it)

Written from the description of the datapaths, not from the Rust code. Values are float32 arrays; "bf16" is a
float32 array whose values bf16 can represent. Every sum is taken in the documented order, so the Rust code must
agree bit for bit.

Files hold hexadecimal words: 4 digits a bf16, 8 digits an f32. Inputs are not stored: both sides draw them
from the counter-based generator below.
"""
import json
import math
import pathlib

import numpy as np

F = np.float32
HERE = pathlib.Path(__file__).parent
np.seterr(all="ignore")  # infinities and NaNs are cases, not accidents


# ------------------------------------------------------------------ words and inputs

def hex_bf16(x):
    words = np.ascontiguousarray(x, F).view(np.uint32).ravel()
    assert not (words & 0xFFFF).any(), "not bf16"
    return "".join(f"{w >> 16:04x}" for w in words)


def hex_f32(x):
    return "".join(f"{w:08x}" for w in np.ascontiguousarray(x, F).view(np.uint32).ravel())


def draw(seed, shape, scale):
    """Roughly normal bf16: splitmix64 of a counter, the sum of its 8 bytes centred, times scale / 256."""
    n = int(np.prod(shape))
    z = np.arange(1, n + 1, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15) + np.uint64(seed)
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    z ^= z >> np.uint64(31)
    total = z.view(np.uint8).reshape(n, 8).astype(np.int64).sum(1) - 1020
    return narrow((total * (scale / 256)).astype(F), "nearest-even").reshape(shape)


# ------------------------------------------------------------------ narrowing

def narrow(x, mode):
    """f32 -> bf16 by comparing with the two neighbours, in f64."""
    x = np.asarray(x, F)
    inner = (x.view(np.uint32) & np.uint32(0xFFFF0000)).view(F)  # toward zero
    outer = (inner.view(np.uint32) + np.uint32(0x10000)).view(F)  # one step away from zero
    exact = (inner == x) | ~np.isfinite(x)
    if mode == "toward-zero":
        up = np.zeros(x.shape, bool)
    elif mode == "floor":
        up = np.signbit(x)
    else:
        # The step beyond the largest finite value counts as 2^128, though it is stored as infinity.
        far = np.where(np.isinf(outer), np.copysign(np.float64(2.0**128), x.astype(np.float64)), outer.astype(np.float64))
        below = np.abs(x.astype(np.float64) - inner.astype(np.float64))
        above = np.abs(far - x.astype(np.float64))
        odd = (inner.view(np.uint32) >> np.uint32(16)) & 1 == 1
        up = (above < below) | ((above == below) & odd)
    result = np.where(exact | ~up, inner, outer)
    return np.where(np.isnan(x), F(np.nan), np.where(np.isinf(x), x, result)).astype(F)


# ------------------------------------------------------------------ bfp16ebs8

def bfp16(x, axis, mode):
    """8 neighbours along `axis` share an exponent; 8-bit mantissas; a mantissa of 128 raises the exponent."""
    blocks = np.moveaxis(np.asarray(x, np.float64), axis, -1)
    shape = blocks.shape
    blocks = blocks.reshape(-1, 8)
    pick = {"nearest-even": np.rint, "floor": np.floor, "toward-zero": np.trunc}[mode]
    result = np.zeros_like(blocks)
    for i, block in enumerate(blocks):
        largest = np.abs(block).max()
        if largest == 0:
            continue
        exponent = math.frexp(largest)[1] - 1
        mantissas = pick(np.ldexp(block, 6 - exponent))
        if mantissas.max() > 127:
            exponent += 1
            mantissas = pick(np.ldexp(block, 6 - exponent))
        assert mantissas.min() >= -128 and mantissas.max() <= 127
        result[i] = np.ldexp(mantissas, exponent - 6)
    return np.moveaxis(result.reshape(shape), -1, axis).astype(F)


def accumulate(c, a, b):
    """c += a b in f32: pairs of K in order, of each pair the odd element first. Products are exact in f32."""
    c = c.astype(F)
    for k in range(0, a.shape[1], 2):
        for element in (k + 1, k):
            c = (c + a[:, element:element + 1] * b[element:element + 1]).astype(F)
    return c


# ------------------------------------------------------------------ kernels

def gemm(a, b, output, mode):
    block_mode = "nearest-even" if output == "fused-cast" else mode
    a, b = bfp16(a, 1, block_mode), bfp16(b, 0, block_mode)
    c = np.zeros((a.shape[0], b.shape[1]), F)
    if output == "direct":
        for k in range(0, a.shape[1], 32):
            c = narrow(accumulate(c, a[:, k:k + 32], b[k:k + 32]), mode)
        return c
    c = accumulate(c, a, b)
    return c if output.startswith("f32-") else narrow(c, mode)


def halves(lanes):
    """Adds the upper half to the lower until one value is left."""
    while lanes.shape[-1] > 1:
        half = lanes.shape[-1] // 2
        lanes = (lanes[..., :half] + lanes[..., half:]).astype(F)
    return lanes[..., 0]


def lane_sum(x, lanes):
    total = np.zeros(x.shape[:-1] + (lanes,), F)
    for k in range(0, x.shape[-1], lanes):
        total = (total + x[..., k:k + lanes]).astype(F)
    return halves(total)


def gemv(a, x, mode):
    return narrow(lane_sum((a * x).astype(F), 64), mode)


def rms_norm(x, w, eps, mode):
    mean = lane_sum((x * x).astype(F), 16) / F(x.shape[1])
    scale = narrow(F(1) / np.sqrt((mean + F(eps)).astype(F)), mode)[:, None]
    return narrow(narrow(x * scale, mode) * w, mode)


def layer_norm(x, wb, eps, mode):
    n = x.shape[1]
    w, b = wb[:n], wb[n:]
    mean = narrow(lane_sum(x, 16) / F(n), mode)[:, None]
    d = narrow(x - mean, mode)
    variance = lane_sum((d * d).astype(F), 16) / F(n)
    scale = narrow(F(1) / np.sqrt((variance + F(eps)).astype(F)), mode)[:, None]
    # A product of two bf16 is exact in f32: the weight and the bias round once together.
    return narrow(narrow(d * scale, mode) * w + b, mode)


def rope(x, lut, heads, mode):
    """Pairs (i, i + rotary / 2) of each head; what is beyond the rotary part is copied."""
    d, rotary = x.shape[1] // heads, lut.shape[1]
    half = rotary // 2
    out = x.copy()
    for at in range(0, heads * d, d):
        low, high = slice(at, at + half), slice(at + half, at + rotary)
        cos, sin = lut[:, :half], lut[:, half:]
        out[:, low] = narrow(x[:, low] * cos - x[:, high] * sin, mode)
        out[:, high] = narrow(x[:, low] * sin + x[:, high] * cos, mode)
    return out


def tanh(x):
    """The fitted surrogate: short of the exact value by 0.0134 (1 - |tanh|)."""
    t = np.abs(np.tanh(x.astype(np.float64)))
    t = np.maximum(t - 0.0134 * (1 - t), 0)
    return narrow(np.copysign(t, x).astype(F), "nearest-even")


def silu_mul(gate, up, mode):
    sigmoid = F(0.5) * narrow(F(1) + tanh(gate * F(0.5)), mode)
    return narrow(narrow(gate * sigmoid, mode) * up, mode)


def gelu(x, mode):
    r = lambda value: narrow(value, mode)
    alpha, beta = (narrow(F(c), "nearest-even") for c in (math.sqrt(2 / math.pi), 0.044715))
    cube = r(x * r(x * x))
    t = tanh(r(alpha * r(x + beta * cube)))
    return r(F(0.5) * x * r(F(1) + t))


def exp2(x):
    """11 fractional bits of the argument, a linear mantissa, chopped to bf16."""
    x = np.maximum(np.asarray(x, F), F(-250)).astype(np.float64)
    x = np.trunc(x * 2048) / 2048
    whole = np.floor(x)
    return narrow(np.ldexp(1 + (x - whole), whole.astype(int)).astype(F), "toward-zero")


def reciprocal(v, mode):
    r = lambda value: narrow(value, mode)
    bits = (np.asarray(v, F).view(np.uint32) >> np.uint32(16)).astype(np.int64)
    y = (((0x7EB5 - bits) & 0xFFFF).astype(np.uint32) << np.uint32(16)).view(F)
    a = r(r(F(1.436142) - v * y) * y)
    y = r(-(a * narrow(F(1.9395974), "nearest-even")))
    return r(-(y * r(y * v + F(2))))


LOWEST = F(-np.finfo(np.float32).max).view(np.uint32) & np.uint32(0xFFFF0000)
LOWEST = np.array(LOWEST, np.uint32).view(F)[()]


def softmax(x, mode):
    """Softmax of each row, as attention computes it for a single chunk that holds the whole row."""
    r = lambda value: narrow(value, mode)
    c = narrow(F(math.log2(math.e)), "nearest-even")
    d = r(x - x.max(1, keepdims=True))
    p = exp2(np.maximum(d, LOWEST) * c)
    return r(p * reciprocal(r(lane_sum(p, 16)), mode)[:, None])


def attention_head(q, k, v, visible, mode):
    """`visible(query, key)`: which query sees which key; 4 cascade stages of contiguous keys, chunks of 64, merged last to first."""
    n, d = q.shape
    r = lambda value: narrow(value, mode)
    c = narrow(F(math.log2(math.e) / math.sqrt(d)), "nearest-even")
    exp = lambda diff: exp2(np.maximum(diff, LOWEST) * c)
    q = bfp16(q, 1, mode)
    stages = []
    for stage in range(4):
        o, m, l = np.zeros((n, d), F), np.full(n, LOWEST, F), np.zeros(n, F)
        for first in range(stage * n // 4, (stage + 1) * n // 4, 64):
            keys, values = bfp16(k[first:first + 64], 1, mode), bfp16(v[first:first + 64], 0, mode)
            s = np.zeros((n, 64), F)
            for e in range(0, d, 64):
                s = r(accumulate(s, q[:, e:e + 64], np.ascontiguousarray(keys[:, e:e + 64].T)))
            s[~visible(np.arange(n)[:, None], np.arange(first, first + 64)[None])] = -np.inf
            new = np.maximum(m, s.max(1))
            p, factor = exp(r(s - new[:, None])), exp(r(m - new))
            m = new
            l = r(l * factor + r(lane_sum(p, 16)))
            o = r(accumulate(r(o * factor[:, None]), bfp16(p, 1, mode), values))
        stages.append((o, m, l))
    o, m, l = stages.pop()
    while stages:
        o2, m2, l2 = stages.pop()
        new = np.maximum(m, m2)
        own, other = exp(r(m - new)), exp(r(m2 - new))
        o = r(r(o2 * other[:, None]) + r(o * own[:, None]))
        l = r(l2 * other + r(l * own))
        m = new
    return r(o * reciprocal(l, mode)[:, None])


def visibility(mask):
    if mask == "full":
        return lambda query, key: key >= 0 * query
    if mask == "causal":
        return lambda query, key: key <= query
    # transformers' sliding window: the query's own key and those just before it, `window` in all.
    window = mask["sliding-window"]
    return lambda query, key: (key <= query) & (key > query - window)


def flash_attention(q, k, v, heads, kv_heads, mask, layout, mode):
    if layout == "seq-first":  # [tokens, heads * d]
        split = lambda x, n: x.reshape(x.shape[0], n, -1).transpose(1, 0, 2)
        q, k, v = split(q, heads), split(k, kv_heads), split(v, kv_heads)
    outputs = [attention_head(q[h], k[h * kv_heads // heads], v[h * kv_heads // heads], visibility(mask), mode)
               for h in range(heads)]
    return np.concatenate(outputs, 1) if layout == "seq-first" else np.stack(outputs)


# ------------------------------------------------------------------ files

MODES = ("nearest-even", "floor", "toward-zero")

# Tokens, query heads, key heads, head dimension, mask, layout.
ATTENTIONS = (
    (256, 2, 1, 64, "causal", "seq-first"),
    (256, 1, 1, 64, "full", "seq-first"),
    (256, 1, 1, 128, "causal", "seq-first"),
    (256, 1, 1, 256, "causal", "seq-first"),
    (256, 2, 2, 64, "full", "seq-first"),  # multi-head: as many key heads
    (512, 1, 1, 64, {"sliding-window": 128}, "seq-first"),
    (256, 2, 1, 128, {"sliding-window": 64}, "seq-first"),
    (256, 3, 1, 64, "causal", "heads-first"),
    (256, 2, 2, 64, {"sliding-window": 64}, "heads-first"),
)


def kernel_cases():
    for mode in MODES:
        def case(op, fields, seed, scales, shapes, run, step=1):
            inputs = [draw(seed + i, s, scale) for i, (s, scale) in enumerate(zip(shapes, scales))]
            out = run(*inputs, mode)
            out = out.reshape(-1, out.shape[-1] if out.ndim > 1 else 1)[::step]
            words = hex_f32(out) if fields.get("output", "").startswith("f32-") else hex_bf16(out)
            return {"rounding": mode, "op": {op: fields}, "seed": seed, "scales": scales, "rows_step": step,
                    "output": words}

        for i, output in enumerate(("f32-external", "drain", "fused-cast", "direct", "f32-direct")):
            m, k, n = 11, 104, 37
            yield case("Gemm", {"m": m, "k": k, "n": n, "output": output}, 100 + i, [0.25, 0.25], [(m, k), (k, n)],
                       lambda a, b, mode, output=output: gemm(a, b, output, mode))
        yield case("Gemv", {"m": 50, "k": 320}, 200, [4, 4], [(50, 320), (320,)], gemv)
        yield case("RmsNorm", {"rows": 9, "cols": 112, "eps": 1e-5}, 300, [1, 1], [(9, 112), (112,)],
                   lambda x, w, mode: rms_norm(x, w, 1e-5, mode))
        yield case("LayerNorm", {"rows": 9, "cols": 112, "eps": 1e-5}, 350, [1, 1], [(9, 112), (224,)],
                   lambda x, wb, mode: layer_norm(x, wb, 1e-5, mode))
        for i, (d, rotary) in enumerate(((32, 32), (64, 48), (128, 96), (48, 16))):
            yield case("Rope", {"tokens": 6, "heads": 3, "head_dim": d, "rotary_dim": rotary}, 400 + 10 * i, [1, 0.5],
                       [(6, 3 * d), (6, rotary)], lambda x, lut, mode: rope(x, lut, 3, mode))
        yield case("SiluMul", {"rows": 5, "cols": 101}, 500, [2, 1], [(5, 101), (5, 101)], silu_mul)
        yield case("Gelu", {"rows": 5, "cols": 101}, 550, [2], [(5, 101)], gelu)
        for i, (cols, scale) in enumerate(((16, 1), (112, 3), (1024, 1))):
            yield case("Softmax", {"rows": 5, "cols": cols}, 560 + i, [scale], [(5, cols)], softmax)
        yield case("Add", {"rows": 5, "cols": 101}, 600, [1, 1], [(5, 101), (5, 101)],
                   lambda a, b, mode: narrow(a + b, mode))
        yield case("Mul", {"rows": 5, "cols": 101}, 650, [1, 1], [(5, 101), (5, 101)],
                   lambda a, b, mode: narrow(a * b, mode))
        for i, (tokens, heads, kv_heads, d, mask, layout) in enumerate(ATTENTIONS):
            fields = {"tokens": tokens, "heads": heads, "kv_heads": kv_heads, "head_dim": d, "mask": mask,
                      "layout": layout}
            shape = lambda n: (tokens, n * d) if layout == "seq-first" else (n, tokens, d)
            yield case("FlashAttention", fields, 700 + 10 * i, [1, 1, 1], [shape(n) for n in (heads, kv_heads, kv_heads)],
                       lambda q, k, v, mode: flash_attention(q, k, v, heads, kv_heads, mask, layout, mode), step=19)


def edge_f32():
    """Ties, neighbours of ties, the largest values, denormals, zeros and infinities, and a random lot."""
    words = [0, 0x80000000, 0x3F808000, 0x3F818000, 0x3F807FFF, 0x3F808001, 0x7F7FFFFF, 0x7F7F8000, 0x7F7F7FFF,
             0x00000001, 0x00008000, 0x00018000, 0x007FFFFF, 0x7F800000]
    words += [w | 0x80000000 for w in words]
    random = np.random.default_rng(1).integers(0, 0x7F800000, 200, dtype=np.uint64)
    words += [int(w) for w in random] + [int(w) | 0x80000000 for w in random[:100]]
    return np.array(words, np.uint32).view(F)


def blocks():
    """Blocks of 8 at the edges of the format, then random ones of every scale."""
    top = 255 / 128  # the largest significand of bf16: mantissa 127.5
    rows = [[top] * 8, [-top] * 8, [top, -top, 1, -1, 0.5, 1 / 128, 0, 3 / 128], [-2, top, 0, 0, 0, 0, 0, 0],
            [0] * 8, [1, 1 / 64, 1 / 128, 3 / 128, -1 / 128, -3 / 128, 5 / 128, 2.0**-20],
            [top * 2.0**-100, 2.0**-101, 0, 0, 0, 0, 0, -(2.0**-107)], [top * 2.0**100, 2.0**99, 1, 0, 0, 0, 0, 0]]
    rng = np.random.default_rng(2)
    rows += list(rng.standard_normal((56, 8)) * np.exp2(rng.integers(-30, 30, (56, 1))))
    return narrow(np.array(rows, F), "nearest-even")


def write(name, value):
    (HERE / name).write_text(json.dumps(value, indent=1) + "\n")


def main():
    x = edge_f32()
    write("rounding.json", {"input": hex_f32(x), **{mode: hex_bf16(narrow(x, mode)) for mode in MODES}})
    x = blocks()
    write("bfp16.json", {"input": hex_bf16(x), **{mode: hex_bf16(bfp16(x, 1, mode)) for mode in MODES}})
    rng = np.random.default_rng(3)
    x = np.concatenate([-np.exp2(rng.uniform(-14, 8, 400)), rng.uniform(-4, 4, 200), [0, 1, -1, 0.5, -300, -126, -127.3, -133.2]])
    x = x.astype(F)
    write("exp2.json", {"input": hex_f32(x), "output": hex_bf16(exp2(x))})
    x = narrow(np.concatenate([rng.standard_normal(400) * 2, [0, 0.01, -0.01, 20, -20]]).astype(F), "nearest-even")
    write("tanh.json", {"input": hex_bf16(x), "output": hex_bf16(tanh(x))})
    x = narrow(np.exp2(rng.uniform(-3, 12, 300)).astype(F), "nearest-even")
    write("reciprocal.json", {"input": hex_bf16(x), **{mode: hex_bf16(reciprocal(x, mode)) for mode in MODES}})
    write("kernels.json", list(kernel_cases()))


if __name__ == "__main__":
    main()
