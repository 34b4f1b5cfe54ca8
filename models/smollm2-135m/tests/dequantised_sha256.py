"""Computes digests of SmolLM2's tensors, in bf16 as in Hugging Face, with gguf-py and numpy.

    pip install gguf numpy
    python dequantised_sha256.py SmolLM2-135M-Instruct.Q4_1.gguf

prints the digests in `weights.rs`, which tests candle's dequantisation against them.
"""

import hashlib
import sys

import numpy as np
from gguf import GGUFReader
from gguf.quants import dequantize

HEADS = {"attn_q": 9, "attn_k": 3}
TENSORS = ["token_embd", "output_norm"] + [
    f"blk.{layer}.{part}"
    for layer, part in [
        (0, "attn_q"),
        (0, "attn_k"),
        (0, "attn_v"),
        (0, "attn_norm"),
        (15, "attn_output"),
        (15, "ffn_norm"),
        (29, "attn_k"),
        (29, "ffn_gate"),
        (29, "ffn_up"),
        (29, "ffn_down"),
    ]
]


def unpermute(rows: np.ndarray, heads: int) -> np.ndarray:
    """Reorders interleaved rows, as in llama.cpp, for Hugging Face's half-split rotation."""
    half = rows.shape[0] // heads // 2
    return rows.reshape(heads, half, 2, -1).swapaxes(1, 2).reshape(rows.shape)


def bf16_bytes(values: np.ndarray) -> bytes:
    """Converts to little-endian bf16, rounded to nearest even."""
    bits = np.ascontiguousarray(values, dtype=np.float32).view(np.uint32)
    return ((bits + 0x7FFF + ((bits >> 16) & 1)) >> 16).astype("<u2").tobytes()


tensors = {tensor.name: tensor for tensor in GGUFReader(sys.argv[1]).tensors}
for name in TENSORS:
    tensor = tensors[f"{name}.weight"]
    values = dequantize(tensor.data, tensor.tensor_type).reshape(tensor.shape[::-1])
    heads = HEADS.get(name.rpartition(".")[2])
    values = unpermute(values, heads) if heads else values
    print(name, hashlib.sha256(bf16_bytes(values)).hexdigest())
