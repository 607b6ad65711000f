//! A collector that takes whatever it is sent.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread;

/// It answers every request with 200 and keeps the headers.
pub(crate) struct Collector {
    pub(crate) url: String,
    headers: Arc<Mutex<Vec<String>>>,
}

impl Collector {
    pub(crate) fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}/v1/logs", listener.local_addr().unwrap());
        let headers = Arc::new(Mutex::new(Vec::new()));
        let kept = headers.clone();
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                take(&stream, &kept);
            }
        });
        Self { url, headers }
    }

    /// The headers of all requests, in lower case.
    pub(crate) fn headers(&self) -> Vec<String> {
        self.headers.lock().unwrap().clone()
    }
}

fn take(mut stream: &TcpStream, kept: &Mutex<Vec<String>>) {
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
    let _gone =
        stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\n{}");
}
