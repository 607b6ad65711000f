//! Owner: who keeps what an address points to.

use std::net::IpAddr;

/// Names that a host's name ends with.
const DOMAINS: &[&str] = &[
    "ai",
    "app",
    "at",
    "au",
    "be",
    "biz",
    "br",
    "ca",
    "cc",
    "ch",
    "cloud",
    "cn",
    "co",
    "com",
    "de",
    "dev",
    "digital",
    "download",
    "edu",
    "email",
    "es",
    "eu",
    "example",
    "fi",
    "fr",
    "fun",
    "gg",
    "gov",
    "group",
    "help",
    "host",
    "icu",
    "in",
    "info",
    "invalid",
    "io",
    "it",
    "jp",
    "life",
    "link",
    "live",
    "me",
    "mobi",
    "name",
    "net",
    "network",
    "news",
    "nl",
    "no",
    "online",
    "org",
    "page",
    "pl",
    "press",
    "pro",
    "ru",
    "se",
    "services",
    "sh",
    "shop",
    "site",
    "so",
    "social",
    "solutions",
    "space",
    "store",
    "su",
    "support",
    "systems",
    "tech",
    "test",
    "to",
    "today",
    "top",
    "tv",
    "uk",
    "us",
    "vip",
    "website",
    "wiki",
    "work",
    "world",
    "ws",
    "xyz",
    "zone",
];

/// Hosts at which anybody may have a place: who they are does not tell who wrote it.
const SHARED: &[&str] = &[
    "amazonaws.com",
    "azurewebsites.net",
    "bitbucket.org",
    "blogspot.com",
    "cloudfront.net",
    "codeberg.org",
    "discord.com",
    "docker.io",
    "dropbox.com",
    "firebaseapp.com",
    "gcr.io",
    "ghcr.io",
    "github.com",
    "github.io",
    "githubusercontent.com",
    "gitlab.com",
    "gitlab.io",
    "google.com",
    "googleapis.com",
    "herokuapp.com",
    "huggingface.co",
    "netlify.app",
    "ngrok.io",
    "npmjs.com",
    "pages.dev",
    "pastebin.com",
    "pypi.org",
    "quay.io",
    "sharepoint.com",
    "slack.com",
    "vercel.app",
    "web.app",
    "windows.net",
    "workers.dev",
];

/// Returns by whom an address is kept, as it is told from words: its host, or a place at a host that many share. None of
/// mail: whoever has an address at a host does not speak for it.
pub(super) fn site(word: &str) -> Option<String> {
    let bare = word.split_once("://").map_or(word, |(_, rest)| rest);
    let (authority, path) = bare.split_once('/').unwrap_or((bare, ""));
    let host = authority.split([':', '?', '#']).next().unwrap_or_default();
    let has_scheme = bare.len() < word.len() && host.contains('.');
    if authority.contains('@') || !(has_scheme || is_host(host)) {
        return None;
    }
    if !is_shared(host) {
        return Some(format!("//{host}"));
    }
    account(path).map(|account| format!("//{host}/{account}"))
}

/// Returns whose place a path at a host that many share is; services have a word before it.
fn account(path: &str) -> Option<&str> {
    let parts = path.split(['/', '?', '#', '@', ':']);
    let mut parts = parts.skip_while(|part| matches!(*part, "orgs" | "repos" | "users"));
    parts.next().filter(|account| !account.is_empty())
}

pub(super) fn is_shared(host: &str) -> bool {
    SHARED.iter().any(|shared| {
        let owner = host.strip_suffix(shared);
        owner.is_some_and(|owner| owner.is_empty() || owner.ends_with('.'))
    })
}

/// Returns who an address belongs to, as people name it: the label below the public end of its host, the account at a host
/// that many share, or the name or the scope of a package. What somebody calls a thing below an account names nobody.
pub(super) fn owner(word: &str) -> Option<&str> {
    let bare = word.split_once("://").map_or(word, |(_, rest)| rest);
    if is_versioned(word) || !bare.contains('/') && !word.contains("://") {
        // A name alone may be looked up, and carry something along.
        let (name, _) = word.rsplit_once('@').filter(|_| is_versioned(word))?;
        return name.split('/').next();
    }
    let (authority, path) = bare.split_once('/').unwrap_or((bare, ""));
    let host = authority.split([':', '?', '#']).next().unwrap_or_default();
    if !is_host(host) {
        let is_package = !word.contains("://") && !authority.contains(['@', '.']);
        return Some(authority).filter(|_| is_package);
    }
    if is_shared(host) {
        return account(path);
    }
    label(host)
}

/// Returns the label of a host below its public end: `acme` of `docs.acme.co.uk`.
pub(super) fn label(host: &str) -> Option<&str> {
    let mut labels = host.rsplit('.').skip(1);
    let label = labels.next().filter(|_| is_host(host))?;
    let is_public = matches!(label, "ac" | "co" | "com" | "gov" | "net" | "org");
    if is_public {
        labels.next()
    } else {
        Some(label)
    }
}

/// Returns the domains above a host: of `a.b.evil.example` first `b.evil.example`, then `evil.example`.
pub(super) fn domains_above(host: &str) -> impl Iterator<Item = &str> {
    let above = host
        .match_indices('.')
        .map(|(at, _)| host.get(at + 1..).unwrap_or_default());
    above.filter(|domain| {
        let (owner, rest) = domain.split_once('.').unwrap_or((domain, ""));
        // `co.uk` belongs to nobody, and what many share to no one.
        !rest.is_empty() && owner.len() > 3 && !is_shared(domain)
    })
}

/// Whether a word is the name or the number of a host.
pub(super) fn is_host(word: &str) -> bool {
    let is_port = |port: &str| !port.is_empty() && port.bytes().all(|byte| byte.is_ascii_digit());
    let word = match word.rsplit_once(':') {
        Some((host, port)) if is_port(port) && !host.contains(':') => host,
        _ => word,
    };
    let domain = word.rsplit_once('.').map(|(_, domain)| domain);
    domain.is_some_and(|domain| DOMAINS.contains(&domain)) || word.parse::<IpAddr>().is_ok()
}

/// Whether a word is a package of a registry and its version: `name@1.2.3`. What ends as domains do is the host of an
/// address: `eve@163.com`.
pub(super) fn is_versioned(word: &str) -> bool {
    let version = word.rsplit_once('@').map_or("", |(_, version)| version);
    let version = version.trim_start_matches(['^', '~', '=']);
    let last = version.rsplit('.').next().unwrap_or_default();
    let is_domain = last.len() > 1
        && (!last.contains(|c: char| c.is_ascii_digit()) || last.starts_with("xn--"));
    !word.contains(':')
        && !is_domain
        && version.split('.').count() < 4
        && version.starts_with(|c: char| c.is_ascii_digit())
}
