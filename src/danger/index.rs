//! Index: which sections of the rules speak of a program, and which of their rules may meet its first operand. The compiler
//! makes it, for every process that judges a command would have to make it anew.

#![expect(
    clippy::indexing_slicing,
    clippy::cast_possible_truncation,
    reason = "made by the compiler, which would tell"
)]
#![expect(
    long_running_const_eval,
    reason = "it reads all rules, byte by byte, in less than a second"
)]

use std::ops::Range;

use super::presets::PRESETS;
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
    let place = INDEX.places[at];
    let preset = &PRESETS[usize::from(place.preset)];
    let text = preset.text.get(place.start as usize..place.end as usize);
    Section::new(preset.name, text.unwrap_or_default(), 0)
}

/// Returns the numbers of a section's rules that may mean something that begins like this.
pub(super) fn rules(section: usize, firsts: Firsts) -> impl Iterator<Item = usize> {
    let start = |at: usize| INDEX.places.get(at).map(|place| usize::from(place.rules));
    let all: Range<usize> = start(section).unwrap_or(RULES)..start(section + 1).unwrap_or(RULES);
    all.filter(move |rule| firsts.may_meet(INDEX.rules[*rule].firsts))
}

/// Returns a rule as a section that has nothing else.
pub(super) fn rule(at: usize) -> Section<'static> {
    let place = INDEX.rules[at];
    let section = section(usize::from(place.section));
    let text = PRESETS[usize::from(INDEX.places[usize::from(place.section)].preset)].text;
    let body = text.get(place.start as usize..place.end as usize);
    Section {
        body: body.unwrap_or_default(),
        ..section
    }
}

/// Whether rules about losing something know a program by its name.
pub(super) fn knows(program: &str) -> bool {
    sections(program).any(|(_, section)| section.knows_losses())
}

/// Returns where the next section begins, behind the bracket that opens its header, or the end of the text.
const fn next_section(bytes: &[u8], mut at: usize) -> usize {
    while at + 1 < bytes.len() {
        if bytes[at] == b'\n' && bytes[at + 1] == b'[' {
            return at + 2;
        }
        at += 1;
    }
    bytes.len()
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

/// Returns where the line ends that a byte stands in.
const fn end_of_line(bytes: &[u8], mut at: usize) -> usize {
    while at < bytes.len() && bytes[at] != b'\n' {
        at += 1;
    }
    at
}

/// Whether the line that begins there is the first one of a rule.
const fn is_head(bytes: &[u8], at: usize) -> bool {
    !matches!(bytes[at], b' ' | b'#' | b'\n' | b'[')
}

/// Returns where the next rule of a section begins, or the end.
const fn next_rule(bytes: &[u8], mut at: usize, end: usize) -> usize {
    while at < end && !is_head(bytes, at) {
        at = end_of_line(bytes, at) + 1;
    }
    if at < end { at } else { end }
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

/// Returns with what the first operand begins that a pattern of a rule means; `at` is behind the line with its name.
const fn firsts(bytes: &[u8], mut at: usize, end: usize) -> Firsts {
    let mut firsts = Firsts::NONE;
    while at < end {
        let line = end_of_line(bytes, at);
        let is_pattern = stands(bytes, at, b"  ")
            && !stands(bytes, at, b"  why: ")
            && !stands(bytes, at, b"  try: ")
            && !stands(bytes, at, b"  unless: ");
        if is_pattern {
            let mut word = at + 2;
            let mut last = word;
            while last < line && bytes[last] != b' ' {
                last += 1;
            }
            let (_, from) = bytes.split_at(word);
            let (first, _) = from.split_at(last - word);
            if !is_path(first) {
                return Firsts::ANY;
            }
            while word < last {
                match bytes[word] {
                    b'*' | b'?' | b'[' | b'$' | b'|' => return Firsts::ANY,
                    byte => firsts = firsts.with(byte),
                }
                while word < last && bytes[word] != b'|' {
                    word += 1;
                }
                word += 1;
            }
        }
        at = line + 1;
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
        let mut at = next_section(bytes, 0);
        while at < bytes.len() {
            counts.sections += 1;
            let (mut start, mut end) = next_name(bytes, at);
            while start < end {
                if bytes[end - 1] == b'*' {
                    counts.prefixes += 1;
                } else {
                    counts.names += 1;
                }
                (start, end) = next_name(bytes, end);
            }
            let next = next_section(bytes, end);
            let mut rule = next_rule(bytes, end_of_line(bytes, end) + 1, next);
            while rule < next {
                counts.rules += 1;
                rule = next_rule(bytes, end_of_line(bytes, rule) + 1, next);
            }
            at = next;
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
    let (mut section, mut rule, mut name, mut prefix) = (0, 0, 0, 0);
    let mut preset = 0;
    while preset < PRESETS.len() {
        let bytes = PRESETS[preset].text.as_bytes();
        let mut at = next_section(bytes, 0);
        while at < bytes.len() {
            let (mut start, mut end) = next_name(bytes, at);
            while start < end {
                if bytes[end - 1] == b'*' {
                    index.prefixes[prefix] = Entry {
                        number: number(bytes, start, end - 1),
                        prefix: (end - 1 - start) as u8,
                        section: section as u16,
                    };
                    prefix += 1;
                } else {
                    let entry = Entry {
                        number: number(bytes, start, end),
                        prefix: 0,
                        section: section as u16,
                    };
                    insert(&mut index.names, name, entry);
                    name += 1;
                }
                (start, end) = next_name(bytes, end);
            }
            let next = next_section(bytes, end);
            // The line that opens the next section is no longer of this one.
            let last = if next < bytes.len() { next - 2 } else { next };
            index.places[section] = Place {
                preset: preset as u8,
                start: at as u32,
                end: last as u32,
                rules: rule as u16,
            };
            let mut start = next_rule(bytes, end_of_line(bytes, end) + 1, last);
            while start < last {
                let patterns = end_of_line(bytes, start) + 1;
                let behind = next_rule(bytes, patterns, last);
                index.rules[rule] = RulePlace {
                    section: section as u16,
                    start: start as u32,
                    end: behind as u32,
                    firsts: firsts(bytes, patterns, behind),
                };
                rule += 1;
                start = behind;
            }
            section += 1;
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
