//! What comes from other machines, and what goes to them.

use crate::danger::digest::Digest;
use crate::program::{self, Fact};
use crate::shell::{Analysis, Invocation, Word, authority, file_name, is_loopback};
use crate::words::{holds_any, words};

pub(super) fn is_downloader(invocation: &Invocation) -> bool {
    is_given(invocation, Fact::Downloads)
        || (matches!(invocation.program.as_str(), "aws" | "gsutil")
            && invocation.arguments.last().is_some_and(|w| w.text == "-"))
}

/// Whether there is such a fact of a program for one of its words.
pub(super) fn is_given(invocation: &Invocation, fact: Fact) -> bool {
    let words: Vec<Option<&str>> = invocation.texts().map(Some).collect();
    program::find(&invocation.program).is_with(fact, &words)
}

/// Whether an invocation prints what somebody else wrote: what another machine sends, a mail, the text of an issue, a document,
/// the messages of commits.
pub(super) fn prints_foreign(invocation: &Invocation) -> bool {
    let starts_others = || program::find(&invocation.program).is(Fact::Runs);
    let mut words = invocation.texts();
    let is_message = |word: &str| holds_any(word, &["%b", "%B", "%s", "%N"]);
    let is_of_others = |word: &str| {
        let refs = words!("foreign-refs");
        refs.iter().any(|start| word.starts_with(start))
    };
    match invocation.program.as_str() {
        "git" => {
            matches!(
                words.find(|word| !word.starts_with('-')),
                Some("log" | "show" | "cat-file")
            ) && words.any(|word| is_message(word) || is_of_others(word))
        }
        _ => is_downloader(invocation) || !starts_others() && is_given(invocation, Fact::Foreign),
    }
}

pub(super) fn is_decoder(invocation: &Invocation) -> bool {
    let has = |names: &[&str]| invocation.has_word(names);
    match invocation.program.as_str() {
        "base64" | "base32" | "gbase64" | "basenc" => has(&["-d", "-D", "--decode", "-di", "-id"]),
        "openssl" => has(&["-d", "-base64"]),
        "xxd" => invocation.has_short('r'),
        "gzip" | "xz" | "bzip2" | "zstd" | "gpg" => {
            has(&["-d", "-dc", "-cd", "--decompress", "--decrypt"])
        }
        program => words!("decoders").contains(&program),
    }
}

/// Whether a request says in whose name it is made: `-u`, or a header with a token or a key.
pub(super) fn has_credentials(invocation: &Invocation) -> bool {
    let header = |word: &Word| {
        let (name, _) = word.text.split_once(':')?;
        let lower = name.trim_start_matches("--header=").to_ascii_lowercase();
        let ends = ["authorization", "token", "key", "cookie"];
        Some(ends.iter().any(|end| lower.ends_with(end)))
    };
    invocation.value_of(&["-u", "--user"]).is_some()
        || invocation
            .arguments
            .iter()
            .any(|word| header(word) == Some(true))
}

pub(super) fn is_remote_url(text: &str) -> bool {
    if let Some((_, rest)) = text.split_once("://") {
        return !is_loopback(rest);
    }
    let host = text.split('/').next().unwrap_or_default();
    let domain = host.rsplit('.').next().unwrap_or_default();
    text.contains('/')
        && host.contains('.')
        && !text.starts_with(['.', '/', '-', '@'])
        && domain.len() >= 2
        && domain.chars().all(|c| c.is_ascii_alphabetic())
        && !is_loopback(host)
}

/// Whether a client is told to speak with another machine than its addresses name: `--resolve localhost:80:192.0.2.1`.
pub(super) fn is_rerouted(invocation: &Invocation) -> bool {
    // `HOST:PORT:` stands before where it goes instead; nothing behind it means the same host.
    let mut values = invocation.values_of(&["--resolve", "--connect-to"]);
    values.any(|value| {
        let target = value.text.splitn(3, ':').nth(2).unwrap_or_default();
        !target.starts_with(':') && !target.is_empty() && !target.split(',').all(is_loopback)
    })
}

/// Whether a bare connection goes to this machine: `localhost 80`, `TCP:localhost:80`.
pub(super) fn goes_to_loopback(word: &Word) -> bool {
    let address = word.text.split_once(':').filter(|(kind, _)| {
        let kind = kind.to_ascii_lowercase();
        kind.starts_with("tcp") || kind.starts_with("udp") || kind == "openssl"
    });
    is_loopback(address.map_or(&word.text, |(_, address)| address))
}

