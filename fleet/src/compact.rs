//! ahp-fleet compact: makes few large files of the many small ones of past days. Readers see the old files or the new ones,
//! never both: new ones are written under dotted names, the old ones are moved aside, then the new ones are renamed in, all
//! under the lock `LAKE/.compact`, for which `sums.py` waits.

use std::fs::{self, File, TryLockError};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use ahp::analysis::parse_since;
use ahp::engine::{Clock as _, SystemClock};
use chrono::NaiveDate;

use crate::disk::{self, Mode};
use crate::error::FleetError;
use crate::lake::{self, About};
use crate::table::{ALL, Cell, Rows, Table};
use crate::tell;

/// The size of a compacted file, as far as the sizes of its sources tell.
const TARGET_BYTES: u64 = 128 << 20;
/// What the name of a compacted file begins with, where others have the id of a log.
const COMPACTED: &str = "all";

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The directory of the lake
    lake: PathBuf,
    /// Only days before this: `2d`, or a day like 2026-02-09 (UTC)
    #[arg(long, value_name = "WHEN", default_value = "2d")]
    before: String,
}

pub(crate) fn run(args: &Args) -> Result<ExitCode, FleetError> {
    let lock_path = args.lake.join(".compact");
    let lock =
        File::create(&lock_path).map_err(|error| FleetError::io("create", &lock_path, error))?;
    match lock.try_lock() {
        Ok(()) => {}
        Err(TryLockError::WouldBlock) => {
            return Err(FleetError::Refused(
                "another process is compacting this lake".to_owned(),
            ));
        }
        Err(TryLockError::Error(error)) => return Err(FleetError::io("lock", &lock_path, error)),
    }
    let newest = parse_since(&args.before, SystemClock.now()).map_err(FleetError::Refused)?;
    let newest = newest.date_naive();
    let mut is_whole = true;
    for table in ALL {
        for (day, dir) in days(&args.lake.join(table.name))? {
            // A day has ended when the next one has begun.
            if day < newest {
                is_whole &= compact(&args.lake, table, &dir)?;
            }
        }
    }
    Ok(if is_whole {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    })
}

/// Returns the days of a table and their directories.
fn days(table: &Path) -> Result<Vec<(NaiveDate, PathBuf)>, FleetError> {
    let mut days = Vec::new();
    for path in entries(table)? {
        let name = path.file_name().and_then(|name| name.to_str());
        if let Some(day) = name.and_then(|name| name.strip_prefix("date=")?.parse().ok()) {
            days.push((day, path));
        }
    }
    days.sort();
    Ok(days)
}

fn entries(dir: &Path) -> Result<Vec<PathBuf>, FleetError> {
    if !dir.exists() {
        return Ok(Vec::new());
    }
    let read =
        fs::read_dir(dir).and_then(|entries| entries.map(|entry| Ok(entry?.path())).collect());
    read.map_err(|error| FleetError::io("read", dir, error))
}

/// Takes back what a run that did not come to its end had moved aside; returns whether there was one.
fn take_back(lake: &Path, table: &Table, dir: &Path) -> Result<bool, FleetError> {
    let is_begun = |path: &PathBuf| {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        name.starts_with(&format!(".{COMPACTED}-")) || name.starts_with(&format!("..{COMPACTED}-"))
    };
    let begun: Vec<PathBuf> = entries(dir)?.into_iter().filter(is_begun).collect();
    if begun.is_empty() {
        return Ok(false);
    }
    for file in entries(&aside(lake, table, dir))? {
        let name = file.file_name().unwrap_or_default();
        let mut to = dir.join(name);
        if to.exists() {
            // One of the new files may be in already, and be called as an older one was.
            to.set_file_name(format!("again-{}", name.to_string_lossy()));
        }
        fs::rename(&file, &to).map_err(|error| FleetError::io("move", &file, error))?;
    }
    for file in begun {
        fs::remove_file(&file).map_err(|error| FleetError::io("remove", &file, error))?;
    }
    Ok(true)
}

