//! A collector that takes whatever it is sent, unless it is told to refuse.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread;

/// It keeps the headers of each request, and answers with 200.
pub(crate) struct Collector {
    pub(crate) url: String,
    headers: Arc<Mutex<Vec<String>>>,
}

/// What is answered to a request by its number.
type Answer = fn(usize) -> &'static str;

impl Collector {
    pub(crate) fn start() -> Self {
        Self::answering(|_| "200 OK")
    }

    pub(crate) fn answering(answer: Answer) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}/v1/logs", listener.local_addr().unwrap());
        let headers = Arc::new(Mutex::new(Vec::new()));
        let kept = headers.clone();
        thread::spawn(move || {
            for (number, stream) in listener.incoming().flatten().enumerate() {
                take(&stream, &kept, answer(number));
            }
        });
        Self { url, headers }
    }

    /// The server, without the path of OTLP.
    pub(crate) fn base(&self) -> &str {
        self.url.strip_suffix("/v1/logs").unwrap()
    }

    /// The first lines of all requests, in lower case.
    pub(crate) fn requested(&self) -> Vec<String> {
        let lines = self.headers().into_iter();
        lines.filter(|line| line.contains(" http/1.1")).collect()
    }

    /// How many requests there were.
    pub(crate) fn requests(&self) -> usize {
        self.requested().len()
    }

    /// The headers of all requests, in lower case.
    pub(crate) fn headers(&self) -> Vec<String> {
        self.headers.lock().unwrap().clone()
    }
}

fn take(mut stream: &TcpStream, kept: &Mutex<Vec<String>>, status: &str) {
    let mut reader = BufReader::new(stream);
    let mut headers = Vec::new();
    loop {
        let mut line = String::new();
        if reader.read_line(&mut line).unwrap_or(0) == 0 || line.trim().is_empty() {
            break;
        }
        headers.push(line.trim().to_lowercase());
    }
    let length = headers
        .iter()
        .find_map(|line| line.strip_prefix("content-length: ")?.parse().ok());
    let mut body = vec![0; length.unwrap_or(0)];
    let _gone = reader.read_exact(&mut body);
    kept.lock().unwrap().extend(headers);
    let answer = format!("HTTP/1.1 {status}\r\nContent-Length: 2\r\nConnection: close\r\n\r\n{{}}");
    let _gone = stream.write_all(answer.as_bytes());
}
