//! Index: which sections of the rules speak of a program. The compiler makes it, for every process that judges a command
//! would have to make it anew.

#![expect(
    clippy::indexing_slicing,
    clippy::cast_possible_truncation,
    reason = "made by the compiler, which would tell"
)]

use super::presets::PRESETS;
use super::section::Section;
use crate::program::number;

/// Where a section stands: its header's line is the first.
#[derive(Clone, Copy)]
struct Place {
    preset: u8,
    start: u32,
    end: u32,
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
    names: usize,
    prefixes: usize,
}

struct Index<const SECTIONS: usize, const NAMES: usize, const PREFIXES: usize> {
    places: [Place; SECTIONS],
    /// Sorted by number, then by section.
    names: [Entry; NAMES],
    prefixes: [Entry; PREFIXES],
}

const COUNTS: Counts = count();
static INDEX: Index<{ COUNTS.sections }, { COUNTS.names }, { COUNTS.prefixes }> = make();

/// How many sections there are.
pub(super) const SECTIONS: usize = COUNTS.sections;

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

const fn count() -> Counts {
    let mut counts = Counts {
        sections: 0,
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
            at = next_section(bytes, end);
        }
        preset += 1;
    }
    counts
}

const fn make<const SECTIONS: usize, const NAMES: usize, const PREFIXES: usize>()
-> Index<SECTIONS, NAMES, PREFIXES> {
    let nowhere = Place {
        preset: 0,
        start: 0,
        end: 0,
    };
    let nobody = Entry {
        number: 0,
        prefix: 0,
        section: 0,
    };
    let mut index = Index {
        places: [nowhere; SECTIONS],
        names: [nobody; NAMES],
        prefixes: [nobody; PREFIXES],
    };
    let (mut section, mut name, mut prefix) = (0, 0, 0);
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
            index.places[section] = Place {
                preset: preset as u8,
                start: at as u32,
                // The line that opens the next section is no longer of this one.
                end: (if next < bytes.len() { next - 2 } else { next }) as u32,
            };
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
