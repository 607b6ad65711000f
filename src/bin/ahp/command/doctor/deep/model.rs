//! Model: what a client takes for its model; it asks for one command, keeps what came of it, and refuses to go on.

use std::convert::Infallible;
use std::net::{Ipv4Addr, TcpListener};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

use ahp::host::Trial;
use http_body_util::{BodyExt as _, Collected, Full, Limited};
use hyper::body::{Bytes, Incoming};
use hyper::header::{CONTENT_TYPE, HeaderValue};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Method, Request, Response, StatusCode};
use hyper_util::rt::TokioIo;
use serde_json::{Value, json};
use tokio::net;

use super::dialect;

/// The longest request that is read, in bytes: all tools of a client and what it says of itself.
const MOST: usize = 32 << 20;

/// What the client has shown of itself.
#[derive(Clone, Debug, Default)]
pub(super) struct Seen {
    /// Whether it was told to make the call.
    pub(super) is_called: bool,
    /// What it says came of the call.
    pub(super) result: Option<String>,
}

/// A model at an address of this machine.
pub(super) struct Model {
    /// Its address.
    pub(super) url: String,
    seen: Arc<Mutex<Seen>>,
}

impl Model {
    /// Answers on a thread of its own, for as long as this process lives.
    pub(super) fn start(trial: &'static Trial, command: &str) -> std::io::Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
        listener.set_nonblocking(true)?;
        let url = format!("http://{}", listener.local_addr()?);
        let seen = Arc::<Mutex<Seen>>::default();
        let part = Arc::new(Part {
            trial,
            input: trial.input.replace("$COMMAND", command),
            seen: seen.clone(),
        });
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_io()
            .enable_time()
            .build()?;
        thread::Builder::new().spawn(move || runtime.block_on(part.play(listener)).ok())?;
        Ok(Self { url, seen })
    }

    /// Returns what the client has shown of itself.
    pub(super) fn seen(&self) -> Seen {
        let seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        seen.clone()
    }
}

/// What the model says, and what it hears.
struct Part {
    trial: &'static Trial,
    input: String,
    seen: Arc<Mutex<Seen>>,
}

impl Part {
    async fn play(self: Arc<Self>, listener: TcpListener) -> std::io::Result<()> {
        let listener = net::TcpListener::from_std(listener)?;
        loop {
            let (stream, _) = listener.accept().await?;
            let part = self.clone();
            tokio::spawn(async move {
                let answer = service_fn(|request| part.clone().answer(request));
                let connection = http1::Builder::new();
                let connection = connection.serve_connection(TokioIo::new(stream), answer);
                connection.await.ok();
            });
        }
    }

    async fn answer(
        self: Arc<Self>,
        request: Request<Incoming>,
    ) -> Result<Response<Full<Bytes>>, Infallible> {
        let path = request.uri().path().to_owned();
        let is_post = request.method() == Method::POST;
        let body = Limited::new(request.into_body(), MOST).collect().await;
        let body = body.map(Collected::to_bytes).unwrap_or_default();
        let body: Value = serde_json::from_slice(&body).unwrap_or_default();
        let (status, kind, text) = self.said(is_post, &path, &body);
        let mut response = Response::new(Full::new(Bytes::from(text)));
        *response.status_mut() = status;
        let headers = response.headers_mut();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static(kind));
        Ok(response)
    }

    fn said(&self, is_post: bool, path: &str, body: &Value) -> (StatusCode, &'static str, String) {
        let whole = |status, value: &Value| (status, "application/json", value.to_string());
        if !is_post && path.ends_with("/models") {
            let model = json!({"id": "ahp", "object": "model", "created": 1, "owned_by": "ahp"});
            let models =
                json!({"object": "list", "data": [model], "has_more": false, "models": []});
            return whole(StatusCode::OK, &models);
        }
        if path.ends_with("count_tokens") || path.ends_with(":countTokens") {
            let tokens = json!({"input_tokens": 10, "totalTokens": 10});
            return whole(StatusCode::OK, &tokens);
        }
        let dialect = self.trial.dialect;
        if !is_post || !dialect::is_asked_at(dialect, path) {
            let none = json!({"error": {"type": "not_found_error", "message": "no such page"}});
            return whole(StatusCode::NOT_FOUND, &none);
        }
        let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(result) = dialect::result(dialect, body) {
            seen.result.get_or_insert(result);
            // Whoever goes on would come to the end of a turn, where gates of the policy would have to run.
            let over = "`ahp doctor` has seen what it wanted to see";
            let error = json!({"type": "error", "error": {"type": "invalid_request_error",
                "code": 400, "status": "INVALID_ARGUMENT", "message": over}});
            return whole(StatusCode::BAD_REQUEST, &error);
        }
        let has_tool = dialect::offers(dialect, body, self.trial.tool);
        seen.is_called |= has_tool;
        let call = has_tool.then_some((self.trial.tool, self.input.as_str()));
        let is_stream = body["stream"] == true || path.ends_with(":streamGenerateContent");
        if is_stream {
            let text = dialect::stream(dialect, call);
            return (StatusCode::OK, "text/event-stream", text);
        }
        whole(StatusCode::OK, &dialect::whole(dialect, call))
    }
}
