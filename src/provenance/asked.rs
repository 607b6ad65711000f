//! Asked: which kinds of acts a person has asked for, by the words of `policies/acts.txt`.
//!
//! A sentence that asks something, or a part of one that begins with a verb of looking, asks for no act. A part that begins with
//! the verb of an act asks for that one; of any other part each word may be its verb.

use std::collections::{HashMap, HashSet};
use std::sync::LazyLock;

use crate::session::{Origin, Origins};

/// What an act does; the name is that of its list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Look,
    Say,
    Pay,
    Refund,
    Buy,
    Grant,
    Remove,
    Install,
    Work,
    Schedule,
    Push,
    Merge,
    Change,
    Steer,
    Follow,
    /// Something is wanted, in words that tell no kind.
    Vague,
}

/// Every kind of act, with the name of its list.
const KINDS: &[(Kind, &str)] = &[
    (Kind::Look, "look"),
    (Kind::Say, "say"),
    (Kind::Pay, "pay"),
    (Kind::Refund, "refund"),
    (Kind::Buy, "buy"),
    (Kind::Grant, "grant"),
    (Kind::Remove, "remove"),
    (Kind::Install, "install"),
    (Kind::Work, "work"),
    (Kind::Schedule, "schedule"),
    (Kind::Push, "push"),
    (Kind::Merge, "merge"),
    (Kind::Change, "change"),
    (Kind::Steer, "steer"),
    (Kind::Follow, "follow"),
    (Kind::Vague, "vague"),
];

/// What stands before the name of a kind that the person has asked for.
const ASKED: &str = "\u{1}asked ";

/// What is kept where the person typed anything that is not understood.
const TYPED: &str = "typed";

/// Kinds of acts that a person has asked for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Asked(u16);

impl Asked {
    const fn of(kind: Kind) -> Self {
        Self(1 << kind as u16)
    }