/// Whether `socat` reads a file and hands it on to another machine: with `-u` it reads its first address only, with `-U` its
/// second.
pub(super) fn socat_sends(socat: &Invocation) -> bool {
    let operands: Vec<&Word> = socat.operands().collect();
    let [.., first, second] = operands.as_slice() else {
        return false;
    };
    let is_file = |word: &Word| {
        let (kind, path) = word
            .text
            .split_once(':')
            .unwrap_or(("file", word.text.as_str()));
        let kind = kind.to_ascii_lowercase();
        matches!(kind.as_str(), "file" | "open" | "gopen")
            && (path.contains(['/', '.']) || word.text.contains(':'))
            && !path.starts_with("/dev/")
    };
    let is_elsewhere = |word: &Word| {
        let lower = word.text.to_ascii_lowercase();
        let mut kinds = words!("socket-kinds").iter();
        let mut options = lower.split(',').skip(1);
        kinds.any(|kind| lower.starts_with(kind))
            && !goes_to_loopback(word)
            && !options.any(|one| one.strip_prefix("bind=").is_some_and(is_loopback))
    };
    !socat.has_short('U') && is_file(first) && is_elsewhere(second)
        || !socat.has_short('u') && is_file(second) && is_elsewhere(first)
}

/// Whether every address among the arguments is a registry that the policy or the project names.
pub(super) fn uses_known_registry(digest: &Digest<'_>, _: &[&Word]) -> bool {
    let addresses = digest.invocation.arguments.iter().filter_map(|word| {
        let at = word.text.find("://")?;
        let start = word
            .text
            .get(..at)?
            .rfind(['=', '+', '@'])
            .map_or(0, |at| at + 1);
        word.text.get(start..)
    });
    let known: Vec<bool> = addresses
        .map(|address| digest.knowledge.is_trusted(address, true))
        .collect();
    !known.is_empty() && !known.contains(&false)
}

pub(super) fn has_odd_host(text: &str) -> bool {
    let Some((_, rest)) = text.split_once("://") else {
        return false;
    };
    let host = rest.split(['/', '?', '#']).next().unwrap_or_default();
    !host.is_ascii() || host.contains("xn--")
}

/// Returns the file that a download is written into: `-o file`, `-fsSLo file`, `--output=file`.
pub(super) fn output_file(invocation: &Invocation) -> Option<Word> {
    let ends_cluster = |text: &str| {
        text.starts_with('-')
            && !text.starts_with("--")
            && text.ends_with(['o', 'O'])
            && text.len() < 8
    };
    let clustered = invocation.arguments.windows(2).find_map(|pair| match pair {
        [option, file] if ends_cluster(&option.text) && !file.is_option() => Some(file.clone()),
        _ => None,
    });
    clustered.or_else(|| invocation.value_of(&["-o", "-O", "--output", "--output-document"]))
}

/// Whether what is run was downloaded earlier on the same line.
pub(super) fn is_downloaded(digest: &Digest<'_>, script: &str) -> bool {
    download_of(digest, script).is_some()
}

/// Returns the last download of a file on the same line, by its index.
fn download_of(digest: &Digest<'_>, script: &str) -> Option<usize> {
    let bare = script.trim_start_matches("./");
    let same =
        |file: &str| !file.is_empty() && (file == script || file.trim_start_matches("./") == bare);
    let brings = |i: &Invocation| {
        i.redirects
            .iter()
            .any(|r| r.writes() && same(&r.target.text))
            || output_file(i).is_some_and(|w| same(&w.text))
            || i.arguments
                .iter()
                .any(|w| w.text.contains('/') && !w.is_option() && same(file_name(&w.text)))
    };
    let downloads = digest.earlier().enumerate();
    let found = downloads.filter(|(_, i)| prints_foreign(i) && brings(i));
    found.last().map(|(at, _)| at)
}

/// Whether a file that is run was compared with its checksum or signature after its download, and would not be run if it
/// differed.
pub(super) fn is_verified(digest: &Digest<'_>, words: &[&Word]) -> bool {
    let named = words.first().map(|word| (*word).clone());
    let files = [named, Some(digest.invocation.path.clone())];
    files.into_iter().flatten().any(|script| {
        let Some(download) = download_of(digest, &script.text) else {
            return false;
        };
        let needed = digest.analysis.needed_by(digest.index);
        let mut checks = needed
            .into_iter()
            .filter(|check| *check > download)
            .filter_map(|check| digest.analysis.invocations.get(check));
        checks.any(|check| verifies(digest.analysis, check, file_name(&script.text)))
    })
}

