//! ahp-fleet compact: makes few large files of the many small ones of past days. Readers see the old files or the new ones,
//! never both: new ones are written under dotted names, the old ones are moved aside, then the new ones are renamed in, all
//! under the lock `LAKE/.compact`, for which `sums.py` waits.

use std::fs::{self, File, TryLockError};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use ahp::analysis::parse_since;
use ahp::engine::{Clock as _, SystemClock};
use chrono::NaiveDate;
use parquet::errors::ParquetError;

use crate::error::FleetError;
use crate::lake::{self, About, Source, Writer};
use crate::table::{ALL, Cell, Table};
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
    let mut sources = Vec::new();
    for file in files {
        // Read to its end, so that a torn one is left out whole.
        let looked = Source::open(&file, table).and_then(|mut source| {
            while source.next_group()?.is_some() {}
            Ok(source.batches)
        });
        match looked {
            Ok(batches) => sources.push((file, batches)),
            Err(error) => {
                tell(&format!("left as it is: {error}"));
                is_whole = false;
            }
        }
    }
    let used: Vec<PathBuf> = sources.iter().map(|(file, _)| file.clone()).collect();
    let batches = sources.iter().flat_map(|(_, batches)| batches.clone());
    let batches = lake::joined(batches.collect());
    let mut made = Made::new(dir, table, &batches);
    let mut merged = Merged::new(table, sources);
    let mut last = None;
    while let Some((key, row)) = merged.next_row()? {
        // It came twice.
        if last.as_ref() != Some(&key) {
            made.push(&key, row)?;
            last = Some(key);
        }
    }
    let made = made.finish()?;
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

/// What rows are sorted by: log, record and place.
type Key = [Cell; 3];

/// The rows of many files in their order. A file is opened when its first row may be the next one, so that few of them, and
/// of each one group of rows, are held at once.
struct Merged {
    table: &'static Table,
    places: [Option<usize>; 3],
    /// Those that are not open yet, the first of them at the end.
    closed: Vec<(Key, PathBuf)>,
    open: Vec<Open>,
}

/// A file that is being read.
struct Open {
    source: Source,
    rows: std::iter::Peekable<std::vec::IntoIter<Vec<Cell>>>,
    key: Key,
}

impl Merged {
    fn new(table: &'static Table, sources: Vec<(PathBuf, Vec<About>)>) -> Self {
        let first = |batches: &[About]| {
            let firsts = batches.iter().map(|about| {
                let seq = i64::try_from(about.first_seq).unwrap_or(i64::MAX);
                [Cell::text(&about.log_id), Cell::Int(seq), Cell::Null]
            });
            // Of one that says nothing of itself, any row may be the first.
            firsts.min().unwrap_or([Cell::Null, Cell::Null, Cell::Null])
        };
        let mut closed: Vec<(Key, PathBuf)> = sources
            .into_iter()
            .map(|(file, batches)| (first(&batches), file))
            .collect();
        closed.sort_by(|a, b| b.cmp(a));
        Self {
            table,
            places: ["log_id", "seq", "pos"].map(|name| table.place(name)),
            closed,
            open: Vec::new(),
        }
    }

    fn next_row(&mut self) -> Result<Option<(Key, Vec<Cell>)>, FleetError> {
        loop {
            let first = (0..self.open.len()).min_by(|a, b| {
                let key = |at: &usize| self.open.get(*at).map(|open| &open.key);
                key(a).cmp(&key(b))
            });
            let key = first.and_then(|at| Some(&self.open.get(at)?.key));
            let waits = |(begins, _): &mut (Key, PathBuf)| key.is_none_or(|key| *begins <= *key);
            if let Some((_, file)) = self.closed.pop_if(waits) {
                let source = Source::open(&file, self.table)?;
                let rows = Vec::new().into_iter().peekable();
                let key = [Cell::Null, Cell::Null, Cell::Null];
                self.open.extend(self.filled(Open { source, rows, key })?);
                continue;
            }
            let Some(at) = first else {
                return Ok(None);
            };
            let mut open = self.open.swap_remove(at);
            let key = open.key.clone();
            let row = open.rows.next();
            self.open.extend(self.filled(open)?);
            if let Some(row) = row {
                return Ok(Some((key, row)));
            }
        }
    }

