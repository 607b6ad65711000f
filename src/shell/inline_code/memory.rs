//! Memory: databases that code keeps in memory alone, which are gone when it ends.

use crate::words::{holds_any, words};

/// How code opens a database.
const OPENS: &[&str] = &[".connect(", "create_engine("];

/// What stands behind it where that is none on a disk and none of a server.
const IN_MEMORY: &[&str] = words!("memory-addresses");

/// Words by which code goes to others as well, or to files by another way.
const GOES_ELSEWHERE: &[&str] = words!("other-databases");

/// Whether every database that a piece of code opens is in memory.
pub(crate) fn only_in_memory(code: &str) -> bool {
    let mut opened = OPENS.iter().flat_map(|call| {
        code.match_indices(call)
            .filter_map(move |(at, _)| Some((code.get(..at)?, code.get(at + call.len()..)?)))
    });
    let is_one = |(before, behind): (&str, &str)| {
        let behind = behind.trim_start();
        // DuckDB opens one where it is told nothing, and an engine was told before.
        (before.ends_with("duckdb") || code.contains("create_engine(")) && behind.starts_with(')')
            || IN_MEMORY.iter().any(|text| behind.starts_with(text))
    };
    let lower = code.to_ascii_lowercase().replace("sqlite://", "");
    let goes_elsewhere = lower.contains("://") || holds_any(&lower, GOES_ELSEWHERE);
    opened.by_ref().next().is_some_and(is_one) && opened.all(is_one) && !goes_elsewhere
}

#[cfg(test)]
mod tests {
    use super::only_in_memory;

    #[test]
    fn every_database_has_to_be_in_memory() {
        for code in [
            "c = sqlite3.connect(':memory:'); c.execute('drop table t')",
            "c = duckdb.connect(); c.execute('drop table t')",
            "e = sa.create_engine(\"sqlite://\")",
        ] {
            assert!(only_in_memory(code), "{code}");
        }
        for code in [
            "c = sqlite3.connect('app.db')",
            "c = sqlite3.connect(':memory:'); d = sqlite3.connect('app.db')",
            "c = sqlite3.connect(':memory:'); c.execute(\"ATTACH 'app.db' AS a\")",
            "c = psycopg.connect()",
            "c = sqlite3.connect(':memory:'); d = MongoClient(); d.shop.drop()",
            "print(1)",
        ] {
            assert!(!only_in_memory(code), "{code}");
        }
    }
}
