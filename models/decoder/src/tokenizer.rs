//! Converts text to token ids and back.

#[cfg(feature = "gguf")]
mod gguf;

use crate::weights::WeightsError;
use std::path::Path;
use tokenizers::Tokenizer as HfTokenizer;

/// A tokenizer, which encodes text as it is and adds nothing.
pub struct Tokenizer {
    tokenizer: HfTokenizer,
}

/// Why a tokenizer cannot be made or fails.
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
        "the tokenizer in {path} is {kind}, which is not supported; point the adapter at a \
         tokenizer.json"
    )]
    Unsupported {
        /// The file.
        path: String,
        /// The kind that the file gives.
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
    /// Fails if the file is missing or malformed.
    pub fn from_file(path: &Path) -> Result<Self, TokenizerError> {
        let file =
            |reason: String| TokenizerError::File { path: path.display().to_string(), reason };
        let bytes = fs_err::read(path).map_err(|error| file(error.to_string()))?;
        let tokenizer = HfTokenizer::from_bytes(bytes).map_err(|error| file(error.to_string()))?;
        Ok(Self { tokenizer })
    }

    /// Returns the token ids of a text. No special token is added, but one that
    /// is written out in the text is recognised.
    ///
    /// # Errors
    ///
    /// Fails if the tokenizer refuses the text.
    pub fn encode(&self, text: &str) -> Result<Vec<u32>, TokenizerError> {
        let encoding = self.tokenizer.encode(text, false).map_err(failed)?;
        Ok(encoding.get_ids().to_vec())
    }

    /// Returns the text of token ids, with special tokens written out.
    ///
    /// # Errors
    ///
    /// Fails if the tokenizer refuses the ids.
    pub fn decode(&self, tokens: &[u32]) -> Result<String, TokenizerError> {
        self.tokenizer.decode(tokens, false).map_err(failed)
    }
}

#[expect(clippy::needless_pass_by_value, reason = "fits `map_err`")]
fn failed(error: impl ToString) -> TokenizerError {
    TokenizerError::Failed(error.to_string())
}
