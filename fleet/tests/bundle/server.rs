//! A static server as an organisation has one.

use std::fs;
use std::io::{BufRead as _, BufReader, Write as _};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::thread;

/// A static server: files with an ETag, `304`, and what was asked.
pub(crate) struct Server {
    pub(crate) url: String,
    shared: Arc<Mutex<Shared>>,
}

#[derive(Default)]
struct Shared {
    files: Vec<(String, Vec<u8>)>,
    redirect: Option<String>,
    /// What was asked, with the status that was answered.
    asked: Vec<(String, u16)>,
}

impl Server {
    pub(crate) fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let shared = Arc::new(Mutex::new(Shared::default()));
        let of_thread = shared.clone();
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let shared = of_thread.clone();
                thread::spawn(move || answer(&stream, &shared));
            }
        });
        Self { url, shared }
    }

    pub(crate) fn put(&self, path: &str, from: &Path) {
        let mut shared = self.shared.lock().unwrap();
        shared.files.retain(|(name, _)| name != path);
        shared
            .files
            .push((path.to_owned(), fs::read(from).unwrap()));
    }

    /// Leads `/moved` to another address.
    pub(crate) fn redirect(&self, to: &str) {
        self.shared.lock().unwrap().redirect = Some(to.to_owned());
    }

    pub(crate) fn asked(&self) -> Vec<(String, u16)> {
        std::mem::take(&mut self.shared.lock().unwrap().asked)
    }
}

fn answer(mut stream: &TcpStream, shared: &Mutex<Shared>) {
    let mut lines = BufReader::new(stream).lines().map_while(Result::ok);
    while let Some(first) = lines.next() {
        let headers: Vec<String> = lines.by_ref().take_while(|line| !line.is_empty()).collect();
        let path = first.split(' ').nth(1).unwrap_or_default().to_owned();
        let mut shared = shared.lock().unwrap();
        let found = shared.files.iter().find(|(name, _)| *name == path);
        let found = found.map(|(_, bytes)| {
            (
                format!("\"{:x}\"", bytes.iter().map(|b| u64::from(*b)).sum::<u64>()),
                bytes.clone(),
            )
        });
        let to = shared.redirect.clone().filter(|_| path == "/moved");
        let (status, further, body) = match (to, found) {
            (Some(to), _) => (302, format!("Location: {to}\r\n"), Vec::new()),
            (None, Some((etag, _)))
                if headers
                    .iter()
                    .any(|h| h.to_lowercase() == format!("if-none-match: {etag}")) =>
            {
                (304, format!("ETag: {etag}\r\n"), Vec::new())
            }
            (None, Some((etag, body))) => (200, format!("ETag: {etag}\r\n"), body),
            (None, None) => (404, String::new(), Vec::new()),
        };
        shared.asked.push((path, status));
        drop(shared);
        let head = format!(
            "HTTP/1.1 {status} x\r\nContent-Length: {}\r\n{further}\r\n",
            body.len()
        );
        if stream
            .write_all(head.as_bytes())
            .and_then(|()| stream.write_all(&body))
            .is_err()
        {
            return;
        }
    }
}
