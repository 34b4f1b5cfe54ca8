//! What `--version` prints, in cargo's format: what this program was built from.

use std::fmt::{self, Write};

/// What a program was built from. Unknown facts are not printed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Version {
    /// The package's version.
    pub release: &'static str,
    /// The commit, if it was built from a checkout.
    pub commit: Option<Commit>,
    /// The platform that it runs on.
    pub host: Option<&'static str>,
    /// The compiler.
    pub rustc: Option<&'static str>,
}

/// A commit.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Commit {
    /// Its whole hash.
    pub hash: &'static str,
    /// The start of it.
    pub short: &'static str,
    /// Its day, `YYYY-MM-DD`.
    pub date: &'static str,
}

/// How much to print.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Detail {
    /// One line.
    Line,
    /// That line, and below it a line for each fact.
    All,
}

impl Version {
    /// The version of this program, as the build script found it.
    pub fn of_this_program() -> Self {
        let commit = match (
            option_env!("NPUGATE_COMMIT_HASH"),
            option_env!("NPUGATE_COMMIT_SHORT"),
            option_env!("NPUGATE_COMMIT_DATE"),
        ) {
            (Some(hash), Some(short), Some(date)) => Some(Commit { hash, short, date }),
            _ => None,
        };
        Self {
            release: env!("CARGO_PKG_VERSION"),
            commit,
            host: option_env!("NPUGATE_HOST"),
            rustc: option_env!("NPUGATE_RUSTC"),
        }
    }

    /// The text, with its line ends.
    pub fn text(&self, detail: Detail) -> String {
        let mut text = format!("{self}\n");
        if detail == Detail::All {
            let facts = [
                ("release", Some(self.release)),
                ("commit-hash", self.commit.map(|commit| commit.hash)),
                ("commit-date", self.commit.map(|commit| commit.date)),
                ("host", self.host),
                ("rustc", self.rustc.map(|rustc| rustc.trim_start_matches("rustc "))),
            ];
            for (name, value) in facts {
                if let Some(value) = value {
                    // Writing to a string cannot fail.
                    let _ = writeln!(text, "{name}: {value}");
                }
            }
        }
        text
    }
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "cargo-npugate {}", self.release)?;
        match self.commit {
            Some(Commit { short, date, .. }) => write!(f, " ({short} {date})"),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BUILT: Version = Version {
        release: "0.1.0",
        commit: Some(Commit { hash: "750b5f0c1aa", short: "750b5f0c1", date: "2026-11-30" }),
        host: Some("x86_64-unknown-linux-gnu"),
        rustc: Some("rustc 1.95.0 (59807616e 2026-04-14)"),
    };

    #[test]
    fn the_line_has_cargo_s_format() {
        assert_eq!(BUILT.text(Detail::Line), "cargo-npugate 0.1.0 (750b5f0c1 2026-11-30)\n");
        let unpacked = Version { commit: None, ..BUILT };
        assert_eq!(unpacked.text(Detail::Line), "cargo-npugate 0.1.0\n");
    }

    #[test]
    fn each_known_fact_has_a_line() {
        assert_eq!(
            BUILT.text(Detail::All),
            "cargo-npugate 0.1.0 (750b5f0c1 2026-11-30)
release: 0.1.0
commit-hash: 750b5f0c1aa
commit-date: 2026-11-30
host: x86_64-unknown-linux-gnu
rustc: 1.95.0 (59807616e 2026-04-14)
"
        );
        let unknown = Version { release: "0.1.0", commit: None, host: None, rustc: None };
        assert_eq!(unknown.text(Detail::All), "cargo-npugate 0.1.0\nrelease: 0.1.0\n");
    }
}
