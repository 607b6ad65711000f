//! The one place that prints; colours only on a terminal, a closed pipe is no error.

use std::io::Write as _;

use ahp::diagnostic;
use ahp::diagnostic::Diagnostic;
use ahp::diagnostic::SourceMap;

/// Human text or JSON.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Format {
    /// For people.
    #[default]
    Human,
    /// For programs.
    Json,
}

/// Prints a line on stdout.
pub(crate) fn line(text: impl std::fmt::Display) {
    // A reader that went away is not our fault, and there is nobody left to tell.
    writeln!(anstream::stdout().lock(), "{text}").ok();
}

/// Prints a line on stderr.
pub(crate) fn error(text: impl std::fmt::Display) {
    writeln!(anstream::stderr().lock(), "{text}").ok();
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
    writeln!(stdout, "{value}")
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

/// Whether colours are shown on stdout.
pub(crate) fn has_colours() -> bool {
    anstream::AutoStream::choice(&std::io::stdout()) != anstream::ColorChoice::Never
}

/// Returns a buffered stdout for much output; a write fails once its reader has gone away.
pub(crate) fn stream() -> impl std::io::Write {
    std::io::BufWriter::new(anstream::stdout().lock())
}

/// Returns how many columns the terminal on stdout has; none where it is no terminal.
pub(crate) fn terminal_width() -> Option<u16> {
    rustix::termios::tcgetwinsize(std::io::stdout())
        .ok()
        .map(|size| size.ws_col)
        .filter(|columns| *columns > 0)
}
