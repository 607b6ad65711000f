//! Lake: the directory of gathered tables, and its Parquet files: what they are called, how they are written and read.
//!
//! `TABLE/date=YYYY-MM-DD/LOGID-FIRSTSEQ-LASTSEQ.parquet`, the date that of the records (UTC). The same records give the
//! same bytes under the same name, so that a file that is sent twice is one file.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use chrono::{DateTime, NaiveDate};
use parquet::basic::{Compression, ZstdLevel};
use parquet::column::reader::{ColumnReader, ColumnReaderImpl};
use parquet::data_type::{BoolType, ByteArray, ByteArrayType, DataType, Int32Type, Int64Type};
use parquet::errors::ParquetError;
use parquet::file::metadata::KeyValue;
use parquet::file::properties::WriterProperties;
use parquet::file::reader::{FileReader as _, SerializedFileReader};
use parquet::file::writer::{SerializedColumnWriter, SerializedFileWriter};
use parquet::schema::parser::parse_message_type;
use serde::{Deserialize, Serialize};

use crate::error::FleetError;
use crate::table::{Cell, Column, Kind, Rows, SCHEMA, Table};

/// The most rows of one row group.
const ROW_GROUP: usize = 100_000;

/// The key under which a file of several batches lists what each says.
const BATCHES: &str = "ahp.batches";

/// What a file says of itself beside its rows: which batch of which log it is of.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(crate) struct About {
    pub(crate) log_id: String,
    pub(crate) first_seq: u64,
    pub(crate) last_seq: u64,
    /// The `prev` of the first record and the `hash` of the last: what the batch is chained to.
    pub(crate) prev: String,
    pub(crate) hash: String,
    /// How many records before it were gone before they could be shipped.
    pub(crate) lost: u64,
}

impl About {
    /// Whether a batch follows this one without a hole.
    fn is_followed_by(&self, next: &Self) -> bool {
        self.log_id == next.log_id
            && self.last_seq + 1 == next.first_seq
            && self.hash == next.prev
            && next.lost == 0
    }
}

/// Returns batches in the order of logs and records, each once, and those that follow each other without a hole as one.
pub(crate) fn joined(mut batches: Vec<About>) -> Vec<About> {
    batches.sort();
    batches.dedup();
    let mut all: Vec<About> = Vec::new();
    for next in batches {
        match all.last_mut().filter(|last| last.is_followed_by(&next)) {
            Some(last) => (last.last_seq, last.hash) = (next.last_seq, next.hash),
            None => all.push(next),
        }
    }
    all
}

/// One file of a lake that is to be put somewhere.
#[derive(Clone, Debug)]
pub(crate) struct LakeFile {
    /// Where it lies below the lake.
    pub(crate) path: String,
    pub(crate) bytes: Vec<u8>,
}

impl LakeFile {
    /// The table and the day that it is of; an event has none.
    pub(crate) fn part(&self) -> Option<&str> {
        self.path.rsplit_once('/').map(|(part, _)| part)
    }
}

/// Makes the files of a batch: one for each table and day that has rows.
///
/// # Errors
/// A row does not fit its table, which would be a fault of this program.
pub(crate) fn files(tables: &[&Rows], about: &About) -> Result<Vec<LakeFile>, FleetError> {
    let mut files = Vec::new();
    for rows in tables {
        for (day, rows) in by_day(rows) {
            let path = format!(
                "{}/date={day}/{}-{}-{}.parquet",
                rows.table.name, about.log_id, about.first_seq, about.last_seq
            );
            let bytes =
                encode(&rows, std::slice::from_ref(about)).map_err(|error| FleetError::Table {
                    verb: "written",
                    path: path.clone().into(),
                    error: error.to_string(),
                })?;
            files.push(LakeFile { path, bytes });
        }
    }
    Ok(files)
}

fn by_day(rows: &Rows) -> BTreeMap<NaiveDate, Rows> {
    let mut days = BTreeMap::new();
    for row in &rows.rows {
        let micros = rows.cell(row, "time").as_int().unwrap_or_default();
        let day = DateTime::from_timestamp_micros(micros)
            .unwrap_or_default()
            .date_naive();
        days.entry(day)
            .or_insert_with(|| Rows::of(rows.table))
            .rows
            .push(row.clone());
    }
    days
}

