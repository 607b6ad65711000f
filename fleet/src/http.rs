//! Http: requests to servers that somebody named: encrypted, but for those on this machine, and with the certificates that
//! were asked for.

use std::fs;
use std::path::Path;
use std::time::Duration;

use ureq::Agent;
use ureq::http::Uri;
use ureq::tls::{Certificate, ClientCert, PemItem, PrivateKey, RootCerts, TlsConfig, parse_pem};

use crate::error::FleetError;

/// How long one request may take.
const PATIENCE: Duration = Duration::from_secs(30);

/// Makes what sends requests to a server; it follows no redirection and takes no status for an error.
///
/// # Errors
/// The certificates cannot be read.
pub(crate) fn agent(url: &str, ca: Option<&Path>, own: Option<&Path>) -> Result<Agent, FleetError> {
    let mut tls = TlsConfig::builder();
    if let Some(path) = ca {
        let (trusted, _) = pem(path)?;
        tls = tls.root_certs(RootCerts::new_with_certs(&trusted));
    }
    if let Some(path) = own {
        let (chain, key) = pem(path)?;
        let key = key.ok_or_else(|| {
            FleetError::Refused(format!(
                "`{}` holds no private key beside its certificate (PEM)",
                path.display()
            ))
        })?;
        tls = tls.client_cert(Some(ClientCert::new_with_certs(&chain, key)));
    }
    let mut config = Agent::config_builder();
    if !url.starts_with("https://") {
        // What is not encrypted must not pass through a proxy that a variable names.
        config = config.proxy(None);
    }
    let config = config
        .http_status_as_error(false)
        .max_redirects(0)
        .timeout_global(Some(PATIENCE))
        .user_agent(concat!("ahp-fleet/", env!("CARGO_PKG_VERSION")))
        .tls_config(tls.build())
        .build();
    Ok(config.into())
}

/// Whether nobody on the way can read what is sent: it is encrypted, or stays on this machine.
pub(crate) fn is_private(url: &str) -> bool {
    let parsed = url.parse::<Uri>().ok();
    let host = parsed.as_ref().and_then(|url| url.host());
    let is_loopback = matches!(host, Some("127.0.0.1" | "localhost" | "[::1]"));
    // A name before the host is for people to misread.
    let is_plain = !url.contains(['@', '\\']);
    url.starts_with("https://") || url.starts_with("http://") && is_loopback && is_plain
}

/// Which server a URL means: scheme, host and port, in lower case.
pub(crate) fn origin(url: &str) -> Option<String> {
    let (scheme, rest) = url.split_once("://")?;
    let host = rest.split(['/', '?', '#', '\\']).next()?;
    (!host.is_empty()).then(|| format!("{scheme}://{host}").to_lowercase())
}

/// Reads the certificates of a file, and a private key where it has one.
fn pem(
    path: &Path,
) -> Result<(Vec<Certificate<'static>>, Option<PrivateKey<'static>>), FleetError> {
    let bytes = fs::read(path).map_err(|error| FleetError::io("read", path, error))?;
    let (mut found, mut key) = (Vec::new(), None);
    for item in parse_pem(&bytes) {
        match item {
            Ok(PemItem::Certificate(certificate)) => found.push(certificate),
            Ok(PemItem::PrivateKey(private)) => key = Some(private),
            Ok(_) | Err(_) => {}
        }
    }
    if found.is_empty() {
        return Err(FleetError::Refused(format!(
            "`{}` holds no certificate (PEM)",
            path.display()
        )));
    }
    Ok((found, key))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_encryption_nothing_leaves_this_machine() {
        for (url, expected) in [
            ("https://gather.example/ahp/", true),
            ("http://127.0.0.1", true),
            ("http://127.0.0.1:4318/v1/logs", true),
            ("http://localhost/x", true),
            ("http://[::1]:80/", true),
            ("http://gather.example/", false),
            ("http://127.0.0.1:x@evil.example/", false),
            ("http://127.0.0.1@evil.example/", false),
            ("http://127.0.0.1.evil.example/", false),
            ("http://127.0.0.1:80\\@evil.example/", false),
            ("http://localhost:@evil.example:80/", false),
            ("ftp://127.0.0.1/", false),
            ("", false),
        ] {
            assert_eq!(is_private(url), expected, "{url}");
        }
    }
}
