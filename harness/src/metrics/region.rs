//! The part of a tensor for which something is true.

use std::fmt;

/// Indices along one extent; prints as `columns 64..128`, `row 3` or `all 256 rows`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Span {
    /// The first one.
    pub start: usize,
    /// One after the last one.
    pub end: usize,
    /// How many the tensor has.
    pub of: usize,
}

impl Span {
    fn len(self) -> usize {
        self.end - self.start
    }

    fn named(self, one: &str) -> String {
        let Self { start, end, of } = self;
        match self.len() {
            1 if of == 1 => format!("the only {one}"),
            len if len == of => format!("all {of} {one}s"),
            1 => format!("{one} {start}"),
            _ => format!("{one}s {start}..{end}"),
        }
    }
}

/// The smallest rectangle of a `[rows, columns]` tensor that contains all elements of a
/// kind; prints as `columns 1504..1536 of all 256 rows`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Region {
    /// Its rows, along the first extent.
    pub rows: Span,
    /// Its columns: places within a row.
    pub columns: Span,
    /// How many of its elements are of the kind.
    pub count: usize,
}

impl Region {
    /// The region of the elements, by row-major index, for which `is` holds; `None` if it
    /// holds for none of the `len` elements.
    pub fn of(len: usize, width: usize, is: impl Fn(usize) -> bool) -> Option<Self> {
        let width = width.max(1);
        let mut found = (0..len).filter(|index| is(*index)).map(|index| Self {
            rows: Span { start: index / width, end: index / width + 1, of: len / width },
            columns: Span { start: index % width, end: index % width + 1, of: width },
            count: 1,
        });
        let first = found.next()?;
        Some(found.fold(first, |all, one| Self {
            rows: all.rows.with(one.rows),
            columns: all.columns.with(one.columns),
            count: all.count + 1,
        }))
    }

    /// The number of elements in the rectangle.
    pub fn area(&self) -> usize {
        self.rows.len() * self.columns.len()
    }

    /// Where it is, with the heads that its columns belong to.
    pub fn named(&self, head_dim: Option<usize>) -> String {
        let Self { rows, columns, count } = *self;
        let heads = head_dim.map_or(String::new(), |head_dim| columns.heads(head_dim));
        let place = match (rows.of, columns.of) {
            (_, 1) => rows.named("element"),
            (1, _) => format!("{}{heads}", columns.named("column")),
            _ => format!("{}{heads} of {}", columns.named("column"), rows.named("row")),
        };
        if count == self.area() {
            place
        } else {
            format!("{place} ({count} of the {} values there)", self.area())
        }
    }
}

impl Span {
    fn with(self, other: Self) -> Self {
        Self { start: self.start.min(other.start), end: self.end.max(other.end), of: self.of }
    }

    /// ` (head 1)` or ` (heads 1..3)`; empty for all heads, or if there are none.
    fn heads(self, head_dim: usize) -> String {
        if head_dim == 0 || self.len() == self.of {
            return String::new();
        }
        let (first, end) = (self.start / head_dim, self.end.div_ceil(head_dim));
        if end == first + 1 {
            format!(" (head {first})")
        } else {
            format!(" (heads {first}..{end})")
        }
    }
}

impl fmt::Display for Region {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.named(None))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The region of the marked elements of `rows`.
    fn region(rows: &[&str]) -> Option<Region> {
        let marks = rows.concat().into_bytes();
        Region::of(marks.len(), rows[0].len(), |index| marks[index] == b'x')
    }

    fn named(rows: &[&str], head_dim: Option<usize>) -> String {
        region(rows).unwrap().named(head_dim)
    }

    #[test]
    fn a_filled_block_is_named_by_its_edges() {
        assert_eq!(named(&["...xx", "...xx"], None), "columns 3..5 of all 2 rows");
        assert_eq!(named(&[".....", "xxxxx", "....."], None), "all 5 columns of row 1");
        assert_eq!(named(&["...", ".x.", "..."], None), "column 1 of row 1");
        assert_eq!(named(&["xx", "xx", ".."], None), "all 2 columns of rows 0..2");
    }

    #[test]
    fn a_block_with_gaps_says_how_many_values_it_means() {
        assert_eq!(
            named(&["x..", "..x"], None),
            "all 3 columns of all 2 rows (2 of the 6 values there)"
        );
    }

    #[test]
    fn vectors_have_elements() {
        assert_eq!(named(&[".", "x", "x"], None), "elements 1..3");
        assert_eq!(named(&["..xx"], None), "columns 2..4");
    }

    #[test]
    fn columns_of_heads_name_the_heads() {
        assert_eq!(
            named(&["..xx....", "..xx...."], Some(2)),
            "columns 2..4 (head 1) of all 2 rows"
        );
        assert_eq!(named(&["..xxx...", "........"], Some(2)), "columns 2..5 (heads 1..3) of row 0");
        assert_eq!(named(&["xxxx", "...."], Some(2)), "all 4 columns of row 0");
    }

    #[test]
    fn nothing_has_no_region() {
        assert_eq!(region(&["..", ".."]), None);
        assert_eq!(Region::of(0, 0, |_| true), None);
    }
}
