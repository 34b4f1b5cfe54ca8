//! How text is matched: `=whole`, `~part`, `/regex/`, `#glob*`.

use regex_lite::Regex;
use std::fmt;

/// How text is matched.
#[derive(Clone, Debug)]
pub enum Matcher {
    /// The text is equal to this.
    Equal(String),
    /// The text contains this.
    Contains(String),
    /// The text contains a match of this regular expression.
    Regex(Regex),
    /// The text matches this pattern: `*` is any text, `?` is any character.
    Glob { pattern: String, regex: Regex },
}

impl Matcher {
    /// A regular expression.
    ///
    /// # Errors
    ///
    /// What is wrong with it.
    pub fn regex(pattern: &str) -> Result<Self, regex_lite::Error> {
        Ok(Self::Regex(Regex::new(pattern)?))
    }

    /// A pattern with `*` and `?`.
    ///
    /// # Errors
    ///
    /// A pattern that is too long.
    pub fn glob(pattern: &str) -> Result<Self, regex_lite::Error> {
        let mut regex = String::from("^");
        for character in pattern.chars() {
            match character {
                '*' => regex.push_str(".*"),
                '?' => regex.push('.'),
                _ => regex.push_str(&regex_lite::escape(character.encode_utf8(&mut [0; 4]))),
            }
        }
        regex.push('$');
        Ok(Self::Glob { pattern: pattern.to_owned(), regex: Regex::new(&regex)? })
    }

    /// Whether a text matches.
    pub fn matches(&self, text: &str) -> bool {
        match self {
            Self::Equal(whole) => text == whole,
            Self::Contains(part) => text.contains(part),
            Self::Regex(regex) | Self::Glob { regex, .. } => regex.is_match(text),
        }
    }

    /// The pattern as written, without its sign.
    pub fn pattern(&self) -> &str {
        match self {
            Self::Equal(text) | Self::Contains(text) => text,
            Self::Regex(regex) => regex.as_str(),
            Self::Glob { pattern, .. } => pattern,
        }
    }
}

impl PartialEq for Matcher {
    fn eq(&self, other: &Self) -> bool {
        std::mem::discriminant(self) == std::mem::discriminant(other)
            && self.pattern() == other.pattern()
    }
}

impl Eq for Matcher {}

impl fmt::Display for Matcher {
    /// Writes it as it is parsed: with its sign, and escaped.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Equal(text) => write!(f, "={}", escape(text)),
            Self::Contains(text) => write!(f, "~{}", escape(text)),
            Self::Regex(regex) => write!(f, "/{}/", regex.as_str().replace('/', r"\/")),
            Self::Glob { pattern, .. } => write!(f, "#{}", escape(pattern)),
        }
    }
}

/// Puts a backslash before characters that would end the text or be trimmed as space.
fn escape(text: &str) -> String {
    let special = |c: char| c == '\\' || c == ')' || c.is_whitespace();
    text.chars().fold(String::new(), |mut escaped, character| {
        if special(character) {
            escaped.push('\\');
        }
        escaped.push(character);
        escaped
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_matched_as_the_sign_says() {
        let whole = Matcher::Equal("gemm".into());
        assert!(whole.matches("gemm") && !whole.matches("gemm_low"));
        let part = Matcher::Contains("gemm".into());
        assert!(part.matches("gemm_low") && !part.matches("gem"));
        let regex = Matcher::regex("^g.mm$").unwrap();
        assert!(regex.matches("gemm") && !regex.matches("gemm_low"));
        let glob = Matcher::glob("kernel::*::2048x?76").unwrap();
        assert!(glob.matches("kernel::gemm::2048x576"));
        assert!(!glob.matches("kernel::gemm::2048x576::high"));
        assert!(!Matcher::glob("a.c").unwrap().matches("abc"), "a dot is a dot");
    }
}
