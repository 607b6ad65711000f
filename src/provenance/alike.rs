//! Alike: what looks like something that the person typed, and is not it.
//!
//! Who names a host and gets another one of nearly the same name was misled, whoever did it.

use std::collections::BTreeSet;
use std::net::IpAddr;

use super::owner;
use crate::session::{Origin, Origins};

/// What stands before the letters of a host that the person typed, whatever parts them.
const SHAPE: &str = "\u{1}shape ";

/// What stands before them where something parts them.
const PARTED: &str = "\u{1}parted ";

/// What stands before the letters of any name that she typed, and before them where one letter is missing.
const NAME: &str = "\u{1}letters ";
const NEAR: &str = "\u{1}near ";

/// What stands before a host at which somebody has an address in a result.
const HOST: &str = "\u{1}host ";

/// How much is kept of the hosts of one result.
const MOST_KEPT: usize = 2048;

/// The shortest name in which one letter makes no other word.
const SHORTEST: usize = 6;

/// Of how many words of a prompt this is kept: what is pasted behind them names nobody.
pub(super) const MOST_WORDS: usize = 256;

/// A name as it is compared.
struct Shape {
    letters: String,
    is_parted: bool,
}

impl Shape {
    /// Returns that of a host without its public end, or of a plain name.
    fn of(word: &str) -> Option<Self> {
        let name = host(word).map_or(word, |host| {
            host.rsplit_once('.').map_or(host, |(name, _)| name)
        });
        let is_between = |c: char| matches!(c, '-' | '_' | '.');
        let letters: String = name.chars().filter(|c| !is_between(*c)).collect();
        let is_name = letters.len() >= SHORTEST && letters.chars().all(char::is_alphanumeric);
        is_name.then(|| Self {
            is_parted: name.contains(is_between),
            letters,
        })
    }

    /// Returns it with one letter missing, each in its turn. Numbers only count things of one kind, but a digit between letters
    /// passes for one of them: `sh0p`.
    fn missing_one(&self) -> impl Iterator<Item = String> {
        let is_letter = |c: Option<char>| c.is_some_and(char::is_alphabetic);
        let places = self.letters.char_indices().filter(move |(at, c)| {
            let (before, after) = self.letters.split_at(*at);
            !c.is_ascii_digit()
                || is_letter(before.chars().next_back()) && is_letter(after.chars().nth(1))
        });
        places.map(|(at, c)| {
            let (before, after) = self.letters.split_at(at);
            format!("{before}{}", after.get(c.len_utf8()..).unwrap_or_default())
        })
    }
}

/// Returns the name of a host that an address has.
fn host(word: &str) -> Option<&str> {
    let bare = word.split_once("://").map_or(word, |(_, rest)| rest);
    let host = bare.split(['/', '?', '#']).next()?;
    let host = host.rsplit('@').next()?.split(':').next()?;
    let is_host = owner::is_host(host) || bare.len() < word.len() && host.contains('.');
    (is_host && host.parse::<IpAddr>().is_err()).then_some(host)
}

/// Returns what is kept of a word that the person typed.
pub(super) fn kept(word: &str) -> Vec<String> {
    let Some(shape) = Shape::of(word) else {
        return Vec::new();
    };
    let mut kept: Vec<String> = shape
        .missing_one()
        .map(|one| format!("{NEAR}{one}"))
        .collect();
    kept.push(format!("{NAME}{}", shape.letters));
    if host(word).is_some() {
        kept.push(format!("{SHAPE}{}", shape.letters));
        kept.extend(
            shape
                .is_parted
                .then(|| format!("{PARTED}{}", shape.letters)),
        );
    }
    kept
}

/// Whether the name of a host or of a package looks like one that the person typed, and neither is it nor belongs to it.
pub(super) fn is_alike(word: &str, origins: &Origins) -> bool {
    let has = |word: &str| origins.has(Origin::Prompt, word);
    let host = host(word);
    let name = host.unwrap_or(word);
    let is_below = || owner::domains_above(name).any(has);
    if has(word) || has(name) || has(&format!("//{name}")) || is_below() {
        return false;
    }
    // `good.example.evil.test`
    let mut heads = name
        .match_indices('.')
        .map(|(at, _)| name.get(..at).unwrap_or_default());
    host.is_some() && heads.any(|head| owner::is_host(head) && has(head)) || is_near(name, has)
}

/// Whether a name has nearly the letters of one of which this is kept.
fn is_near(name: &str, has: impl Fn(&str) -> bool) -> bool {
    let Some(shape) = Shape::of(name) else {
        return false;
    };
    let is = |before: &str, letters: &str| has(&format!("{before}{letters}"));
    let same = if shape.is_parted { SHAPE } else { PARTED };
    host(name).is_some() && is(same, &shape.letters)
        || !is(NAME, &shape.letters)
            && (is(NEAR, &shape.letters)
                || shape
                    .missing_one()
                    .any(|one| is(NAME, &one) || is(NEAR, &one)))
}

/// Whether the name of a host is one of which this is kept, and another word before or behind it: `acme-works-gmbh`.
fn is_longer(name: &str, has: impl Fn(&str) -> bool) -> bool {
    let name = owner::label(name).unwrap_or_default();
    let rests = [
        name.split_once('-').map(|(_, rest)| rest),
        name.rsplit_once('-').map(|(rest, _)| rest),
    ];
    let shapes = rests.into_iter().flatten().filter_map(Shape::of);
    shapes.into_iter().any(|shape| {
        [SHAPE, PARTED]
            .iter()
            .any(|kind| has(&format!("{kind}{}", shape.letters)))
    })
}

/// Hosts of the mail addresses of a result, and those of them that look like one that was known before: who writes from there
/// passes for somebody else.
#[derive(Default)]
pub(super) struct Hosts {
    kept: BTreeSet<String>,
    false_ones: BTreeSet<String>,
}

impl Hosts {
    /// Adds the hosts of mail addresses among words.
    pub(super) fn add(&mut self, words: &[String], origins: &Origins) {
        for host in words.iter().filter_map(|word| mail_host(word)) {
            let known = |kept: &str| {
                let before = [Origin::Prompt, Origin::Record];
                self.kept.contains(kept) || before.iter().any(|o| origins.has(*o, kept))
            };
            let itself = format!("{HOST}{host}");
            let mut here = std::iter::once(host).chain(owner::domains_above(host));
            if known(&itself) || here.any(|host| origins.has(Origin::Prompt, host)) {
                continue;
            }
            if is_near(host, known) || is_longer(host, known) {
                self.false_ones.insert(host.to_owned());
            } else if self.kept.len() < MOST_KEPT {
                self.kept.extend(kept(host));
                self.kept.insert(itself);
            }
        }
    }

    /// Whether one of several words is an address at a host that passes for another one.
    pub(super) fn is_false(&self, words: &[String]) -> bool {
        let mut hosts = words.iter().filter_map(|word| mail_host(word));
        !self.false_ones.is_empty() && hosts.any(|host| self.false_ones.contains(host))
    }

    /// Returns what is kept of those that pass for nobody else.
    pub(super) fn kept(&self) -> impl Iterator<Item = &str> {
        self.kept.iter().map(String::as_str)
    }
}

/// Returns the host of a mail address.
fn mail_host(word: &str) -> Option<&str> {
    let (_, host) = word.rsplit_once('@').filter(|_| !word.contains('/'))?;
    owner::is_host(host).then_some(host)
}
