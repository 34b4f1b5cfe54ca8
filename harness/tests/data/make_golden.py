"""Writes the goldens that tests/goldens.rs reads, with numpy and the standard library alone.

    python make_golden.py

Values are chosen to be known by heart: element i of a tensor is i plus the tensor's own base.
"""

import hashlib
import json
import struct
from pathlib import Path

import numpy as np

FOLDER = Path(__file__).parent / "golden"
POSITIONS, HIDDEN, HEADS, HEAD_DIM, LAYERS, VOCAB = 2, 4, 2, 4, 2, 8


def bf16(array: np.ndarray) -> tuple[str, tuple, bytes]:
    """All values here are bf16 already, so the upper half of f32 is exact."""
    bits = array.astype("<f4").view("<u4")
    assert not (bits & 0xFFFF).any()
    return "BF16", array.shape, (bits >> 16).astype("<u2").tobytes()


def f32(array: np.ndarray) -> tuple[str, tuple, bytes]:
    return "F32", array.shape, array.astype("<f4").tobytes()


def f64(values: list) -> tuple[str, tuple, bytes]:
    return "F64", np.shape(values), np.array(values, "<f8").tobytes()


def i32(values: list) -> tuple[str, tuple, bytes]:
    return "I32", np.shape(values), np.array(values, "<i4").tobytes()


def ramp(base: int, width: int) -> np.ndarray:
    return np.arange(POSITIONS * width).reshape(POSITIONS, width) + base


def write(name: str, tensors: dict) -> dict:
    header, data = {}, b""
    for key, (dtype, shape, raw) in sorted(tensors.items(), key=lambda item: (-len(item[1][2]), item[0])):
        header[key] = {"dtype": dtype, "shape": shape, "data_offsets": [len(data), len(data) + len(raw)]}
        data += raw
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    raw = struct.pack("<Q", len(text)) + text + data
    (FOLDER / name).write_bytes(raw)
    return {"file": name, "bytes": len(raw), "sha256": hashlib.sha256(raw).hexdigest()}


def layer_tensors() -> dict:
    tensors = {"b.embed": bf16(ramp(0, HIDDEN)), "b.final": bf16(ramp(200, HIDDEN)), "r.final": f32(ramp(1200, HIDDEN))}
    widths = {"hidden": HIDDEN, "attn_ctx": HEADS * HEAD_DIM, "attn_out": HIDDEN, "mlp_out": HIDDEN}
    for layer in range(LAYERS):
        for index, (part, width) in enumerate(widths.items()):
            base = 64 * layer + 16 * index
            tensors[f"b.layer.{layer:02}.{part}"] = bf16(ramp(base, width))
            reference = "r" if part == "hidden" else "i"
            tensors[f"{reference}.layer.{layer:02}.{part}"] = f32(ramp(1000 + base, width))
            if part != "hidden":
                tensors[f"q.layer.{layer:02}.{part}"] = bf16(ramp(64 + base, width))
    return tensors


TOKENS = {
    "prompt.ids": i32([3, 1]),
    "b.tokens": i32([6, 0, 2]),
    "b.topk.ids": i32([[6, 0, 1, 2, 3], [0, 7, 1, 2, 3], [2, 1, 0, 6, 5]]),
    "logits.offsets": i32([0, 5, 10, 16]),
    "logits.ids": i32([0, 1, 2, 3, 6] + [0, 1, 2, 3, 7] + [0, 1, 2, 4, 5, 6]),
    "b.logits": f32(np.arange(16) / 4),
    "r.logits": f32(np.arange(16) / 4 + 100),
    "q.logits": f32(np.arange(16) / 4 + 200),
    "b.lse": f64([8.5, 9.5, 10.5]),
    "r.lse": f64([108.5, 109.5, 110.5]),
    "q.lse": f64([208.5, 209.5, 210.5]),
}

FOLDER.mkdir(exist_ok=True)
digest = "0" * 64
manifest = {
    "schema": "npugate-golden/1",
    "model": "toy",
    "reference": {
        "model_id": "toy", "revision": None, "weights": [], "transformers": "0", "torch": "0", "tokenizers": "0",
        "python": "3", "dtype": {"b": "bfloat16", "r": "float32"}, "attn_implementation": "none", "threads": 1,
        "cpu": {}, "recorder_sha256": digest, "date": "2026-01-01",
    },
    "config": {
        "architecture": "llama", "n_layers": LAYERS, "hidden_size": HIDDEN, "intermediate_size": 8, "n_heads": HEADS,
        "n_kv_heads": 1, "head_dim": HEAD_DIM, "vocab_size": VOCAB, "rope_theta": 10000.0, "rms_norm_eps": 1e-05,
        "tie_word_embeddings": True,
    },
    "noise": {"kl_rb_mean": 0.001, "kl_rb_p95": 0.002, "positions": 3},
    "prompts": [
        {
            "name": "base::p00", "text": "d b", "ids": [3, 1],
            "tokens": write("base_p00.safetensors", TOKENS),
            "layers": write("base_p00.layers.safetensors", layer_tensors()),
        },
        {"name": "base::p01", "text": "d b", "ids": [3, 1], "tokens": write("base_p01.safetensors", TOKENS)},
    ],
}
(FOLDER / "manifest.json").write_text(json.dumps(manifest, indent=2) + "\n")
