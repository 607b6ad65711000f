//! What comes from other machines, and what goes to them.

use crate::danger::digest::Digest;
use crate::shell::Invocation;
use crate::shell::Word;

pub(super) fn is_downloader(invocation: &Invocation) -> bool {
    matches!(
        invocation.program.as_str(),
        "curl"
            | "wget"
            | "wget2"
            | "fetch"
            | "http"
            | "https"
            | "httpie"
            | "xh"
            | "aria2c"
            | "lynx"
            | "links"
            | "w3m"
            | "nc"
            | "ncat"
            | "netcat"
            | "curlie"
            | "axel"
            | "iwr"
            | "invoke-webrequest"
            | "irm"
            | "ftp"
            | "lwp-request"
            | "GET"
            | "telnet"
            | "dig"
            | "nslookup"
    ) || (invocation.program == "gh"
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
        "gunzip" | "zcat" | "bzcat" | "xzcat" | "uudecode" | "unxz" | "bunzip2" | "rev" => true,
        "gzip" | "xz" | "bzip2" | "zstd" | "gpg" => {
            has(&["-d", "-dc", "-cd", "--decompress", "--decrypt"])
        }
        "tr" => true,
        "decode-and-run" => true,
        _ => false,
    }
}

pub(super) fn uploads(digest: &Digest<'_>) -> bool {
    digest.invocation.arguments.iter().any(|w| {
        let text = w.text.as_str();
        text.starts_with("--data")
            || text.starts_with("--form")
            || text.starts_with("--upload-file")
            || text.starts_with("--post-")
            || text.starts_with("--body-")
            || text.starts_with("--json")
            || (text.starts_with("-d") || text.starts_with("-F") || text.starts_with("-T"))
                && !text.starts_with("--")
    })
}

/// Hosts that are there to take what is sent to them.
pub(super) const COLLECTORS: &[&str] = &[
    "webhook.site",
    "requestbin",
    "pipedream.net",
    "ngrok.io",
    "ngrok-free.app",
    "ngrok.app",
    "transfer.sh",
    "file.io",
    "0x0.st",
    "ix.io",
    "paste.rs",
    "termbin.com",
    "pastebin.com",
    "hastebin",
    "dpaste",
    "sprunge.us",
    "clbin.com",
    "burpcollaborator",
    "oastify.com",
    "oast.",
    "interact.sh",
    "interactsh",
    "beeceptor.com",
    "hookbin.com",
    "dnslog",
    "canarytokens",
    "gofile.io",
    "catbox.moe",
    "anonfiles",
    "bashupload.com",
    "temp.sh",
    "tmpfiles.org",
    "requestcatcher.com",
    "mocky.io",
    "serveo.net",
    "localtunnel",
    "loca.lt",
    "api.telegram.org/bot",
    "discord.com/api/webhooks",
    "discordapp.com/api/webhooks",
];

pub(super) fn is_collector(text: &str) -> bool {
    COLLECTORS.iter().any(|host| text.contains(host))
}

pub(super) fn is_local(host: &str) -> bool {
    host.starts_with("localhost")
        || host.starts_with("127.")
        || host.starts_with("[::1]")
        || host.starts_with("0.0.0.0")
        || host.starts_with("host.docker.internal")
}

pub(super) fn is_remote_url(text: &str) -> bool {
    if let Some((_, rest)) = text.split_once("://") {
        return !is_local(rest.rsplit_once('@').map_or(rest, |(_, host)| host));
    }
    let host = text.split('/').next().unwrap_or_default();
    let domain = host.rsplit('.').next().unwrap_or_default();
    text.contains('/')
        && host.contains('.')
        && !text.starts_with(['.', '/', '-', '@'])
        && domain.len() >= 2
        && domain.chars().all(|c| c.is_ascii_alphabetic())
        && !is_local(host)
}

pub(super) fn has_odd_host(text: &str) -> bool {
    let Some((_, rest)) = text.split_once("://") else {
        return false;
    };
    let host = rest.split(['/', '?', '#']).next().unwrap_or_default();
    !host.is_ascii() || host.contains("xn--")
}

pub(super) fn is_metadata(text: &str) -> bool {
    text.contains("169.254.169.254")
        || text.contains("metadata.google.internal")
        || text.contains("100.100.100.200")
        || text.contains("169.254.170.2")
        || text.contains("[fd00:ec2::254]")
}

pub(super) fn is_socket(text: &str) -> bool {
    text.contains("/dev/tcp/") || text.contains("/dev/udp/")
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
    digest
        .analysis
        .invocations
        .get(..digest.index)
        .unwrap_or_default()
        .iter()
        .filter(|i| is_downloader(i))
        .any(|i| {
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
