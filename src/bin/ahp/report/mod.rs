//! Report: verdicts in the forms that CI systems read.

mod annotation;
mod github;
mod junit;
mod sarif;

use std::fs;
use std::io;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use ahp::config::Environment;
use ahp::signal::{Intensity, Signal};
use ahp::verdict::Verdict;

pub(crate) use self::annotation::{Annotation, Annotator};

/// The variable that names the file whose Markdown GitHub shows on the page of the run.
const PAGE: &str = "GITHUB_STEP_SUMMARY";

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

/// Whether GitHub, or what speaks like it, runs this.
pub(crate) fn is_github(environment: &Environment) -> bool {
    environment.is_on("GITHUB_ACTIONS")
}

/// Writes reports.
///
/// # Errors
/// A file cannot be written.
pub(crate) fn write(reports: &[Report], verdicts: &[&Verdict]) -> Result<(), String> {
    reports.iter().try_for_each(|report| report.write(verdicts))
}

impl Report {
    fn write(&self, verdicts: &[&Verdict]) -> Result<(), String> {
        let (path, text) = match self {
            Self::Github => {
                annotation::print(&github::annotations(verdicts));
                let environment = Environment::of_process();
                let page = environment.get(PAGE).map(Path::new);
                // What earlier steps wrote there stays.
                return page.map_or(Ok(()), |page| {
                    let open = fs::OpenOptions::new().append(true).create(true).open(page);
                    let written = open
                        .and_then(|mut file| file.write_all(github::summary(verdicts).as_bytes()));
                    written.map_err(|error| failed(page, &error))
                });
            }
            Self::Sarif(path) => (path, sarif::text(verdicts)),
            Self::Junit(path) => (path, junit::text(verdicts)?),
        };
        fs::write(path, text).map_err(|error| failed(path, &error))
    }
}

fn failed(path: &Path, error: &io::Error) -> String {
    format!("cannot write `{}`: {error}", path.display())
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
