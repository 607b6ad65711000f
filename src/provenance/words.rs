//! Words: a text as it is compared, whatever somebody did to it on the way.

use std::net::Ipv4Addr;
use std::ops::RangeInclusive;

use unicode_normalization::UnicodeNormalization as _;

use super::owner::{self, is_host, is_versioned};

/// The longest text that is one value, in characters.
const LONGEST: usize = 80;

/// How many words one value has at most.
const MOST_WORDS: usize = 12;

/// What stands in a word beside letters and digits.
const INSIDE: &str = "@.:/+%&=~#?$-_";

/// Ways in which people write `.` and `@` so that no machine follows them.
const SPELLED: &[(&str, &str)] = &[
    ("[.]", "."),
    ("(.)", "."),
    ("[dot]", "."),
    ("(dot)", "."),
    (" dot ", "."),
    ("[@]", "@"),
    ("[at]", "@"),
    ("(at)", "@"),
    ("hxxp", "http"),
];

/// Ends of lines and tabs as programs write them within quotes.
const ESCAPES: &[&str] = &["\\n", "\\r", "\\t"];

/// Returns the words of a text: entities and percent codes undone, compatibility forms and capitals folded, what is not
/// seen left out.
pub(super) fn words(text: &str) -> Vec<String> {
    let mut plain: String = without_codes(text)
        .nfkc()
        .filter(|c| !is_unseen(*c))
        .flat_map(char::to_lowercase)
        .collect();
    for (spelled, meant) in SPELLED {
        if plain.contains(spelled) {
            for form in [format!(" {spelled} "), (*spelled).to_owned()] {
                plain = plain.replace(&form, meant);
            }
        }
    }
    for escape in ESCAPES {
        if plain.contains(escape) {
            plain = plain.replace(escape, " ");
        }
    }
    plain
        .split(|c: char| !c.is_alphanumeric() && !INSIDE.contains(c))
        .map(|word| word.trim_matches(|c: char| !c.is_alphanumeric() && c != '/'))
        .map(|word| word.trim_end_matches('/'))
        .filter(|word| !word.is_empty())
        .map(str::to_owned)
        .collect()
}

/// Returns all that is kept of a text's words: each, what it points to, and every pair of neighbours.
pub(super) fn kept(words: &[String]) -> Vec<String> {
    let mut kept: Vec<String> = words.to_vec();
    for word in words {
        let pieces = word
            .split(['=', ':', '&'])
            .map(|piece| piece.trim_matches('/'));
        let pieces = pieces.filter(|piece| piece.len() < word.len() && points(piece));
        kept.extend(targets(word).chain(pieces).map(str::to_owned));
    }
    let sites = words.iter().filter_map(|word| owner::site(word));
    kept.extend(sites);
    // A package may be named with its version, or without.
    let named = words.iter().filter_map(|word| word.rsplit_once('@'));
    let named = named.filter(|(_, version)| {
        is_versioned(&format!("x@{version}")) || !version.contains(['.', '/', ':'])
    });
    kept.extend(named.map(|(name, _)| name.to_owned()));
    // `owner/name` is often given as two arguments.
    let halves = words.iter().filter_map(|word| word.split_once('/'));
    let halves = halves.filter(|(_, name)| !name.contains('/'));
    kept.extend(halves.flat_map(|(owner, name)| [owner.to_owned(), name.to_owned()]));
    kept.extend(numbers(words));
    // `eve at evil.example` is read as an address by whoever is told to write there.
    for three in words.windows(3) {
        if let [user, at, host] = three
            && at == "at"
            && is_host(host)
        {
            kept.push(format!("{user}@{host}"));
        }
    }
    // The number of a host may be written as one number.
    for word in words {
        let number = match word.strip_prefix("0x") {
            Some(digits) => u32::from_str_radix(digits, 16).ok(),
            None => word.parse().ok(),
        };
        if let Some(number) = number.filter(|number| *number >= 1 << 24) {
            kept.push(Ipv4Addr::from(number).to_string());
        }
    }
    kept.extend(words.windows(2).map(pair));
    kept
}

/// Returns what is kept of the seam of two texts: neighbours, and a number that goes on in the next one.
pub(super) fn across(left: &[String], right: &[String]) -> Vec<String> {
    let (Some(last), Some(first)) = (left.last(), right.first()) else {
        return Vec::new();
    };
    let is_part = |word: &&String| is_group(word) || word.len() <= 4;
    let count = |found: usize| found.min(*ACCOUNT.end());
    let before = count(left.iter().rev().take_while(is_part).count());
    let behind = count(right.iter().take_while(is_part).count());
    let mut kept = vec![format!("{last} {first}")];
    if let (Some(before @ [_, ..]), Some(behind @ [_, ..])) =
        (left.get(left.len() - before..), right.get(..behind))
    {
        kept.extend(numbers(&[before, behind].concat()));
    }
    kept
}

