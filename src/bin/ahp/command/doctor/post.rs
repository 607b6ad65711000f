//! Post: an event sent to a judge over HTTP on this machine, as a host sends it that is wired so.

use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::path::Path;
use std::time::Duration;

use ahp::host::Reply;

use crate::daemon::token::Token;

/// The longest answer that is read, in bytes.
const LONGEST: u64 = 1 << 20;

/// Posts an event to a wired address, with the person's token, and returns the answer.
///
/// # Errors
/// The address is none of this machine, there is no token, nobody answers in time, or the answer is not the one of a judge.
pub(super) fn post(
    address: &str,
    event: &str,
    state_dir: Option<&Path>,
    patience: Duration,
) -> Result<Reply, String> {
    let rest = address.strip_prefix("http://").unwrap_or(address);
    let (judge, path) = rest.split_once('/').unwrap_or((rest, ""));
    let named = judge.replacen("localhost", "127.0.0.1", 1);
    let socket: SocketAddr = named
        .parse()
        .map_err(|_| format!("`{judge}` is not an address of this machine"))?;
    let state_dir = state_dir.ok_or("where the token is kept is not known: set HOME")?;
    let bearer = Token::of(state_dir)?.bearer();
    let told = |error: std::io::Error| {
        format!(
            "nobody answers at `{judge}` ({error}): `ahp serve --http {judge}` does, once it runs"
        )
    };
    let mut stream = TcpStream::connect_timeout(&socket, patience).map_err(told)?;
    stream.set_read_timeout(Some(patience)).map_err(told)?;
    stream.set_write_timeout(Some(patience)).map_err(told)?;
    let request = format!(
        "POST /{path} HTTP/1.1\r\nHost: {judge}\r\nAuthorization: {bearer}\r\nContent-Type: application/json\r\n\
         Connection: close\r\nContent-Length: {}\r\n\r\n{event}",
        event.len()
    );
    stream.write_all(request.as_bytes()).map_err(told)?;
    let mut answer = String::new();
    stream
        .take(LONGEST)
        .read_to_string(&mut answer)
        .map_err(told)?;
    let (head, body) = answer.split_once("\r\n\r\n").unwrap_or((&answer, ""));
    let status = head.split(' ').nth(1).unwrap_or_default();
    if status != "200" {
        return Err(format!("`{judge}` answered {status}: {body}"));
    }
    Ok(Reply {
        stdout: body.to_owned(),
        ..Reply::nothing()
    })
}
