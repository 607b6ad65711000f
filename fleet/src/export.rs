//! ahp-fleet export: the records that `ahp log export` lets pass, as tables or events for other programs.

use std::io::{self, BufRead as _, BufWriter, Write};
use std::path::PathBuf;
use std::process::ExitCode;

use ahp::config::{Config, Environment, Locations};
use ahp::signal_log::{BadRecord, LogPlace, Reader, Record, known_logs};
use serde_json::Value;

use crate::batch::{Batch, Cutter};
use crate::disk::{self, Mode};
use crate::error::FleetError;
use crate::identity::Identity;
use crate::rows::Maker;
use crate::{lake, ocsf, otlp, settings, tell};

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The form
    #[arg(long, value_enum)]
    format: Format,
    /// The log that the records are of
    #[arg(long, value_name = "PATH")]
    log: PathBuf,
    /// The directory to write the tables into
    #[arg(long, value_name = "DIR", required_if_eq("format", "parquet"))]
    to: Option<PathBuf>,
    /// Every evaluation as OTLP, not only those that were stopped
    #[arg(long)]
    all: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum Format {
    /// Parquet files, a directory for each table and day
    Parquet,
    /// Log records of OpenTelemetry, one request a line
    Otlp,
    /// Detection Findings of OCSF 1.9, one a line
    Ocsf,
}

pub(crate) fn run(environment: &Environment, args: &Args) -> Result<ExitCode, FleetError> {
    let settings = settings(environment)?;
    // Team and repository are those of the log's own project, wherever this is run.
    let project = known_logs(&crate::state_dir(environment)?)
        .unwrap_or_default()
        .into_iter()
        .find(|log| log.path == args.log)
        .and_then(|log| log.project);
    let of_log = Locations::find(
        environment,
        project.as_deref().or_else(|| args.log.parent()),
    );
    let team = Config::load(&of_log).config.settings.team;
    let identity = Identity::find(environment, &settings, team, Some(&of_log.project_root))?;
    let first = Reader::open(LogPlace::from(&args.log))?.hash_of(1)?;
    let log_id = identity.log_id(&args.log, 0, first.as_deref());
    let mut out = BufWriter::new(io::stdout().lock());
    let mut cutter = Cutter::default();
    let mut bad = 0_u64;
    let mut write = |batch: Option<Batch>| {
        batch.map_or(Ok(()), |batch| {
            write(args, &identity, &log_id, &batch, &mut out)
        })
    };
    for line in io::stdin().lock().split(b'\n') {
        let line =
            line.map_err(|error| FleetError::io("read", "standard input".as_ref(), error))?;
        match read(&line) {
            Ok(record) => write(cutter.push(record))?,
            Err(_) => bad += 1,
        }
    }
    write(cutter.finish())?;
    if bad > 0 {
        tell(&format!(
            "{bad} lines are not records that count, and were left out"
        ));
        return Ok(ExitCode::FAILURE);
    }
    Ok(ExitCode::SUCCESS)
}

fn read(line: &[u8]) -> Result<Record, BadRecord> {
    Record::read(line)
}

fn write(
    args: &Args,
    identity: &Identity,
    log_id: &str,
    batch: &Batch,
    out: &mut impl Write,
) -> Result<(), FleetError> {
    let mut maker = Maker::new(identity, log_id);
    batch.records.iter().for_each(|record| maker.add(record));
    let lines = match args.format {
        Format::Otlp => vec![otlp::request(&maker, identity, log_id, args.all)],
        Format::Ocsf => ocsf::findings(&batch.records, &maker, identity, log_id),
        Format::Parquet => {
            let to = args.to.as_deref().unwrap_or(".".as_ref());
            for file in lake::files(&maker.tables(), &batch.about(log_id, 0))? {
                disk::write_whole(&to.join(&file.path), &file.bytes, Mode::Shared)?;
            }
            return Ok(());
        }
    };
    let written = lines.iter().try_for_each(|line: &Value| {
        serde_json::to_writer(&mut *out, line)?;
        out.write_all(b"\n")
    });
    match written {
        // Whoever reads has seen enough.
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        written => {
            written.map_err(|error| FleetError::io("write", "standard output".as_ref(), error))
        }
    }
}
