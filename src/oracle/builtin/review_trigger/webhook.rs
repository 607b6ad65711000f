//! Posts a JSON document to a webhook, with `curl`, whose address and content nobody else on the machine can read.

use std::time::Duration;

use crate::oracle::HookContext;
use crate::oracle::toolchain::in_time;
use crate::oracle::wording::last_said;
use crate::process::{Exit, Program, installed};

/// How long one try may take.
const ONE_TRY: Duration = Duration::from_secs(10);

/// Whether an address is one that can be posted to: `https://…`, `http://…`, or `$NAME` of the environment.
pub(super) fn is_address(text: &str) -> bool {
    if let Some(name) = text.strip_prefix('$') {
        return !name.is_empty()
            && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_')
            && !name.starts_with(|c: char| c.is_ascii_digit());
    }
    let rest = text
        .strip_prefix("https://")
        .or_else(|| text.strip_prefix("http://"));
    rest.is_some_and(|rest| !rest.is_empty())
        && !text.contains(|c: char| c.is_whitespace() || c.is_control())
}

/// Returns the address as it may be shown: without what follows its host, and without a password.
pub(super) fn shown(address: &str) -> String {
    let Some((scheme, rest)) = address.split_once("://") else {
        return address.to_owned();
    };
    let host = rest.split(['/', '?', '#']).next().unwrap_or_default();
    let host = host.rsplit('@').next().unwrap_or_default();
    format!("{scheme}://{host}/…")
}

/// Posts `body` and returns the code of the answer.
///
/// # Errors
/// Why it was not taken; the address is not in it.
pub(super) fn post(context: &HookContext, address: &str, body: &str) -> Result<String, String> {
    if installed("curl").is_none() {
        return Err("the program `curl` is not installed".to_owned());
    }
    let deadline = in_time(context);
    let left = context.remaining().unwrap_or(ONE_TRY * 4);
    // Three tries and the waiting between them must fit in.
    let one_try = (left / 4).min(ONE_TRY).max(Duration::from_millis(500));
    let mut input = String::new();
    let command = if let Some(name) = address.strip_prefix('$') {
        // The shell puts the address in front; it is never an argument, which every user could see.
        format!(
            "{{ printf 'url = \"%s\"\\n' \"${{{name}:?is not set}}\" && cat; }} | curl --config - {}",
            flags(one_try)
        )
    } else {
        input.push_str(&format!("url = {}\n", quoted(address)));
        format!("curl --config - {}", flags(one_try))
    };
    input.push_str(&format!("data-binary = {}\n", quoted(body)));
    let finished = (context.held(Program::shell(&command)))
        .dir(context.root())
        .stdin(input)
        .deadline(deadline)
        .run()
        .map_err(|e| e.to_string())?;
    let code = finished.stdout_text().trim().to_owned();
    match finished.exit {
        Exit::Code(0) => Ok(code),
        Exit::TimedOut => Err("it did not answer in time".to_owned()),
        _ if !code.is_empty() && code != "000" => Err(format!("it answered {code}")),
        _ => {
            let said = last_said(&finished.stderr_text());
            Err(said.replace(address, &shown(address)))
        }
    }
}

fn flags(one_try: Duration) -> String {
    format!(
        "--silent --show-error --fail --output /dev/null --write-out '%{{http_code}}' --proto '=http,https' \
         --header 'content-type: application/json' --header 'user-agent: ahp' --max-time {:.1} \
         --retry 2 --retry-delay 1 --retry-connrefused",
        one_try.as_secs_f64()
    )
}

/// Quotes a value for curl's configuration.
fn quoted(text: &str) -> String {
    let mut quoted = String::from("\"");
    for c in text.chars() {
        match c {
            '"' => quoted.push_str("\\\""),
            '\\' => quoted.push_str("\\\\"),
            '\n' => quoted.push_str("\\n"),
            '\r' => quoted.push_str("\\r"),
            '\t' => quoted.push_str("\\t"),
            c => quoted.push(c),
        }
    }
    quoted.push('"');
    quoted
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_shown_without_its_secrets() {
        assert_eq!(
            shown("https://u:p@hooks.example.org/services/T0/B0/x?k=1"),
            "https://hooks.example.org/…"
        );
        assert_eq!(shown("$REVIEW_WEBHOOK"), "$REVIEW_WEBHOOK");
    }

    #[test]
    fn addresses_are_told_from_other_texts() {
        for good in ["https://a.example/x", "http://127.0.0.1:1/", "$HOOK_1"] {
            assert!(is_address(good), "{good}");
        }
        for bad in [
            "",
            "ftp://a",
            "https://",
            "a b",
            "$",
            "$1X",
            "$(id)",
            "https://a b",
            "file:///etc/passwd",
        ] {
            assert!(!is_address(bad), "{bad}");
        }
    }
}
