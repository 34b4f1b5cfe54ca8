//! Attention: its masks and layouts.

use std::ops::Range;

use serde::{Deserialize, Serialize};

/// `o = softmax(q k^T / sqrt(head_dim)) v` for each head, keys and values shared by groups of
/// `heads / kv_heads` query heads: multi-head attention where there are as many of both.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash, Serialize, Deserialize)]
pub struct FlashAttention {
    /// Tokens: queries and keys alike.
    pub tokens: usize,
    /// Query heads.
    pub heads: usize,
    /// Key and value heads.
    pub kv_heads: usize,
    /// Elements of a head.
    pub head_dim: usize,
    /// Which keys a query sees.
    pub mask: Mask,
    /// How the operands lie in memory.
    pub layout: AttentionLayout,
}

/// How the operands of [`FlashAttention`] lie in memory. The values are the same bit for bit.
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

/// Distances within an operand of [`FlashAttention`], in elements.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Strides {
    /// From a token to the next.
    pub(crate) token: usize,
    /// From a head to the next.
    pub(crate) head: usize,
}

/// Which keys a query of [`FlashAttention`] sees.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Mask {
    /// Those at its own position and before.
    Causal,
    /// All.
    Full,
    /// Of those at its own position and before, the last so many, its own among them: what the
    /// `sliding_window` of a Hugging Face configuration means. A multiple of 64.
    SlidingWindow(usize),
}

impl Mask {
    /// The keys that the query at position `query` sees, of `tokens`.
    pub(crate) fn keys(self, query: usize, tokens: usize) -> Range<usize> {
        match self {
            Self::Full => 0..tokens,
            Self::Causal => 0..query + 1,
            Self::SlidingWindow(window) => (query + 1).saturating_sub(window)..query + 1,
        }
    }
}

impl FlashAttention {
    pub(super) fn shape_key(&self) -> String {
        let Self { tokens, heads, kv_heads, head_dim, mask, layout } = *self;
        let mask = match mask {
            Mask::Causal => "causal".to_owned(),
            Mask::Full => "full".to_owned(),
            Mask::SlidingWindow(window) => format!("causal_w{window}"),
        };
        let layout = match layout {
            AttentionLayout::SeqFirst => "",
            AttentionLayout::HeadsFirst => "_hf",
        };
        format!("s{tokens}_d{head_dim}_q{heads}_kv{kv_heads}_{mask}{layout}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_window_holds_the_querys_own_key_and_those_just_before_it() {
        // transformers' masking_utils: key > query - window, and key <= query.
        assert_eq!(Mask::SlidingWindow(64).keys(0, 256), 0..1);
        assert_eq!(Mask::SlidingWindow(64).keys(63, 256), 0..64);
        assert_eq!(Mask::SlidingWindow(64).keys(64, 256), 1..65);
        assert_eq!(Mask::Causal.keys(64, 256), 0..65);
        assert_eq!(Mask::Full.keys(64, 256), 0..256);
    }
}
