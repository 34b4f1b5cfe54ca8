//! The explanation of a check, read from the check's own file next to this one.

/// The explanation of a check.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Explanation {
    /// One line.
    pub title: &'static str,
    /// The sections, titled as in [`Section::TITLES`].
    pub sections: Vec<Section>,
}

/// A part of an explanation.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Section {
    /// Its heading.
    pub title: &'static str,
    /// Paragraphs, and items that begin with `- `, in lines of any length.
    pub text: &'static str,
}

impl Section {
    /// The headings of every explanation, in order.
    pub const TITLES: [&'static str; 5] = [
        "What it tests",
        "The limit, and why",
        "Source",
        "What usually breaks it",
        "What to do next",
    ];

    /// The text as blocks: paragraphs and items, each in one line.
    pub fn blocks(&self) -> Vec<String> {
        let mut blocks: Vec<String> = Vec::new();
        let mut is_open = false;
        for line in self.text.lines().map(str::trim) {
            let is_item = line.starts_with("- ");
            match blocks.last_mut() {
                Some(block) if is_open && !is_item && !line.is_empty() => {
                    block.push(' ');
                    block.push_str(line);
                }
                _ if line.is_empty() => {}
                _ => blocks.push(line.to_owned()),
            }
            is_open = !line.is_empty();
        }
        blocks
    }
}

impl Explanation {
    /// Splits a file into a title after `# ` and sections after `## `.
    pub(super) fn parse(text: &'static str) -> Self {
        let mut parts = text.split("\n## ");
        let title = parts.next().unwrap_or_default();
        let title = title.strip_prefix("# ").unwrap_or(title).trim();
        let sections = parts.map(|part| {
            let (title, text) = part.split_once('\n').unwrap_or((part, ""));
            Section { title: title.trim(), text: text.trim() }
        });
        Self { title, sections: sections.collect() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_split_into_sections_and_blocks() {
        let text = "# A title\n\n## One\nA paragraph\nof two lines.\n\n- an item\n  of two\n- another\n\nMore.\n\n## Two\nLast.\n";
        let explanation = Explanation::parse(text);
        assert_eq!(explanation.title, "A title");
        let titles: Vec<_> = explanation.sections.iter().map(|section| section.title).collect();
        assert_eq!(titles, ["One", "Two"]);
        assert_eq!(
            explanation.sections[0].blocks(),
            ["A paragraph of two lines.", "- an item of two", "- another", "More."]
        );
        assert_eq!(explanation.sections[1].blocks(), ["Last."]);
    }
}
