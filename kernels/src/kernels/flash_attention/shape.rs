//! The dimensions by which the registry distinguishes attention's rows.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::mask::Mask;
use crate::kernel::{ShapeType, number};

/// Self-attention over `tokens` queries and as many keys.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct AttentionShape {
    /// Queries and keys.
    pub tokens: usize,
    /// Elements of a head.
    pub head_dim: usize,
    /// Query heads.
    pub heads: usize,
    /// Key and value heads.
    pub kv_heads: usize,
    /// Which keys a query sees.
    #[cfg_attr(test, schemars(with = "crate::registry::schema::MaskSchema"))]
    pub mask: Mask,
}

impl fmt::Display for AttentionShape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { tokens, head_dim, heads, kv_heads, mask } = self;
        write!(f, "s{tokens}_d{head_dim}_q{heads}_kv{kv_heads}_{mask}")
    }
}

impl ShapeType for AttentionShape {
    fn parse(key: &str) -> Option<Self> {
        let mut parts = key.split('_');
        let mut next = |prefix| number(parts.next()?, prefix);
        let (tokens, head_dim) = (next("s")?, next("d")?);
        let (heads, kv_heads) = (next("q")?, next("kv")?);
        let mask = match (parts.next()?, parts.next()) {
            ("full", None) => Mask::Full,
            ("causal", None) => Mask::Causal,
            ("causal", Some(window)) => Mask::SlidingWindow(number(window, "w")?),
            _ => return None,
        };
        parts.next().is_none().then_some(Self { tokens, head_dim, heads, kv_heads, mask })
    }

    /// A mask without a window has one of all tokens.
    fn dimensions(&self) -> Vec<usize> {
        let &Self { tokens, head_dim, heads, kv_heads, mask } = self;
        let window = match mask {
            Mask::Full | Mask::Causal => tokens,
            Mask::SlidingWindow(window) => window,
        };
        vec![tokens, head_dim, heads, kv_heads, window]
    }

    /// The kind of the mask.
    fn variant(&self) -> usize {
        match self.mask {
            Mask::Full => 0,
            Mask::Causal => 1,
            Mask::SlidingWindow(_) => 2,
        }
    }
}
