//! The source of the shim, which is part of this program.

use std::{fmt::Write as _, fs, io, path::Path};

use sha2::{Digest as _, Sha256};

/// The file that is compiled.
pub(super) const MAIN: &str = "shim.cpp";

/// Each file, by its path in the folder of the source.
const FILES: [(&str, &str); 3] = [
    (MAIN, include_str!("../../shim/shim.cpp")),
    ("npugate_xrt.h", include_str!("../../shim/npugate_xrt.h")),
    ("fallback/uuid/uuid.h", include_str!("../../shim/fallback/uuid/uuid.h")),
];

/// The folder with headers that stand in for those that are not installed.
pub(super) const FALLBACK: &str = "fallback";

/// The first 32 bits of the source's SHA-256, in hexadecimal.
pub(super) fn hash() -> String {
    let mut digest = Sha256::new();
    for (path, text) in FILES {
        digest.update(path);
        digest.update([0]);
        digest.update(text);
        digest.update([0]);
    }
    digest.finalize().iter().take(4).fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

/// Writes the source below `folder`.
pub(super) fn write(folder: &Path) -> io::Result<()> {
    for (path, text) in FILES {
        let path = folder.join(path);
        if let Some(parent) = path.parent() {
            fs::create_dir_all(parent)?;
        }
        fs::write(path, text)?;
    }
    Ok(())
}
