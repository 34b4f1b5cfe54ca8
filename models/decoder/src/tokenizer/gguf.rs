//! The tokenizer that a GGUF file describes.

use super::{Tokenizer, TokenizerError, failed};
use crate::weights::Gguf;
use candle_core::quantized::gguf_file::Value;
use std::path::Path;
use tokenizers::{
    AddedToken, PreTokenizerWrapper, Tokenizer as HfTokenizer,
    models::bpe::{BPE, Merges, Vocab},
    pre_tokenizers::{byte_level::ByteLevel, digits::Digits, sequence::Sequence},
};

/// Values of `tokenizer.ggml.token_type`: a control token such as
/// `<|im_start|>`, and a token that is never merged from others.
const CONTROL: i32 = 3;
const USER_DEFINED: i32 = 4;

impl Tokenizer {
    /// Builds the tokenizer that a GGUF file describes: byte-level BPE with
    /// llama.cpp's pre-tokenizer `smollm` (single digits, then GPT-2's words).
    ///
    /// # Errors
    ///
    /// Fails if the file cannot be read or its tokenizer is of another kind.
    pub fn from_gguf(path: &Path) -> Result<Self, TokenizerError> {
        let gguf = Gguf::open(path)?;
        expect(&gguf, path, "tokenizer.ggml.model", "gpt2")?;
        expect(&gguf, path, "tokenizer.ggml.pre", "smollm")?;
        let tokens = gguf.metadata("tokenizer.ggml.tokens", strings)?;
        let merges = gguf.metadata("tokenizer.ggml.merges", strings)?;
        let types = gguf.metadata("tokenizer.ggml.token_type", |value| {
            value.to_vec()?.iter().map(Value::to_i32).collect::<candle_core::Result<Vec<_>>>()
        })?;

        let vocab: Vocab = tokens.iter().copied().cloned().zip(0..).collect();
        let merges = merges
            .into_iter()
            .map(|merge| merge.split_once(' ').map(|(a, b)| (a.to_owned(), b.to_owned())))
            .collect::<Option<Merges>>()
            .ok_or_else(|| failed("a merge is not a pair of tokens"))?;
        let bpe = BPE::builder().vocab_and_merges(vocab, merges).build().map_err(failed)?;

        let mut tokenizer = HfTokenizer::new(bpe);
        let bytes = ByteLevel::new(false, true, true);
        tokenizer
            .with_pre_tokenizer(Some(Sequence::new(vec![
                PreTokenizerWrapper::from(Digits::new(true)),
                PreTokenizerWrapper::from(bytes),
            ])))
            .with_decoder(Some(bytes));
        let of_type = |wanted: i32| {
            let typed = tokens.iter().zip(&types).filter(move |(_, found)| **found == wanted);
            typed.map(move |(token, _)| AddedToken::from(token.as_str(), wanted == CONTROL))
        };
        tokenizer.add_special_tokens(of_type(CONTROL)).map_err(failed)?;
        tokenizer.add_tokens(of_type(USER_DEFINED)).map_err(failed)?;
        Ok(Self { tokenizer })
    }
}

fn expect(gguf: &Gguf, path: &Path, key: &str, wanted: &str) -> Result<(), TokenizerError> {
    let found = gguf.metadata(key, Value::to_string)?;
    if found == wanted {
        return Ok(());
    }
    let (path, kind) = (path.display().to_string(), format!("`{found}` ({key})"));
    Err(TokenizerError::Unsupported { path, kind })
}

fn strings(value: &Value) -> candle_core::Result<Vec<&String>> {
    value.to_vec()?.iter().map(Value::to_string).collect()
}