    /// Reads on where the rows of a group are at their end; none where all were read.
    fn filled(&self, mut open: Open) -> Result<Option<Open>, FleetError> {
        while open.rows.peek().is_none() {
            let Some(mut rows) = open.source.next_group()? else {
                return Ok(None);
            };
            rows.sort_by_cached_key(|row| self.key(row));
            open.rows = rows.into_iter().peekable();
        }
        if let Some(row) = open.rows.peek() {
            open.key = self.key(row);
        }
        Ok(Some(open))
    }

    fn key(&self, row: &[Cell]) -> Key {
        let cell = |place: Option<usize>| row.get(place?).cloned();
        self.places.map(|place| cell(place).unwrap_or(Cell::Null))
    }
}

/// The new files of a day, under dotted names.
struct Made<'m> {
    dir: &'m Path,
    table: &'static Table,
    batches: &'m [About],
    /// The one that is being written, where, and the logs of its first row and its last.
    writing: Option<(Writer<File>, PathBuf, [Cell; 2])>,
    done: Vec<(PathBuf, PathBuf)>,
}

impl<'m> Made<'m> {
    const fn new(dir: &'m Path, table: &'static Table, batches: &'m [About]) -> Self {
        Self {
            dir,
            table,
            batches,
            writing: None,
            done: Vec::new(),
        }
    }

    fn push(&mut self, [log, ..]: &Key, row: Vec<Cell>) -> Result<(), FleetError> {
        if self
            .writing
            .as_ref()
            .is_some_and(|(writer, ..)| writer.bytes() >= TARGET_BYTES)
        {
            self.close()?;
        }
        if self.writing.is_none() {
            let dotted = self
                .dir
                .join(format!(".{COMPACTED}-{}.new", self.done.len()));
            let file =
                File::create(&dotted).map_err(|error| FleetError::io("create", &dotted, error))?;
            let writer = Writer::new(file, self.table);
            let writer = writer.map_err(|error| of_writing(&dotted, &error))?;
            self.writing = Some((writer, dotted, [log.clone(), log.clone()]));
        }
        let Some((writer, dotted, [_, last])) = &mut self.writing else {
            return Ok(());
        };
        *last = log.clone();
        writer.push(row).map_err(|error| of_writing(dotted, &error))
    }

    fn close(&mut self) -> Result<(), FleetError> {
        let Some((writer, dotted, [first, last])) = self.writing.take() else {
            return Ok(());
        };
        let of_part = |about: &&About| {
            let log = Cell::text(&about.log_id);
            first <= log && log <= last
        };
        let batches: Vec<About> = self.batches.iter().filter(of_part).cloned().collect();
        let rows = writer.rows();
        let file = writer.finish(&batches);
        let file = file.map_err(|error| of_writing(&dotted, &error))?;
        file.sync_all()
            .map_err(|error| FleetError::io("write", &dotted, error))?;
        let name = format!("{COMPACTED}-{rows}-{}.parquet", self.done.len());
        self.done.push((dotted, self.dir.join(name)));
        Ok(())
    }

    fn finish(mut self) -> Result<Vec<(PathBuf, PathBuf)>, FleetError> {
        self.close()?;
        Ok(self.done)
    }
}

fn of_writing(path: &Path, error: &ParquetError) -> FleetError {
    FleetError::Table {
        verb: "written",
        path: path.to_owned(),
        error: error.to_string(),
    }
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::disk::{self, Mode};
    use crate::table::Rows;

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
    fn rows_of_many_files_come_in_their_order_and_each_once_and_few_files_are_open() {
        let dir = tempfile::tempdir().unwrap();
        let table = ALL[0];
        let mut sources = Vec::new();
        let logs = ["c", "a", "b"];
        for (log, first) in logs
            .iter()
            .flat_map(|log| [20, 0, 10, 5].map(|first| (log, first)))
        {
            let rows = of_log(log, first);
            let about = batch(log, u64::try_from(first).unwrap());
            let path = dir.path().join(format!("{log}-{first}.parquet"));
            let bytes = lake::encode(&rows, std::slice::from_ref(&about)).unwrap();
            disk::write_whole(&path, &bytes, Mode::Shared).unwrap();
            sources.push((path, vec![about]));
        }
        let mut merged = Merged::new(table, sources);
        let (mut keys, mut most_open) = (Vec::new(), 0);
        while let Some((key, _)) = merged.next_row().unwrap() {
            most_open = most_open.max(merged.open.len());
            keys.push(key);
        }
        assert_eq!((keys.len(), keys.is_sorted()), (120, true));
        keys.dedup();
        assert_eq!(keys.len(), 90);
        // Those of one log that overlap, and no other.
        assert!(most_open <= 3, "{most_open}");
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
