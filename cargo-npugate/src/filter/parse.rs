//! Parsing a filter expression. Every error says what was expected, and where.

use super::matcher::Matcher;
use super::predicate::{Comparison, Field, Predicate};
use super::tree::{Place, Tree};
use crate::text;
use npugate_schema::Phase;
use std::ops::Range;
use winnow::combinator::{alt, opt, peek};
use winnow::error::ParserError;
use winnow::prelude::*;
use winnow::stream::{LocatingSlice, Location, Stream};
use winnow::token::{any, take_while};

type Input<'a> = LocatingSlice<&'a str>;

/// How deep parentheses and negations may be nested: far deeper than anybody writes, but
/// not deep enough to overflow the stack.
const DEPTH: usize = 64;

/// What may come where a predicate is expected.
const TERM: &str = "`op(gemm)`, `m >= 256`, `!` or a parenthesis";

/// What is wrong, and where.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Problem {
    /// The range of bytes that is wrong.
    pub at: Range<usize>,
    /// What is wrong with them.
    pub message: String,
}

impl Problem {
    fn new(at: Range<usize>, message: impl Into<String>) -> Self {
        Self { at, message: message.into() }
    }

    /// The next part of the input is not what was expected.
    fn expected(what: &str, input: &Input<'_>) -> Self {
        let (at, found) = next(input);
        Self::new(at, format!("expected {what}, found {found}"))
    }
}

impl ParserError<Input<'_>> for Problem {
    type Inner = Self;

    fn from_input(input: &Input<'_>) -> Self {
        Self::expected("something else", input)
    }

    fn into_inner(self) -> Result<Self, Self> {
        Ok(self)
    }
}

/// The next word or character, and its place.
fn next(input: &Input<'_>) -> (Range<usize>, String) {
    let rest: &str = input;
    let start = input.current_token_start();
    let word = rest.find(|c: char| !is_name(c)).unwrap_or(rest.len());
    let length = if word > 0 { word } else { rest.chars().next().map_or(0, char::len_utf8) };
    let found = if length == 0 { "the end".to_owned() } else { format!("`{}`", &rest[..length]) };
    (start..start + length, found)
}

/// Reads an expression.
///
/// # Errors
///
/// What is wrong with it, and where.
pub fn tree(text: &str) -> Result<Tree, Problem> {
    let mut input = LocatingSlice::new(text);
    let tree = any_of(&mut input, 0)?;
    if input.is_empty() { Ok(tree) } else { Err(leftover(&input)) }
}

/// The error for text after a complete expression.
fn leftover(input: &Input<'_>) -> Problem {
    let (at, found) = next(input);
    let message = match found.as_str() {
        "`)`" => "this parenthesis was not opened".to_owned(),
        _ => format!("expected `&`, `|`, `-` or the end, found {found}"),
    };
    Problem::new(at, message)
}

/// Parts with `|` between them.
fn any_of(input: &mut Input<'_>, depth: usize) -> Result<Tree, Problem> {
    let mut parts = vec![all_of(input, depth)?];
    while opt(operator('|', "or")).parse_next(input)?.is_some() {
        parts.push(all_of(input, depth)?);
    }
    Ok(joined(parts, Tree::Any))
}

/// Parts with `&` between them, or `-` before those that are excluded.
fn all_of(input: &mut Input<'_>, depth: usize) -> Result<Tree, Problem> {
    let mut parts = vec![part(input, depth)?];
    loop {
        if opt(operator('&', "and")).parse_next(input)?.is_some() {
            parts.push(part(input, depth)?);
        } else if opt(sign('-')).parse_next(input)?.is_some() {
            parts.push(Tree::Not(Box::new(part(input, depth)?)));
        } else {
            return Ok(joined(parts, Tree::All));
        }
    }
}

fn joined(mut parts: Vec<Tree>, join: impl Fn(Vec<Tree>) -> Tree) -> Tree {
    match (parts.pop(), parts.is_empty()) {
        (Some(only), true) => only,
        (last, _) => {
            parts.extend(last);
            join(parts)
        }
    }
}

/// `!PART`, `(EXPRESSION)`, or a predicate.
fn part(input: &mut Input<'_>, depth: usize) -> Result<Tree, Problem> {
    if depth == DEPTH {
        return Err(Problem::new(next(input).0, format!("nested deeper than {DEPTH} levels")));
    }
    space(input)?;
    if opt(operator('!', "not")).parse_next(input)?.is_some() {
        return Ok(Tree::Not(Box::new(part(input, depth + 1)?)));
    }
    let open = input.current_token_start();
    if opt('(').parse_next(input)?.is_some() {
        let inner = any_of(input, depth + 1)?;
        close(input, open)?;
        return Ok(inner);
    }
    question(input)
}