/// Writes rows as a Parquet file.
///
/// # Errors
/// A row does not fit its table.
pub(crate) fn encode(rows: &Rows, batches: &[About]) -> Result<Vec<u8>, ParquetError> {
    let mut writer = Writer::new(Vec::new(), rows.table)?;
    for group in rows.rows.chunks(ROW_GROUP) {
        writer.write(group)?;
    }
    writer.finish(batches)
}

/// Writes a Parquet file: zstd at level 3, dictionaries, row groups of up to 100,000 rows.
pub(crate) struct Writer<W: Write + Send> {
    table: &'static Table,
    to: SerializedFileWriter<W>,
    waiting: Vec<Vec<Cell>>,
    written: usize,
}

impl<W: Write + Send> Writer<W> {
    pub(crate) fn new(to: W, table: &'static Table) -> Result<Self, ParquetError> {
        let properties = WriterProperties::builder()
            .set_compression(Compression::ZSTD(ZstdLevel::try_new(3)?))
            .set_dictionary_enabled(true)
            .set_created_by(concat!("ahp-fleet ", env!("CARGO_PKG_VERSION")).to_owned())
            .build();
        let schema = Arc::new(parse_message_type(&schema(table))?);
        Ok(Self {
            table,
            to: SerializedFileWriter::new(to, schema, Arc::new(properties))?,
            waiting: Vec::new(),
            written: 0,
        })
    }

    /// Adds a row; it is written with the others of its group.
    pub(crate) fn push(&mut self, row: Vec<Cell>) -> Result<(), ParquetError> {
        self.waiting.push(row);
        if self.waiting.len() == ROW_GROUP {
            let group = std::mem::take(&mut self.waiting);
            self.write(&group)?;
        }
        Ok(())
    }

    /// How many rows it has.
    pub(crate) const fn rows(&self) -> usize {
        self.written + self.waiting.len()
    }

    /// How many bytes were written, without the rows that wait.
    pub(crate) fn bytes(&self) -> u64 {
        u64::try_from(self.to.bytes_written()).unwrap_or(u64::MAX)
    }

    fn write(&mut self, group: &[Vec<Cell>]) -> Result<(), ParquetError> {
        self.written += group.len();
        let mut group_writer = self.to.next_row_group()?;
        for (place, column) in self.table.columns().enumerate() {
            let Some(mut to) = group_writer.next_column()? else {
                break;
            };
            let cells = group
                .iter()
                .map(|row| row.get(place).unwrap_or(&Cell::Null));
            write_column(&mut to, *column, cells)?;
            to.close()?;
        }
        group_writer.close()?;
        Ok(())
    }

    /// Ends the file with what it says of itself.
    pub(crate) fn finish(mut self, batches: &[About]) -> Result<W, ParquetError> {
        let rest = std::mem::take(&mut self.waiting);
        if !rest.is_empty() {
            self.write(&rest)?;
        }
        let mut metadata = vec![("ahp.schema", SCHEMA.to_string())];
        match batches {
            [about] => metadata.extend([
                ("ahp.log_id", about.log_id.clone()),
                ("ahp.first_seq", about.first_seq.to_string()),
                ("ahp.last_seq", about.last_seq.to_string()),
                ("ahp.prev", about.prev.clone()),
                ("ahp.hash", about.hash.clone()),
                ("ahp.lost", about.lost.to_string()),
            ]),
            batches => {
                let listed = serde_json::to_string(batches);
                let listed = listed.map_err(|error| ParquetError::External(Box::new(error)))?;
                metadata.push((BATCHES, listed));
            }
        }
        for (key, value) in metadata {
            let pair = KeyValue::new(key.to_owned(), value);
            self.to.append_key_value_metadata(pair);
        }
        self.to.into_inner()
    }
}

/// Returns the schema of a table in the words of Parquet.
fn schema(table: &Table) -> String {
    let columns = table.columns().map(|column| {
        let repetition = if column.is_required {
            "required"
        } else {
            "optional"
        };
        let (kind, annotation) = match column.kind {
            Kind::Text => ("binary", " (UTF8)"),
            Kind::Int64 => ("int64", ""),
            Kind::Int32 => ("int32", ""),
            Kind::Bool => ("boolean", ""),
            Kind::Time => ("int64", " (TIMESTAMP(MICROS,true))"),
        };
        format!("{repetition} {kind} {}{annotation};", column.name)
    });
    let columns: Vec<String> = columns.collect();
    format!("message {} {{ {} }}", table.name, columns.join(" "))
}

