//! HTTP on loopback: for clients that post their events; judged as on stdin, by callers who know the token.

use std::convert::Infallible;
use std::net::{SocketAddr, TcpListener};
use std::path::Path;
use std::pin::pin;
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use ahp::event::{Event, parse_json};
use ahp::host::MOST_BYTES;
use http_body_util::{BodyExt as _, Full, LengthLimitError, Limited};
use hyper::body::{Body as _, Bytes, Incoming};
use hyper::header::{ALLOW, CONTENT_TYPE, HeaderName};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Request, Response, StatusCode};
use hyper_util::rt::{TokioIo, TokioTimer};
use serde_json::json;
use tokio::net;
use tokio::sync::Semaphore;
use tokio::task::spawn_blocking;
use tokio::time::{sleep, timeout};
use tracing::{debug, info, warn};

use super::door::{Door, Refusal, admit, refusal};
use super::judge::Judge;
use super::line::Line;
use super::{method, seconds};
use crate::answer::STACK;
use crate::daemon::Load;
use crate::daemon::token::Token;

/// The most connections at once; further ones wait until one ends.
const MOST_CONNECTIONS: usize = 64;

const MOST_THREADS: usize = 32;

/// How long a head may take to come, and then its body.
const SLOW: Duration = Duration::from_secs(5);

/// A judge that is asked over HTTP.
pub(super) struct Http {
    /// Given up once nothing more is to be taken.
    listener: Option<TcpListener>,
    /// What `Host` may say: a page that has its own name lead to this machine says another.
    names: [String; 3],
    token: Token,
    judge: Judge,
    load: Arc<Load>,
}

/// An answer: its status and its body.
type Answer = (StatusCode, Vec<u8>);

impl Http {
    /// Listens at an address of this machine.
    ///
    /// # Errors
    /// The address is one that others reach, it is taken, or the token cannot be used.
    pub(super) fn bind(
        address: SocketAddr,
        state_dir: &Path,
        judge: Judge,
        load: Arc<Load>,
    ) -> Result<Self, String> {
        if !address.ip().is_loopback() {
            return Err(format!(
                "`{address}` is reached by other machines: expected `127.0.0.1:PORT` or `[::1]:PORT`"
            ));
        }
        let told = |error: std::io::Error| format!("cannot listen at `{address}`: {error}");
        let listener = TcpListener::bind(address).map_err(told)?;
        listener.set_nonblocking(true).map_err(told)?;
        let port = listener.local_addr().map_err(told)?.port();
        info!("listens at http://{}:{port}", address.ip());
        Ok(Self {
            listener: Some(listener),
            names: ["127.0.0.1", "[::1]", "localhost"].map(|name| format!("{name}:{port}")),
            token: Token::of(state_dir)?,
            judge: judge.at(SocketAddr::new(address.ip(), port)),
            load,
        })
    }

    /// Answers on a thread of its own, until nothing more is to be taken.
    ///
    /// # Errors
    /// The thread, or what waits in it, cannot be started.
    pub(super) fn start(mut self) -> std::io::Result<()> {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_io()
            .enable_time()
            .max_blocking_threads(MOST_THREADS)
            .thread_stack_size(STACK)
            .build()?;
        let serve = move || {
            let Some(listener) = self.listener.take() else {
                return;
            };
            if let Err(error) = runtime.block_on(Arc::new(self).serve(listener)) {
                warn!("nothing is heard over HTTP any more: {error}");
            }
            // The last are answered; whoever waits for them ends this process.
            runtime.block_on(std::future::pending::<()>());
        };
        thread::Builder::new().spawn(serve).map(drop)
    }

    async fn serve(self: Arc<Self>, listener: TcpListener) -> std::io::Result<()> {
        let listener = net::TcpListener::from_std(listener)?;
        let seats = Arc::new(Semaphore::new(MOST_CONNECTIONS));
        while let Ok(seat) = seats.clone().acquire_owned().await {
            let accepted = tokio::select! {
                accepted = listener.accept() => accepted,
                () = self.load.closes() => return Ok(()),
            };
            let stream = match accepted {
                Ok((stream, _)) => stream,
                Err(error) => {
                    warn!("a connection cannot be taken: {error}");
                    sleep(Duration::from_millis(50)).await;
                    continue;
                }
            };
            give_up_on(&stream);
            let http = self.clone();
            tokio::spawn(async move {
                let guest = http.load.guest();
                let connection = http1::Builder::new()
                    .timer(TokioTimer::new())
                    .header_read_timeout(SLOW)
                    .serve_connection(
                        TokioIo::new(stream),
                        service_fn(|request| http.clone().answer(request)),
                    );
                let mut connection = pin!(connection);
                let ended = tokio::select! {
                    ended = &mut connection => ended,
                    () = http.load.closes() => {
                        // What has been asked is answered, and nothing more.
                        connection.as_mut().graceful_shutdown();
                        connection.await
                    }
                };
                if let Err(error) = ended {
                    debug!("a caller was hung up on: {error}");
                }
                drop((guest, seat));
            });
        }
        Ok(())
    }

