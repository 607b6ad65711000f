//! Table: rows and columns of the data files, split by the compiler.

/// Returns the rows of a file with so many columns between tabs; lines that begin with `#` are comments.
#[expect(
    clippy::indexing_slicing,
    reason = "it is run by the compiler, which would tell"
)]
pub(super) const fn rows<const ROWS: usize, const COLUMNS: usize>(
    text: &'static str,
) -> [[&'static str; COLUMNS]; ROWS] {
    let mut rows = [[""; COLUMNS]; ROWS];
    let mut rest = text;
    let mut row = 0;
    while !rest.is_empty() {
        let (line, behind) = split(rest, b'\n');
        rest = behind;
        if line.as_bytes()[0] == b'#' {
            continue;
        }
        let mut columns = line;
        let mut column = 0;
        while column < COLUMNS {
            let (cell, behind) = split(columns, b'\t');
            assert!(!cell.is_empty(), "a row has too few columns");
            rows[row][column] = cell;
            columns = behind;
            column += 1;
        }
        assert!(columns.is_empty(), "a row has too many columns");
        row += 1;
    }
    assert!(row == ROWS, "a file has another number of rows");
    rows
}

/// Returns how many rows a file has.
#[expect(
    clippy::indexing_slicing,
    reason = "it is run by the compiler, which would tell"
)]
pub(super) const fn row_count(text: &str) -> usize {
    let (mut count, mut at) = (0, 0);
    let bytes = text.as_bytes();
    while at < bytes.len() {
        if (at == 0 || bytes[at - 1] == b'\n') && bytes[at] != b'#' {
            count += 1;
        }
        at += 1;
    }
    count
}

/// Returns how many entries between `|` the cells of a column have, all of them.
#[expect(
    clippy::indexing_slicing,
    reason = "it is run by the compiler, which would tell"
)]
pub(super) const fn entry_count<const ROWS: usize, const COLUMNS: usize>(
    rows: &[[&str; COLUMNS]; ROWS],
    column: usize,
) -> usize {
    let (mut count, mut row) = (0, 0);
    while row < ROWS {
        let cell = rows[row][column].as_bytes();
        count += 1;
        let mut at = 0;
        while at < cell.len() {
            if cell[at] == b'|' {
                count += 1;
            }
            at += 1;
        }
        row += 1;
    }
    count
}

/// Returns the cell of a column in the first row of a kind, and how many entries it has.
#[expect(
    clippy::indexing_slicing,
    clippy::panic,
    reason = "it is run by the compiler, which would tell"
)]
pub(super) const fn cell<const ROWS: usize, const COLUMNS: usize>(
    rows: &[[&'static str; COLUMNS]; ROWS],
    kind: &str,
    column: usize,
) -> (&'static str, usize) {
    let mut row = 0;
    while row < ROWS {
        if rows[row][0].len() == kind.len() {
            let (a, b) = (rows[row][0].as_bytes(), kind.as_bytes());
            let mut at = 0;
            while at < a.len() && a[at] == b[at] {
                at += 1;
            }
            if at == a.len() {
                return (rows[row][column], entry_count(&[[rows[row][column]]], 0));
            }
        }
        row += 1;
    }
    panic!("a file has no row of this kind")
}

/// Returns the entries of a cell.
#[expect(
    clippy::indexing_slicing,
    reason = "it is run by the compiler, which would tell"
)]
pub(super) const fn entries<const N: usize>(cell: &'static str) -> [&'static str; N] {
    let mut entries = [""; N];
    let (mut rest, mut at) = (cell, 0);
    while at < N {
        (entries[at], rest) = split(rest, b'|');
        at += 1;
    }
    entries
}

/// Returns what stands before and behind the first such byte; all of the text, where there is none.
#[expect(
    clippy::indexing_slicing,
    reason = "it is run by the compiler, which would tell"
)]
pub(super) const fn split(text: &str, byte: u8) -> (&str, &str) {
    let bytes = text.as_bytes();
    let mut at = 0;
    while at < bytes.len() && bytes[at] != byte {
        at += 1;
    }
    let (before, behind) = text.split_at(at);
    if behind.is_empty() {
        return (before, behind);
    }
    (before, behind.split_at(1).1)
}
