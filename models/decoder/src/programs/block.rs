//! The programs of a decoder block, for many rows or for one.

use super::builder::Builder;
use crate::{DecoderConfig, GemmMethod};
use npugate_kernels::{
    Add, ArgIndex, AttentionLayout, FlashAttention, Gemm, Gemv, Mask, Op, Program, RmsNorm, Role,
    Rope, SiluMul, Toolchain,
};

/// The number of rows that a program computes, which decides the kernel that
/// projects them.
#[derive(Clone, Copy)]
pub(super) enum Rows {
    /// A padded prompt, by matrix products with weights `[in, out]`.
    Prefill { seq_len: usize, method: GemmMethod },
    /// One token, by matrix-vector products with weights `[out, in]`.
    Decode,
}

impl Rows {
    fn count(self) -> usize {
        match self {
            Self::Prefill { seq_len, .. } => seq_len,
            Self::Decode => 1,
        }
    }

    /// The prefix that distinguishes decode's programs from prefill's.
    fn prefix(self) -> &'static str {
        match self {
            Self::Prefill { .. } => "",
            Self::Decode => "decode_",
        }
    }

    fn weight_shape(self, from: usize, to: usize) -> [usize; 2] {
        match self {
            Self::Prefill { .. } => [from, to],
            Self::Decode => [to, from],
        }
    }
}

/// A builder of programs for a given number of rows.
struct Block {
    builder: Builder,
    rows: Rows,
}

/// A projection: the weight's name and the widths that it maps.
struct Projection {
    weight: &'static str,
    from: usize,
    to: usize,
}

impl Block {
    fn new(name: &str, rows: Rows, toolchain: Toolchain) -> Self {
        Self { builder: Builder::new(format!("{}{name}", rows.prefix()), toolchain), rows }
    }

    /// Adds an input with one row per position.
    fn input(&mut self, name: &str, width: usize) -> ArgIndex {
        self.builder.arg(Role::Input, name, [self.rows.count(), width])
    }

    /// Adds a launch that writes one row per position.
    fn launch(
        &mut self,
        op: Op,
        reads: &[ArgIndex],
        role: Role,
        name: &str,
        width: usize,
    ) -> ArgIndex {
        self.builder.launch(op, reads, role, name, [self.rows.count(), width])
    }

    fn norm(&mut self, config: &DecoderConfig, x: ArgIndex, w: &str, name: &str) -> ArgIndex {
        let cols = config.model.hidden_size;
        let eps = config.model.rms_norm_eps as f32;
        let weight = self.builder.arg(Role::Static, w, [cols]);
        let op = Op::RmsNorm(RmsNorm { rows: self.rows.count(), cols, eps });
        self.launch(op, &[x, weight], Role::Intermediate, name, cols)
    }

    fn project(
        &mut self,
        x: ArgIndex,
        projection: &Projection,
        role: Role,
        name: &str,
    ) -> ArgIndex {
        let &Projection { weight, from, to } = projection;
        let weight = self.builder.arg(Role::Static, weight, self.rows.weight_shape(from, to));
        let (op, reads) = match self.rows {
            Rows::Prefill { seq_len, method } => {
                let output = method.output();
                (Op::Gemm(Gemm { m: seq_len, k: from, n: to, output }), [x, weight])
            }
            Rows::Decode => (Op::Gemv(Gemv { m: to, k: from }), [weight, x]),
        };
        self.launch(op, &reads, role, name, to)
    }

    fn rotate(&mut self, x: ArgIndex, lut: ArgIndex, rope: Rope, name: &str) -> ArgIndex {
        let width = rope.heads * rope.head_dim;
        self.launch(Op::Rope(rope), &[x, lut], Role::Output, name, width)
    }

    fn add(&mut self, a: ArgIndex, b: ArgIndex, cols: usize, role: Role, name: &str) -> ArgIndex {
        let op = Op::Add(Add { rows: self.rows.count(), cols });
        self.launch(op, &[a, b], role, name, cols)
    }
}

