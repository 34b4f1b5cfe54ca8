//! One golden file. The file is verified against the manifest, then each of its tensors
//! against what the format promises.

use super::{GoldenError, TensorProblem};
use crate::metrics::find_non_finite;
use crate::schema::{GoldenFile, Sha256};
use crate::{DType, Tensor};
use fs_err as fs;
use half::bf16;
use safetensors::{Dtype, SafeTensors};
use std::{
    io,
    path::{Path, PathBuf},
};

/// The bytes of a golden file, verified against the manifest.
pub(super) struct VerifiedFile {
    path: PathBuf,
    model: String,
    bytes: Vec<u8>,
}

impl VerifiedFile {
    pub fn read(folder: &Path, file: &GoldenFile, model: &str) -> Result<Self, GoldenError> {
        let (path, model) = (folder.join(&file.file), model.to_owned());
        if path.parent() != Some(folder) || path.file_name().is_none() {
            let (folder, file) = (folder.to_owned(), file.file.clone());
            return Err(GoldenError::Outside { folder, file, model });
        }
        let bytes = match fs::read(&path) {
            Ok(bytes) => bytes,
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                return Err(GoldenError::Missing { path, model });
            }
            Err(error) => return Err(GoldenError::Unreadable(error)),
        };
        if bytes.len() as u64 != file.bytes {
            let (expected, found) = (file.bytes, bytes.len() as u64);
            return Err(GoldenError::Size { path, model, expected, found });
        }
        let found = Sha256::of(&bytes);
        if found != file.sha256 {
            return Err(GoldenError::Digest { path, model, expected: file.sha256, found });
        }
        Ok(Self { path, model, bytes })
    }

    pub fn tensors(&self) -> Result<Tensors<'_>, GoldenError> {
        let tensors = SafeTensors::deserialize(&self.bytes).map_err(|source| {
            GoldenError::Format { path: self.path.clone(), model: self.model.clone(), source }
        })?;
        Ok(Tensors { file: self, tensors })
    }
}

/// The tensors of a golden file.
pub(super) struct Tensors<'a> {
    file: &'a VerifiedFile,
    tensors: SafeTensors<'a>,
}

impl Tensors<'_> {
    /// An error about a tensor of this file.
    pub fn problem(&self, tensor: &str, problem: TensorProblem) -> GoldenError {
        GoldenError::Tensor {
            path: self.file.path.clone(),
            model: self.file.model.clone(),
            tensor: tensor.to_owned(),
            problem: Box::new(problem),
        }
    }

    /// Whether there is any tensor whose name begins with a prefix.
    pub fn has_any(&self, prefix: &str) -> bool {
        self.tensors.names().iter().any(|name| name.starts_with(prefix))
    }

    /// A bf16 or f32 tensor of a shape, all finite.
    pub fn floats(&self, name: &str, dtype: DType, shape: &[usize]) -> Result<Tensor, GoldenError> {
        let values = match dtype {
            DType::Bf16 => {
                let data = self.data(name, Dtype::BF16, Some(shape))?;
                elements(data).map(|bytes| bf16::from_le_bytes(bytes).to_f32()).collect()
            }
            DType::F32 => {
                let data = self.data(name, Dtype::F32, Some(shape))?;
                elements(data).map(f32::from_le_bytes).collect()
            }
        };
        let tensor = Tensor::new(shape, dtype, values).map_err(|_| {
            // The bytes were checked against the shape, so this is unreachable, but must
            // not panic.
            self.problem(name, TensorProblem::Shape { found: vec![], expected: shape.to_vec() })
        })?;
        match find_non_finite(&tensor) {
            None => Ok(tensor),
            Some(found) => Err(self.problem(name, TensorProblem::NonFinite(found.to_string()))),
        }
    }

    /// An f64 vector of a length, all finite.
    pub fn doubles(&self, name: &str, length: usize) -> Result<Vec<f64>, GoldenError> {
        let data = self.data(name, Dtype::F64, Some(&[length]))?;
        let values: Vec<_> = elements(data).map(f64::from_le_bytes).collect();
        match values.iter().position(|value| !value.is_finite()) {
            None => Ok(values),
            Some(index) => {
                let found = format!("{} at index {index}", values[index]);
                Err(self.problem(name, TensorProblem::NonFinite(found)))
            }
        }
    }

    /// An i32 vector of any length but zero.
    pub fn integers(&self, name: &str) -> Result<Vec<i32>, GoldenError> {
        let data = self.data(name, Dtype::I32, None)?;
        let values: Vec<_> = elements(data).map(i32::from_le_bytes).collect();
        if values.is_empty() { Err(self.problem(name, TensorProblem::Empty)) } else { Ok(values) }
    }

    /// Token ids, row-major, each within the vocabulary: an i32 tensor of a shape, or
    /// without a shape any vector that is not empty.
    pub fn ids(
        &self,
        name: &str,
        shape: Option<&[usize]>,
        vocab: usize,
    ) -> Result<Vec<u32>, GoldenError> {
        if let Some(shape) = shape {
            self.data(name, Dtype::I32, Some(shape))?;
        }
        let ids = self.integers(name)?.into_iter().enumerate().map(|(index, id)| {
            u32::try_from(id)
                .ok()
                .filter(|&id| (id as usize) < vocab)
                .ok_or_else(|| self.problem(name, TensorProblem::Token { index, id, vocab }))
        });
        ids.collect()
    }

    /// The bytes of a tensor of a dtype and a shape; of any tensor without a shape.
    fn data(
        &self,
        name: &str,
        dtype: Dtype,
        shape: Option<&[usize]>,
    ) -> Result<&[u8], GoldenError> {
        let Ok(view) = self.tensors.tensor(name) else {
            return Err(self.problem(name, TensorProblem::Missing));
        };
        if view.dtype() != dtype {
            let (found, expected) = (view.dtype().to_string(), dtype.to_string());
            return Err(self.problem(name, TensorProblem::Dtype { found, expected }));
        }
        let fits = shape.is_none_or(|shape| shape == view.shape());
        if fits {
            Ok(view.data())
        } else {
            let found = view.shape().to_vec();
            let expected = shape.unwrap_or_default().to_vec();
            Err(self.problem(name, TensorProblem::Shape { found, expected }))
        }
    }
}

/// The elements of some bytes. The safetensors reader has checked that there
/// are as many bytes as shape and dtype say, so there is no remainder.
fn elements<const N: usize>(data: &[u8]) -> impl Iterator<Item = [u8; N]> {
    data.as_chunks::<N>().0.iter().copied()
}