/// The parenthesis that closes the one at `open`.
fn close(input: &mut Input<'_>, open: usize) -> Result<(), Problem> {
    space(input)?;
    if opt(')').parse_next(input)?.is_some() {
        space(input)
    } else if input.is_empty() {
        Err(Problem::new(open..open + 1, "this parenthesis is not closed"))
    } else {
        Err(Problem::expected("`)`", input))
    }
}

/// `NAME(TEXT)`, `NAME >= NUMBER`, `all()` or `none()`.
fn question(input: &mut Input<'_>) -> Result<Tree, Problem> {
    let start = input.current_token_start();
    let Some(name) = opt(name).parse_next(input)? else {
        return Err(Problem::expected(TERM, input));
    };
    let name_at = start..input.previous_token_end();
    space(input)?;
    let open = input.current_token_start();
    if opt('(').parse_next(input)?.is_some() {
        if let Some(tree) = constant(name) {
            close(input, open)?;
            return Ok(tree);
        }
        let field = Field::named(name);
        let matcher = matcher(input, &field, open)?;
        let place = Place(start..input.previous_token_end());
        space(input)?;
        return Ok(Tree::Predicate(Predicate::Text { field, matcher }, place));
    }
    let Some(comparison) = opt(comparison).parse_next(input)? else {
        let what = format!("`(` or a comparison such as `>=` after `{name}`");
        return Err(Problem::expected(&what, input));
    };
    let field = Field::named(name);
    if Field::ALWAYS.contains(&field) {
        return Err(Problem::new(name_at, format!("`{name}` is text: write `{name}(=TEXT)`")));
    }
    space(input)?;
    let number = number(input, name, comparison)?;
    let place = Place(start..input.previous_token_end());
    space(input)?;
    let attribute = name.to_owned();
    Ok(Tree::Predicate(Predicate::Number { attribute, comparison, number }, place))
}

fn constant(name: &str) -> Option<Tree> {
    match name {
        "all" => Some(Tree::All(Vec::new())),
        "none" => Some(Tree::Any(Vec::new())),
        _ => None,
    }
}

/// The pattern in the parentheses of a predicate, and the closing parenthesis.
fn matcher(input: &mut Input<'_>, field: &Field, open: usize) -> Result<Matcher, Problem> {
    space(input)?;
    let start = input.current_token_start();
    let sign = opt(alt(('=', '~', '#', '/'))).parse_next(input)?;
    if sign == Some('/') {
        let pattern = until('/', input).ok_or_else(|| {
            Problem::new(start..start + 1, "this regular expression has no `/` at its end")
        })?;
        let at = start..input.previous_token_end();
        let matcher = Matcher::regex(&pattern).map_err(|error| {
            Problem::new(at, format!("this is not a valid regular expression: {error}"))
        })?;
        close_here(input, open)?;
        return Ok(matcher);
    }
    let from = input.current_token_start();
    let Some(text) = until(')', input) else {
        return Err(Problem::new(open..open + 1, "this parenthesis is not closed"));
    };
    let at = from..input.previous_token_end() - 1;
    if text.is_empty() {
        let what = format!("expected text in the parentheses, as in `{}(TEXT)`", field.name());
        return Err(Problem::new(open..at.end + 1, what));
    }
    let matcher = match sign {
        Some('=') => Matcher::Equal(text),
        Some('~') => Matcher::Contains(text),
        Some(_) => Matcher::glob(&text).map_err(|error| {
            Problem::new(at.clone(), format!("this is not a valid pattern: {error}"))
        })?,
        None => field.default_matcher(text),
    };
    if let (Field::Kind, Matcher::Equal(word)) = (field, &matcher) {
        known_phase(word, at)?;
    }
    Ok(matcher)
}

/// The parenthesis after a regular expression.
fn close_here(input: &mut Input<'_>, open: usize) -> Result<(), Problem> {
    space(input)?;
    match opt(')').parse_next(input)? {
        Some(_) => Ok(()),
        None if input.is_empty() => {
            Err(Problem::new(open..open + 1, "this parenthesis is not closed"))
        }
        None => Err(Problem::expected("`)` after the regular expression", input)),
    }
}