/// Builds the program from the residual stream `hidden` to `q_rope`, `k_rope`
/// and `v`.
///
/// The table of angles, `rope_lut`, is written once for prefill, whose positions
/// never change, and for every token in decode.
pub(super) fn rms_qkv_rope(config: &DecoderConfig, rows: Rows, toolchain: Toolchain) -> Program {
    let model = &config.model;
    let (hidden, head_dim, tokens) = (model.hidden_size, model.head_dim, rows.count());
    let mut block = Block::new("rms_qkv_rope", rows, toolchain);

    let x = block.input("hidden", hidden);
    let normed = block.norm(config, x, "attn_norm_w", "attn_norm");
    let projection = |weight, to| Projection { weight, from: hidden, to };
    let (wq, wk) = (projection("wq", config.q_width()), projection("wk", config.kv_width()));
    let wv = projection("wv", config.kv_width());
    let q = block.project(normed, &wq, Role::Intermediate, "q");
    let k = block.project(normed, &wk, Role::Intermediate, "k");
    block.project(normed, &wv, Role::Output, "v");

    let lut_role = match rows {
        Rows::Prefill { .. } => Role::Static,
        Rows::Decode => Role::Input,
    };
    let lut = block.builder.arg(lut_role, "rope_lut", [tokens, head_dim]);
    let rope = |heads| Rope { tokens, heads, head_dim, rotary_dim: head_dim };
    block.rotate(q, lut, rope(model.n_heads), "q_rope");
    block.rotate(k, lut, rope(model.n_kv_heads), "k_rope");
    block.builder.finish()
}

/// Builds the program from `q_rope`, `k_rope` and `v` to the result of attention
/// per head, `attn_ctx`.
pub(super) fn flash_attn(config: &DecoderConfig, seq_len: usize, toolchain: Toolchain) -> Program {
    let model = &config.model;
    let mut builder = Builder::new("flash_attn", toolchain);
    let q = builder.arg(Role::Input, "q_rope", [seq_len, config.q_width()]);
    let k = builder.arg(Role::Input, "k_rope", [seq_len, config.kv_width()]);
    let v = builder.arg(Role::Input, "v", [seq_len, config.kv_width()]);
    let op = Op::FlashAttention(FlashAttention {
        tokens: seq_len,
        heads: model.n_heads,
        kv_heads: model.n_kv_heads,
        head_dim: model.head_dim,
        mask: Mask::Causal,
        layout: AttentionLayout::SeqFirst,
    });
    builder.launch(op, &[q, k, v], Role::Output, "attn_ctx", [seq_len, config.q_width()]);
    builder.finish()
}

/// Builds the program from `attn_ctx` and the residual stream `hidden` to the
/// residual stream after the block, `out`.
pub(super) fn o_ffn(config: &DecoderConfig, rows: Rows, toolchain: Toolchain) -> Program {
    let (hidden, mlp) = (config.model.hidden_size, config.model.intermediate_size);
    let mut block = Block::new("o_ffn", rows, toolchain);
    let inner = Role::Intermediate;

    let attn_ctx = block.input("attn_ctx", config.q_width());
    let wo = Projection { weight: "wo", from: config.q_width(), to: hidden };
    let attn_out = block.project(attn_ctx, &wo, inner, "attn_out");
    let x = block.input("hidden", hidden);
    let mid = block.add(x, attn_out, hidden, inner, "mid");

    let normed = block.norm(config, mid, "mlp_norm_w", "mlp_norm");
    let into_mlp = |weight| Projection { weight, from: hidden, to: mlp };
    let gate = block.project(normed, &into_mlp("w_gate"), inner, "gate");
    let up = block.project(normed, &into_mlp("w_up"), inner, "up");
    let silu_mul = Op::SiluMul(SiluMul { rows: rows.count(), cols: mlp });
    let act = block.launch(silu_mul, &[gate, up], inner, "act", mlp);
    let w_down = Projection { weight: "w_down", from: mlp, to: hidden };
    let mlp_out = block.project(act, &w_down, inner, "mlp_out");
    block.add(mid, mlp_out, hidden, Role::Output, "out");
    block.builder.finish()
}
