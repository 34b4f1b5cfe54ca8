//! The token goldens of a prompt: how the reference continued it, and how its two
//! arithmetics ranked the vocabulary at every step.

use super::file::Tensors;
use super::{GoldenError, TensorProblem};
use crate::DType;
use crate::schema::{ModelConfig, Prompt};

/// The reference's greedy continuation of a prompt, and both references'
/// logits along it.
#[derive(Clone, PartialEq, Debug)]
pub struct TokenGolden {
    /// The prompt.
    pub prompt_ids: Vec<u32>,
    /// b's greedy continuation.
    pub tokens: Vec<u32>,
    /// b's five best tokens at each step, best first; the first one is the
    /// token of that step.
    pub top5: Vec<[u32; 5]>,
    /// The logits that predict each step's token, teacher-forced on `tokens`.
    pub steps: Vec<CompactLogits>,
}

/// Both references' logits at one position, for the tokens that matter: the
/// union of each one's best 256.
#[derive(Clone, PartialEq, Debug)]
pub struct CompactLogits {
    /// The tokens, ascending.
    pub ids: Vec<u32>,
    /// The bf16 reference's logits of those tokens.
    pub b: Vec<f32>,
    /// The f32 reference's logits of those tokens.
    pub r: Vec<f32>,
    /// The log-sum-exp of b over the whole vocabulary.
    pub b_lse: f64,
    /// The log-sum-exp of r over the whole vocabulary.
    pub r_lse: f64,
    /// The reference in the kernels' declared arithmetic; none where they
    /// declare bf16.
    pub declared: Option<DeclaredLogits>,
}

/// The logits of q: the bf16 reference with the matrix products of the kernels'
/// declared arithmetic.
#[derive(Clone, PartialEq, Debug)]
pub struct DeclaredLogits {
    /// The logits, for the same tokens as b's and r's.
    pub logits: Vec<f32>,
    /// The log-sum-exp over the whole vocabulary.
    pub lse: f64,
}

impl CompactLogits {
    /// The index of a token's logits; `None` if they are not stored, which means that
    /// neither reference has the token among its best 256.
    pub fn index_of(&self, id: u32) -> Option<usize> {
        self.ids.binary_search(&id).ok()
    }
}

impl TokenGolden {
    pub(super) fn read(
        tensors: &Tensors<'_>,
        prompt: &Prompt,
        config: &ModelConfig,
    ) -> Result<Self, GoldenError> {
        let vocab = config.vocab_size;
        let prompt_ids = tensors.ids("prompt.ids", None, vocab)?;
        agree(tensors, "prompt.ids", "the manifest", &prompt_ids, &prompt.ids)?;
        let tokens = tensors.ids("b.tokens", None, vocab)?;
        let top5 = tensors.ids("b.topk.ids", Some(&[tokens.len(), 5]), vocab)?;
        let top5 = top5.as_chunks::<5>().0.to_vec();
        let best: Vec<_> = top5.iter().map(|top| top[0]).collect();
        agree(tensors, "b.tokens", "b.topk.ids", &tokens, &best)?;
        let steps = read_steps(tensors, tokens.len(), vocab)?;
        let stored = |(top, step): (&[u32; 5], &CompactLogits)| {
            top.iter().all(|&id| step.index_of(id).is_some())
        };
        // Both have a length of `tokens.len()`, so `zip` drops nothing.
        if let Some(index) = top5.iter().zip(&steps).position(|step| !stored(step)) {
            let problem = TensorProblem::Disagrees { with: "logits.ids", index };
            return Err(tensors.problem("b.topk.ids", problem));
        }
        Ok(Self { prompt_ids, tokens, top5, steps })
    }
}

/// Reads the compact logits of `count` steps, cut at the offsets.
fn read_steps(
    tensors: &Tensors<'_>,
    count: usize,
    vocab: usize,
) -> Result<Vec<CompactLogits>, GoldenError> {
    let ids = tensors.ids("logits.ids", None, vocab)?;
    let b = tensors.floats("b.logits", DType::F32, &[ids.len()])?;
    let r = tensors.floats("r.logits", DType::F32, &[ids.len()])?;
    let b_lse = tensors.doubles("b.lse", count)?;
    let r_lse = tensors.doubles("r.lse", count)?;
    let q = if tensors.has_any("q.") {
        let logits = tensors.floats("q.logits", DType::F32, &[ids.len()])?;
        Some((logits, tensors.doubles("q.lse", count)?))
    } else {
        None
    };
    let offsets = read_offsets(tensors, count, ids.len())?;
    let step = |step: usize| {
        let range = offsets[step]..offsets[step + 1];
        let step = CompactLogits {
            ids: ids[range.clone()].to_vec(),
            b: b.values()[range.clone()].to_vec(),
            r: r.values()[range.clone()].to_vec(),
            b_lse: b_lse[step],
            r_lse: r_lse[step],
            declared: q.as_ref().map(|(logits, lse)| DeclaredLogits {
                logits: logits.values()[range.clone()].to_vec(),
                lse: lse[step],
            }),
        };
        match step.ids.windows(2).position(|pair| pair[0] >= pair[1]) {
            None => Ok(step),
            Some(index) => {
                let problem = TensorProblem::Order(range.start + index + 1);
                Err(tensors.problem("logits.ids", problem))
            }
        }
    };
    (0..count).map(step).collect()
}

/// Reads where the logits of each step begin, and where those of the last step end. The
/// offsets go from zero to the number of logits, and every step has at least one.
fn read_offsets(
    tensors: &Tensors<'_>,
    steps: usize,
    logits: usize,
) -> Result<Vec<usize>, GoldenError> {
    const NAME: &str = "logits.offsets";
    let offsets = tensors.integers(NAME)?;
    if offsets.len() != steps + 1 {
        let (found, expected) = (vec![offsets.len()], vec![steps + 1]);
        return Err(tensors.problem(NAME, TensorProblem::Shape { found, expected }));
    }
    if let Some(index) = offsets.windows(2).position(|pair| pair[0] >= pair[1]) {
        return Err(tensors.problem(NAME, TensorProblem::Order(index + 1)));
    }
    let (first, last) = (offsets[0], offsets[steps]);
    if first != 0 || usize::try_from(last) != Ok(logits) {
        let problem = TensorProblem::Bounds { first, last, expected: logits };
        return Err(tensors.problem(NAME, problem));
    }
    // They ascend from zero, so none is negative.
    Ok(offsets.into_iter().map(|offset| offset as usize).collect())
}

/// Checks that two records of the same ids are equal.
fn agree(
    tensors: &Tensors<'_>,
    name: &str,
    with: &'static str,
    found: &[u32],
    expected: &[u32],
) -> Result<(), GoldenError> {
    if found == expected {
        return Ok(());
    }
    let equal = found.iter().zip(expected).take_while(|(found, expected)| found == expected);
    Err(tensors.problem(name, TensorProblem::Disagrees { with, index: equal.count() }))
}
