//! The registry's files: one for each kernel, one line for each row, so that a diff reads well.

use std::{
    io,
    path::{Path, PathBuf},
};

use serde::{Deserialize, Serialize, de::DeserializeOwned};
use serde_json::Value;

use super::{Row, RowError, Shape, row::Entry, shape::with_shape};
use crate::{
    kernel::KernelSpec,
    kernels::{self, for_each_kernel},
    op::{Kernel, UnknownKernel},
    tiling::Tiling,
};

/// Version of the format.
pub(super) const SCHEMA: u32 = 1;

/// A registry that cannot be read, is not sound, or cannot be written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RegistryError {
    /// A file that cannot be read.
    #[error("{path}: cannot be read: {source}")]
    Read {
        /// The file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// A file that cannot be written.
    #[error("{path}: cannot be written: {source}")]
    Write {
        /// The file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// A folder without any registry file.
    #[error(
        "{folder} does not contain a registry file; name a folder with files such as gemm.json"
    )]
    Empty {
        /// The folder.
        folder: PathBuf,
    },
    /// A file that is not a registry file at all.
    #[error("{file}: {message}")]
    Header {
        /// The file.
        file: String,
        /// What is wrong with it.
        message: String,
    },
    /// A row that cannot be read.
    #[error("{file}, row {row}: {source}")]
    Json {
        /// The file.
        file: String,
        /// Number of the row in the file, from 1.
        row: usize,
        /// Why.
        source: serde_json::Error,
    },
    /// A row that is not sound.
    #[error("{file}, row {row}, `{name}`: {source}")]
    Row {
        /// The file.
        file: String,
        /// Number of the row in the file, from 1.
        row: usize,
        /// Name of the row.
        name: String,
        /// What is wrong with it.
        source: Box<RowError>,
    },
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Document {
    schema: u32,
    kernel: String,
    rows: Vec<Value>,
}

/// Name of a kernel's file.
pub(super) fn file_name(kernel: Kernel) -> String {
    format!("{}.json", kernel.name())
}

/// Reads the rows of one file. Only the kernel is checked, not yet the contents of the rows.
pub(super) fn parse(file: &str, text: &str) -> Result<Vec<Row>, RegistryError> {
    let header = |message: String| RegistryError::Header { file: file.to_owned(), message };
    let document: Document = serde_json::from_str(text).map_err(|e| header(e.to_string()))?;
    if document.schema != SCHEMA {
        let found = document.schema;
        return Err(header(format!(
            "its schema is {found}, but this version reads schema {SCHEMA}"
        )));
    }
    let kernel: Kernel =
        document.kernel.parse().map_err(|e: UnknownKernel| header(e.to_string()))?;
    if file_name(kernel) != file {
        let name = kernel.name();
        return Err(header(format!("it holds rows of {name}, which belong in {name}.json")));
    }
    let rows = document.rows.into_iter().enumerate().map(|(index, value)| {
        row(kernel, value).map_err(|source| RegistryError::Json {
            file: file.to_owned(),
            row: index + 1,
            source,
        })
    });
    rows.collect()
}

macro_rules! row_of {
    ({ $kernel:expr, $value:expr } $($(#[$doc:meta])* $Kernel:ident: $Shape:ident,)+) => {
        match $kernel {
            $(Kernel::$Kernel => typed::<kernels::$Kernel>($value, Shape::$Kernel),)+
        }
    };
}

fn row(kernel: Kernel, value: Value) -> Result<Row, serde_json::Error> {
    for_each_kernel!([row_of] { kernel, value })
}

fn typed<K: KernelSpec>(
    value: Value,
    shape: impl FnOnce(K::Shape) -> Shape,
) -> Result<Row, serde_json::Error>
where
    K::Shape: DeserializeOwned,
    K::Tiling: DeserializeOwned + Into<Tiling>,
{
    let entry: Entry<K::Shape, K::Tiling> = serde_json::from_value(value)?;
    Ok(Row {
        shape: shape(entry.shape),
        method: entry.method,
        tiling: entry.tiling.map(Into::into),
        figures: entry.figures,
        best_for: entry.best_for,
        used_by: entry.used_by,
        measured: entry.measured,
    })
}

/// The text of a kernel's file.
pub(super) fn render(kernel: Kernel, rows: &[&Row]) -> Result<String, serde_json::Error> {
    let lines: Vec<String> =
        rows.iter().map(|row| line(row)).collect::<Result<_, serde_json::Error>>()?;
    let rows = lines.join(",\n    ");
    let name = kernel.name();
    Ok(format!(
        "{{\n  \"schema\": {SCHEMA},\n  \"kernel\": \"{name}\",\n  \"rows\": [\n    {rows}\n  ]\n}}\n"
    ))
}

fn line(row: &Row) -> Result<String, serde_json::Error> {
    with_shape!(&row.shape, shape => spaced(row, shape))
}

fn spaced<S: Serialize>(row: &Row, shape: &S) -> Result<String, serde_json::Error> {
    let entry = Entry {
        shape,
        method: row.method,
        tiling: row.tiling.as_ref().map(Bare),
        figures: row.figures,
        best_for: row.best_for,
        used_by: row.used_by.clone(),
        measured: row.measured.clone(),
    };
    let mut bytes = Vec::new();
    entry.serialize(&mut serde_json::Serializer::with_formatter(&mut bytes, Spaced))?;
    String::from_utf8(bytes).map_err(serde::ser::Error::custom)
}

/// A tiling without the name of its kind, which the file's kernel determines.
struct Bare<'a>(&'a Tiling);

impl Serialize for Bare<'_> {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.0.serialize_bare(serializer)
    }
}

/// One line, with a space after each colon and comma.
struct Spaced;

impl serde_json::ser::Formatter for Spaced {
    fn begin_array_value<W: io::Write + ?Sized>(
        &mut self,
        w: &mut W,
        first: bool,
    ) -> io::Result<()> {
        w.write_all(if first { b"" } else { b", " })
    }

    fn begin_object_key<W: io::Write + ?Sized>(
        &mut self,
        w: &mut W,
        first: bool,
    ) -> io::Result<()> {
        w.write_all(if first { b"" } else { b", " })
    }

    fn begin_object_value<W: io::Write + ?Sized>(&mut self, w: &mut W) -> io::Result<()> {
        w.write_all(b": ")
    }
}

/// A temporary file is private to its owner; a file under version control is readable by all.
#[cfg(unix)]
fn readable(file: &std::fs::File) -> io::Result<()> {
    use std::os::unix::fs::PermissionsExt;
    file.set_permissions(std::fs::Permissions::from_mode(0o644))
}

#[cfg(not(unix))]
fn readable(_: &std::fs::File) -> io::Result<()> {
    Ok(())
}

/// Writes `text` to `path` so that a reader sees the old file or the new one, never a part.
pub(super) fn write_atomically(path: &Path, text: &str) -> Result<(), RegistryError> {
    let write = || -> io::Result<()> {
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
        let mut file = tempfile::Builder::new()
            .prefix(".npugate-")
            .tempfile_in(folder.unwrap_or(Path::new(".")))?;
        io::Write::write_all(&mut file, text.as_bytes())?;
        file.as_file().sync_all()?;
        readable(file.as_file())?;
        file.persist(path)?;
        Ok(())
    };
    write().map_err(|source| RegistryError::Write { path: path.to_owned(), source })
}