fn write_column<'c>(
    to: &mut SerializedColumnWriter<'_>,
    column: Column,
    cells: impl Iterator<Item = &'c Cell> + Clone,
) -> Result<(), ParquetError> {
    match column.kind {
        Kind::Text => write::<ByteArrayType>(to, column, cells, |cell| {
            cell.as_text().map(ByteArray::from)
        }),
        Kind::Int64 | Kind::Time => write::<Int64Type>(to, column, cells, Cell::as_int),
        Kind::Int32 => write::<Int32Type>(to, column, cells, |cell| {
            cell.as_int().map(|n| i32::try_from(n).unwrap_or(i32::MAX))
        }),
        Kind::Bool => write::<BoolType>(to, column, cells, |cell| match cell {
            Cell::Bool(is) => Some(*is),
            _ => None,
        }),
    }
}

fn write<'c, T: DataType>(
    to: &mut SerializedColumnWriter<'_>,
    column: Column,
    cells: impl Iterator<Item = &'c Cell> + Clone,
    value: impl Fn(&Cell) -> Option<T::T>,
) -> Result<(), ParquetError> {
    let levels: Vec<i16> = cells
        .clone()
        .map(|cell| i16::from(*cell != Cell::Null))
        .collect();
    let values: Vec<T::T> = cells.filter_map(value).collect();
    let levels = (!column.is_required).then_some(levels.as_slice());
    to.typed::<T>().write_batch(&values, levels, None)?;
    Ok(())
}

/// A file of a table, of which the rows are read group by group.
pub(crate) struct Source {
    path: PathBuf,
    table: &'static Table,
    reader: SerializedFileReader<File>,
    /// What it says that it is of.
    pub(crate) batches: Vec<About>,
    next: usize,
}

impl Source {
    /// Opens it.
    ///
    /// # Errors
    /// It cannot be read, is torn, or has a newer schema than this program knows.
    pub(crate) fn open(path: &Path, table: &'static Table) -> Result<Self, FleetError> {
        let fault = |error: String| of_reading(path, error);
        let file = File::open(path).map_err(|error| FleetError::io("read", path, error))?;
        let reader = SerializedFileReader::new(file).map_err(|error| fault(error.to_string()))?;
        let metadata = reader.metadata().file_metadata();
        let told = metadata.key_value_metadata().map_or(&[][..], Vec::as_slice);
        let value = |key: &str| {
            let pair = told.iter().find(|pair| pair.key == key);
            pair.and_then(|pair| pair.value.clone()).unwrap_or_default()
        };
        match value("ahp.schema").parse::<u32>() {
            Ok(version) if version <= SCHEMA => {}
            Ok(version) => {
                return Err(fault(format!(
                    "it has tables of version {version}, and this program knows {SCHEMA}"
                )));
            }
            Err(_) => return Err(fault("it is not a table of `ahp`".to_owned())),
        }
        let batches = match value(BATCHES).as_str() {
            "" => vec![About {
                log_id: value("ahp.log_id"),
                first_seq: value("ahp.first_seq").parse().unwrap_or_default(),
                last_seq: value("ahp.last_seq").parse().unwrap_or_default(),
                prev: value("ahp.prev"),
                hash: value("ahp.hash"),
                lost: value("ahp.lost").parse().unwrap_or_default(),
            }],
            listed => serde_json::from_str(listed).map_err(|error| fault(error.to_string()))?,
        };
        Ok(Self {
            path: path.to_owned(),
            table,
            reader,
            batches,
            next: 0,
        })
    }

    /// Returns the rows of the next group; none behind the last.
    ///
    /// # Errors
    /// The file is torn.
    pub(crate) fn next_group(&mut self) -> Result<Option<Vec<Vec<Cell>>>, FleetError> {
        if self.next == self.reader.num_row_groups() {
            return Ok(None);
        }
        self.next += 1;
        let rows = self.group(self.next - 1);
        rows.map(Some)
            .map_err(|error| of_reading(&self.path, error.to_string()))
    }

