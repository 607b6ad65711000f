//! Lists: the words of `policies/acts.txt`.

use std::collections::{HashMap, HashSet};
use std::sync::LazyLock;

use super::kind::{Asked, Kind};
use super::words::{is_unparted, unparted};

/// The lists, as they are looked up.
#[derive(Default)]
pub(super) struct Lists {
    /// What verbs ask for, whole words and pairs of them.
    verbs: HashMap<&'static str, Asked>,
    /// The same by their beginnings.
    beginnings: HashMap<&'static str, Asked>,
    /// What things ask for beside a verb.
    things: HashMap<&'static str, Asked>,
    /// Words of scripts that put nothing between words.
    unparted: Vec<(&'static str, Asked)>,
    /// The lists that are of no kind of act, by their names.
    others: HashMap<&'static str, HashSet<&'static str>>,
    /// Of what must have been asked for where a tool or a broken rule has one of several words, in the order in which they count:
    /// `tool` or `rule`, the kinds of which one is enough, and the words.
    needs: Vec<(&'static str, Option<Asked>, Vec<&'static str>)>,
}

static LISTS: LazyLock<Lists> = LazyLock::new(|| {
    let mut lists = Lists::default();
    let sections = include_str!("../../policies/acts.txt").split("\n[").skip(1);
    for (name, text) in sections.filter_map(|section| section.split_once("]\n")) {
        let words = text.lines().filter(|line| !line.starts_with('#'));
        let words = words.flat_map(str::split_ascii_whitespace);
        if let Some((of, kinds)) = name.split_once(": ") {
            let needs = (kinds != "nothing").then(|| Asked::named(kinds));
            lists.needs.push((of, needs, words.collect()));
            continue;
        }
        let list = name.strip_suffix("-things").unwrap_or(name);
        let kind = Asked::named(list);
        for word in words {
            if kind == Asked::default() {
                lists.others.entry(name).or_default().insert(word);
            } else {
                lists.add(word, kind, name != list);
            }
        }
    }
    lists
});

/// Returns the lists.
pub(super) fn lists() -> &'static Lists {
    &LISTS
}

impl Lists {
    /// Whether a list that is of no kind of act has a word.
    pub(super) fn has(&self, list: &str, word: &str) -> bool {
        self.others
            .get(list)
            .is_some_and(|list| list.contains(word))
    }

    /// Whether it has one of several words.
    pub(super) fn has_any(&self, list: &str, words: &[String]) -> bool {
        words.iter().any(|word| self.has(list, word))
    }

    /// Whether a text names something that somebody reads, which tells what is to be done.
    pub(super) fn has_source(&self, text: &str) -> bool {
        let mut words = text.split(|c: char| !c.is_alphanumeric());
        let has = |word: &str| self.has("source", word);
        words.any(|word| has(word) || has(word.strip_suffix('s').unwrap_or(word)))
            || unparted(text).any(|two| has(&two))
    }

    /// Returns of which kinds one must have been asked for, by the first list of which a word fits; any act where none does, and
    /// none where nothing need have been asked for.
    pub(super) fn needs(&self, of: &str, fits: impl Fn(&str) -> bool) -> Option<Asked> {
        let mut needs = self.needs.iter().filter(|(which, ..)| *which == of);
        let found = needs.find(|(_, _, words)| words.iter().any(|word| fits(word)));
        found.map_or(Some(Asked::default()), |(_, kinds, _)| *kinds)
    }

    /// Whether a word names nothing: verbs of what people ask for, and what stands around them.
    pub(super) fn is_usual(&self, word: &str) -> bool {
        let mut others = ["filling", "joining", "not", "polite", "question", "usual"].iter();
        others.any(|list| self.has(list, word)) || self.verbs.contains_key(word)
    }

    fn add(&mut self, word: &'static str, kind: Asked, is_thing: bool) {
        let add = |map: &mut HashMap<&'static str, Asked>, word| {
            let known = map.entry(word).or_default();
            *known = known.with(kind);
        };
        match word.strip_suffix('*') {
            _ if is_unparted(word) => self.unparted.push((word, kind)),
            Some(beginning) if !is_thing => add(&mut self.beginnings, beginning),
            _ if is_thing => add(&mut self.things, word),
            _ => add(&mut self.verbs, word),
        }
    }

    /// Returns what a word asks for as a verb, together with the next one where both make one.
    pub(super) fn verb(&self, words: &[&str]) -> Asked {
        let Some((first, rest)) = words.split_first() else {
            return Asked::default();
        };
        let pair = |second: &str| self.verbs.get(&*format!("{first}_{second}")).copied();
        // `give him back`
        let third = match rest {
            [object, third, ..] if self.has("object", object) => pair(third),
            _ => None,
        };
        let pairs = [rest.first().and_then(|second| pair(second)), third];
        if let Some(asked) = pairs.into_iter().flatten().reduce(Asked::with) {
            return asked;
        }
        let ends = first.char_indices().map(|(at, _)| at).skip(2);
        let beginnings = ends.chain([first.len()]);
        let beginnings =
            beginnings.filter_map(|end| self.beginnings.get(first.get(..end).unwrap_or_default()));
        let whole = self.verbs.get(first).into_iter();
        let mut known = whole.chain(beginnings).peekable();
        if known.peek().is_none() {
            // To do it again: `resend`. A word of its own is not taken apart: `refund`.
            let again = first.strip_prefix("re").unwrap_or_default();
            let again = self.verbs.get(again.trim_start_matches('-'));
            return again.copied().unwrap_or_default();
        }
        known.fold(Asked::default(), |all, asked| all.with(*asked))
    }

    /// Returns what things ask for beside a verb.
    pub(super) fn things(&self, words: &[&str]) -> Asked {
        let pairs = words.windows(2).map(|pair| pair.join("_"));
        let all = pairs.chain(words.iter().map(|word| (*word).to_owned()));
        all.filter_map(|word| {
            let singular = word.strip_suffix('s').unwrap_or(&word);
            self.things
                .get(&*word)
                .or_else(|| self.things.get(singular))
        })
        .fold(Asked::default(), |all, asked| all.with(*asked))
    }

    /// Returns what a part of a sentence asks for whose script puts nothing between words.
    pub(super) fn unparted(&self, part: &str) -> Asked {
        let mut not = ["not", "question"]
            .iter()
            .filter_map(|list| self.others.get(list))
            .flatten();
        if not.any(|word| is_unparted(word) && part.contains(word)) {
            return Asked::of(Kind::Look);
        }
        let there = self.unparted.iter().filter(|(word, _)| part.contains(word));
        there.fold(Asked::default(), |all, (_, asked)| all.with(*asked))
    }
}

/// Whether the words of a tool's name say that it only reads.
pub(super) fn reads(words: &[String]) -> bool {
    let has = |list: &str| lists().has_any(list, words);
    begins_to_read(words) || has("tool-reads") && !has("tool-acts")
}

/// Whether they begin with a verb of reading.
pub(super) fn begins_to_read(words: &[String]) -> bool {
    let first = words.first();
    first.is_some_and(|word| lists().has("tool-reads", word))
}