/// Returns the numbers of accounts and telephones, which are printed in groups, and given as one; or the other way round.
fn numbers(words: &[String]) -> Vec<String> {
    let groups = words.chunk_by(|left, right| is_group(left) && is_group(right));
    let mut numbers: Vec<String> = groups.filter_map(joined).collect();
    numbers.extend(accounts_in(words));
    numbers
}

/// Whether a word is a group of a longer number.
fn is_group(word: &str) -> bool {
    let mut signs = word.chars();
    word.len() <= 4 && word.is_ascii() && word.contains(|c: char| c.is_ascii_digit())
        || word.len() <= 24 && signs.all(|c| c.is_ascii_digit() || "-.".contains(c))
}

/// How long the international number of an account is (ISO 13616).
const ACCOUNT: RangeInclusive<usize> = 15..=34;

/// Returns the international numbers of accounts that words may begin with: a country and two digits, then groups of four
/// and a shorter one. A word of four letters behind it may belong to it: each end is taken.
fn accounts(words: &[String]) -> Vec<String> {
    let mut found = Vec::new();
    let Some((first, rest)) = words.split_first() else {
        return found;
    };
    let is_start = matches!(first.as_bytes(), [a, b, c, d]
        if a.is_ascii_alphabetic() && b.is_ascii_alphabetic() && c.is_ascii_digit() && d.is_ascii_digit());
    if !is_start {
        return found;
    }
    let mut number = first.clone();
    for group in rest {
        if group.len() > 4 || !group.bytes().all(|byte| byte.is_ascii_alphanumeric()) {
            break;
        }
        number.push_str(group);
        if ACCOUNT.contains(&number.len()) {
            found.push(number.clone());
        }
        if group.len() < 4 || number.len() >= *ACCOUNT.end() {
            break;
        }
    }
    found
}

/// Returns the international numbers of accounts among words, which may be printed in groups.
pub(super) fn accounts_in(words: &[String]) -> Vec<String> {
    let starts = (0..words.len()).filter_map(|start| words.get(start..));
    starts.flat_map(accounts).collect()
}

/// Whether a word is the international number of an account.
pub(super) fn is_account(word: &str) -> bool {
    let (start, rest) = word.split_at_checked(4).unwrap_or((word, ""));
    let is_start = matches!(start.as_bytes(), [a, b, c, d]
        if a.is_ascii_alphabetic() && b.is_ascii_alphabetic() && c.is_ascii_digit() && d.is_ascii_digit());
    let digits = rest.bytes().filter(u8::is_ascii_digit).count();
    is_start
        && ACCOUNT.contains(&word.len())
        && rest.bytes().all(|b| b.is_ascii_alphanumeric())
        && digits > 8
}

/// Returns the number of several groups as one word, where it is as long as those of accounts and telephones are.
pub(super) fn joined(groups: &[String]) -> Option<String> {
    let account = accounts(groups).pop();
    if account
        .as_ref()
        .is_some_and(|number| number.len() == groups.concat().len())
    {
        return account;
    }
    let number: String = groups.concat().replace(['-', '.'], "");
    let is_one = groups.len() == 1 && groups.concat() == number;
    let digits = number.chars().filter(char::is_ascii_digit).count();
    (!is_one && digits >= 7 && groups.iter().all(|group| is_group(group))).then_some(number)
}

/// Whether a word is long and says nothing: what encodes a text.
pub(super) fn is_encoded(word: &str) -> bool {
    let is_sign = |c: char| c.is_ascii_alphanumeric() || "+/=".contains(c);
    word.len() >= 24 && word.chars().all(is_sign) && word.contains(|c: char| c.is_ascii_digit())
}

/// Returns two neighbours as one.
pub(super) fn pair(words: &[String]) -> String {
    words.join(" ")
}

/// Returns a whole field, as it is told from words.
pub(super) fn whole(words: &[String]) -> String {
    format!("={}", words.join(" "))
}

/// Returns a word or a pair, as it is told from those of passages that speak to no agent.
pub(super) fn told(part: &str) -> String {
    format!("!{part}")
}

/// Returns a word or a pair of a passage that the person has named, as it is told from a whole field.
pub(super) fn named(part: &str) -> String {
    format!("&{part}")
}

/// Whether a text is one value: short, one line, of few words.
pub(super) fn is_value(text: &str) -> bool {
    text.chars().count() <= LONGEST
        && !text.trim_end().contains('\n')
        && text.split_whitespace().count() <= MOST_WORDS
}

/// Whether a word points somewhere: an address, a path, a host.
pub(super) fn points(word: &str) -> bool {
    // `88/2025` is the number of a letter.
    let has_letter = word.contains(char::is_alphabetic);
    !is_versioned(word)
        && (word.contains('@') && word.contains('.')
            || word
                .split_once('/')
                .is_some_and(|(first, _)| word.len() > 2 && (has_letter || is_host(first)))
            || is_host(word))
}

/// Whether a word names another machine, or a person there.
pub(super) fn is_place(word: &str) -> bool {
    word.contains("://") || word.contains('@') && word.contains('.') || is_host(word)
}

