//! Tests of the search for SQL: each language, its parts, and the filter.

use super::*;

fn scan(path: &str, source: &str) -> Vec<Injection> {
    super::scan(Language::of(path).unwrap(), path, source).unwrap()
}

/// A line that ends with `BAD` must be found; `BAD-n` marks the end of a call that begins n lines above.
fn marked(source: &str) -> Vec<u32> {
    let mut lines: Vec<u32> = (1_u32..)
        .zip(source.lines())
        .filter_map(|(n, line)| {
            let (_, mark) = line.rsplit_once(" BAD")?;
            Some(n - mark.strip_prefix('-').map_or(0, |n| n.parse().unwrap()))
        })
        .collect();
    lines.sort_unstable();
    lines
}

#[test]
fn each_language_has_its_injections_found_and_nothing_else() {
    let dir = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases/sql_injection");
    let mut wrong = String::new();
    let mut files = 0;
    for entry in std::fs::read_dir(dir).unwrap() {
        let path = entry.unwrap().path();
        let source = std::fs::read_to_string(&path).unwrap();
        let found: Vec<u32> = scan(path.to_str().unwrap(), &source)
            .iter()
            .map(|f| f.line)
            .collect();
        let expected = marked(&source);
        let missed: Vec<_> = expected.iter().filter(|l| !found.contains(l)).collect();
        let surplus: Vec<_> = found.iter().filter(|l| !expected.contains(l)).collect();
        if !missed.is_empty() || !surplus.is_empty() {
            wrong.push_str(&format!(
                "{}: missed {missed:?}, surplus {surplus:?}\n",
                path.display()
            ));
        }
        files += 1;
    }
    assert!(wrong.is_empty(), "{wrong}");
    assert_eq!(files, 7);
}

#[test]
fn the_filter_lets_every_injection_through() {
    let dir = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases/sql_injection");
    let mut seen = 0;
    for entry in std::fs::read_dir(dir).unwrap() {
        let path = entry.unwrap().path();
        let text = std::fs::read_to_string(&path).unwrap();
        let name = path.to_str().unwrap();
        let lines: Vec<&str> = text.lines().collect();
        for part in (1..=8).flat_map(|length| lines.windows(length)) {
            let part = part.join("\n");
            if !tree::scan(Language::of(name).unwrap(), &part).is_empty() {
                seen += 1;
                assert!(filter::may_hold_sql(&part), "{name}: {part}");
            }
        }
    }
    assert!(seen > 100, "only {seen} parts");
}

#[test]
fn a_part_of_a_file_is_understood() {
    let found = scan("a.php", "$db->query(\"SELECT * FROM t WHERE a = '$x'\");");
    assert_eq!(found.len(), 1);
    assert_eq!(
        scan("a.py", "    cur.execute(f\"DELETE FROM t WHERE a = {x}\")").len(),
        1
    );
}

#[test]
fn deep_nesting_ends() {
    let source = format!(
        "x = {}'select 1 from t where '{}",
        "(".repeat(20_000),
        ")".repeat(20_000)
    );
    scan("a.py", &source);
    let sum = vec!["'select a from b'"; 20_000].join(" + ");
    scan("a.js", &format!("db.query({sum})"));
}