    async fn answer(
        self: Arc<Self>,
        request: Request<Incoming>,
    ) -> Result<Response<Full<Bytes>>, Infallible> {
        self.load.touch();
        let (status, body) = self.judged(request).await.unwrap_or_else(|refusal| {
            let Refusal(status, why) = refusal;
            (status, json!({ "error": why }).to_string().into_bytes())
        });
        let mut response = Response::new(Full::new(Bytes::from(body)));
        *response.status_mut() = status;
        let mut add = |name: HeaderName, value: &'static str| {
            let value = hyper::header::HeaderValue::from_static(value);
            response.headers_mut().insert(name, value);
        };
        add(CONTENT_TYPE, "application/json");
        match status {
            StatusCode::UNAUTHORIZED => add(hyper::header::WWW_AUTHENTICATE, "Bearer"),
            StatusCode::METHOD_NOT_ALLOWED => add(ALLOW, "POST"),
            _ => {}
        }
        Ok(response)
    }

    async fn judged(self: &Arc<Self>, request: Request<Incoming>) -> Result<Answer, Refusal> {
        let (head, body) = request.into_parts();
        let door = admit(&head, &self.names, |given| self.token.is(given))?;
        if matches!(door, Door::Health) {
            return Ok((StatusCode::OK, Vec::new()));
        }
        // Of a body that does not tell its length, the longest is expected.
        let length = body.size_hint().exact();
        let length = length.map_or(MOST_BYTES, |length| {
            usize::try_from(length).unwrap_or(usize::MAX)
        });
        let too_long = || {
            refusal(
                StatusCode::PAYLOAD_TOO_LARGE,
                "the body is longer than 32 MiB",
            )
        };
        if length > MOST_BYTES {
            return Err(too_long());
        }
        let busy = |what| {
            let why = format!("too many {what} at once");
            match door {
                Door::Harness => Ok((StatusCode::TOO_MANY_REQUESTS, method::busy(&why))),
                _ => Err(refusal(StatusCode::TOO_MANY_REQUESTS, why)),
            }
        };
        let Some(_bytes) = self.load.bytes(length) else {
            return busy("bytes");
        };
        let body = timeout(SLOW, Limited::new(body, MOST_BYTES).collect())
            .await
            .map_err(|_| {
                refusal(
                    StatusCode::REQUEST_TIMEOUT,
                    "the body did not come within 5 s",
                )
            })?
            .map_err(|error| {
                if error.is::<LengthLimitError>() {
                    too_long()
                } else {
                    refusal(StatusCode::BAD_REQUEST, error.to_string())
                }
            })?;
        let Some(_event) = self.load.event() else {
            return busy("events");
        };
        let http = self.clone();
        let judge = move || http.judge(door, head.uri.query(), body.to_bytes().into());
        let judged = spawn_blocking(judge).await;
        judged.unwrap_or_else(|_| {
            let why = "ahp itself failed; please report it with the event";
            Err(refusal(StatusCode::INTERNAL_SERVER_ERROR, why))
        })
    }

    fn judge(&self, door: Door, query: Option<&str>, body: Vec<u8>) -> Result<Answer, Refusal> {
        let begun = Instant::now();
        let answer = match door {
            Door::Health => Vec::new(),
            Door::Hook(host) => {
                let said = |name: &str| {
                    let mut words = query.unwrap_or_default().split('&');
                    words.find_map(|word| word.strip_prefix(name)?.strip_prefix('='))
                };
                let timeout = match said("timeout").map(seconds).transpose() {
                    Ok(timeout) => timeout,
                    Err(why) => {
                        return Err(refusal(
                            StatusCode::BAD_REQUEST,
                            format!("`timeout`: {why}"),
                        ));
                    }
                };
                let judged = self.judge.hook(host, said("event"), timeout, &body);
                let failed = |why| refusal(StatusCode::INTERNAL_SERVER_ERROR, why);
                let (_, reply) = judged.map_err(failed)?;
                if reply.blocks && reply.stdout.is_empty() {
                    // A host that takes a block by its exit code alone takes what went wrong for one.
                    return Err(failed(reply.stderr));
                }
                reply.stdout.into_bytes()
            }
            Door::Events => {
                let event: Event = parse_json(&body)
                    .and_then(serde_json::from_value)
                    .map_err(|why| refusal(StatusCode::BAD_REQUEST, why.to_string()))?;
                let judged = method::evaluated(&self.judge, event);
                judged.to_string().into_bytes()
            }
            Door::Harness => {
                let line = Line::Whole(body);
                match method::answer(&self.judge, &line, method::OF_HARNESSES) {
                    Some(answer) => answer.to_string().into_bytes(),
                    None => return Ok((StatusCode::ACCEPTED, Vec::new())),
                }
            }
        };
        let us = u64::try_from(begun.elapsed().as_micros()).unwrap_or(u64::MAX);
        debug!(?door, us, "judged");
        Ok((StatusCode::OK, answer))
    }
}

/// Has the system hang up on a caller who asks and takes no answer, and would keep a seat for ever.
fn give_up_on(stream: &net::TcpStream) {
    #[cfg(target_os = "linux")]
    if let Ok(slow) = u32::try_from(SLOW.as_millis()) {
        rustix::net::sockopt::set_tcp_user_timeout(stream, slow).ok();
    }
    #[cfg(not(target_os = "linux"))]
    let _ = stream;
}