/// Returns an address without its scheme and the version behind it; none where it is so already.
pub(super) fn plain(word: &str) -> Option<String> {
    let mail = word
        .strip_prefix("mailto:")
        .and_then(|m| m.split('?').next());
    let bare = mail.unwrap_or_else(|| word.split_once("://").map_or(word, |(_, rest)| rest));
    let bare = match bare.rsplit_once('@') {
        Some((name, version)) if name.contains('/') && !version.contains('/') => name,
        _ => bare,
    };
    (bare.len() < word.len() && points(bare)).then(|| bare.to_owned())
}

/// Returns what a longer word points to: an address without its scheme, and its host.
pub(super) fn targets(word: &str) -> impl Iterator<Item = &str> {
    let bare = word.split_once("://").map_or(word, |(_, rest)| rest);
    let host = bare.split(['/', '?', '#']).next().unwrap_or_default();
    let has_scheme = bare.len() < word.len();
    let host = host.rsplit('@').next();
    // The host of `s3://bucket/` is one word.
    let host = host.filter(|host| has_scheme || host.contains('.'));
    let without_port = host
        .and_then(|host| host.split_once(':'))
        .map(|(host, _)| host);
    // What is asked of a page is no part of its address.
    let page = bare.split_once('?').map(|(page, _)| page);
    let found = [Some(bare), page, host, without_port];
    let found = found.into_iter().flatten();
    found.filter(move |text| text.len() < word.len())
}

pub(super) const fn is_unseen(c: char) -> bool {
    matches!(
        c,
        '\u{ad}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{2064}' | '\u{feff}'
    )
}

/// Undoes percent codes and the entities of HTML.
fn without_codes(text: &str) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((&first, after)) = rest.split_first() {
        let code = match first {
            b'%' => after.get(..2).and_then(hex).map(|byte| (vec![byte], 3)),
            b'&' => entity(after),
            _ => None,
        };
        let (one, length) = code.unwrap_or_else(|| (vec![first], 1));
        bytes.extend(one);
        rest = rest.get(length..).unwrap_or_default();
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

fn hex(digits: &[u8]) -> Option<u8> {
    u8::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()
}

/// Reads an entity behind its `&`: its bytes, and its whole length.
fn entity(after: &[u8]) -> Option<(Vec<u8>, usize)> {
    let end = after.iter().take(10).position(|byte| *byte == b';')?;
    let name = std::str::from_utf8(after.get(..end)?).ok()?;
    let number = |text: &str| match text.strip_prefix(['x', 'X']) {
        Some(digits) => u32::from_str_radix(digits, 16).ok(),
        None => text.parse().ok(),
    };
    let c = match name {
        "amp" => '&',
        "lt" => '<',
        "gt" => '>',
        "quot" => '"',
        "apos" => '\'',
        "nbsp" => ' ',
        "commat" => '@',
        "period" => '.',
        "sol" => '/',
        "colon" => ':',
        name => char::from_u32(number(name.strip_prefix('#')?)?)?,
    };
    Some((c.to_string().into_bytes(), end + 2))
}

/// Whether a text is of a script that puts nothing between words.
pub(super) fn is_unparted(text: &str) -> bool {
    text.contains(is_sign)
}

/// Whether a letter is of such a script.
pub(super) const fn is_sign(c: char) -> bool {
    matches!(c, '\u{3040}'..='\u{30ff}' | '\u{4e00}'..='\u{9fff}' | '\u{ac00}'..='\u{d7af}')
}

/// Returns neighbouring letters of scripts that put nothing between words.
pub(super) fn unparted(text: &str) -> impl Iterator<Item = String> {
    let letters = text.chars().zip(text.chars().skip(1));
    let letters = letters.filter(|(one, two)| is_sign(*one) && is_sign(*two));
    letters.map(|(one, two)| [one, two].iter().collect())
}

/// Signs before what is quoted.
pub(super) const QUOTES: &[char] = &['\'', '"', '`', '“', '‘', '„', '«'];

/// Returns the quoted parts of a text.
pub(super) fn quoted(text: &str) -> impl Iterator<Item = &str> {
    let begins = text.match_indices(QUOTES).filter(|(at, _)| {
        let before = text.get(..*at).and_then(|text| text.chars().next_back());
        before.is_none_or(|c| c.is_whitespace() || c == '(')
    });
    begins.filter_map(|(at, sign)| {
        let rest = text.get(at + sign.len()..)?;
        let end = rest.find(['\'', '"', '`', '”', '’', '“', '»'])?;
        rest.get(..end).filter(|text| is_value(text))
    })
}

/// Returns the domain that the keepers of an address have, with all below it; none of a host that many share.
pub(super) fn domain(word: &str) -> Option<&str> {
    let host = targets(word).last().unwrap_or(word);
    let own = is_host(host) && !owner::is_shared(host);
    std::iter::once(host)
        .chain(owner::domains_above(host))
        .last()
        .filter(|_| own)
}
