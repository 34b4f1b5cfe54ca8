//! A part of a run, for one of several machines: `hash:2/4` or `slice:2/4`.
//!
//! *hash* assigns a test to a shard only by its model and name. It stays there whatever
//! else is selected, added or removed, so shards keep their caches and their figures can be
//! compared from run to run, but their sizes are left to chance.
//!
//! *slice* deals out the tests of the whole run in turn, one model after the other. The
//! sizes of shards differ by at most one test, but a new test moves all tests after it.

use npugate_schema::Sha256;
use std::{fmt, str::FromStr};

/// A part of a run.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Partition {
    /// Tests are assigned by their model and name.
    Hash(Shard),
    /// Tests are dealt out in turn.
    Slice(Shard),
}

/// One of several shards.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Shard {
    /// Its number, from 1 up.
    number: u64,
    /// The number of shards.
    of: u64,
}

/// A text that is not a part of a run.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum PartitionError {
    /// It has another form.
    #[error("`{0}` is not a part of a run: write `hash:M/N` or `slice:M/N`, such as `hash:1/4`")]
    Form(String),
    /// There is no such shard.
    #[error("there is no shard {number} of {of}: shards are numbered from 1")]
    Number { number: u64, of: u64 },
    /// There are no shards.
    #[error("a run cannot be split into 0 shards: the number after the `/` must be at least 1")]
    Zero,
}

impl Partition {
    /// Whether a test belongs to this part: by its model and name, or by its place among the
    /// tests of the whole run, from 0 up.
    pub fn has(self, model: &str, test: &str, place: usize) -> bool {
        match self {
            Self::Hash(shard) => shard.has(hash(model, test)),
            Self::Slice(shard) => shard.has(place as u64),
        }
    }

    /// All parts of the run that this is a part of, in order.
    pub fn all(self) -> impl Iterator<Item = Self> {
        let (Self::Hash(Shard { of, .. }) | Self::Slice(Shard { of, .. })) = self;
        (1..=of).map(move |number| self.with(number))
    }

    /// Whether both are parts of runs that are split in the same way.
    pub fn goes_with(self, other: Self) -> bool {
        self.with(1) == other.with(1)
    }

    fn with(self, number: u64) -> Self {
        match self {
            Self::Hash(shard) => Self::Hash(Shard { number, ..shard }),
            Self::Slice(shard) => Self::Slice(Shard { number, ..shard }),
        }
    }

    /// Whether this part reports a test that is gone. Such a test has no place in the run, so
    /// the first slice reports it.
    pub fn tells(self, model: &str, gone: &str) -> bool {
        self.has(model, gone, 0)
    }
}

impl Shard {
    fn has(self, number: u64) -> bool {
        number % self.of == self.number - 1
    }
}

/// A hash that is the same on every machine and in every version, because the shards of one
/// run are computed separately.
fn hash(model: &str, test: &str) -> u64 {
    let digest = Sha256::of(format!("{model}\0{test}").as_bytes()).to_string();
    u64::from_str_radix(&digest[..16], 16).unwrap_or_default()
}

impl FromStr for Partition {
    type Err = PartitionError;

    fn from_str(text: &str) -> Result<Self, PartitionError> {
        let form = || PartitionError::Form(text.to_owned());
        let (kind, shard) = text.split_once(':').ok_or_else(form)?;
        let (number, of) = shard.split_once('/').ok_or_else(form)?;
        let whole = |digits: &str| {
            let digits = Some(digits).filter(|d| d.bytes().all(|byte| byte.is_ascii_digit()));
            digits.and_then(|digits| digits.parse::<u64>().ok()).ok_or_else(form)
        };
        let shard = Shard { number: whole(number)?, of: whole(of)? };
        let partition = match kind {
            "hash" => Self::Hash(shard),
            "slice" => Self::Slice(shard),
            _ => return Err(form()),
        };
        match shard {
            Shard { of: 0, .. } => Err(PartitionError::Zero),
            Shard { number, of } if (1..=of).contains(&number) => Ok(partition),
            Shard { number, of } => Err(PartitionError::Number { number, of }),
        }
    }
}