/// Compacts one day of one table; returns whether every file of it could be read.
fn compact(lake: &Path, table: &'static Table, dir: &Path) -> Result<bool, FleetError> {
    let was_interrupted = take_back(lake, table, dir)?;
    let is_table = |path: &PathBuf| {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        name.ends_with(".parquet") && !name.starts_with('.')
    };
    let mut files: Vec<PathBuf> = entries(dir)?.into_iter().filter(is_table).collect();
    files.sort();
    let is_compacted = |path: &PathBuf| {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        name.starts_with(&format!("{COMPACTED}-"))
    };
    if files.len() < 2 || (files.iter().all(is_compacted) && !was_interrupted) {
        return Ok(true);
    }
    let mut is_whole = true;
    let (mut rows, mut used, mut bytes) = (Rows::of(table), Vec::new(), 0);
    let (mut made, mut batches) = (Vec::new(), Vec::new());
    for file in &files {
        match lake::read(file, table) {
            Ok((read, of)) => {
                batches.extend(of);
                bytes += fs::metadata(file).map_or(0, |about| about.len());
                rows.rows.extend(read.rows);
                used.push(file.clone());
            }
            Err(error) => {
                tell(&format!("left as it is: {error}"));
                is_whole = false;
            }
        }
    }
    let parts = usize::try_from(bytes.div_ceil(TARGET_BYTES))
        .unwrap_or(1)
        .max(1);
    sort_and_drop_doubles(&mut rows);
    let batches = lake::joined(batches);
    let each = rows.rows.len().div_ceil(parts).max(1);
    for (number, part) in rows.rows.chunks(each).enumerate() {
        let part = Rows {
            table,
            rows: part.to_vec(),
        };
        let name = format!("{COMPACTED}-{}-{number}.parquet", part.rows.len());
        let encoded = lake::encode(&part, &batches_of(&part, &batches)).map_err(|error| {
            FleetError::Table {
                verb: "written",
                path: dir.join(&name),
                error: error.to_string(),
            }
        })?;
        let dotted = dir.join(format!(".{name}.new"));
        disk::write_whole(&dotted, &encoded, Mode::Shared)?;
        made.push((dotted, dir.join(name)));
    }
    move_aside(lake, dir, table, &used)?;
    for (dotted, path) in &made {
        fs::rename(dotted, path).map_err(|error| FleetError::io("rename", dotted, error))?;
    }
    tell(&format!(
        "`{}`: {} files became {}",
        dir.display(),
        used.len(),
        made.len()
    ));
    Ok(is_whole)
}

/// Returns the batches of the logs that some rows are of.
fn batches_of(part: &Rows, batches: &[About]) -> Vec<About> {
    let log = |row: Option<&Vec<Cell>>| part.cell(row.map_or(&[], Vec::as_slice), "log_id").clone();
    let (first, last) = (log(part.rows.first()), log(part.rows.last()));
    let is_of_part = |about: &&About| {
        let log = Cell::text(&about.log_id);
        first <= log && log <= last
    };
    batches.iter().filter(is_of_part).cloned().collect()
}

/// Where the files of a day go that were replaced.
fn aside(lake: &Path, table: &Table, dir: &Path) -> PathBuf {
    let day = dir.file_name().unwrap_or_default();
    lake.join(".old").join(table.name).join(day)
}

/// Moves the old files where no engine looks, and whence a person can take them back.
fn move_aside(lake: &Path, dir: &Path, table: &Table, files: &[PathBuf]) -> Result<(), FleetError> {
    let aside = aside(lake, table, dir);
    fs::create_dir_all(&aside).map_err(|error| FleetError::io("create", &aside, error))?;
    for file in files {
        let to = aside.join(file.file_name().unwrap_or_default());
        fs::rename(file, &to).map_err(|error| FleetError::io("move", file, error))?;
    }
    Ok(())
}

