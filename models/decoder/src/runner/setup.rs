//! Reads weights from a file into static buffers, once, before anything is timed.

use super::{
    DecoderRunner, FinalNorm, HostAttention, KvCache, LoadedStage, RopeTable, RunnerError, Stages,
    Vocabulary,
};
use crate::{
    DecoderConfig, Options, Programs,
    weights::{LayerPart, TensorId, WeightSource, WeightsError},
};
use half::bf16;
use npugate::RunError;
use npugate_kernels::{BufferSet, Device, Tensor, TensorError};
use rayon::prelude::*;

/// Side of the squares in which a matrix is transposed: two of them fit in a
/// core's L1 cache.
const TILE: usize = 64;

/// The static buffers of one layer, by argument name.
struct LayerTensors {
    /// Matrices as `[in, out]`, for matrix products.
    prefill: Vec<(&'static str, Tensor)>,
    /// Matrices as `[out, in]`, for matrix-vector products.
    decode: Vec<(&'static str, Tensor)>,
}

impl DecoderRunner {
    /// Loads the programs, reads the weights and writes every static buffer.
    ///
    /// # Errors
    ///
    /// Fails if the weight file cannot be read or the device refuses a program or
    /// a buffer.
    pub fn new(
        mut device: Box<dyn Device>,
        config: DecoderConfig,
        options: Options,
        programs: &Programs,
        weights: &dyn WeightSource,
    ) -> Result<Self, RunError> {
        let stages = load(device.as_mut(), programs)?;
        let model = &config.model;
        let rope = RopeTable::new(model.head_dim, model.rope_theta);
        let lut = Tensor::bf16([options.seq_len, model.head_dim], rope.rows(options.seq_len))
            .map_err(RunError::fault)?;
        // Reads one layer per thread at a time: reading all layers at once would take twice the
        // memory.
        let layers: Vec<usize> = (0..model.n_layers).collect();
        for layers in layers.chunks(rayon::current_num_threads()) {
            let read = layers.par_iter().map(|&layer| read_layer(&config, weights, layer));
            let read = read.collect::<Result<Vec<_>, _>>()?;
            for (&layer, tensors) in layers.iter().zip(read) {
                stages.write_layer(device.as_mut(), layer, &lut, tensors)?;
            }
        }
        let vocabulary = |tensor| -> Result<Vocabulary, WeightsError> {
            let values = weights.read(tensor)?;
            Ok(Vocabulary::new(&values, model.vocab_size, model.hidden_size))
        };
        let embedding = vocabulary(TensorId::Embedding)?;
        if model.tie_word_embeddings {
            stages.write_lm_head(device.as_mut(), &embedding)?;
        } else {
            stages.write_lm_head(device.as_mut(), &vocabulary(TensorId::LmHead)?)?;
        }
        let final_norm = weights.read(TensorId::FinalNorm)?;
        Ok(Self {
            device,
            options,
            stages,
            embedding,
            final_norm: FinalNorm::new(&final_norm, model.rms_norm_eps),
            rope,
            attention: HostAttention::new(model.n_heads, model.n_kv_heads, model.head_dim),
            cache: KvCache::new(model.n_layers, config.kv_width(), config.max_positions),
            config,
        })
    }
}

fn load(device: &mut dyn Device, programs: &Programs) -> Result<Stages, RunnerError> {
    let mut load = |stage| LoadedStage::load(device, stage);
    Ok(Stages {
        rms_qkv_rope: load(&programs.rms_qkv_rope)?,
        flash_attn: programs.flash_attn.as_ref().map(&mut load).transpose()?,
        o_ffn: load(&programs.o_ffn)?,
        decode_rms_qkv_rope: load(&programs.decode_rms_qkv_rope)?,
        decode_o_ffn: load(&programs.decode_o_ffn)?,
        lm_head: load(&programs.lm_head)?,
    })
}

impl Stages {
    fn write_layer(
        &self,
        device: &mut dyn Device,
        layer: usize,
        lut: &Tensor,
        LayerTensors { mut prefill, decode }: LayerTensors,
    ) -> Result<(), RunnerError> {
        let set = BufferSet(layer as u32);
        prefill.push(("rope_lut", lut.clone()));
        for stage in [&self.rms_qkv_rope, &self.o_ffn] {
            stage.write_statics(device, set, |name| find(&prefill, name))?;
        }
        for stage in [&self.decode_rms_qkv_rope, &self.decode_o_ffn] {
            stage.write_statics(device, set, |name| find(&decode, name))?;
        }
        Ok(())
    }

    /// Writes each partition of the LM head to its own buffer set.
    fn write_lm_head(
        &self,
        device: &mut dyn Device,
        lm_head: &Vocabulary,
    ) -> Result<(), RunnerError> {
        for (partition, tensor) in lm_head.tensors().enumerate() {
            let part = [("lm_head_w", tensor?)];
            let set = BufferSet(partition as u32);
            self.lm_head.write_statics(device, set, |name| find(&part, name))?;
        }
        Ok(())
    }
}

fn find(tensors: &[(&'static str, Tensor)], name: &str) -> Option<Tensor> {
    tensors.iter().find(|(known, _)| *known == name).map(|(_, tensor)| tensor.clone())
}

fn read_layer(
    config: &DecoderConfig,
    weights: &dyn WeightSource,
    layer: usize,
) -> Result<LayerTensors, RunError> {
    let mut tensors = LayerTensors { prefill: Vec::new(), decode: Vec::new() };
    for part in LayerPart::ALL {
        let values = weights.read(TensorId::Layer(layer, part))?;
        let (prefill, decode) =
            for_products(&part.shape(config), values).map_err(RunError::fault)?;
        tensors.prefill.push((part.arg(), prefill));
        tensors.decode.push((part.arg(), decode));
    }
    Ok(tensors)
}

/// Returns a tensor in the layout for matrix products and in that for matrix-vector
/// products.
fn for_products(shape: &[usize], values: Vec<bf16>) -> Result<(Tensor, Tensor), TensorError> {
    if let [rows, cols] = *shape {
        let prefill = Tensor::bf16([cols, rows], transpose(&values, rows, cols))?;
        Ok((prefill, Tensor::bf16([rows, cols], values)?))
    } else {
        let vector = Tensor::bf16(shape, values)?;
        Ok((vector.clone(), vector))
    }
}

/// Transposes `[rows, cols]` to `[cols, rows]`.
fn transpose(values: &[bf16], rows: usize, cols: usize) -> Vec<bf16> {
    let mut out = vec![bf16::ZERO; values.len()];
    for row_tile in (0..rows).step_by(TILE) {
        for col_tile in (0..cols).step_by(TILE) {
            for col in col_tile..cols.min(col_tile + TILE) {
                for row in row_tile..rows.min(row_tile + TILE) {
                    out[col * rows + row] = values[row * cols + col];
                }
            }
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_matrix_larger_than_a_tile_is_transposed() {
        let (rows, cols) = (70, 130);
        let value = |row: usize, col: usize| bf16::from_bits((row * cols + col) as u16);
        let matrix: Vec<bf16> =
            (0..rows * cols).map(|index| value(index / cols, index % cols)).collect();
        let transposed = transpose(&matrix, rows, cols);
        assert_eq!(transposed[129 * rows + 69], value(69, 129));
        assert_eq!(transposed[3 * rows + 65], value(65, 3));
        assert_eq!(transpose(&transposed, cols, rows), matrix);
    }
}
