//! Requests over HTTP: whatever comes, nobody is judged who does not say the token and the name of this machine.

#![no_main]

#[path = "../../src/bin/ahp/command/serve/door.rs"]
mod door;

use std::cell::Cell;
use std::convert::Infallible;
use std::time::Duration;

use door::{Door, Refusal, admit};
use http_body_util::{BodyExt as _, Full, Limited};
use hyper::body::{Bytes, Incoming};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Request, Response};
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::io::AsyncWriteExt as _;

const TOKEN: &str = "0123456789abcdef";
const LONGEST: usize = 1 << 16;

/// How often a request was let in whose sender knows the token.
async fn let_in(bytes: &[u8]) -> usize {
    let (mut client, server) = tokio::io::duplex(1 << 20);
    let count = Cell::new(0);
    let answer = |request: Request<Incoming>| {
        let count = &count;
        async move {
            let (head, body) = request.into_parts();
            let mut response = Response::new(Full::<Bytes>::default());
            match admit(&head, &["127.0.0.1:1".to_owned()], |given| given == TOKEN) {
                Ok(Door::Health) => {}
                Ok(Door::Hook(_) | Door::Events | Door::Harness) => {
                    count.set(count.get() + 1);
                    Limited::new(body, LONGEST).collect().await.ok();
                }
                Err(Refusal(status, why)) => {
                    assert!(status.is_client_error() && !why.contains(TOKEN));
                    *response.status_mut() = status;
                }
            }
            Ok::<_, Infallible>(response)
        }
    };
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(Duration::from_secs(5))
        .serve_connection(TokioIo::new(server), service_fn(answer));
    client.write_all(bytes).await.ok();
    client.shutdown().await.ok();
    connection.await.ok();
    count.get()
}

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
    let count = runtime.block_on(let_in(bytes));
    let has = |word: &[u8]| bytes.windows(word.len()).any(|part| part.eq_ignore_ascii_case(word));
    assert!(count == 0 || (has(TOKEN.as_bytes()) && has(b"127.0.0.1:1") && has(b"application/json")));
});
