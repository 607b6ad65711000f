//! Passage: how much a sentence reads like one that has something done, by its words and signs.

use std::collections::BTreeSet;

use super::super::words::is_unparted;
use super::{rarity, tokens, units, weights};
use crate::session::{Origin, Origins};

/// What stands before a unit that has stood in a passage: a letter and the class.
const CLASS: &str = "\u{1}c";

/// What is kept of the class of a passage itself.
const HIGH: &str = "\u{1}high";

/// From which score on, in hundredths, a passage is of each class above the first.
const EDGES: [i64; 6] = [-400, -300, -200, -100, 0, 100];

/// How many classes there are.
pub(super) const CLASSES: usize = EDGES.len() + 1;

/// From which class on neighbours are kept.
const PAIRED: usize = 2;

/// How many letters of a word count.
const STEM: usize = 7;

/// A name, and what a text has for it.
type Sign = (&'static str, fn(&str) -> bool);

/// Signs that tell how a passage is written.
const SIGNS: &[Sign] = &[
    ("address", |text| text.contains("://")),
    ("at", |text| text.contains('@')),
    ("bracket", |text| text.contains(['<', '[', '{', '('])),
    ("call", |text| text.contains('!')),
    ("capitals", |text| {
        let mut runs = text.split(|c: char| !c.is_ascii_uppercase());
        runs.any(|run| run.len() > 3)
    }),
    ("code", |text| text.contains('`')),
    ("comment", |text| text.contains("--") || text.contains('#')),
    ("question", |text| text.contains('?')),
    ("quote", |text| text.contains(['"', '»', '«', '“', '”'])),
];

/// Adds what is kept of a text.
pub(super) fn keep(text: &str, kept: &mut Vec<String>) {
    for passage in text.split('\n').flat_map(sentences) {
        let words = tokens(passage);
        if words.len() < 3 {
            continue;
        }
        let score = score(passage, &words);
        let class = EDGES.iter().filter(|edge| score >= **edge).count();
        kept.push(format!("{HIGH}{class}"));
        // Most text is of the lowest classes: of it neighbours are not kept, which leaves room in the filters.
        let kept_units = units(&words).take(if class < PAIRED {
            words.len()
        } else {
            usize::MAX
        });
        kept.extend(kept_units.map(|unit| format!("{CLASS}{class} {unit}")));
    }
}

/// Whether a unit has stood in passages of a class.
pub(super) fn has(class: usize, unit: &str, origins: &Origins) -> bool {
    origins.has(Origin::Text, &format!("{CLASS}{class} {unit}"))
}

/// Returns the highest class of which a passage was read.
pub(super) fn highest(origins: &Origins) -> Option<usize> {
    let mut classes = (0..CLASSES).rev();
    classes.find(|class| origins.has(Origin::Text, &format!("{HIGH}{class}")))
}

/// Returns how much units have in common with the passages of each class, the sum of how rare they are, and that of all.
pub(super) fn amounts(units: &[String], origins: &Origins) -> ([usize; CLASSES], usize) {
    let (mut amounts, mut whole) = ([0; CLASSES], 0);
    for unit in units {
        let rarity = rarity(unit);
        whole += rarity;
        for (class, amount) in amounts.iter_mut().enumerate() {
            if rarity > 0 && has(class, unit, origins) {
                *amount += rarity;
            }
        }
    }
    (amounts, whole)
}

/// Returns the parts of a line that end with a sign and a blank.
fn sentences(line: &str) -> impl Iterator<Item = &str> {
    let mut rest = Some(line);
    std::iter::from_fn(move || {
        let text = rest?;
        let blanks = text
            .char_indices()
            .filter(|(_, c)| c.is_whitespace())
            .map(|(at, _)| at);
        let mut ends = blanks.filter(|at| {
            text.get(..*at)
                .unwrap_or_default()
                .ends_with(['.', '!', '?', ':', ';'])
        });
        let Some((part, after)) = ends.next().and_then(|end| text.split_at_checked(end)) else {
            rest = None;
            return Some(text);
        };
        rest = Some(after.trim_start());
        Some(part)
    })
}

/// Returns the score of a passage, in hundredths: of longer ones each word counts less.
fn score(text: &str, words: &[String]) -> i64 {
    let mut found = BTreeSet::new();
    for word in words {
        if is_unparted(word) {
            let letters: Vec<char> = word.chars().collect();
            let pairs = letters.windows(2).map(|pair| pair.iter().collect());
            found.extend(pairs.map(|pair: String| format!("p {pair}")));
        } else {
            found.insert(format!("p {}", stem(word)));
        }
    }
    let first = words.first().map_or("", String::as_str);
    found.insert(format!("first {}", stem(first)));
    found.insert(format!("length {}", (words.len() / 4).min(7)));
    let signs = SIGNS.iter().filter(|(_, has)| has(text));
    found.extend(signs.map(|(name, _)| format!("sign {name}")));
    let sum: i64 = found
        .iter()
        .map(|one| weights::weight("passage", one))
        .sum();
    let length = i64::try_from(found.len()).unwrap_or(i64::MAX);
    weights::weight("passage", "") + sum * 100 / length.saturating_mul(10_000).isqrt().max(1)
}

/// Returns the beginning of a word, each digit as 0.
fn stem(word: &str) -> String {
    let letters = word.chars().take(STEM);
    letters
        .map(|c| if c.is_numeric() { '0' } else { c })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_passage_is_scored_as_it_was_learnt() {
        let told = include_str!("../../../tests/session/data/passages.tsv");
        for line in told.lines() {
            let (expected, text) = line.split_once('\t').unwrap();
            assert_eq!(
                score(text, &tokens(text)),
                expected.parse::<i64>().unwrap(),
                "{text}"
            );
        }
        assert!(told.lines().count() > 50);
    }

    #[test]
    fn a_line_is_parted_where_a_sentence_ends() {
        let parts: Vec<&str> = sentences("One. Two: three!  Four v1.2 five").collect();
        assert_eq!(parts, ["One.", "Two:", "three!", "Four v1.2 five"]);
        assert_eq!(sentences("").collect::<Vec<_>>(), [""]);
    }
}
