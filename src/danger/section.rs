//! Section: the programs that a part of a file of rules speaks of.

/// A header such as `[git] -C -c` and what stands below it.
#[derive(Debug)]
pub(super) struct Section<'t> {
    pub(super) preset: &'t str,
    pub(super) programs: &'t str,
    /// The options that take the next word as their value.
    pub(super) values: &'t str,
    pub(super) body: &'t str,
    /// The line of its header, from 1; 0 where it was found without counting.
    pub(super) line: usize,
    /// Whether its header has a closing bracket.
    pub(super) is_closed: bool,
}

impl<'t> Section<'t> {
    /// Takes the text of a section apart, from behind its opening bracket.
    pub(super) fn new(preset: &'t str, text: &'t str, line: usize) -> Self {
        let (header, body) = text.split_once('\n').unwrap_or((text, ""));
        let closed = header.split_once(']');
        let (programs, values) = closed.unwrap_or((header, ""));
        Self {
            preset,
            programs,
            values,
            body,
            line,
            is_closed: closed.is_some(),
        }
    }

    /// Whether its header names a program.
    pub(super) fn names(&self, program: &str) -> bool {
        let mut names = self.programs.split_ascii_whitespace();
        names.any(|name| match name.strip_suffix('*') {
            Some(prefix) => program.starts_with(prefix),
            None => program == name,
        })
    }

    /// Whether it is about losing something, and names its programs.
    pub(super) fn knows_losses(&self) -> bool {
        self.programs != "*" && !matches!(self.preset, "exfiltration" | "secrets" | "supply-chain")
    }

    /// Whether its programs are clients of subcommands, each of which has a help of its own.
    pub(super) fn has_subcommands(&self) -> bool {
        matches!(self.preset, "cloud" | "database" | "git")
    }
}

/// Returns the sections of a file.
pub(super) fn sections<'t>(preset: &'t str, text: &'t str) -> impl Iterator<Item = Section<'t>> {
    let first = text.starts_with('[').then_some(0);
    let others = text.match_indices("\n[").map(|(at, _)| at + 1);
    first.into_iter().chain(others).map(move |at| {
        let (before, section) = text.split_at(at);
        let end = section.find("\n[").unwrap_or(section.len());
        let section = section.get(1..end).unwrap_or_default();
        Section::new(preset, section, before.matches('\n').count() + 1)
    })
}

/// Whether a word of a pattern names the operand that comes at its place. The compiler asks too, for the index.
pub(super) const fn is_path(word: &[u8]) -> bool {
    match word {
        [b'@' | b'=' | b'%' | b'~', ..] | [b'!', _, ..] | b"+" => false,
        _ => !is_option(word),
    }
}

/// Whether a word of a pattern asks for an option.
pub(super) const fn is_option(word: &[u8]) -> bool {
    matches!(word, [b'-', second, ..] if *second != b'|')
}
