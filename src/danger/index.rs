//! Index: which sections of the rules speak of a program, and which of their rules may meet its first operand. The compiler
//! makes it, for every process that judges a command would have to make it anew.

#![expect(
    clippy::indexing_slicing,
    clippy::cast_possible_truncation,
    reason = "made by the compiler, which would tell"
)]
use std::ops::Range;

use super::presets::{PRESETS, Preset};
use super::section::{Section, is_path};
use crate::program::number;

/// Where a section stands: its header's line is the first.
#[derive(Clone, Copy)]
struct Place {
    preset: u8,
    start: u32,
    end: u32,
    /// The number of its first rule.
    rules: u16,
}

/// Where a rule stands: the line with its name is the first.
#[derive(Clone, Copy)]
struct RulePlace {
    section: u16,
    start: u32,
    end: u32,
    /// With what the first operand begins that one of its patterns means.
    firsts: Firsts,
}

/// With which bytes something begins, as a set: those that differ by 64 are told apart no more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Firsts(u64);

impl Firsts {
    pub(super) const NONE: Self = Self(0);
    /// Whatever it begins with, also with nothing.
    const ANY: Self = Self(u64::MAX);

    /// Returns the set with one byte more.
    pub(super) const fn with(self, byte: u8) -> Self {
        Self(self.0 | 1 << (byte % 64))
    }

    const fn and(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// Whether something that begins like these may be meant by a pattern of those.
    const fn may_meet(self, meant: Self) -> bool {
        meant.0 == Self::ANY.0 || self.0 & meant.0 != 0
    }
}

/// A name in the header of a section, or what names begin with.
#[derive(Clone, Copy)]
struct Entry {
    number: u64,
    /// How long the beginning is; a whole name has none.
    prefix: u8,
    section: u16,
}

#[derive(Clone, Copy)]
struct Counts {
    sections: usize,
    rules: usize,
    names: usize,
    prefixes: usize,
}

struct Index<const SECTIONS: usize, const RULES: usize, const NAMES: usize, const PREFIXES: usize> {
    places: [Place; SECTIONS],
    /// Section by section.
    rules: [RulePlace; RULES],
    /// Sorted by number, then by section.
    names: [Entry; NAMES],
    prefixes: [Entry; PREFIXES],
}

const COUNTS: Counts = count();
static INDEX: Index<{ COUNTS.sections }, { COUNTS.rules }, { COUNTS.names }, { COUNTS.prefixes }> =
    make();

/// How many rules there are.
pub(super) const RULES: usize = COUNTS.rules;

/// Returns the numbers of the sections whose rules may meet a program, and the sections.
pub(super) fn sections(program: &str) -> impl Iterator<Item = (usize, Section<'static>)> {
    let wanted = number(program.as_bytes(), 0, program.len());
    let first = INDEX.names.partition_point(|entry| entry.number < wanted);
    let named = INDEX.names[first..]
        .iter()
        .take_while(move |entry| entry.number == wanted);
    let begun = INDEX.prefixes.iter().filter(|entry| {
        let length = usize::from(entry.prefix);
        program.len() >= length && number(program.as_bytes(), 0, length) == entry.number
    });
    named
        .chain(begun)
        .map(|entry| usize::from(entry.section))
        .map(|at| (at, section(at)))
        .filter(|(_, section)| section.names(program))
}

/// Returns a section.
pub(super) fn section(at: usize) -> Section<'static> {
    let Place { start, end, .. } = INDEX.places[at];
    Section::new(preset(at).name, text(at, start, end), 0)
}

fn preset(section: usize) -> &'static Preset {
    &PRESETS[usize::from(INDEX.places[section].preset)]
}

/// Returns a part of the file that a section stands in.
fn text(section: usize, start: u32, end: u32) -> &'static str {
    let text = preset(section).text.get(start as usize..end as usize);
    text.unwrap_or_default()
}

/// Returns the numbers of a section's rules that may mean something that begins like this.
pub(super) fn rules(section: usize, firsts: Firsts) -> impl Iterator<Item = usize> {
    let start = |at: usize| INDEX.places.get(at).map(|place| usize::from(place.rules));
    let all: Range<usize> = start(section).unwrap_or(RULES)..start(section + 1).unwrap_or(RULES);
    all.filter(move |rule| firsts.may_meet(INDEX.rules[*rule].firsts))
}

/// Returns a rule as a section that has nothing else.
pub(super) fn rule(at: usize) -> Section<'static> {
    let RulePlace { start, end, .. } = INDEX.rules[at];
    let of = usize::from(INDEX.rules[at].section);
    Section {
        body: text(of, start, end),
        ..section(of)
    }
}

/// Whether rules about losing something know a program by its name.
pub(super) fn knows(program: &str) -> bool {
    sections(program).any(|(_, section)| section.knows_losses())
}

/// Returns the start and end of the next name in a header; both are the same where there is none.
const fn next_name(bytes: &[u8], mut at: usize) -> (usize, usize) {
    while bytes[at] == b' ' {
        at += 1;
    }
    let start = at;
    while bytes[at] != b' ' && bytes[at] != b']' {
        at += 1;
    }
    (start, at)
}

/// Returns where the next line begins.
const fn next_line(bytes: &[u8], mut at: usize) -> usize {
    while at < bytes.len() && bytes[at] != b'\n' {
        at += 1;
    }
    at + 1
}