/// Whether a request sends a file, other than one that is made to be sent: the body of a request, a picture for a form.
pub(super) fn sends_file(invocation: &Invocation) -> bool {
    if matches!(invocation.program.as_str(), "wget" | "wget2") {
        let mut files = texts_of(invocation, &["--post-file", "--body-file"]);
        return files.any(|file| file != "-");
    }
    if matches!(
        invocation.program.as_str(),
        "http" | "https" | "xh" | "httpie"
    ) {
        let secrets: Vec<String> = texts_of(invocation, &["-a", "--auth"]).collect();
        let words = invocation.texts();
        let mut files = words
            .filter(|word| !word.contains("://") && !secrets.iter().any(|one| one == word))
            .filter_map(|word| word.split_once('@'))
            .filter(|(name, _)| {
                !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric())
            });
        return files.any(|(_, file)| !is_made_to_be_sent(file));
    }
    let is_fed = !invocation.fed_by.is_empty();
    let mut uploads = texts_of(invocation, &["-T", "--upload-file"]);
    let bodies = texts_of(
        invocation,
        &["-d", "--data", "--data-ascii", "--data-binary", "--json"],
    )
    .filter_map(|value| value.strip_prefix('@').map(str::to_owned));
    // `name@file`, and not `name=text`.
    let encoded = texts_of(invocation, &["--data-urlencode"]).filter_map(|value| {
        let (name, file) = value.split_once('@')?;
        (!name.contains('=')).then(|| file.to_owned())
    });
    let forms = texts_of(invocation, &["-F", "--form"]).flat_map(|value| {
        let held = value.split_once('=').map_or("", |(_, held)| held);
        let files = held.strip_prefix(['@', '<']).unwrap_or_default();
        let files = files.split(',').filter_map(|file| file.split(';').next());
        files.map(str::to_owned).collect::<Vec<_>>()
    });
    let mut made = bodies.chain(encoded).chain(forms);
    uploads.any(|file| is_fed || !matches!(file.as_str(), "" | "-" | "."))
        || made.any(|file| !matches!(file.as_str(), "" | "-") && !is_made_to_be_sent(&file))
}

/// Returns the texts that options of a command are given.
fn texts_of<'a>(
    invocation: &'a Invocation,
    options: &'a [&'a str],
) -> impl Iterator<Item = String> + use<'a> {
    invocation.values_of(options).map(|word| word.text)
}

/// Whether a file of the project is one that is made to be sent.
fn is_made_to_be_sent(file: &str) -> bool {
    let ending = file.rsplit_once('.').map_or("", |(_, ending)| ending);
    let ending = ending.to_ascii_lowercase();
    let first = file.trim_start_matches("./").split('/').next();
    let is_built =
        file.contains('/') && words!("sent-folders").contains(&first.unwrap_or_default());
    !file.starts_with(['/', '~'])
        && !file.contains("..")
        && (is_built || words!("sent-endings").contains(&&*ending))
}

/// Returns the host of an address on another machine.
pub(super) fn remote_host(text: &str) -> Option<&str> {
    if !is_remote_url(text) {
        return None;
    }
    let rest = text.split_once("://").map_or(text, |(_, rest)| rest);
    Some(authority(rest))
}

pub(super) fn is_socket(text: &str) -> bool {
    let mut hosts = ["/dev/tcp/", "/dev/udp/"]
        .into_iter()
        .flat_map(|place| text.split(place).skip(1));
    hosts.any(|host| !is_loopback(host))
}

/// Whether an invocation prints what comes in over a connection.
pub(super) fn listens(digest: &Digest<'_>, invocation: &Invocation) -> bool {
    let mut all = digest.analysis.invocations.iter();
    let mut redirects = invocation.redirects.iter();
    let first = invocation.operands().next();
    words!("bare-connections").contains(&&*invocation.program)
        || invocation.program == "openssl" && first.is_some_and(|word| word.text == "s_client")
        || redirects.any(|r| is_socket(&r.target.text))
        || invocation.texts().any(|text| text.contains("/tmp/f"))
            && all.any(|i| i.program == "mkfifo")
}

/// Whether an invocation compares a file with its checksum or signature, and fails where it differs.
fn verifies(analysis: &Analysis, invocation: &Invocation, script: &str) -> bool {
    let has = |names: &[&str]| invocation.has_word(names);
    let (is_check, takes_lists) = match invocation.program.as_str() {
        "sha256sum" | "sha384sum" | "sha512sum" | "gsha256sum" | "shasum" | "b2sum" => {
            (invocation.has_short('c') || has(&["--check"]), true)
        }
        "gpg" | "gpg2" => (has(&["--verify"]), false),
        "gpgv" => (true, false),
        "cosign" | "minisign" => (has(&["verify", "verify-blob", "-V", "-Vm"]), false),
        _ => (false, false),
    };
    let stem = script.rsplit_once('.').map_or(script, |(stem, _)| stem);
    let is_of_it = |word: &str| {
        // A star stands before a name that is compared byte by byte.
        let name = file_name(word.trim_start_matches('*'));
        let rest = name.strip_prefix(stem);
        let is_list = || {
            let mut parts = name.split(['.', '_', '-']);
            parts.any(|part| {
                let letters = part.chars().filter(char::is_ascii_alphabetic);
                let letters: String = letters.map(|c| c.to_ascii_lowercase()).collect();
                words!("checksum-lists").contains(&letters.as_str())
            })
        };
        name == script || rest.is_some_and(|rest| rest.starts_with('.')) || takes_lists && is_list()
    };
    let names_it = |text: &str| text.split_whitespace().any(is_of_it);
    let given = invocation.texts();
    if !is_check {
        return false;
    }
    let mut files = given.filter(|word| !word.starts_with('-'));
    // What it is told to compare stands in its input.
    let mut feeders = analysis.part(invocation.fed_by.clone()).iter();
    files.any(names_it)
        || takes_lists
            && (invocation.stdin.text().is_some_and(names_it)
                || feeders.any(|i| i.arguments.iter().any(|word| names_it(&word.text))))
}
