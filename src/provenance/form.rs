//! Form: which short values name nobody and nothing, whoever wrote them.

use super::lists::lists;
use super::{owner, words};
use crate::event::name_words;
use crate::session::{Origin, Origins};

/// Last words of the names of fields that hold what a call says, not whom or what it acts on.
const SAID: &[&str] = &[
    "body",
    "comment",
    "content",
    "description",
    "location",
    "message",
    "note",
    "notes",
    "payload",
    "summary",
    "text",
    "title",
];

/// Last words of the names of fields that say how something is, or what it answers.
const LABELS: &[&str] = &[
    "currency", "element", "format", "language", "method", "mode", "priority", "reason", "state",
    "status", "subject", "type",
];

/// Days as programs write them: `0` stands for any digit.
const DAY: &str = "0000-00-00";

/// Hours, and both in one.
const HOURS: &[&str] = &[
    "00:00",
    "00:00:00",
    "0000-00-00t00:00",
    "0000-00-00t00:00:00",
    "0000-00-00t00:00:00z",
];

/// Whether words are a day, an hour, or both: `2026-03-01 14:30`.
pub(super) fn is_date(words: &[String]) -> bool {
    let is_hour = |word: &str| HOURS.iter().any(|form| has_form(word, form));
    match words {
        [one] => has_form(one, DAY) || is_hour(one),
        [day, hour] => has_form(day, DAY) && hour.len() < DAY.len() && is_hour(hour),
        _ => false,
    }
}

fn has_form(word: &str, form: &str) -> bool {
    let fits = |(byte, form): (u8, u8)| match form {
        b'0' => byte.is_ascii_digit(),
        form => byte == form,
    };
    word.len() == form.len() && word.bytes().zip(form.bytes()).all(fits)
}

/// Whether a field only holds what is said: the name of it, with its signs around it.
pub(super) fn is_said(field: &str) -> bool {
    ends_with(field, SAID)
}

/// Whether it only labels what a call is about.
pub(super) fn is_label(field: &str) -> bool {
    ends_with(field, LABELS)
}

fn ends_with(field: &str, names: &[&str]) -> bool {
    let words = name_words(field.trim_matches('`'));
    words
        .last()
        .is_some_and(|word| names.contains(&word.as_str()))
}

/// Whether a text is several plain words that name nothing: no number, no sign that addresses have, and a capital at the
/// beginning alone. Only letters that have capitals tell.
pub(super) fn is_prose(text: &str) -> bool {
    let is_plain = |word: &str| {
        word.chars()
            .all(|c| c.is_ascii_lowercase() || "'’,;:.!?".contains(c))
    };
    let mut words = text.split_whitespace();
    let first = words.next().unwrap_or_default();
    let rest = first.strip_prefix(|c: char| c.is_ascii_uppercase());
    let mut others = words.peekable();
    is_plain(rest.unwrap_or(first)) && others.peek().is_some() && others.all(is_plain)
}

/// Whether a word is a digit or two, or a short number with a fraction.
pub(super) fn is_measure(word: &str) -> bool {
    let is_digits = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
    match word.split_once('.') {
        Some((whole, rest)) => word.len() < 5 && is_digits(whole) && is_digits(rest),
        None => word.len() < 3 && is_digits(word),
    }
}

/// Whether a word is how a service calls a thing, in a field for such names: no address, and no short number, which people
/// write to each other.
pub(super) fn is_handle(field: &str, word: &str) -> bool {
    let words = name_words(field.trim_matches('`'));
    let last = words.last().map_or("", String::as_str);
    let is_number = word.bytes().all(|byte| byte.is_ascii_digit());
    matches!(last, "id" | "ids" | "gid" | "key" | "ref")
        && !words::points(word)
        && !(is_number && word.len() < 6)
}

/// Whether a word of a command line is a file of this machine: it has a path, and its name ends as no host does.
pub(super) fn is_file(word: &str) -> bool {
    let (path, name) = word.rsplit_once('/').unwrap_or(("", word));
    let kind = name.rsplit_once('.').map_or("", |(_, kind)| kind);
    let is_kind = !kind.is_empty() && kind != "git" && kind.chars().all(char::is_alphanumeric);
    let first = path.split('/').next().unwrap_or_default();
    word.starts_with('/')
        || !path.is_empty() && is_kind && !owner::is_host(name) && !first.contains(['.', ':', '@'])
}