    fn group(&self, number: usize) -> Result<Vec<Vec<Cell>>, ParquetError> {
        let group = self.reader.get_row_group(number)?;
        let count = usize::try_from(group.metadata().num_rows()).unwrap_or_default();
        let mut rows = vec![Vec::with_capacity(self.table.columns().count()); count];
        for (place, column) in self.table.columns().enumerate() {
            if place >= group.num_columns() && !column.is_required {
                // It was written before the column was added.
                for row in &mut rows {
                    row.push(Cell::Null);
                }
                continue;
            }
            let cells = read_column(group.get_column_reader(place)?, *column, count)?;
            for (row, cell) in rows.iter_mut().zip(cells) {
                row.push(cell);
            }
        }
        Ok(rows)
    }
}

fn of_reading(path: &Path, error: String) -> FleetError {
    FleetError::Table {
        verb: "read",
        path: path.to_owned(),
        error,
    }
}

fn read_column(
    from: ColumnReader,
    column: Column,
    count: usize,
) -> Result<Vec<Cell>, ParquetError> {
    match from {
        ColumnReader::ByteArrayColumnReader(from) => {
            cells(from, column, count, |bytes: &ByteArray| {
                bytes.as_utf8().map(Cell::text)
            })
        }
        ColumnReader::Int64ColumnReader(from) => cells(from, column, count, |n| Ok(Cell::Int(*n))),
        ColumnReader::Int32ColumnReader(from) => {
            cells(from, column, count, |n| Ok(Cell::Int(i64::from(*n))))
        }
        ColumnReader::BoolColumnReader(from) => {
            cells(from, column, count, |is| Ok(Cell::Bool(*is)))
        }
        _ => Err(ParquetError::General(format!(
            "column `{}` has a foreign type",
            column.name
        ))),
    }
}

fn cells<T: DataType>(
    mut from: ColumnReaderImpl<T>,
    column: Column,
    count: usize,
    cell: impl Fn(&T::T) -> Result<Cell, ParquetError>,
) -> Result<Vec<Cell>, ParquetError> {
    let (mut levels, mut values) = (Vec::new(), Vec::new());
    let mut records = 0;
    while records < count {
        let asked = (!column.is_required).then_some(&mut levels);
        let (read, _, _) = from.read_records(count - records, asked, None, &mut values)?;
        if read == 0 {
            return Err(ParquetError::EOF(format!(
                "column `{}` ends early",
                column.name
            )));
        }
        records += read;
    }
    let mut values = values.iter();
    let mut next = || values.next().map_or(Ok(Cell::Null), &cell);
    if column.is_required {
        return (0..count).map(|_| next()).collect();
    }
    levels
        .iter()
        .map(|level| if *level == 0 { Ok(Cell::Null) } else { next() })
        .collect()
}

/// Reads all of a file.
#[cfg(test)]
pub(crate) fn read(path: &Path, table: &'static Table) -> Result<(Rows, Vec<About>), FleetError> {
    let (mut source, mut rows) = (Source::open(path, table)?, Rows::of(table));
    while let Some(group) = source.next_group()? {
        rows.rows.extend(group);
    }
    Ok((rows, source.batches))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::table::ALL;

    #[test]
    fn what_is_written_reads_back_and_twice_gives_the_same_bytes() {
        for table in ALL {
            let mut rows = Rows::of(table);
            for n in 0..250_i64 {
                let row = table.columns().map(|column| match column.kind {
                    _ if !column.is_required && n % 3 == 0 => Cell::Null,
                    Kind::Text => Cell::text(format!("é{}", n % 7)),
                    Kind::Bool => Cell::Bool(n % 2 == 0),
                    Kind::Int32 => Cell::Int(n),
                    Kind::Int64 | Kind::Time => Cell::Int(n << 40),
                });
                rows.rows.push(row.collect());
            }
            let about = About {
                log_id: "l".to_owned(),
                first_seq: 1,
                last_seq: 250,
                ..About::default()
            };
            let about = [about];
            let bytes = encode(&rows, &about).unwrap();
            assert_eq!(bytes, encode(&rows, &about).unwrap());
            let dir = tempfile::tempdir().unwrap();
            let path = dir.path().join("x.parquet");
            std::fs::write(&path, &bytes).unwrap();
            let (back, told) = read(&path, table).unwrap();
            assert_eq!(told, about);
            assert_eq!(back.rows, rows.rows);
            std::fs::write(&path, &bytes[..bytes.len() - 9]).unwrap();
            assert!(read(&path, table).is_err());
        }
    }
}