/// Whether the line that begins there is the first one of a rule.
const fn is_head(bytes: &[u8], at: usize) -> bool {
    !matches!(bytes[at], b' ' | b'#' | b'\n')
}

/// Whether something stands in a text at a place.
const fn stands(bytes: &[u8], at: usize, text: &[u8]) -> bool {
    let mut n = 0;
    while n < text.len() {
        if at + n >= bytes.len() || bytes[at + n] != text[n] {
            return false;
        }
        n += 1;
    }
    true
}

/// Returns with what the first operand begins that a line of a rule means; a line that is no pattern means none.
const fn firsts(bytes: &[u8], line: usize) -> Firsts {
    if !stands(bytes, line, b"  ")
        || stands(bytes, line, b"  why: ")
        || stands(bytes, line, b"  try: ")
        || stands(bytes, line, b"  unless: ")
    {
        return Firsts::NONE;
    }
    let mut word = line + 2;
    let mut end = word;
    while end < bytes.len() && !matches!(bytes[end], b' ' | b'\n') {
        end += 1;
    }
    let (_, from) = bytes.split_at(word);
    let (first, _) = from.split_at(end - word);
    if !is_path(first) {
        return Firsts::ANY;
    }
    let mut firsts = Firsts::NONE;
    while word < end {
        match bytes[word] {
            b'*' | b'?' | b'[' | b'$' | b'|' => return Firsts::ANY,
            byte => firsts = firsts.with(byte),
        }
        while word < end && bytes[word] != b'|' {
            word += 1;
        }
        word += 1;
    }
    firsts
}

const fn count() -> Counts {
    let mut counts = Counts {
        sections: 0,
        rules: 0,
        names: 0,
        prefixes: 0,
    };
    let mut preset = 0;
    while preset < PRESETS.len() {
        let bytes = PRESETS[preset].text.as_bytes();
        let mut at = 0;
        while at < bytes.len() {
            if bytes[at] == b'[' {
                counts.sections += 1;
                let (mut start, mut end) = next_name(bytes, at + 1);
                while start < end {
                    if bytes[end - 1] == b'*' {
                        counts.prefixes += 1;
                    } else {
                        counts.names += 1;
                    }
                    (start, end) = next_name(bytes, end);
                }
            } else if is_head(bytes, at) {
                counts.rules += 1;
            }
            at = next_line(bytes, at);
        }
        preset += 1;
    }
    counts
}

const fn make<
    const SECTIONS: usize,
    const RULES: usize,
    const NAMES: usize,
    const PREFIXES: usize,
>() -> Index<SECTIONS, RULES, NAMES, PREFIXES> {
    let nowhere = Place {
        preset: 0,
        start: 0,
        end: 0,
        rules: 0,
    };
    let nothing = RulePlace {
        section: 0,
        start: 0,
        end: 0,
        firsts: Firsts::NONE,
    };
    let nobody = Entry {
        number: 0,
        prefix: 0,
        section: 0,
    };
    let mut index = Index {
        places: [nowhere; SECTIONS],
        rules: [nothing; RULES],
        names: [nobody; NAMES],
        prefixes: [nobody; PREFIXES],
    };
    // How many of each there are so far.
    let (mut sections, mut rules, mut names, mut prefixes) = (0, 0, 0, 0);
    let mut preset = 0;
    while preset < PRESETS.len() {
        let bytes = PRESETS[preset].text.as_bytes();
        // What stands before the first section says nothing.
        let mut is_begun = false;
        let mut at = 0;
        while at < bytes.len() {
            let next = next_line(bytes, at);
            if bytes[at] == b'[' {
                let (mut start, mut end) = next_name(bytes, at + 1);
                while start < end {
                    if bytes[end - 1] == b'*' {
                        index.prefixes[prefixes] = Entry {
                            number: number(bytes, start, end - 1),
                            prefix: (end - 1 - start) as u8,
                            section: sections as u16,
                        };
                        prefixes += 1;
                    } else {
                        let entry = Entry {
                            number: number(bytes, start, end),
                            prefix: 0,
                            section: sections as u16,
                        };
                        insert(&mut index.names, names, entry);
                        names += 1;
                    }
                    (start, end) = next_name(bytes, end);
                }
                index.places[sections] = Place {
                    preset: preset as u8,
                    start: at as u32 + 1,
                    end: 0,
                    rules: rules as u16,
                };
                sections += 1;
                is_begun = true;
            } else if is_head(bytes, at) {
                index.rules[rules] = RulePlace {
                    section: sections as u16 - 1,
                    start: at as u32,
                    end: next as u32 - 1,
                    firsts: Firsts::NONE,
                };
                rules += 1;
            } else if is_begun && rules > index.places[sections - 1].rules as usize {
                let rule = &mut index.rules[rules - 1];
                rule.firsts = rule.firsts.and(firsts(bytes, at));
                rule.end = next as u32 - 1;
            }
            if is_begun {
                index.places[sections - 1].end = next as u32 - 1;
            }
            at = next;
        }
        preset += 1;
    }
    index
}

/// Puts an entry where it belongs among the first ones, behind those of the same number.
const fn insert<const N: usize>(entries: &mut [Entry; N], filled: usize, entry: Entry) {
    let mut at = filled;
    while at > 0 && entries[at - 1].number > entry.number {
        entries[at] = entries[at - 1];
        at -= 1;
    }
    entries[at] = entry;
}
