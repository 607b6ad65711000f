//! Destinations: the address of another machine as commands write it, in one form, and whether a list names it.

/// Returns an address as `host[:port][/path]` in lower case: of `https://u@host:8443/p?q`, `git@host:p.git`, `host:p`.
///
/// None where the text is not an address.
pub fn destination(text: &str) -> Option<String> {
    let (scheme, rest) = match text.split_once("://") {
        Some((scheme, rest)) => (Some(scheme), rest),
        None => (None, text),
    };
    let rest = rest.split(['?', '#']).next()?;
    // Before the host may stand who one is: in an address with a password that may hold a colon.
    let ends: &[char] = if scheme.is_some() {
        &['/']
    } else {
        &['/', ':']
    };
    let authority = rest.split(ends).next().unwrap_or_default();
    if authority.contains('\\') {
        return None;
    }
    let owner = authority.rfind('@');
    let rest = rest.get(owner.map_or(0, |at| at + 1)..)?;
    let (host, path) = match rest.find(['/', ':']) {
        Some(at) => rest.split_at(at),
        None => (rest, ""),
    };
    // `.` and `..` before a slash are folders.
    let is_host = host.contains(char::is_alphanumeric)
        && host
            .chars()
            .all(|c| c.is_alphanumeric() || "-._[]".contains(c));
    if !is_host || scheme.is_none() && path.is_empty() {
        return None;
    }
    let path = path
        .strip_suffix(".git")
        .unwrap_or(path)
        .trim_end_matches('/');
    let is_port = |text: &str| {
        text.split('/')
            .next()
            .is_some_and(|p| p.bytes().all(|b| b.is_ascii_digit()) && !p.is_empty())
    };
    let path = match path.strip_prefix(':') {
        Some(port) if scheme.is_some() || is_port(port) => format!(":{port}"),
        Some(inner) => format!("/{}", inner.trim_start_matches('/')),
        None => path.to_owned(),
    };
    let path = path.to_lowercase();
    let path = match path.find('/') {
        Some(at) if goes_up(&path) => {
            let (port, path) = path.split_at(at);
            format!("{port}/..{path}")
        }
        _ => path,
    };
    Some(format!("{}{path}", host.to_lowercase()))
}

/// Whether a path may lead out of what it names first, however that is written: then it lies below no folder of the host.
fn goes_up(path: &str) -> bool {
    let plain = path.replace("%25", "%").replace("%2e", ".");
    plain.contains("..")
}

/// Whether an entry of a list (`host`, `host:port` or `host/path/prefix`) names a destination.
pub fn names_destination(entry: &str, destination: &str) -> bool {
    let entry = entry.trim_end_matches('/').to_lowercase();
    let without_port = || {
        let (host, rest) = destination.split_at(destination.find('/').unwrap_or(destination.len()));
        host.split_once(':')
            .map(|(host, _)| format!("{host}{rest}"))
    };
    let has_path = entry.contains('/');
    let holds = |destination: &str| {
        let behind = destination.strip_prefix(entry.as_str());
        behind.is_some_and(|behind| {
            behind.is_empty() || behind.starts_with('/') || (!has_path && behind.starts_with(':'))
        })
    };
    !entry.is_empty()
        && (holds(destination) || has_path && without_port().is_some_and(|d| holds(&d)))
}

/// Returns the host of an address without its scheme, with its port, but not who one is there. What a `\` means there is read
/// in two ways, so that such a text is the name of no host.
pub(crate) fn authority(address: &str) -> &str {
    let all = address.split(['/', '?', '#']).next().unwrap_or_default();
    if all.contains('\\') {
        return all;
    }
    all.rsplit_once('@').map_or(all, |(_, host)| host)
}

/// Whether an address without its scheme leads to this machine.
pub(crate) fn is_loopback(address: &str) -> bool {
    let host = authority(address);
    if host.starts_with("[::1]") {
        return true;
    }
    let host = host.split(':').next().unwrap_or_default();
    let is_number = || host.bytes().all(|b| b.is_ascii_digit() || b == b'.');
    matches!(host, "localhost" | "0.0.0.0" | "host.docker.internal")
        || host.ends_with(".localhost")
        || host.starts_with("127.") && is_number()
}

/// Whether an address without its scheme leads to this machine, which may be called by its name too.
pub(super) fn is_here(address: &str) -> bool {
    let host = authority(address);
    let own = ["$(hostname)", "`hostname`", "$HOSTNAME", "${HOSTNAME}"];
    is_loopback(address) || own.iter().any(|name| host.starts_with(name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_address_has_one_form() {
        for (text, form) in [
            ("https://Example.com/a/b?c", "example.com/a/b"),
            ("https://u:p@example.com:8443/a", "example.com:8443/a"),
            ("git@github.com:owner/repo.git", "github.com/owner/repo"),
            (
                "ssh://git@github.com/owner/repo.git",
                "github.com/owner/repo",
            ),
            ("host:dir/file", "host/dir/file"),
            ("u@host:/srv", "host/srv"),
            ("example.com/a", "example.com/a"),
            ("https://a.example/me/../r", "a.example/../me/../r"),
            ("https://a.example:1/me/%2E./r", "a.example:1/../me/%2e./r"),
            ("git@a.example:me/../r.git", "a.example/../me/../r"),
            ("https://a.example/me/./r.b", "a.example/me/./r.b"),
            ("http://localhost:3000", "localhost:3000"),
            ("http://a.example/@localhost/", "a.example/@localhost"),
            ("http://a.example?@localhost/", "a.example"),
            ("http://localhost:80@a.example/b", "a.example/b"),
            ("u@a.example:b@localhost/c", "a.example/b@localhost/c"),
        ] {
            assert_eq!(destination(text).as_deref(), Some(form), "{text}");
        }
        for text in [
            "",
            "file.txt",
            "./a:b",
            "/a/b",
            "-x",
            "@body",
            "http://localhost\\@a.example/",
        ] {
            assert_eq!(destination(text), None, "{text}");
        }
    }

    #[test]
    fn only_this_machine_is_loopback() {
        for here in [
            "localhost",
            "localhost:80/a",
            "127.0.0.1/x",
            "[::1]:8080",
            "a.localhost",
        ] {
            assert!(is_loopback(here), "{here}");
        }
        for away in [
            "localhost.evil.example",
            "127.evil.example",
            "127.0.0.1.evil.example",
            "",
            "::",
            "localhost:80@a.example",
            "a.example/@localhost",
            "a.example?@localhost",
            "a.example#@localhost",
            "a.example\\@localhost",
            "localhost\\@a.example",
        ] {
            assert!(!is_loopback(away), "{away}");
        }
    }

    #[test]
    fn an_entry_names_what_lies_below_it() {
        for (entry, destination, named) in [
            ("example.com", "example.com/a", true),
            ("example.com", "example.com:8443/a", true),
            ("example.com:8443", "example.com:8443/a", true),
            ("example.com:8443", "example.com/a", false),
            ("example.com/a", "example.com/a/b", true),
            ("example.com/a", "example.com:22/a/b", true),
            ("example.com/a", "example.com/ab", false),
            ("example.com", "example.com.evil.org/a", false),
            ("", "example.com", false),
        ] {
            assert_eq!(
                names_destination(entry, destination),
                named,
                "{entry} {destination}"
            );
        }
    }
}
