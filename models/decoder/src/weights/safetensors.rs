//! Weights in Hugging Face's own format, in one file or in shards.

use super::{TensorId, WeightSource, WeightsError};
use fs_err::File;
use half::{bf16, f16};
use safetensors::{
    Dtype,
    tensor::{Metadata, TensorInfo},
};
use serde::Deserialize;
use std::{
    collections::{BTreeMap, BTreeSet},
    io::{Read, Seek, SeekFrom},
    path::{Path, PathBuf},
};

/// The largest header that the format allows.
const MAX_HEADER: u64 = 100_000_000;

/// The tensors of one file or of all shards of an index.
pub(super) struct SafetensorsWeights {
    path: PathBuf,
    tensors: BTreeMap<String, Entry>,
}

/// Where a tensor is.
struct Entry {
    path: PathBuf,
    dtype: Dtype,
    shape: Vec<usize>,
    /// Bytes from the start of the file.
    start: u64,
    bytes: usize,
}

/// `*.safetensors.index.json`.
#[derive(Deserialize)]
struct Index {
    weight_map: BTreeMap<String, String>,
}

impl SafetensorsWeights {
    /// Reads the header of one file.
    pub(super) fn open_file(path: &Path) -> Result<Self, WeightsError> {
        Ok(Self { path: path.to_owned(), tensors: header(path)?.collect() })
    }

    /// Reads the headers of the shards that the index names. What a shard holds
    /// beyond the index is listed too, so that it is noticed.
    pub(super) fn open_index(path: &Path) -> Result<Self, WeightsError> {
        let mut tensors = BTreeMap::new();
        let index = read_index(path)?;
        let shards: BTreeSet<_> = index.weight_map.values().collect();
        for shard in shards {
            for (name, entry) in header(&path.with_file_name(shard))? {
                if tensors.insert(name.clone(), entry).is_some() {
                    let reason = format!("two shards hold {name}");
                    return Err(WeightsError::Malformed { path: path.to_owned(), reason });
                }
            }
        }
        match index.weight_map.keys().find(|name| !tensors.contains_key(*name)) {
            None => Ok(Self { path: path.to_owned(), tensors }),
            Some(name) => Err(WeightsError::Malformed {
                path: path.to_owned(),
                reason: format!("the shard {} does not hold {name}", index.weight_map[name]),
            }),
        }
    }
}

impl WeightSource for SafetensorsWeights {
    fn contents(&self) -> BTreeMap<String, Vec<usize>> {
        self.tensors.iter().map(|(name, entry)| (name.clone(), entry.shape.clone())).collect()
    }

    fn name(&self, tensor: TensorId) -> String {
        tensor.to_string()
    }

    fn read(&self, tensor: TensorId) -> Result<Vec<bf16>, WeightsError> {
        let name = tensor.to_string();
        let Some(entry) = self.tensors.get(&name) else {
            let path = self.path.clone();
            return Err(WeightsError::Missing { path, count: 1, names: name });
        };
        let mut bytes = vec![0; entry.bytes];
        let io = |source| WeightsError::Io { path: entry.path.clone(), source };
        let mut file = File::open(&entry.path).map_err(io)?;
        file.seek(SeekFrom::Start(entry.start)).map_err(io)?;
        file.read_exact(&mut bytes).map_err(io)?;
        to_bf16(&bytes, entry.dtype).ok_or_else(|| WeightsError::WrongDType {
            path: entry.path.clone(),
            tensor: name,
            dtype: entry.dtype.to_string(),
        })
    }
}

/// Returns the shards that an index names, sorted; none for any other file.
pub(super) fn shards(path: &Path) -> Result<Vec<String>, WeightsError> {
    if path.extension().is_none_or(|extension| !extension.eq_ignore_ascii_case("json")) {
        return Ok(Vec::new());
    }
    let shards: BTreeSet<_> = read_index(path)?.weight_map.into_values().collect();
    Ok(shards.into_iter().collect())
}

fn read_index(path: &Path) -> Result<Index, WeightsError> {
    let text = fs_err::read_to_string(path)
        .map_err(|source| WeightsError::Io { path: path.to_owned(), source })?;
    serde_json::from_str(&text).map_err(|error| malformed(path, &error))
}

fn malformed(path: &Path, reason: &dyn std::fmt::Display) -> WeightsError {
    WeightsError::Malformed { path: path.to_owned(), reason: reason.to_string() }
}

/// Reads the tensors of a file from its header alone: eight bytes of length, then
/// JSON, whose offsets and sizes are checked as it is read.
fn header(path: &Path) -> Result<impl Iterator<Item = (String, Entry)>, WeightsError> {
    let io = |source| WeightsError::Io { path: path.to_owned(), source };
    let mut file = File::open(path).map_err(io)?;
    let size = file.metadata().map_err(io)?.len();
    let mut length = [0; 8];
    file.read_exact(&mut length).map_err(io)?;
    let start = u64::from_le_bytes(length).saturating_add(8);
    if start > MAX_HEADER.min(size) {
        return Err(malformed(path, &"the header is longer than the file or the format allows"));
    }
    let mut header = vec![0; start as usize - 8];
    file.read_exact(&mut header).map_err(io)?;
    let metadata: Metadata =
        serde_json::from_slice(&header).map_err(|error| malformed(path, &error))?;
    if metadata.data_len() as u64 != size - start {
        return Err(malformed(
            path,
            &"the data is not as long as the header says; is the file truncated?",
        ));
    }
    let entry = |info: &TensorInfo| Entry {
        path: path.to_owned(),
        dtype: info.dtype,
        shape: info.shape.clone(),
        start: start + info.data_offsets.0 as u64,
        bytes: info.data_offsets.1 - info.data_offsets.0,
    };
    let entries: Vec<_> =
        metadata.tensors().into_iter().map(|(name, info)| (name, entry(info))).collect();
    Ok(entries.into_iter())
}

/// Reads little-endian values as bf16, rounded to nearest even if they are wider.
fn to_bf16(bytes: &[u8], dtype: Dtype) -> Option<Vec<bf16>> {
    fn each<const N: usize>(bytes: &[u8], value: impl Fn([u8; N]) -> bf16) -> Vec<bf16> {
        bytes.as_chunks::<N>().0.iter().map(|bytes| value(*bytes)).collect()
    }
    match dtype {
        Dtype::BF16 => Some(each(bytes, bf16::from_le_bytes)),
        Dtype::F16 => Some(each(bytes, |value| bf16::from_f32(f16::from_le_bytes(value).to_f32()))),
        Dtype::F32 => Some(each(bytes, |value| bf16::from_f32(f32::from_le_bytes(value)))),
        _ => None,
    }
}
