//! Door: who is answered over HTTP, and what is asked for, by the head of a request alone.

use hyper::header::{AUTHORIZATION, CONTENT_TYPE, HOST, HeaderName, ORIGIN};
use hyper::http::request::Parts;
use hyper::{Method, StatusCode};

/// The hosts whose every answer can be JSON.
const HOSTS: &[&str] = &["claude-code", "copilot"];

/// What is asked for.
#[derive(Clone, Copy, Debug)]
pub(super) enum Door {
    Health,
    Hook(&'static str),
    Events,
    Harness,
}

/// Why nothing was judged.
pub(super) struct Refusal(pub(super) StatusCode, pub(super) String);

pub(super) fn refusal(status: StatusCode, why: impl Into<String>) -> Refusal {
    Refusal(status, why.into())
}

/// Looks at all that can be told before the body: `names` are what `Host` may say, and `is_token` knows the token.
///
/// # Errors
/// The caller is not to be answered, or asks for something that is not there.
pub(super) fn admit(
    head: &Parts,
    names: &[String],
    is_token: impl Fn(&str) -> bool,
) -> Result<Door, Refusal> {
    let header = |name: HeaderName| {
        let mut values = head.headers.get_all(name).into_iter();
        let value = values.next()?.to_str().ok()?;
        values.next().is_none().then_some(value)
    };
    let is_named = |host| names.iter().any(|name| name == host);
    if !header(HOST).is_some_and(is_named) {
        let why = format!("`Host` must be `{}`", names.join("` or `"));
        return Err(refusal(StatusCode::FORBIDDEN, why));
    }
    if head.headers.contains_key(ORIGIN) {
        return Err(refusal(StatusCode::FORBIDDEN, "web pages are not answered"));
    }
    let door = match head.uri.path() {
        "/healthz" => Some(Door::Health),
        "/v1/events" => Some(Door::Events),
        "/v1/ahp" => Some(Door::Harness),
        path => path.strip_prefix("/hook/").and_then(|host| {
            let mut hosts = HOSTS.iter().copied();
            hosts.find(|name| *name == host).map(Door::Hook)
        }),
    };
    let door = door.ok_or_else(|| {
        let why = format!(
            "expected `/healthz`, `/v1/events`, `/v1/ahp` or `/hook/HOST` of `{}`",
            HOSTS.join("`, `")
        );
        refusal(StatusCode::NOT_FOUND, why)
    })?;
    if matches!(door, Door::Health) && head.method == Method::GET {
        return Ok(door);
    }
    if matches!(door, Door::Health) || head.method != Method::POST {
        let why = "expected `POST`, and `GET` of `/healthz`";
        return Err(refusal(StatusCode::METHOD_NOT_ALLOWED, why));
    }
    let given = header(AUTHORIZATION).and_then(|value| value.strip_prefix("Bearer "));
    if !given.is_some_and(is_token) {
        let why = "expected `Authorization: Bearer TOKEN`, with the token of `serve.token`";
        return Err(refusal(StatusCode::UNAUTHORIZED, why));
    }
    let kind = header(CONTENT_TYPE).and_then(|value| value.split(';').next());
    if !kind.is_some_and(|kind| kind.trim().eq_ignore_ascii_case("application/json")) {
        let why = "expected `Content-Type: application/json`";
        return Err(refusal(StatusCode::UNSUPPORTED_MEDIA_TYPE, why));
    }
    Ok(door)
}
