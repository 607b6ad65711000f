//! Report: verdicts in the forms that CI systems read.

mod github;
mod junit;
mod sarif;

use std::fs;
use std::path::PathBuf;
use std::str::FromStr;

use ahp::signal::{Intensity, Signal};
use ahp::verdict::Verdict;

use crate::output;

/// A form of a report, and where it goes.
#[derive(Clone, Debug)]
pub(crate) enum Report {
    /// Annotations of GitHub and Forgejo, on stdout.
    Github,
    /// SARIF 2.1.0, in a file.
    Sarif(PathBuf),
    /// JUnit, in a file.
    Junit(PathBuf),
}

impl FromStr for Report {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text.split_once('=') {
            None if text == "github" => Ok(Self::Github),
            Some(("sarif", file)) if !file.is_empty() => Ok(Self::Sarif(file.into())),
            Some(("junit", file)) if !file.is_empty() => Ok(Self::Junit(file.into())),
            _ => Err("expected `github`, `sarif=FILE` or `junit=FILE`".to_owned()),
        }
    }
}

impl Report {
    /// Returns a warning in the form of GitHub that belongs to no file.
    pub(crate) fn warning_for_github(title: &str, text: &str) -> String {
        github::annotation("warning", "", title, text)
    }

    /// Writes the report.
    ///
    /// # Errors
    /// The file cannot be written.
    pub(crate) fn write(&self, verdicts: &[&Verdict]) -> Result<(), String> {
        let (path, text) = match self {
            Self::Github => {
                for line in github::annotations(verdicts) {
                    output::line(line);
                }
                return Ok(());
            }
            Self::Sarif(path) => (path, sarif::text(verdicts)),
            Self::Junit(path) => (path, junit::text(verdicts)?),
        };
        fs::write(path, text).map_err(|error| format!("cannot write `{}`: {error}", path.display()))
    }
}

/// What a signal says: its text, then each step.
fn words(signal: &Signal) -> String {
    let steps = signal
        .payload
        .steps()
        .iter()
        .map(|step| format!("- {step}"));
    let text = signal.payload.said().into_owned();
    std::iter::once(text)
        .chain(steps)
        .collect::<Vec<_>>()
        .join("\n")
}

/// Which of three levels a signal has: it stops, it warns, it only tells.
fn by_level<T>(signal: &Signal, stops: T, warns: T, tells: T) -> T {
    match signal.intensity() {
        Intensity::Block => stops,
        Intensity::Prompt if signal.asks() => stops,
        Intensity::Prompt | Intensity::Control => warns,
        Intensity::Aid => tells,
    }
}
