//! ahp log export: the signals or the records for other programs.

use std::io::Write;
use std::ops::ControlFlow;

use ahp::analysis::Entry;
use ahp::analysis::Passed;
use ahp::analysis::each_entry;
use ahp::analysis::each_line;
use serde_json::Value;

use super::filter::SignalFilterArgs;
use crate::exit_code::Exit;
use crate::log_file::LogFile;
use crate::output;

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    filter: SignalFilterArgs,
    /// The form
    #[arg(long, value_enum, default_value_t)]
    format: ExportFormat,
    /// The records as they are in the log, evaluations and answers too
    #[arg(long, conflicts_with = "unanswered")]
    raw: bool,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
enum ExportFormat {
    /// Comma-separated values with a head line (RFC 4180)
    Csv,
    /// One JSON object a line
    #[default]
    Ndjson,
}

/// The columns of signals as CSV: the members of the JSON.
const ENTRY_COLUMNS: &[&str] = &[
    "timestamp",
    "hook",
    "intensity",
    "source",
    "consumed",
    "action",
    "id",
    "type",
    "binding",
    "place",
    "text",
    "issue_id",
    "session_id",
    "host",
    "correlation_id",
    "consumed_at",
    "by",
    "inferred",
    "refused",
    "seq",
];

/// The columns of raw records as CSV; the record whole is the last.
const RAW_COLUMNS: &[&str] = &[
    "seq",
    "timestamp",
    "kind",
    "hook",
    "decision",
    "host",
    "session_id",
    "issue_id",
    "binding",
    "duration_us",
    "record",
];

pub(super) fn run(log: &LogFile, args: &Args) -> Result<Exit, String> {
    let reader = log.read()?;
    let filter = args.filter.filter()?;
    let mut out = output::stream();
    let done = if args.raw {
        if args.format == ExportFormat::Csv {
            write_row(&mut out, RAW_COLUMNS.iter().map(|c| Value::from(*c))).ok();
        }
        let mut passed = Passed::new(&filter);
        each_line(&reader, |bytes, line| {
            if !passed.admits(&line, |_| false) {
                return ControlFlow::Continue(());
            }
            go_on(match args.format {
                ExportFormat::Ndjson => out.write_all(bytes).and_then(|()| out.write_all(b"\n")),
                ExportFormat::Csv => raw_row(&mut out, bytes),
            })
        })
    } else {
        if args.format == ExportFormat::Csv {
            write_row(&mut out, ENTRY_COLUMNS.iter().map(|c| Value::from(*c))).ok();
        }
        each_entry(&reader, &filter, |entry| {
            go_on(match args.format {
                ExportFormat::Ndjson => serde_json::to_writer(&mut out, &entry)
                    .map_err(std::io::Error::from)
                    .and_then(|()| out.write_all(b"\n")),
                ExportFormat::Csv => entry_row(&mut out, &entry),
            })
        })
    };
    done.map_err(|e| e.to_string())?;
    out.flush().ok();
    Ok(Exit::Success)
}

/// Goes on until the reader of the output has seen enough.
#[expect(
    clippy::needless_pass_by_value,
    reason = "the outcome of a write is used up here"
)]
fn go_on(written: std::io::Result<()>) -> ControlFlow<()> {
    match written {
        Ok(()) => ControlFlow::Continue(()),
        Err(_) => ControlFlow::Break(()),
    }
}

fn entry_row(out: &mut impl Write, entry: &Entry) -> std::io::Result<()> {
    let fields = serde_json::to_value(entry)?;
    let cells = ENTRY_COLUMNS.iter();
    write_row(
        out,
        cells.map(|column| fields.get(column).cloned().unwrap_or_default()),
    )
}

fn raw_row(out: &mut impl Write, bytes: &[u8]) -> std::io::Result<()> {
    let record: Value = serde_json::from_slice(bytes)?;
    let whole = String::from_utf8_lossy(bytes);
    let cells = RAW_COLUMNS.iter().map(|column| match *column {
        "record" => Value::from(whole.as_ref()),
        column => record.get(column).cloned().unwrap_or_default(),
    });
    write_row(out, cells)
}

fn write_row(out: &mut impl Write, cells: impl Iterator<Item = Value>) -> std::io::Result<()> {
    for (i, cell) in cells.enumerate() {
        if i > 0 {
            out.write_all(b",")?;
        }
        let text = match cell {
            Value::Null => continue,
            Value::String(text) => text,
            other => other.to_string(),
        };
        if text.contains(['"', ',', '\n', '\r']) {
            write!(out, "\"{}\"", text.replace('"', "\"\""))?;
        } else {
            out.write_all(text.as_bytes())?;
        }
    }
    out.write_all(b"\r\n")
}
