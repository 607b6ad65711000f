//! What comes from other machines, and what goes to them.

use crate::danger::digest::Digest;
use crate::danger::words::words;
use crate::program;
use crate::program::Fact;
use crate::shell::{Invocation, Word, is_loopback};

pub(super) fn is_downloader(invocation: &Invocation) -> bool {
    program::find(&invocation.program).is(Fact::Downloads)
        || (invocation.program == "gh"
            && invocation
                .operands()
                .next()
                .is_some_and(|w| w.text == "api"))
        || (matches!(invocation.program.as_str(), "aws" | "gsutil")
            && invocation.arguments.last().is_some_and(|w| w.text == "-"))
}

pub(super) fn is_decoder(invocation: &Invocation) -> bool {
    let has = |names: &[&str]| {
        invocation
            .arguments
            .iter()
            .any(|w| names.contains(&w.text.as_str()))
    };
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
        return !is_loopback(rest.rsplit_once('@').map_or(rest, |(_, host)| host));
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

/// Whether a bare connection goes to this machine: `localhost 80`, `TCP:localhost:80`.
pub(super) fn goes_to_loopback(word: &Word) -> bool {
    let address = word.text.split_once(':').filter(|(kind, _)| {
        let kind = kind.to_ascii_lowercase();
        kind.starts_with("tcp") || kind.starts_with("udp") || kind == "openssl"
    });
    is_loopback(address.map_or(&word.text, |(_, address)| address))
}

/// Whether an address of this machine stands among the arguments, and none of another: `--endpoint-url http://localhost:4566`.
pub(super) fn goes_to_loopback_url(digest: &Digest<'_>, _: &[&Word]) -> bool {
    let arguments = digest.invocation.arguments.iter();
    let mut urls = arguments
        .filter_map(|word| word.text.split_once("http"))
        .filter_map(|(_, rest)| {
            rest.strip_prefix("://")
                .or_else(|| rest.strip_prefix("s://"))
        })
        .peekable();
    urls.peek().is_some() && urls.all(is_loopback)
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
    let bare = script.trim_start_matches("./");
    let same =
        |file: &str| !file.is_empty() && (file == script || file.trim_start_matches("./") == bare);
    digest.earlier().filter(|i| is_downloader(i)).any(|i| {
        i.redirects
            .iter()
            .any(|r| r.writes() && same(&r.target.text))
            || output_file(i).is_some_and(|w| same(&w.text))
            || i.arguments.iter().any(|w| {
                w.text.contains('/')
                    && !w.is_option()
                    && same(w.text.rsplit('/').next().unwrap_or_default())
            })
    })
}

/// Returns the host of an address on another machine.
pub(super) fn remote_host(text: &str) -> Option<&str> {
    if !is_remote_url(text) {
        return None;
    }
    let rest = text.split_once("://").map_or(text, |(_, rest)| rest);
    let host = rest.split(['/', '?', '#']).next()?;
    let host = host.rsplit('@').next()?;
    (!is_loopback(host)).then_some(host)
}

pub(super) fn is_socket(text: &str) -> bool {
    let mut hosts = ["/dev/tcp/", "/dev/udp/"]
        .into_iter()
        .flat_map(|place| text.split(place).skip(1));
    hosts.any(|host| !is_loopback(host))
}

/// Whether an invocation prints what comes in over a connection.
pub(super) fn listens(digest: &Digest<'_>, invocation: &Invocation) -> bool {
    let makes_pipe = || {
        digest
            .analysis
            .invocations
            .iter()
            .any(|i| i.program == "mkfifo")
    };
    let programs = ["nc", "ncat", "netcat", "socat", "telnet"];
    programs.contains(&invocation.program.as_str())
        || invocation
            .redirects
            .iter()
            .any(|r| is_socket(&r.target.text))
        || invocation
            .arguments
            .iter()
            .any(|w| w.text.contains("/tmp/f") && makes_pipe())
}

/// Whether an invocation compares files with their checksums or signatures, and fails where they differ.
pub(super) fn verifies(invocation: &Invocation) -> bool {
    let has = |names: &[&str]| {
        invocation
            .arguments
            .iter()
            .any(|w| names.contains(&w.text.as_str()))
    };
    match invocation.program.as_str() {
        "sha256sum" | "sha512sum" | "shasum" | "b2sum" => has(&["-c", "--check"]),
        "gpg" | "gpg2" => has(&["--verify"]),
        "cosign" | "minisign" => has(&["verify", "verify-blob", "-V", "-Vm"]),
        _ => false,
    }
}
