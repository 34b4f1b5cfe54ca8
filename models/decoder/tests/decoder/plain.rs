//! The forward pass of the small model as Llama defines it, in f32 and plain
//! loops. It shares no code with the decoder.

use crate::model::{EPS, HEAD_DIM, HEADS, HIDDEN, KV_HEADS, LAYERS, MLP, THETA, VOCAB, Weights};

/// One block's outputs, `[positions, width]` each.
pub struct Layer {
    pub hidden: Vec<f32>,
    pub keys: Vec<f32>,
    pub values: Vec<f32>,
    pub attn_ctx: Vec<f32>,
    pub attn_out: Vec<f32>,
    pub mlp_out: Vec<f32>,
}

/// The forward pass of a prompt through the whole stack.
pub struct Forward {
    pub embedded: Vec<f32>,
    pub layers: Vec<Layer>,
    pub final_norm: Vec<f32>,
    /// `[positions, vocab]`.
    pub logits: Vec<f32>,
}

impl Forward {
    pub fn new(weights: &Weights, tokens: &[u32]) -> Self {
        let embedding = weights.get("model.embed_tokens.weight");
        let embedded: Vec<f32> = tokens
            .iter()
            .flat_map(|token| &embedding[*token as usize * HIDDEN..][..HIDDEN])
            .copied()
            .collect();
        let mut layers: Vec<Layer> = Vec::new();
        for layer in 0..LAYERS {
            let hidden = layers.last().map_or(&embedded, |layer| &layer.hidden);
            layers.push(Layer::new(weights, layer, hidden));
        }
        let last = &layers[LAYERS - 1].hidden;
        let final_norm = rms_norm(last, weights.get("model.norm.weight"));
        let untied = weights.0.contains_key("lm_head.weight");
        let head = if untied { weights.get("lm_head.weight") } else { embedding };
        let logits = project(&final_norm, head, HIDDEN, VOCAB);
        Self { embedded, layers, final_norm, logits }
    }
}

impl Layer {
    /// Runs one block on an input `[positions, hidden]`.
    pub fn new(weights: &Weights, layer: usize, input: &[f32]) -> Self {
        let weight = |part: &str| weights.get(&format!("model.layers.{layer}.{part}.weight"));
        let (q_width, kv_width) = (HEADS * HEAD_DIM, KV_HEADS * HEAD_DIM);

        let normed = rms_norm(input, weight("input_layernorm"));
        let q = project(&normed, weight("self_attn.q_proj"), HIDDEN, q_width);
        let k = project(&normed, weight("self_attn.k_proj"), HIDDEN, kv_width);
        let values = project(&normed, weight("self_attn.v_proj"), HIDDEN, kv_width);
        let (q, keys) = (rotate(&q, HEADS), rotate(&k, KV_HEADS));
        let attn_ctx = attend(&q, &keys, &values);
        let attn_out = project(&attn_ctx, weight("self_attn.o_proj"), q_width, HIDDEN);
        let mid: Vec<f32> = input.iter().zip(&attn_out).map(|(a, b)| a + b).collect();

        let normed = rms_norm(&mid, weight("post_attention_layernorm"));
        let gate = project(&normed, weight("mlp.gate_proj"), HIDDEN, MLP);
        let up = project(&normed, weight("mlp.up_proj"), HIDDEN, MLP);
        let act: Vec<f32> = gate.iter().zip(&up).map(|(g, u)| g / (1.0 + (-g).exp()) * u).collect();
        let mlp_out = project(&act, weight("mlp.down_proj"), MLP, HIDDEN);
        let hidden = mid.iter().zip(&mlp_out).map(|(a, b)| a + b).collect();
        Self { hidden, keys, values, attn_ctx, attn_out, mlp_out }
    }
}

fn rms_norm(x: &[f32], weight: &[f32]) -> Vec<f32> {
    let mut out = Vec::new();
    for row in x.chunks(HIDDEN) {
        let mean = row.iter().map(|x| x * x).sum::<f32>() / HIDDEN as f32;
        for (x, w) in row.iter().zip(weight) {
            out.push(x / (mean + EPS).sqrt() * w);
        }
    }
    out
}

/// `y[p][o] = sum_i x[p][i] w[o][i]`.
fn project(x: &[f32], w: &[f32], from: usize, to: usize) -> Vec<f32> {
    let mut out = Vec::new();
    for row in x.chunks(from) {
        for o in 0..to {
            out.push((0..from).map(|i| row[i] * w[o * from + i]).sum());
        }
    }
    out
}

/// Rotates element `i` of each head with element `i + head_dim / 2`.
fn rotate(x: &[f32], heads: usize) -> Vec<f32> {
    let (mut out, half) = (x.to_vec(), HEAD_DIM / 2);
    for (index, head) in out.chunks_mut(HEAD_DIM).enumerate() {
        let position = (index / heads) as f64;
        for i in 0..half {
            let angle = position * THETA.powf(-((2 * i) as f64) / HEAD_DIM as f64);
            let (sin, cos) = (angle.sin() as f32, angle.cos() as f32);
            let (a, b) = (head[i], head[i + half]);
            head[i] = a * cos - b * sin;
            head[i + half] = b * cos + a * sin;
        }
    }
    out
}

fn attend(q: &[f32], k: &[f32], v: &[f32]) -> Vec<f32> {
    let (q_width, kv_width) = (HEADS * HEAD_DIM, KV_HEADS * HEAD_DIM);
    let positions = q.len() / q_width;
    let mut out = vec![0.0; q.len()];
    for p in 0..positions {
        for head in 0..HEADS {
            let kv_head = head / (HEADS / KV_HEADS);
            let q = &q[p * q_width + head * HEAD_DIM..][..HEAD_DIM];
            let row = |t: usize| t * kv_width + kv_head * HEAD_DIM;
            let score = |t: usize| -> f32 {
                let dot: f32 = (0..HEAD_DIM).map(|i| q[i] * k[row(t) + i]).sum();
                dot / (HEAD_DIM as f32).sqrt()
            };
            let scores: Vec<f32> = (0..=p).map(score).collect();
            let max = scores.iter().copied().fold(f32::MIN, f32::max);
            let sum: f32 = scores.iter().map(|s| (s - max).exp()).sum();
            for (t, s) in scores.iter().enumerate() {
                for i in 0..HEAD_DIM {
                    let weight = (s - max).exp() / sum;
                    out[p * q_width + head * HEAD_DIM + i] += weight * v[row(t) + i];
                }
            }
        }
    }
    out
}
