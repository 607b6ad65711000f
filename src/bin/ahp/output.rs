//! The one place that prints; colours only on a terminal, a closed pipe is not an error.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::io::{ErrorKind, Write};
use std::sync::{Mutex, OnceLock, PoisonError};

use ahp::config::Environment;
use ahp::diagnostic;
use ahp::diagnostic::{Diagnostic, SourceMap};
use ahp::visible::{visible_beside_colours, without_commands};

/// Human text or JSON.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Format {
    /// For people.
    #[default]
    Human,
    /// For programs.
    Json,
}

/// Why something that was printed has not arrived.
static LOST: Mutex<Option<String>> = Mutex::new(None);

/// Stdout; what cannot be written to it is remembered, but for what a reader who went away leaves.
struct Stdout<W: Write>(W);

impl<W: Write> Stdout<W> {
    fn noted<T>(written: std::io::Result<T>) -> std::io::Result<T> {
        written.inspect_err(|error| {
            if !matches!(error.kind(), ErrorKind::BrokenPipe | ErrorKind::Interrupted) {
                let mut lost = LOST.lock().unwrap_or_else(PoisonError::into_inner);
                lost.get_or_insert_with(|| error.to_string());
            }
        })
    }
}

impl<W: Write> Write for Stdout<W> {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        Self::noted(self.0.write(bytes))
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Self::noted(self.0.flush())
    }
}

fn stdout() -> impl Write {
    Stdout(anstream::stdout().lock())
}

/// Says if something that was printed has not arrived, on a full disk for example; returns whether that is so.
pub(crate) fn has_lost() -> bool {
    let lost = LOST.lock().unwrap_or_else(PoisonError::into_inner).take();
    if let Some(why) = &lost {
        error(format!("ahp: the output cannot be written: {why}"));
    }
    lost.is_some()
}

/// Prints a line on stdout; what of it would steer the terminal, or a CI system that reads along, is written out.
pub(crate) fn line(text: impl std::fmt::Display) {
    let text = text.to_string();
    // A reader that went away is not our fault, and there is nobody left to tell.
    writeln!(stdout(), "{}", harmless(&text)).ok();
}

/// Puts a value into an object that is to be printed.
pub(crate) fn put(object: &mut serde_json::Value, key: &str, value: impl Into<serde_json::Value>) {
    if let Some(object) = object.as_object_mut() {
        object.insert(key.to_owned(), value.into());
    }
}

/// Prints a line on stderr; what of it would steer the terminal, or a CI system that reads along, is written out.
pub(crate) fn error(text: impl std::fmt::Display) {
    let text = text.to_string();
    writeln!(anstream::stderr().lock(), "{}", harmless(&text)).ok();
}

/// Prints a command of ours for a CI system that reads along: `::` and what stands behind it, on one line.
pub(crate) fn command(text: &str) {
    let text = visible_beside_colours(text);
    let text = without_commands(&text);
    writeln!(stdout(), "::{}", text.replace('\n', "%0A")).ok();
}

/// Returns a text that steers nobody who reads it.
fn harmless(text: &str) -> Cow<'_, str> {
    let text = visible_beside_colours(text);
    if !is_ci() {
        return text;
    }
    match without_commands(&text) {
        Cow::Borrowed(_) => text,
        Cow::Owned(text) => Cow::Owned(text),
    }
}

/// Returns a text as it is, but for what a CI system that reads along would take for a command.
pub(crate) fn without_commands_in_ci(text: &str) -> Cow<'_, str> {
    if is_ci() {
        without_commands(text)
    } else {
        Cow::Borrowed(text)
    }
}

/// Whether a CI system may read along.
fn is_ci() -> bool {
    static IS_CI: OnceLock<bool> = OnceLock::new();
    *IS_CI.get_or_init(|| Environment::of_process().is_ci())
}

/// Prints a value as one line of JSON on stdout.
pub(crate) fn json(value: &impl serde::Serialize) {
    match serde_json::to_string(value) {
        Ok(text) => line(text),
        Err(fault) => error(format!("ahp: cannot write the answer as JSON: {fault}")),
    }
}

/// Writes a value as one line of JSON on stdout, as a whole, whichever thread asks; returns whether somebody reads.
pub(crate) fn whole_line(value: &serde_json::Value) -> bool {
    let mut stdout = std::io::stdout().lock();
    writeln!(stdout, "{}", without_commands_in_ci(&value.to_string()))
        .and_then(|()| stdout.flush())
        .is_ok()
}

/// Prints why `ahp` could not do what was asked, and returns the exit code of that.
pub(crate) fn failure(reason: impl std::fmt::Display) -> crate::exit_code::Exit {
    error(format!("ahp: {reason}"));
    crate::exit_code::Exit::Failure
}

/// Draws a fault with the user's line; colours are dropped by the stream where it has none.
pub(crate) fn diagnostic(fault: &Diagnostic, sources: &SourceMap) -> String {
    diagnostic::render(fault, sources, true)
}

/// Draws faults like that, but of many that say the same only the first few.
pub(crate) fn diagnostics<'d>(
    faults: impl IntoIterator<Item = &'d Diagnostic>,
    sources: &SourceMap,
) -> Vec<String> {
    const MOST: usize = 10;
    let mut alike: BTreeMap<&str, usize> = BTreeMap::new();
    let mut drawn = Vec::new();
    for fault in faults {
        let number = alike.entry(&fault.message).or_default();
        *number += 1;
        if *number <= MOST {
            drawn.push(diagnostic(fault, sources));
        }
    }
    let further = alike.into_iter().filter(|(_, number)| *number > MOST);
    drawn.extend(further.map(|(message, number)| format!("{} more: {message}", number - MOST)));
    drawn
}

/// Whether colours are shown on stdout.
pub(crate) fn has_colours() -> bool {
    anstream::AutoStream::choice(&std::io::stdout()) != anstream::ColorChoice::Never
}

/// Returns a buffered stdout for much output; a write fails once its reader has gone away.
pub(crate) fn stream() -> impl Write {
    Door {
        out: std::io::BufWriter::new(stdout()),
        begun: Vec::new(),
    }
}

/// Returns a stderr for lines of others.
pub(crate) fn error_stream() -> impl Write {
    Door {
        out: anstream::stderr().lock(),
        begun: Vec::new(),
    }
}

/// Writes whole lines; what of them would steer the terminal is written out.
struct Door<W: Write> {
    out: W,
    /// A line that has no end yet.
    begun: Vec<u8>,
}

impl<W: Write> Write for Door<W> {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.begun.extend_from_slice(bytes);
        if let Some(end) = memchr::memrchr(b'\n', &self.begun) {
            let rest = self.begun.split_off(end + 1);
            let lines = std::mem::replace(&mut self.begun, rest);
            let lines = String::from_utf8_lossy(&lines);
            self.out.write_all(harmless(&lines).as_bytes())?;
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        let rest = std::mem::take(&mut self.begun);
        let rest = String::from_utf8_lossy(&rest);
        self.out.write_all(harmless(&rest).as_bytes())?;
        self.out.flush()
    }
}

impl<W: Write> Drop for Door<W> {
    fn drop(&mut self) {
        self.flush().ok();
    }
}

/// Returns how many columns the terminal on stdout has; none where it is not a terminal.
pub(crate) fn terminal_width() -> Option<u16> {
    rustix::termios::tcgetwinsize(std::io::stdout())
        .ok()
        .map(|size| size.ws_col)
        .filter(|columns| *columns > 0)
}
