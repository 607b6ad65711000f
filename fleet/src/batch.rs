//! Batch: records that leave together. Where one ends depends on the records alone, so that after a crash the same records
//! give the same batch.

use std::io;

use ahp::signal_log::{Body, Reader, Record};
use chrono::NaiveDate;
use serde::Serialize as _;

use crate::error::FleetError;
use crate::lake::About;

/// The most records of a batch.
const MOST_RECORDS: usize = 100_000;
/// The most bytes of log in a batch.
const MOST_BYTES: usize = 16 << 20;

/// Records that leave together.
#[derive(Debug, Default)]
pub(crate) struct Batch {
    pub(crate) records: Vec<Record>,
    bytes: usize,
}

impl Batch {
    /// What its files say of themselves.
    pub(crate) fn about(&self, log_id: &str, lost: u64) -> About {
        let (first, last) = (self.records.first(), self.records.last());
        About {
            log_id: log_id.to_owned(),
            first_seq: first.map_or(0, |record| record.seq),
            last_seq: last.map_or(0, |record| record.seq),
            prev: first.map_or_else(String::new, |record| record.prev.clone()),
            hash: last.map_or_else(String::new, |record| record.hash.clone()),
            lost,
        }
    }

    fn day(&self) -> Option<NaiveDate> {
        self.records
            .first()
            .map(|record| record.timestamp.date_naive())
    }
}

/// Cuts records into batches: at 100,000 records, at 16 MiB, at the end of a day (UTC), and only before an evaluation, so
/// that an evaluation and its signals leave together.
#[derive(Debug)]
pub(crate) struct Cutter {
    batch: Batch,
    most_records: usize,
}

impl Default for Cutter {
    fn default() -> Self {
        Self {
            batch: Batch::default(),
            most_records: MOST_RECORDS,
        }
    }
}

impl Cutter {
    /// Cuts at fewer records: a server may have refused so many at once.
    pub(crate) fn at(most_records: usize) -> Self {
        Self {
            batch: Batch::default(),
            most_records: most_records.clamp(1, MOST_RECORDS),
        }
    }

    /// Takes the next record; returns the batch that ends before it.
    pub(crate) fn push(&mut self, record: Record) -> Option<Batch> {
        let batch = &self.batch;
        let ends = matches!(record.body, Body::Evaluation(_))
            && (batch.records.len() >= self.most_records
                || batch.bytes >= MOST_BYTES
                || batch
                    .day()
                    .is_some_and(|day| day != record.timestamp.date_naive()));
        let ended = ends.then(|| std::mem::take(&mut self.batch));
        self.batch.bytes += length(&record);
        self.batch.records.push(record);
        ended
    }

    /// Returns what has not been returned yet.
    pub(crate) fn finish(&mut self) -> Option<Batch> {
        let rest = std::mem::take(&mut self.batch);
        (!rest.records.is_empty()).then_some(rest)
    }
}

/// Reads one batch behind a record, up to another one where it has been cut before; and how many lines did not verify.
///
/// # Errors
/// The log cannot be read.
pub(crate) fn read(
    reader: &Reader,
    behind: Option<(u64, &str)>,
    until: Option<u64>,
    most_records: Option<usize>,
) -> Result<(Option<Batch>, u64), FleetError> {
    let mut cutter = most_records.map_or_else(Cutter::default, Cutter::at);
    // What is broken behind the last record of a batch is told with the next one, which begins there.
    let (mut broken, mut since) = (0, 0);
    for record in reader.records_behind(behind) {
        match record {
            Ok(record) if until.is_some_and(|until| record.seq > until) => break,
            Ok(record) => {
                if let Some(batch) = cutter.push(record) {
                    return Ok((Some(batch), broken));
                }
                broken += std::mem::take(&mut since);
            }
            Err(error) if error.line == 0 => return Err(FleetError::Refused(error.to_string())),
            Err(_) => since += 1,
        }
    }
    Ok(match cutter.finish() {
        Some(batch) => (Some(batch), broken),
        None => (None, since),
    })
}

/// How many bytes a record has in the log.
fn length(record: &Record) -> usize {
    struct Count(usize);
    impl io::Write for Count {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0 += bytes.len();
            Ok(bytes.len())
        }
        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }
    let mut count = Count(1);
    let written = record.serialize(&mut serde_json::Serializer::new(&mut count));
    // A record was read from JSON, so it can be written as such.
    debug_assert!(written.is_ok());
    count.0
}