    const fn with(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    const fn has(self, kind: Kind) -> bool {
        self.0 & Self::of(kind).0 != 0
    }

    /// Whether there is an act among them.
    const fn has_act(self) -> bool {
        self.0 & !Self::of(Kind::Look).0 != 0
    }

    /// Returns what the prompts of a session asked for; none where nothing was typed.
    pub(super) fn in_session(origins: &Origins) -> Option<Self> {
        let has = |name: &str| origins.has(Origin::Prompt, &format!("{ASKED}{name}"));
        has(TYPED).then(|| {
            let kinds = KINDS.iter().filter(|(_, name)| has(name));
            kinds.fold(Self::default(), |all, (kind, _)| all.with(Self::of(*kind)))
        })
    }

    /// Whether they have one of several kinds, or any act where none is named; none where only words were typed that tell no
    /// kind.
    pub(super) fn allows(self, kinds: &[Kind]) -> Option<bool> {
        let is_asked =
            kinds.is_empty() && self.has_act() || kinds.iter().any(|kind| self.has(*kind));
        (is_asked || self != Self::of(Kind::Vague)).then_some(is_asked)
    }

    /// Returns what is kept of them.
    pub(super) fn kept(self) -> impl Iterator<Item = String> {
        let names = KINDS.iter().filter(move |(kind, _)| self.has(*kind));
        let names = names.map(|(_, name)| *name).chain([TYPED]);
        names.map(|name| format!("{ASKED}{name}"))
    }
}

/// The lists, as they are looked up.
#[derive(Default)]
struct Lists {
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
}

static LISTS: LazyLock<Lists> = LazyLock::new(|| {
    let mut lists = Lists::default();
    let sections = include_str!("../../policies/acts.txt").split("\n[").skip(1);
    for (name, text) in sections.filter_map(|section| section.split_once("]\n")) {
        let words = text.lines().filter(|line| !line.starts_with('#'));
        let words = words.flat_map(str::split_ascii_whitespace);
        let list = name.strip_suffix("-things").unwrap_or(name);
        let kind = KINDS.iter().find(|(_, known)| *known == list);
        for word in words {
            if let Some((kind, _)) = kind {
                lists.add(word, Asked::of(*kind), name != list);
            } else {
                lists.others.entry(name).or_default().insert(word);
            }
        }
    }
    lists
});

impl Lists {
    fn has(&self, list: &str, word: &str) -> bool {
        self.others
            .get(list)
            .is_some_and(|list| list.contains(word))
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
    fn verb(&self, words: &[&str]) -> Asked {
        let Some((first, rest)) = words.split_first() else {
            return Asked::default();
        };
        let pair = rest.first().map(|second| format!("{first}_{second}"));
        if let Some(asked) = pair.and_then(|pair| self.verbs.get(pair.as_str())) {
            return *asked;
        }
        let ends = first.char_indices().map(|(at, _)| at).skip(2);
        let beginnings = ends.chain([first.len()]);
        let beginnings =
            beginnings.filter_map(|end| self.beginnings.get(first.get(..end).unwrap_or_default()));
        let again = first
            .strip_prefix("re")
            .map(|rest| rest.trim_start_matches('-'));
        let whole = [Some(*first), again].into_iter().flatten();
        whole
            .filter_map(|word| self.verbs.get(word))
            .chain(beginnings)
            .fold(Asked::default(), |all, asked| all.with(*asked))
    }

    fn things(&self, words: &[&str]) -> Asked {
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

    /// Returns what a part of a sentence asks for; none where it is not understood.
    fn part(&self, words: &[&str], is_question: bool) -> Asked {
        let is_polite = |word: &&str| self.has("polite", word);
        let is_before = |word: &&&str| self.has("filling", word) || is_polite(word);
        let before = words.iter().take_while(is_before).count();
        let (before, words) = words.split_at_checked(before).unwrap_or((words, &[]));
        let is_polite = before.iter().any(is_polite);
        let Some(first) = words.first() else {
            return Asked::default();
        };
        let look = Asked::of(Kind::Look);
        if self.has("not", first) || self.has("question", first) && !is_polite {
            return look;
        }
        let verb = self.verb(words);
        let things = self.things(words.get(1..).unwrap_or_default());
        if verb.has_act() {
            return verb.with(things);
        }
        if verb.has(Kind::Look) || is_question && !is_polite {
            return look;
        }
        if words.iter().any(|word| self.has("not", word)) {
            return look;
        }
        let all = (0..words.len()).map(|at| self.verb(words.get(at..).unwrap_or_default()));
        let all = all.fold(self.things(words), Asked::with);
        if all.has_act() { all } else { Asked::default() }
    }

    /// Returns what a part of a sentence asks for whose script puts nothing between words.
    fn unparted(&self, part: &str) -> Asked {
        let mut not = self.others.get("not").into_iter().flatten();
        if not.any(|word| is_unparted(word) && part.contains(word)) {
            return Asked::of(Kind::Look);
        }
        let there = self.unparted.iter().filter(|(word, _)| part.contains(word));
        there.fold(Asked::default(), |all, (_, asked)| all.with(*asked))
    }
}

/// Returns what a prompt asks for.
pub(super) fn asked(prompt: &str) -> Asked {
    let lists = &*LISTS;
    let prompt = prompt.to_lowercase().replace('’', "'");
    let mut all = Asked::default();
    for sentence in sentences(&prompt) {
        if is_unparted(sentence) {
            let parts = sentence.split([',', '，', '、']);
            all = parts.fold(all, |all, part| all.with(lists.unparted(part)));
            continue;
        }
        let is_question = sentence.trim_end().ends_with('?');
        let mut part = Vec::new();
        let mut parts = Vec::new();
        for token in sentence.split_whitespace() {
            let word = token.trim_matches(|c: char| !c.is_alphanumeric());
            let begins = token.starts_with('(') || word.is_empty() || lists.has("joining", word);
            if begins {
                parts.push(std::mem::take(&mut part));
            }
            if token.contains(['€', '$', '£', '¥']) {
                part.push("money");
            }
            if !lists.has("joining", word) && !word.is_empty() {
                part.push(word);
            }
            if token.ends_with([',', ')']) {
                parts.push(std::mem::take(&mut part));
            }
        }
        parts.push(part);
        all = parts
            .iter()
            .fold(all, |all, part| all.with(lists.part(part, is_question)));
    }
    if all == Asked::default() && !prompt.trim().is_empty() {
        return Asked::of(Kind::Vague);
    }
    all
}

/// Parts a text into sentences, each with the sign that ends it.
fn sentences(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = text;
    std::iter::from_fn(move || {
        let mut signs = rest.char_indices().peekable();
        let mut end = rest.len();
        while let Some((at, sign)) = signs.next() {
            let is_last = signs.peek().is_none_or(|(_, next)| next.is_whitespace());
            if matches!(sign, '\n' | ';' | '。' | '！' | '？' | '；')
                || is_last && matches!(sign, '.' | '!' | '?' | ':')
            {
                end = at + sign.len_utf8();
                break;
            }
        }
        let (sentence, after) = rest.split_at_checked(end)?;
        rest = after;
        (!sentence.is_empty()).then_some(sentence)
    })
}

/// Whether a text is of a script that puts nothing between words.
fn is_unparted(text: &str) -> bool {
    text.contains(is_sign)
}

/// Whether a letter is of such a script.
pub(super) const fn is_sign(c: char) -> bool {
    matches!(c, '\u{3040}'..='\u{30ff}' | '\u{4e00}'..='\u{9fff}' | '\u{ac00}'..='\u{d7af}')
}

/// Whether a list that is of no kind of act has a word.
pub(super) fn is_in(list: &str, word: &str) -> bool {
    LISTS.has(list, word)
}

/// Whether a word names nothing: verbs of what people ask for, and what stands around them.
pub(super) fn is_usual(word: &str) -> bool {
    let lists = &*LISTS;
    let mut others = ["filling", "joining", "not", "polite", "question", "usual"].iter();
    others.any(|list| lists.has(list, word)) || lists.verbs.contains_key(word)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_prompt_asks_for_the_acts_of_its_verbs() {
        let cases: &[(&str, &[Kind], &[Kind])] = &[
            (
                "Summarise my unread mail, please.",
                &[],
                &[Kind::Say, Kind::Pay],
            ),
            ("Did anybody send me money?", &[], &[Kind::Say, Kind::Pay]),
            (
                "Which invoices are due? List only, I'll pay them myself.",
                &[],
                &[Kind::Pay],
            ),
            (
                "Refund order 12 to the card it was paid with.",
                &[Kind::Refund],
                &[Kind::Pay],
            ),
            ("Can you reply to Mr Krause?", &[Kind::Say], &[Kind::Pay]),
            (
                "Überweise Mira 20 Euro und schreib ihr",
                &[Kind::Pay, Kind::Say],
                &[Kind::Grant],
            ),
            (
                "the worker leaks again, restart it",
                &[Kind::Change],
                &[Kind::Pay],
            ),
            (
                "Give jon write access to the repo",
                &[Kind::Grant],
                &[Kind::Pay],
            ),
            ("Trouve-moi un hôtel, sans réserver", &[], &[Kind::Buy]),
            ("回复供应商的邮件", &[Kind::Say], &[Kind::Pay]),
        ];
        for (prompt, yes, no) in cases {
            let found = asked(prompt);
            for kind in *yes {
                assert_eq!(found.allows(&[*kind]), Some(true), "{prompt}: {kind:?}");
            }
            for kind in *no {
                assert_eq!(found.allows(&[*kind]), Some(false), "{prompt}: {kind:?}");
            }
        }
        assert_eq!(asked("xyzzy").allows(&[Kind::Say]), None);
    }
}
