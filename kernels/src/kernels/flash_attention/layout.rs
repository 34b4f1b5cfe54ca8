//! How the operands of attention lie in memory.

use serde::{Deserialize, Serialize};

/// How the operands of [`FlashAttention`](super::FlashAttention) lie in memory. The values are the same bit for bit.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum AttentionLayout {
    /// Token by token: `q, o[tokens, heads * head_dim]` and `k, v[tokens, kv_heads * head_dim]`.
    SeqFirst,
    /// Head by head: `q, o[heads, tokens, head_dim]` and `k, v[kv_heads, tokens, head_dim]`.
    HeadsFirst,
}

impl AttentionLayout {
    /// Elements from one token to the next and from one head to the next, in an operand of `heads`
    /// heads of `head_dim` elements for each of `tokens` tokens.
    pub(crate) fn strides(self, tokens: usize, heads: usize, head_dim: usize) -> Strides {
        match self {
            Self::SeqFirst => Strides { token: heads * head_dim, head: head_dim },
            Self::HeadsFirst => Strides { token: head_dim, head: tokens * head_dim },
        }
    }
}

/// Distances within an operand of [`FlashAttention`](super::FlashAttention), in elements.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Strides {
    /// From a token to the next.
    pub(crate) token: usize,
    /// From a head to the next.
    pub(crate) head: usize,
}
