//! A place in a user's text, as an error shows it: the line, with marks below the part
//! that the error is about.

use std::{fmt, ops::Range};

/// A place in a text.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Excerpt {
    /// The line, from 1 up.
    pub line: usize,
    /// The column in characters, from 1 up.
    pub column: usize,
    /// The text of the line.
    source: String,
    /// The number of marked characters, at least one.
    length: usize,
}

impl Excerpt {
    /// The place of some bytes of a text. An offset beyond the text counts as its end.
    pub fn new(text: &str, at: &Range<usize>) -> Self {
        let start = floor(text, at.start);
        let end = floor(text, at.end).max(start);
        let before = &text[..start];
        let line_start = before.rfind('\n').map_or(0, |newline| newline + 1);
        let line_end = text[start..].find('\n').map_or(text.len(), |newline| start + newline);
        let meant = &text[start..end.min(line_end)];
        Self {
            line: before.matches('\n').count() + 1,
            column: text[line_start..start].chars().count() + 1,
            source: text[line_start..line_end].trim_end_matches('\r').to_owned(),
            length: meant.chars().count().max(1),
        }
    }
}

impl fmt::Display for Excerpt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Tabs are kept, so that the marks are below what they mark.
        let indent: String = self.source.chars().take(self.column - 1).map(blank).collect();
        write!(f, "    {}\n    {indent}{}", self.source, "^".repeat(self.length))
    }
}

fn blank(character: char) -> char {
    if character == '\t' { '\t' } else { ' ' }
}

/// The start of the character that an offset falls into.
fn floor(text: &str, offset: usize) -> usize {
    let offset = offset.min(text.len());
    (0..=offset).rev().find(|&at| text.is_char_boundary(at)).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_marks_are_below_what_they_mark() {
        let excerpt = Excerpt::new("one\n\ttwo three\nfour", &(9..14));
        assert_eq!((excerpt.line, excerpt.column), (2, 6));
        assert_eq!(excerpt.to_string(), "    \ttwo three\n    \t    ^^^^^");
    }

    #[test]
    fn columns_count_characters_not_bytes() {
        let excerpt = Excerpt::new("é é", &(3..5));
        assert_eq!((excerpt.column, excerpt.to_string().as_str()), (3, "    é é\n      ^"));
    }

    #[test]
    fn the_end_of_a_text_and_what_is_beyond_it_have_a_mark_too() {
        for at in [3..3, 7..9] {
            assert_eq!(Excerpt::new("abc", &at).to_string(), "    abc\n       ^");
        }
        assert_eq!(Excerpt::new("é", &(1..2)).to_string(), "    é\n    ^");
        assert_eq!(Excerpt::new("", &(0..0)).to_string(), "    \n    ^");
    }
}
