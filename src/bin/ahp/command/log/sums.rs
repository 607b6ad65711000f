//! The option `--sums`: figures of many machines in the place of those of one log.

use std::fs;
use std::io::Read as _;
use std::path::{Path, PathBuf};

use ahp::analysis::{Gathered, Stats};

use crate::log_file::LogFile;
use crate::output;
use crate::view::count;

#[derive(Debug, Default, clap::Args)]
pub(super) struct SumsFile {
    /// Take the sums of many machines instead of a log: a file that `fleet/sums.py LAKE all` wrote, a directory with
    /// such files (*.ndjson), or `-` for standard input
    #[arg(long, value_name = "FILE", conflicts_with = "FilterArgs")]
    sums: Option<PathBuf>,
}

impl SumsFile {
    /// Reads the figures; none where those of a log are asked for.
    pub(super) fn read(&self, log: &LogFile) -> Result<Option<Stats>, String> {
        let Some(path) = &self.sums else {
            return Ok(None);
        };
        if log.is_named() {
            return Err("`--log` and `--sums` name two sources: give one of them".to_owned());
        }
        let fault = |error: String| format!("`{}`: {error}", path.display());
        let text = text(path).map_err(|error| fault(error.to_string()))?;
        let stats = Stats::of_sums(&text).map_err(fault)?;
        if let Some(gathered) = &stats.gathered {
            tell(gathered);
        }
        Ok(Some(stats))
    }
}

fn text(path: &Path) -> std::io::Result<String> {
    let mut text = String::new();
    if path.as_os_str() == "-" {
        std::io::stdin().read_to_string(&mut text)?;
        return Ok(text);
    }
    if !path.is_dir() {
        return fs::read_to_string(path);
    }
    let entries = fs::read_dir(path)?.map(|entry| Ok(entry?.path()));
    let mut files = entries.collect::<std::io::Result<Vec<_>>>()?;
    files.retain(|path| path.extension().is_some_and(|e| e == "ndjson"));
    files.sort();
    for file in files {
        text += &fs::read_to_string(file)?;
        text.push('\n');
    }
    Ok(text)
}

/// Says what makes the figures less than whole.
fn tell(gathered: &Gathered) {
    let missing: u64 = gathered.gaps.iter().map(|gap| gap.missing).sum();
    let holed = gathered.gaps.iter().filter(|gap| gap.missing > 0).count();
    if missing > 0 {
        output::error(format!(
            "{} missing from {}; `--by gaps` names them",
            are(missing, "record"),
            count(holed as u64, "log")
        ));
    }
    if !gathered.silent.is_empty() {
        let silent = count(gathered.silent.len() as u64, "machine");
        output::error(format!(
            "{silent} sent nothing for three days; `--by silent` names them"
        ));
    }
}

fn are(number: u64, what: &str) -> String {
    let verb = if number == 1 { "is" } else { "are" };
    format!("{} {verb}", count(number, what))
}
