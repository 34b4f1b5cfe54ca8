//! `--list`, in libtest's words or as JSON.

use super::select::Selected;
use super::typed::Format;
use crate::schema::{LISTING_SCHEMA, ListedTest, Listing};
use std::io::{self, Write};

/// Prints the selected tests. The terse format is nextest's protocol: nothing
/// but `NAME: test` lines.
pub(super) fn print(
    out: &mut dyn Write,
    model: &str,
    tests: &[Selected<'_>],
    format: Format,
) -> io::Result<()> {
    if format == Format::Json {
        let listing = Listing {
            schema: LISTING_SCHEMA.to_owned(),
            model: model.to_owned(),
            tests: tests.iter().map(listed).collect(),
        };
        return writeln!(out, "{}", serde_json::to_string(&listing)?);
    }
    for test in tests {
        writeln!(out, "{}: test", test.name)?;
    }
    if format == Format::Pretty {
        // As libtest counts, its empty line included.
        let (gap, plural) = match tests.len() {
            0 => ("", "s"),
            1 => ("\n", ""),
            _ => ("\n", "s"),
        };
        writeln!(out, "{gap}{} test{plural}, 0 benchmarks", tests.len())?;
    }
    Ok(())
}

fn listed(test: &Selected<'_>) -> ListedTest {
    ListedTest {
        name: test.name.to_owned(),
        ignored: test.off.cloned(),
        attributes: test.planned.attributes.clone(),
        limits: test.planned.limits,
    }
}