/// A word that is similar to a phase is a typo. Any other word may be an adapter's own phase, which
/// is checked against the listed tests.
fn known_phase(word: &str, at: Range<usize>) -> Result<(), Problem> {
    let known = Phase::ALL.map(Phase::as_str);
    match text::did_you_mean(word, known) {
        Some(hint) if !known.contains(&word) => {
            Err(Problem::new(at, format!("`{word}` is not a phase{hint}")))
        }
        _ => Ok(()),
    }
}

/// Takes the text up to a sign, and the sign. A backslash before a character stands for the
/// character. Space around the text is trimmed. Returns `None` if the sign does not follow.
fn until(end: char, input: &mut Input<'_>) -> Option<String> {
    let checkpoint = input.checkpoint();
    let mut text = String::new();
    // The length of the text without space that may be trimmed.
    let mut kept = 0;
    while let Some(character) = input.next_token() {
        match character {
            '\\' => {
                let escaped = input.next_token()?;
                // A regular expression keeps its backslashes, except before `/`.
                if end == '/' && escaped != '/' {
                    text.push('\\');
                }
                text.push(escaped);
                kept = text.len();
            }
            _ if character == end => {
                if end != '/' {
                    text.truncate(kept);
                }
                return Some(text);
            }
            _ if character.is_whitespace() && text.is_empty() && end != '/' => {}
            _ => {
                text.push(character);
                if !character.is_whitespace() {
                    kept = text.len();
                }
            }
        }
    }
    input.reset(&checkpoint);
    None
}

fn number(input: &mut Input<'_>, name: &str, comparison: Comparison) -> Result<u64, Problem> {
    let example = format!("a whole number, as in `{name} {} 256`", comparison.as_str());
    let (at, _) = next(input);
    let digits = opt(take_while(1.., |c: char| c.is_ascii_digit())).parse_next(input)?;
    let follows = peek(opt(any::<_, Problem>)).parse_next(input)?;
    match digits {
        Some(digits) if !follows.is_some_and(|c| is_name(c) || c == '.') => digits
            .parse()
            .map_err(|_| Problem::new(at, format!("`{digits}` is too large: expected {example}"))),
        Some(digits) => {
            let end = at.end.max(at.start + digits.len());
            Err(Problem::new(at.start..end, format!("expected {example}")))
        }
        None => {
            let Problem { at, mut message } = Problem::expected(&example, input);
            if input.starts_with(is_name) && comparison == Comparison::Equal {
                message = format!("{message}; to match text, write `{name}(gemm)`");
            }
            Err(Problem { at, message })
        }
    }
}

fn comparison(input: &mut Input<'_>) -> Result<Comparison, Problem> {
    let rest: &str = input;
    let found = Comparison::ALL.into_iter().find(|sign| rest.starts_with(sign.as_str()));
    let found = found.ok_or_else(|| Problem::expected("a comparison", input))?;
    input.next_slice(found.as_str().len());
    // Programmers type `==`.
    let _ = opt('=').parse_next(input)?;
    Ok(found)
}

/// A sign or its word, and the space after it.
fn operator<'a>(character: char, word: &'static str) -> impl Parser<Input<'a>, (), Problem> {
    move |input: &mut Input<'a>| {
        if opt(sign(character)).parse_next(input)?.is_some() {
            return Ok(());
        }
        let rest: &str = input;
        match rest.strip_prefix(word) {
            Some(after) if !after.starts_with(is_name) => {
                input.next_slice(word.len());
                space(input)
            }
            _ => Err(Problem::expected(word, input)),
        }
    }
}

/// A sign, once or twice as programmers type it, and the space after it.
fn sign<'a>(mut character: char) -> impl Parser<Input<'a>, (), Problem> {
    move |input: &mut Input<'a>| {
        character.parse_next(input)?;
        if matches!(character, '&' | '|') {
            let _ = opt(character).parse_next(input)?;
        }
        space(input)
    }
}

fn name<'a>(input: &mut Input<'a>) -> Result<&'a str, Problem> {
    take_while(1.., is_name)
        .verify(|name: &str| !name.starts_with(|c: char| c.is_ascii_digit()))
        .parse_next(input)
}

fn is_name(character: char) -> bool {
    character.is_alphanumeric() || character == '_'
}

fn space(input: &mut Input<'_>) -> Result<(), Problem> {
    take_while(0.., char::is_whitespace).void().parse_next(input)
}

#[cfg(test)]
#[path = "parse_tests.rs"]
mod tests;
