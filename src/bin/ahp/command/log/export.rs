//! ahp log export: the signals or the records for other programs.

use std::ffi::OsString;
use std::io::Write;
use std::ops::ControlFlow;
use std::path::PathBuf;

use ahp::analysis::{Entry, Filter, Passed, each_entry, each_line};
use ahp::signal_log::Reader;
use clap::ValueEnum as _;
use serde_json::Value;

use super::filter::SignalFilterArgs;
use crate::command::fleet;
use crate::exit_code::Exit;
use crate::log_file::LogFile;
use crate::output;

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    filter: SignalFilterArgs,
    /// The output format
    #[arg(long, value_enum, default_value_t)]
    format: ExportFormat,
    /// The records as they are in the log, evaluations and answers too
    #[arg(long, conflicts_with = "unanswered")]
    raw: bool,
    /// The directory for the tables of `parquet`
    #[arg(long, value_name = "DIR", required_if_eq("format", "parquet"))]
    to: Option<PathBuf>,
    /// Every evaluation as `otlp`, not only those that were stopped
    #[arg(long)]
    all: bool,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
enum ExportFormat {
    /// Comma-separated values with a head line (RFC 4180)
    Csv,
    /// One JSON object a line
    #[default]
    Ndjson,
    /// Log records of OpenTelemetry, names and ids hashed (by `ahp-fleet`)
    Otlp,
    /// Detection Findings of OCSF 1.9, names and ids hashed (by `ahp-fleet`)
    Ocsf,
    /// Tables for an engine, names and ids hashed (by `ahp-fleet`)
    Parquet,
}

/// The columns of signals as CSV: the members of the JSON.
const ENTRY_COLUMNS: &str = "timestamp,hook,intensity,source,consumed,action,id,type,binding,place,text,issue_id,session_id,host,correlation_id,consumed_at,by,inferred,refused,seq";

/// The columns of raw records as CSV; the record whole is the last.
const RAW_COLUMNS: &str =
    "seq,timestamp,kind,hook,decision,host,session_id,issue_id,binding,duration_us,record";

pub(super) fn run(log: &LogFile, args: &Args) -> Result<Exit, String> {
    let reader = log.read()?;
    let filter = args.filter.filter(&reader)?;
    if !matches!(args.format, ExportFormat::Csv | ExportFormat::Ndjson) {
        return of_many_machines(log, args, &reader, &filter);
    }
    let mut out = output::stream();
    let head = |out: &mut dyn Write, columns: &str| {
        if args.format == ExportFormat::Csv {
            write!(out, "{columns}\r\n").ok();
        }
    };
    let done = if args.raw {
        head(&mut out, RAW_COLUMNS);
        let mut passed = Passed::new(&filter);
        each_line(&reader, |bytes, line| {
            if !passed.admits(&line, |_| false) {
                return ControlFlow::Continue(());
            }
            go_on(match args.format {
                ExportFormat::Csv => raw_row(&mut out, bytes),
                _ => out.write_all(bytes).and_then(|()| out.write_all(b"\n")),
            })
        })
    } else {
        head(&mut out, ENTRY_COLUMNS);
        each_entry(&reader, &filter, |entry| {
            go_on(match args.format {
                ExportFormat::Csv => entry_row(&mut out, &entry),
                _ => serde_json::to_writer(&mut out, &entry)
                    .map_err(std::io::Error::from)
                    .and_then(|()| out.write_all(b"\n")),
            })
        })
    };
    done.map_err(|e| e.to_string())?;
    out.flush().ok();
    super::tell_of_bad_lines(reader.left_out());
    Ok(Exit::Success)
}

/// Hands the records to the program that makes tables and events of them: it filters nothing, and this makes no tables.
fn of_many_machines(
    log: &LogFile,
    args: &Args,
    reader: &Reader,
    filter: &Filter,
) -> Result<Exit, String> {
    let format = args.format.to_possible_value();
    let format = format.map_or_else(String::new, |value| value.get_name().to_owned());
    let (place, _) = log.find()?;
    let mut arguments: Vec<OsString> = vec!["export".into(), "--format".into(), format.into()];
    arguments.extend(["--log".into(), place.path().into()]);
    arguments.extend(args.to.iter().flat_map(|to| ["--to".into(), to.into()]));
    arguments.extend(args.all.then(|| "--all".into()));
    let mut child = fleet::start(&arguments)?;
    let mut passed = Passed::new(filter);
    let read = each_line(reader, |bytes, line| {
        if !passed.admits(&line, |_| false) {
            return ControlFlow::Continue(());
        }
        go_on(fleet::write_line(&mut child, bytes))
    });
    let exit = fleet::finish(child)?;
    read.map_err(|e| e.to_string())?;
    super::tell_of_bad_lines(reader.left_out());
    Ok(exit)
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
    let cells = ENTRY_COLUMNS.split(',');
    write_row(
        out,
        cells.map(|column| fields.get(column).cloned().unwrap_or_default()),
    )
}

fn raw_row(out: &mut impl Write, bytes: &[u8]) -> std::io::Result<()> {
    let record: Value = serde_json::from_slice(bytes)?;
    let whole = String::from_utf8_lossy(bytes);
    let cells = RAW_COLUMNS.split(',').map(|column| match column {
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
        // A spreadsheet would take what begins so for a formula, and run it.
        let is_formula = text.starts_with(['=', '+', '-', '@', '\t', '\r']);
        let guard = if is_formula { "'" } else { "" };
        if is_formula || text.contains(['"', ',', '\n', '\r']) {
            write!(out, "\"{guard}{}\"", text.replace('"', "\"\""))?;
        } else {
            out.write_all(text.as_bytes())?;
        }
    }
    out.write_all(b"\r\n")
}