/// Sorts by log, record and place, and drops rows that came twice.
fn sort_and_drop_doubles(rows: &mut Rows) {
    let places: Vec<usize> = ["log_id", "seq", "pos"]
        .iter()
        .filter_map(|name| rows.table.place(name))
        .collect();
    let key = |row: &Vec<Cell>| -> Vec<Cell> {
        let cell = |place: &usize| row.get(*place).cloned().unwrap_or(Cell::Null);
        places.iter().map(cell).collect()
    };
    rows.rows.sort_by_cached_key(&key);
    rows.rows.dedup_by(|a, b| key(a) == key(b));
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Ten records of a log, each a row of the evaluations.
    fn part(first: i64) -> Rows {
        of_log("l", first)
    }

    fn of_log(log_id: &str, first: i64) -> Rows {
        let table = ALL[0];
        let mut rows = Rows::of(table);
        for seq in first..first + 10 {
            let row = table.columns().map(|column| match column.name {
                "seq" => Cell::Int(seq),
                "log_id" | "machine" => Cell::text(log_id),
                _ if column.is_required => Cell::Int(0),
                _ => Cell::Null,
            });
            rows.rows.push(row.collect());
        }
        rows
    }

    /// The batch of a log that ten records make.
    fn batch(log_id: &str, first_seq: u64) -> About {
        About {
            log_id: log_id.to_owned(),
            first_seq,
            last_seq: first_seq + 9,
            prev: format!("h{first_seq}"),
            hash: format!("h{}", first_seq + 10),
            lost: 0,
        }
    }

    #[test]
    fn what_files_say_of_themselves_is_kept_when_they_become_one() {
        let whole = |log_id: &str, first_seq, last_seq: u64| About {
            last_seq,
            hash: format!("h{}", last_seq + 1),
            ..batch(log_id, first_seq)
        };
        let after_loss = About {
            lost: 10,
            ..batch("l", 20)
        };
        for (batches, expected) in [
            (
                vec![batch("l", 0), batch("l", 10), batch("l", 20)],
                vec![whole("l", 0, 29)],
            ),
            (
                vec![batch("l", 10), batch("l", 0), batch("l", 0)],
                vec![whole("l", 0, 19)],
            ),
            (
                vec![batch("l", 0), batch("l", 20)],
                vec![batch("l", 0), batch("l", 20)],
            ),
            (
                vec![batch("l", 0), after_loss.clone()],
                vec![batch("l", 0), after_loss],
            ),
            (
                vec![batch("m", 10), batch("l", 0)],
                vec![batch("l", 0), batch("m", 10)],
            ),
        ] {
            let dir = tempfile::tempdir().unwrap();
            let table = ALL[0];
            let day = dir.path().join(table.name).join("date=2026-02-09");
            for (n, about) in batches.iter().enumerate() {
                let rows = of_log(&about.log_id, i64::try_from(about.first_seq).unwrap());
                let bytes = lake::encode(&rows, std::slice::from_ref(about)).unwrap();
                disk::write_whole(&day.join(format!("{n}.parquet")), &bytes, Mode::Shared).unwrap();
            }
            assert!(compact(dir.path(), table, &day).unwrap());
            // And again, with what came late.
            let late = batch("z", 0);
            let bytes = lake::encode(&of_log("z", 0), std::slice::from_ref(&late)).unwrap();
            disk::write_whole(&day.join("late.parquet"), &bytes, Mode::Shared).unwrap();
            assert!(compact(dir.path(), table, &day).unwrap());
            let file = entries(&day).unwrap().remove(0);
            let (_, told) = lake::read(&file, table).unwrap();
            let expected: Vec<About> = expected.into_iter().chain([late]).collect();
            assert_eq!(told, expected, "{batches:?}");
        }
    }

    #[test]
    fn a_run_that_was_killed_between_any_two_steps_loses_nothing() {
        let whole = part(0).rows.len() * 3;
        for killed_after in 0..=5_usize {
            let dir = tempfile::tempdir().unwrap();
            let table = ALL[0];
            let day = dir.path().join(table.name).join("date=2026-02-09");
            for first in [0, 10, 20] {
                let bytes = lake::encode(&part(first), &[]).unwrap();
                let path = day.join(format!("l-{first}-{}.parquet", first + 9));
                disk::write_whole(&path, &bytes, Mode::Shared).unwrap();
            }
            // The steps of a run: a half-written file, a whole one, the three moved aside, the new one renamed in.
            let new = day.join(".all-30-0.parquet.new");
            fs::write(day.join("..all-30-0.parquet.new.7"), b"PAR1").unwrap();
            let aside = aside(dir.path(), table, &day);
            fs::create_dir_all(&aside).unwrap();
            if killed_after > 0 {
                let mut all = part(0);
                all.rows
                    .extend(part(10).rows.into_iter().chain(part(20).rows));
                let bytes = lake::encode(&all, &[]).unwrap();
                disk::write_whole(&new, &bytes, Mode::Shared).unwrap();
            }
            for first in [0, 10, 20]
                .into_iter()
                .take(killed_after.saturating_sub(1).min(3))
            {
                let name = format!("l-{first}-{}.parquet", first + 9);
                fs::rename(day.join(&name), aside.join(&name)).unwrap();
            }
            if killed_after == 5 {
                fs::rename(&new, day.join("all-30-0.parquet")).unwrap();
            }
            assert!(compact(dir.path(), table, &day).unwrap());
            let mut files = entries(&day).unwrap();
            assert_eq!(files.len(), 1, "{killed_after}: {files:?}");
            let (rows, _) = lake::read(&files.remove(0), table).unwrap();
            assert_eq!(rows.rows.len(), whole, "{killed_after}");
        }
    }
}
