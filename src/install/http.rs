//! HTTP: hooks that post their events to a judge on this machine, in place of a program that is started for each.

use std::net::SocketAddr;

use serde_json::{Value, json};

use crate::host::{Host, HostEvent, TOKEN};

const SCHEME: &str = "http://";

/// Returns the address at which a judge answers an event of a host within so many seconds.
pub(super) fn address(
    judge: SocketAddr,
    host: &Host,
    host_event: &HostEvent,
    seconds: u64,
) -> String {
    format!(
        "{SCHEME}{judge}/hook/{}?event={}&timeout={seconds}",
        host.name,
        host_event.name()
    )
}

/// Returns the hook that posts to an address: closed, for most clients let everything pass where no server answers.
pub(super) fn handler(address: &str, seconds: u64) -> Value {
    json!({
        "type": "http",
        "url": address,
        "timeout": seconds,
        "onFailure": "block",
        "headers": {"Authorization": format!("Bearer ${TOKEN}")},
        "allowedEnvVars": [TOKEN],
    })
}

/// Whether what a hook calls is an address.
pub(super) fn is_address(command: &str) -> bool {
    command.starts_with(SCHEME) || command.starts_with("https://")
}

/// Whether who listens at an address is this judge.
pub(super) fn is_at(address: &str, judge: SocketAddr) -> bool {
    let named = parts(address).map(|(named, _)| named.replace("localhost:", "127.0.0.1:"));
    named.and_then(|named| named.parse().ok()) == Some(judge)
}

/// Returns who is asked at an address, and what for.
fn parts(address: &str) -> Option<(&str, &str)> {
    address.strip_prefix(SCHEME)?.split_once('/')
}

/// Whether an address is that of a judge on this machine which answers a host.
pub(super) fn is_ours(address: &str, host: &str) -> bool {
    let Some((judge, path)) = parts(address) else {
        return false;
    };
    let is_here = judge.starts_with("localhost:")
        || judge
            .parse::<SocketAddr>()
            .is_ok_and(|address| address.ip().is_loopback());
    let path = path.split('?').next().unwrap_or_default();
    is_here && path.strip_prefix("hook/") == Some(host)
}

/// Returns how many seconds an address says that the judge may take.
pub(super) fn timeout_of(address: &str) -> Option<f64> {
    let (_, query) = address.split_once('?')?;
    let mut words = query.split('&');
    words
        .find_map(|word| word.strip_prefix("timeout="))?
        .parse()
        .ok()
}
