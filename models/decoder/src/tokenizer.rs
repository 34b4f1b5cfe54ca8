//! Text to token ids and back.

#[cfg(feature = "gguf")]
mod gguf;

use crate::weights::WeightsError;
use std::path::Path;
use tokenizers::Tokenizer as HfTokenizer;

/// A tokenizer: encodes text as it is, with nothing added.
pub struct Tokenizer {
    tokenizer: HfTokenizer,
}

/// Why there is no tokenizer, or no text.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TokenizerError {
    /// `tokenizer.json` is missing or malformed.
    #[error("the tokenizer {path} cannot be read: {reason}")]
    File {
        /// The file.
        path: String,
        /// Why.
        reason: String,
    },
    /// The GGUF file cannot be read.
    #[error(transparent)]
    Gguf(#[from] WeightsError),
    /// A tokenizer of another kind.
    #[error(
        "the tokenizer in {path} is {kind}, which is not known here; point the adapter at a \
         tokenizer.json"
    )]
    Unsupported {
        /// The file.
        path: String,
        /// What it says of itself.
        kind: String,
    },
    /// Text or ids that the tokenizer refuses.
    #[error("the tokenizer failed: {0}")]
    Failed(String),
}

impl Tokenizer {
    /// Reads Hugging Face's `tokenizer.json`.
    ///
    /// # Errors
    ///
    /// A missing or malformed file.
    pub fn from_file(path: &Path) -> Result<Self, TokenizerError> {
        let file =
            |reason: String| TokenizerError::File { path: path.display().to_string(), reason };
        let bytes = fs_err::read(path).map_err(|error| file(error.to_string()))?;
        let tokenizer = HfTokenizer::from_bytes(bytes).map_err(|error| file(error.to_string()))?;
        Ok(Self { tokenizer })
    }

    /// The token ids of a text; no special token is added, one that is written
    /// out in the text is recognised.
    ///
    /// # Errors
    ///
    /// Text that the tokenizer refuses.
    pub fn encode(&self, text: &str) -> Result<Vec<u32>, TokenizerError> {
        let encoding = self.tokenizer.encode(text, false).map_err(failed)?;
        Ok(encoding.get_ids().to_vec())
    }

    /// The text of token ids, special tokens written out.
    ///
    /// # Errors
    ///
    /// Ids that the tokenizer refuses.
    pub fn decode(&self, tokens: &[u32]) -> Result<String, TokenizerError> {
        self.tokenizer.decode(tokens, false).map_err(failed)
    }
}

#[expect(clippy::needless_pass_by_value, reason = "fits `map_err`")]
fn failed(error: impl ToString) -> TokenizerError {
    TokenizerError::Failed(error.to_string())
}
