//! Text tables.

use std::fmt;

/// How a column's cells are aligned.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Align {
    /// Names.
    Left,
    /// Numbers.
    Right,
}

/// A table with a header, printed with two spaces between columns and no spaces at the
/// ends of lines.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Table {
    columns: Vec<(String, Align)>,
    rows: Vec<Vec<String>>,
}

impl Table {
    /// A table with these columns.
    pub fn new<S: Into<String>>(columns: impl IntoIterator<Item = (S, Align)>) -> Self {
        let columns = columns.into_iter().map(|(name, align)| (name.into(), align)).collect();
        Self { columns, rows: Vec::new() }
    }

    /// Adds a row; a missing cell is empty.
    pub fn row(&mut self, cells: Vec<String>) {
        self.rows.push(cells);
    }

    fn width(&self, column: usize) -> usize {
        let cells = self.rows.iter().filter_map(|row| row.get(column));
        let widths = cells.map(|cell| cell.chars().count());
        widths.chain([self.columns[column].0.chars().count()]).max().unwrap_or(0)
    }
}

impl fmt::Display for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let header: Vec<_> = self.columns.iter().map(|(name, _)| name.clone()).collect();
        for row in std::iter::once(&header).chain(&self.rows) {
            let cells = self.columns.iter().enumerate().map(|(column, (_, align))| {
                let cell = row.get(column).map_or("", String::as_str);
                let width = self.width(column);
                match align {
                    Align::Left => format!("{cell:<width$}"),
                    Align::Right => format!("{cell:>width$}"),
                }
            });
            writeln!(f, "{}", cells.collect::<Vec<_>>().join("  ").trim_end())?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_aligned_left_and_numbers_right() {
        let mut table = Table::new([("model", Align::Left), ("passed", Align::Right)]);
        table.row(vec!["größe".into(), "1".into()]);
        table.row(vec!["b".into(), "1234567".into()]);
        table.row(vec!["c".into()]);
        assert_eq!(table.to_string(), "model   passed\ngröße        1\nb      1234567\nc\n");
    }
}
