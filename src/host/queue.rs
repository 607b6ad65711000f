//! Queue: words that an event could not carry, kept for the next one of the same session that can.

use std::fs;
use std::io;
use std::io::Write as _;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

use sha2::Digest as _;

use crate::message;
use crate::secret;

/// How much one session may have waiting; the oldest words go first.
const MOST_BYTES: usize = 32 << 10;

/// The waiting words of one session of one host.
#[derive(Clone, Debug)]
pub struct Queue {
    file: PathBuf,
}

impl Queue {
    /// Names the queue of a session below the state directory; nothing is touched yet.
    pub fn new(state_dir: &Path, host: &str, session_id: &str) -> Self {
        let mut hash = sha2::Sha256::new();
        hash.update(host);
        hash.update([0]);
        hash.update(session_id);
        let mut name = crate::signal::hex(&hash.finalize());
        name.truncate(32);
        Self {
            file: state_dir.join("queue").join(name),
        }
    }

    /// Returns the waiting words, oldest first.
    pub fn waiting(&self) -> Vec<String> {
        let text = fs::read_to_string(&self.file).unwrap_or_default();
        let mut words: Vec<String> = text
            .lines()
            .filter_map(|line| serde_json::from_str(line).ok())
            .collect();
        let mut bytes = 0;
        let kept = words
            .iter()
            .rev()
            .take_while(|w| {
                bytes += w.len();
                bytes <= MOST_BYTES
            })
            .count();
        words.split_off(words.len() - kept)
    }

    /// Adds words.
    pub fn add(&self, words: &str) -> io::Result<()> {
        if let Some(dir) = self.file.parent() {
            fs::create_dir_all(dir)?;
        }
        let line = serde_json::to_string(&message::cut(&secret::redact(words), MOST_BYTES / 4))?;
        let mut file = fs::OpenOptions::new()
            .create(true)
            .append(true)
            .mode(0o600)
            .open(&self.file)?;
        // One write, so that the lines of two processes do not mix.
        file.write_all(format!("{line}\n").as_bytes())
    }

    /// Forgets what was waiting, once it has gone out or the session has ended.
    pub fn clear(&self) {
        // A queue that cannot be emptied says the same again, which is the lesser evil.
        fs::remove_file(&self.file).ok();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_wait_for_their_own_session() {
        let dir = tempfile::tempdir().unwrap();
        let queue = Queue::new(dir.path(), "gemini-cli", "s1");
        assert!(queue.waiting().is_empty());
        queue.add("first\nsecond line").unwrap();
        queue.add("other").unwrap();
        assert_eq!(queue.waiting(), ["first\nsecond line", "other"]);
        assert!(
            Queue::new(dir.path(), "gemini-cli", "s2")
                .waiting()
                .is_empty()
        );
        queue.clear();
        assert!(queue.waiting().is_empty());
    }

    #[test]
    fn the_oldest_words_go_first() {
        let dir = tempfile::tempdir().unwrap();
        let queue = Queue::new(dir.path(), "h", "s");
        for n in 0..10 {
            queue
                .add(&format!("{n}{}", "x".repeat(MOST_BYTES / 5)))
                .unwrap();
        }
        let waiting = queue.waiting();
        assert!(waiting.len() < 10);
        assert!(waiting.last().unwrap().starts_with('9'));
    }
}
