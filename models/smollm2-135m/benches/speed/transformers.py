"""Does the same work with Hugging Face transformers: bf16, greedy, with a KV cache.

Arguments: weights (GGUF), threads, tokens of the prefill, tokens of the decode's prompt, decode
steps. For each line `prefill` or `decode` on standard input, does that work once and answers with
the seconds that it took.
"""

import sys
import time
from pathlib import Path

try:
    import gguf  # noqa: F401, which transformers reads the weights with
    import torch
    from transformers import AutoModelForCausalLM, GgufConfig
    from transformers.utils import logging
except ImportError as error:
    sys.exit(f"transformers cannot be imported: {error}")

weights, numbers = Path(sys.argv[1]), [int(argument) for argument in sys.argv[2:]]
threads, prefill_tokens, prompt_tokens, steps = numbers
torch.set_num_threads(threads)
torch.set_grad_enabled(False)
logging.set_verbosity_error()
logging.disable_progress_bar()
model = AutoModelForCausalLM.from_pretrained(
    str(weights.parent),
    gguf_file=weights.name,
    quantization_config=GgufConfig(dequantize=True),
    dtype=torch.bfloat16,
    attn_implementation="sdpa",
).eval()
found = {parameter.dtype for parameter in model.parameters()}
if found != {torch.bfloat16}:
    sys.exit(f"transformers loaded the weights as {found}, not in bf16")


def forward(tokens, cache=None):
    """Computes the logits of only the last position, as the decoder does."""
    return model(torch.tensor([tokens]), cache=cache, use_cache=True, logits_to_keep=1)


def prefill():
    tokens = list(range(1000, 1000 + prefill_tokens))
    start = time.perf_counter()
    forward(tokens)
    return time.perf_counter() - start


def decode():
    out = forward(list(range(1000, 1000 + prompt_tokens)))
    start = time.perf_counter()
    for _ in range(steps):
        out = forward([int(out.logits[0, -1].argmax())], out.cache)
    return time.perf_counter() - start


print("ready", flush=True)
for line in sys.stdin:
    print({"prefill": prefill, "decode": decode}[line.strip()](), flush=True)