/// Whether a word of a command line tells what it is about: usual words and options do not.
pub(super) fn tells(word: &str) -> bool {
    word.len() > 3
        && word.contains(|c: char| c.is_ascii_digit() || "@.:/-_".contains(c))
        && !word.starts_with('/')
        && word.contains(char::is_alphabetic)
}

/// What is kept where a field was a mail address, or the number of an account.
pub(super) const MAIL: &str = "\u{1}mail";
pub(super) const ACCOUNT: &str = "\u{1}account";

/// What tells whom something goes to.
pub(super) enum Form<'w> {
    /// A mail address, by its host.
    Mail(&'w str),
    /// The number of an account.
    Account,
}

/// Returns what tells in a value whom something goes to.
pub(super) fn form(value: &[String]) -> Option<Form<'_>> {
    if let [word] = value
        && let Some((_, host)) = word.rsplit_once('@')
    {
        let is_mail = owner::is_host(host) && !word.contains('/');
        return is_mail.then_some(Form::Mail(host));
    }
    let number = value.concat();
    let digits = number.bytes().filter(u8::is_ascii_digit).count();
    let is_number = number
        .bytes()
        .all(|byte| byte.is_ascii_digit() || b"-.".contains(&byte));
    let is_number = is_number || words::joined(value).is_some();
    (is_number && digits > 8 || words::is_account(&number)).then_some(Form::Account)
}

/// Whether a value says whom or what something goes to: a host, a person there, an account, a key, or a file of this machine.
pub(super) fn directs(value: &[String]) -> bool {
    let is_such = |word: &String| {
        words::is_place(word) || words::is_encoded(word) || word.starts_with(['/', '~'])
    };
    form(value).is_some() || value.iter().any(is_such)
}

/// Returns what is kept of the host at which the person herself gets mail.
pub(super) fn house(host: &str) -> String {
    format!("\u{1}house {host}")
}

/// Returns what is kept of the host of a mail address that was a field: those who keep it have all below it.
pub(super) fn at_host(host: &str) -> String {
    format!("{MAIL} {}", words::domain(host).unwrap_or(host))
}

/// Returns what is kept of those whom the person has to do with, of a whole field: whoever writes from a house of their own
/// speaks for it.
pub(super) fn counterpart(field: &str) -> Option<String> {
    let (_, host) = field
        .rsplit_once('@')
        .filter(|_| !field.contains([' ', '/']))?;
    let house = std::iter::once(host)
        .chain(owner::domains_above(host))
        .last()?;
    let (label, _) = house.split_once('.')?;
    let is_for_all =
        label.contains("mail") || lists().has("mail-providers", label) || owner::is_shared(house);
    (!is_for_all).then(|| format!("\u{1}with {house}"))
}

/// Returns what is kept of the number of an account that was a field, however it was parted.
pub(super) fn account(value: &[String]) -> String {
    let number: String = value.concat();
    let number = number.chars().filter(|c| c.is_alphanumeric());
    format!("{ACCOUNT} {}", number.collect::<String>())
}

/// Returns what is kept of the numbers of accounts among words that the person typed.
pub(super) fn accounts(typed: &[String]) -> Vec<String> {
    let is_number = |word: &&String| words::is_account(word);
    let found = typed
        .iter()
        .filter(is_number)
        .cloned()
        .chain(words::accounts_in(typed));
    let found = found.map(|number| account(&[number]));
    found.flat_map(|kept| [ACCOUNT.to_owned(), kept]).collect()
}

/// Whether a value is the number of an account where the person typed another one.
pub(super) fn is_other_account(value: &[String], origins: &Origins) -> bool {
    let has = |word: &str| origins.has(Origin::Prompt, word);
    words::is_account(&value.concat()) && has(ACCOUNT) && !has(&account(value))
}

/// Returns what is kept of a whole field beside itself.
pub(super) fn kept(field: &str) -> Vec<String> {
    let value: Vec<String> = field.split(' ').map(str::to_owned).collect();
    match form(&value) {
        Some(Form::Mail(host)) => vec![MAIL.to_owned(), at_host(host)],
        Some(Form::Account) => vec![ACCOUNT.to_owned(), account(&value)],
        None => Vec::new(),
    }
}