impl fmt::Display for Partition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (kind, Shard { number, of }) = match self {
            Self::Hash(shard) => ("hash", shard),
            Self::Slice(shard) => ("slice", shard),
        };
        write!(f, "{kind}:{number}/{of}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shards(kind: &str, of: usize) -> Vec<Partition> {
        (1..=of).map(|number| format!("{kind}:{number}/{of}").parse().unwrap()).collect()
    }

    fn names(n: usize) -> Vec<String> {
        (0..n).map(|index| format!("kernel::k{index}")).collect()
    }

    #[test]
    fn a_part_lists_all_parts_of_its_run() {
        let second: Partition = "hash:2/3".parse().unwrap();
        assert_eq!(second.all().collect::<Vec<_>>(), shards("hash", 3));
        assert!(second.all().all(|part| part.goes_with(second)));
        for other in ["slice:2/3", "hash:2/4"] {
            assert!(!second.goes_with(other.parse().unwrap()), "{other}");
        }
    }

    #[test]
    fn every_test_is_in_exactly_one_shard() {
        for kind in ["hash", "slice"] {
            for of in [1, 2, 3, 7, 40] {
                let shards = shards(kind, of);
                for (place, name) in names(30).iter().enumerate() {
                    let has = |shard: &&Partition| shard.has("tiny", name, place);
                    assert_eq!(shards.iter().filter(has).count(), 1, "{kind} {name} of {of}");
                    let tells = |shard: &&Partition| shard.tells("tiny", name);
                    assert_eq!(shards.iter().filter(tells).count(), 1, "{kind} {name} of {of}");
                }
            }
        }
    }

    #[test]
    fn slices_differ_by_at_most_one_test() {
        let sizes = shards("slice", 4).into_iter().map(|shard| {
            names(30).iter().enumerate().filter(|(at, name)| shard.has("tiny", name, *at)).count()
        });
        assert_eq!(sizes.collect::<Vec<_>>(), [8, 8, 7, 7]);
    }

    #[test]
    fn a_hash_depends_only_on_model_and_name() {
        // printf 'tiny\0kernel::k0' | sha256sum, and so on: the first 16 digits modulo 4.
        let shards = shards("hash", 4);
        let shard = |model, name, place| {
            1 + shards.iter().position(|shard| shard.has(model, name, place)).unwrap()
        };
        assert_eq!(shard("tiny", "kernel::k0", 0), 4);
        assert_eq!(shard("tiny", "kernel::k0", 99), 4);
        assert_eq!(shard("smollm2", "kernel::k0", 0), 3);
        assert_eq!(shard("tiny", "kernel::k2", 0), 3);
    }

    #[test]
    fn a_gone_test_is_reported_by_the_first_slice() {
        assert!("slice:1/3".parse::<Partition>().unwrap().tells("tiny", "kernel::old"));
    }

    #[test]
    fn a_text_that_is_not_a_shard_is_refused_with_a_sentence() {
        let refused = |text: &str| text.parse::<Partition>().unwrap_err().to_string();
        for text in ["hash:0/4", "slice:5/4"] {
            let number = &text[text.len() - 3..text.len() - 2];
            let expected = format!("there is no shard {number} of 4: shards are numbered from 1");
            assert_eq!(refused(text), expected);
        }
        assert!(refused("hash:1/0").starts_with("a run cannot be split into 0 shards"));
        assert!(refused("slice:0/0").starts_with("a run cannot be split into 0 shards"));
        for text in ["", "1/4", "hash", "hash:", "hash:1", "hash:/4", "hash:1/", "hash:-1/4"] {
            assert!(refused(text).contains("such as `hash:1/4`"), "{text}");
        }
        for text in
            ["hash:+1/4", "hash:1/4/2", "count:1/4", "hash: 1/4", "hash:1/99999999999999999999"]
        {
            assert!(refused(text).contains("such as `hash:1/4`"), "{text}");
        }
    }

    #[test]
    fn a_part_is_printed_as_it_is_parsed() {
        for text in ["hash:1/4", "slice:4/4"] {
            assert_eq!(text.parse::<Partition>().unwrap().to_string(), text);
        }
    }
}
