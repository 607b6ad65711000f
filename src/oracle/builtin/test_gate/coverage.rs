//! Reads coverage reports: lcov, Cobertura, Clover, JaCoCo, llvm-cov JSON, coverage.py JSON, istanbul's summary, Go's profile.

use roxmltree::Node;
use serde_json::Value;

use crate::oracle::toolchain;

/// How many lines of a project its tests reach.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Coverage {
    /// Lines that tests reach.
    pub(super) covered: u64,
    /// Lines that could be reached.
    pub(super) total: u64,
    /// The same for each file, where the report tells.
    pub(super) files: Vec<FileCoverage>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct FileCoverage {
    /// The file, as the report writes it.
    pub(super) path: String,
    /// Lines that tests reach.
    pub(super) covered: u64,
    /// Lines that could be reached.
    pub(super) total: u64,
}

impl Coverage {
    /// Returns the covered share in percent; none where there is nothing to cover.
    pub(super) fn percent(&self) -> Option<f64> {
        percent(self.covered, self.total)
    }

    fn count(&mut self, (covered, total): (u64, u64)) {
        self.covered += covered;
        self.total += total;
    }

    /// Sums up parts in the order of their files: so many lines, and whether tests reach them.
    fn of<'p>(parts: impl Iterator<Item = (&'p str, u64, bool)>) -> Self {
        let mut sum = Self::default();
        for (path, lines, hit) in parts {
            let covered = if hit { lines } else { 0 };
            match sum.files.last_mut().filter(|last| last.path == path) {
                Some(file) => {
                    file.covered += covered;
                    file.total += lines;
                }
                None => sum.list(path, Some((covered, lines))),
            }
            sum.count((covered, lines));
        }
        sum
    }

    /// Lists a file whose lines are in the sums, or come into them by themselves.
    fn list(&mut self, path: &str, figures: Option<(u64, u64)>) {
        let (covered, total) = figures.unwrap_or_default();
        let path = path.to_owned();
        self.files.push(FileCoverage {
            path,
            covered,
            total,
        });
    }
}

impl FileCoverage {
    /// Returns the covered share in percent; none where there is nothing to cover.
    pub(super) fn percent(&self) -> Option<f64> {
        percent(self.covered, self.total)
    }
}

#[expect(clippy::cast_precision_loss, reason = "line counts are far below 2^52")]
fn percent(covered: u64, total: u64) -> Option<f64> {
    (total > 0).then(|| 100.0 * covered as f64 / total as f64)
}

/// Reads a report of any known format, told by its content; the error says what is wrong with it.
pub(super) fn read(bytes: &[u8]) -> Result<Coverage, String> {
    let text = std::str::from_utf8(bytes).map_err(|e| format!("it is not UTF-8: {e}"))?;
    let text = text.strip_prefix('\u{feff}').unwrap_or(text).trim_start();
    if text.starts_with('<') {
        xml(text)
    } else if text.starts_with('{') {
        json(text)
    } else if text.starts_with("mode: ") {
        Ok(go_profile(text))
    } else if text.lines().any(|line| line.starts_with("SF:")) {
        Ok(lcov(text))
    } else {
        Err("it is none of lcov, Cobertura, Clover, JaCoCo, llvm-cov JSON, coverage.py JSON, an istanbul summary, a Go profile".to_owned())
    }
}

fn lcov(text: &str) -> Coverage {
    let mut coverage = Coverage::default();
    let mut path = String::new();
    let (mut found, mut hit) = (None::<u64>, None::<u64>);
    let mut lines = std::collections::BTreeMap::<u64, bool>::new();
    // The end of a record is missing where the report was cut off: what it has is counted all the same.
    for line in text.lines().map(str::trim).chain(["end_of_record"]) {
        let next = line.strip_prefix("SF:");
        if (next.is_some() || line == "end_of_record") && !path.is_empty() {
            let reached = lines.values().filter(|hit| **hit).count() as u64;
            let (covered, total) = match (hit.take(), found.take()) {
                (Some(hit), Some(found)) => (hit, found),
                _ => (reached, lines.len() as u64),
            };
            coverage.list(&std::mem::take(&mut path), Some((covered, total)));
            coverage.count((covered, total));
            lines.clear();
        }
        if let Some(file) = next {
            file.clone_into(&mut path);
        } else if let Some(data) = line.strip_prefix("DA:") {
            let mut parts = data.split(',');
            let number = parts.next().and_then(|n| n.parse().ok());
            let hits = parts.next().and_then(|n| n.trim().parse::<f64>().ok());
            if let (Some(number), Some(hits)) = (number, hits) {
                *lines.entry(number).or_default() |= hits > 0.0;
            }
        } else if let Some(n) = line.strip_prefix("LF:") {
            found = n.parse().ok();
        } else if let Some(n) = line.strip_prefix("LH:") {
            hit = n.parse().ok();
        }
    }
    coverage
}

fn go_profile(text: &str) -> Coverage {
    // `example.com/sum/sum.go:3.24,5.2 1 1`: file, block, statements, hits. One block may stand there several times.
    let mut blocks = std::collections::BTreeMap::<&str, (u64, bool)>::new();
    for line in text.lines().skip(1) {
        let mut parts = line.rsplitn(3, ' ');
        let hits = parts.next().and_then(|n| n.parse::<u64>().ok());
        let statements = parts.next().and_then(|n| n.parse::<u64>().ok());
        if let (Some(hits), Some(statements), Some(block)) = (hits, statements, parts.next()) {
            let entry = blocks.entry(block).or_insert((statements, false));
            entry.1 |= hits > 0;
        }
    }
    let blocks = blocks.into_iter().map(|(block, (statements, hit))| {
        let path = block.rsplit_once(':').map_or(block, |(path, _)| path);
        (path, statements, hit)
    });
    Coverage::of(blocks)
}

fn json(text: &str) -> Result<Coverage, String> {
    let value: Value =
        serde_json::from_str(text).map_err(|e| format!("it is not well-formed JSON: {e}"))?;
    llvm_cov(&value)
        .or_else(|| coverage_py(&value))
        .or_else(|| istanbul(&value))
        .ok_or_else(|| {
            "it is none of llvm-cov's JSON, coverage.py's JSON, istanbul's coverage-summary.json"
                .to_owned()
        })
}

fn number(value: &Value, pointer: &str) -> Option<u64> {
    value.pointer(pointer)?.as_u64()
}

/// Returns the covered lines and all of them, by where they stand below a value.
fn figures(value: &Value, below: &str, [covered, total]: [&str; 2]) -> Option<(u64, u64)> {
    let at = |name| number(value, &format!("{below}/{name}"));
    Some((at(covered)?, at(total)?))
}

fn llvm_cov(value: &Value) -> Option<Coverage> {
    const NAMES: [&str; 2] = ["covered", "count"];
    if value.get("type")?.as_str()? != "llvm.coverage.json.export" {
        return None;
    }
    let mut coverage = Coverage::default();
    for data in value.get("data")?.as_array()? {
        coverage.count(figures(data, "/totals/lines", NAMES)?);
        let files = data.get("files").and_then(Value::as_array);
        for file in files.into_iter().flatten() {
            let path = file.get("filename")?.as_str()?;
            coverage.list(path, figures(file, "/summary/lines", NAMES));
        }
    }
    Some(coverage)
}

fn coverage_py(value: &Value) -> Option<Coverage> {
    const NAMES: [&str; 2] = ["covered_lines", "num_statements"];
    let files = value.get("files")?.as_object()?;
    let each = files
        .iter()
        .map(|(path, file)| (path, figures(file, "/summary", NAMES)));
    Some(listed(figures(value, "/totals", NAMES)?, each))
}

fn istanbul(value: &Value) -> Option<Coverage> {
    const NAMES: [&str; 2] = ["covered", "total"];
    let files = value
        .as_object()?
        .iter()
        .filter(|(path, _)| *path != "total");
    let each = files.map(|(path, file)| (path, figures(file, "/lines", NAMES)));
    Some(listed(figures(value, "/total/lines", NAMES)?, each))
}

fn listed<'p>(
    (covered, total): (u64, u64),
    files: impl Iterator<Item = (&'p String, Option<(u64, u64)>)>,
) -> Coverage {
    let mut coverage = Coverage {
        covered,
        total,
        files: Vec::new(),
    };
    files.for_each(|(path, figures)| coverage.list(path, figures));
    coverage
}

fn xml(text: &str) -> Result<Coverage, String> {
    let document = toolchain::xml::document(text)?;
    let root = document.root_element();
    match root.tag_name().name() {
        "coverage" if root.children().any(|c| c.has_tag_name("project")) => Ok(clover(root)),
        "coverage" => Ok(cobertura(root)),
        "report" => Ok(jacoco(root)),
        other => Err(format!(
            "its root is <{other}>; expected the <coverage> of Cobertura or Clover, or the <report> of JaCoCo"
        )),
    }
}

fn attribute(node: Node<'_, '_>, name: &str) -> Option<u64> {
    node.attribute(name)?.trim().parse().ok()
}

fn cobertura(root: Node<'_, '_>) -> Coverage {
    // A file may hold several classes, and a line may stand under its method and its class.
    let mut lines = std::collections::BTreeMap::<(&str, u64), bool>::new();
    for class in root.descendants().filter(|n| n.has_tag_name("class")) {
        let file = class.attribute("filename").unwrap_or_default();
        for line in class.descendants().filter(|n| n.has_tag_name("line")) {
            if let Some(number) = attribute(line, "number") {
                let hit = attribute(line, "hits").is_some_and(|hits| hits > 0);
                *lines.entry((file, number)).or_default() |= hit;
            }
        }
    }
    let lines = lines.into_iter().map(|((path, _), hit)| (path, 1, hit));
    let mut coverage = Coverage::of(lines);
    // The totals are what the tool itself says, where it says them.
    if let (Some(covered), Some(total)) = (
        attribute(root, "lines-covered"),
        attribute(root, "lines-valid"),
    ) {
        coverage.covered = covered;
        coverage.total = total;
    } else if coverage.total == 0
        && let Some(rate) = root
            .attribute("line-rate")
            .and_then(|r| r.parse::<f64>().ok())
    {
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "the rate is clamped"
        )]
        let covered = (rate.clamp(0.0, 1.0) * 10_000.0).round() as u64;
        coverage.covered = covered;
        coverage.total = 10_000;
    }
    coverage
}

fn clover(root: Node<'_, '_>) -> Coverage {
    let metrics = |node: Node<'_, '_>| {
        let metrics = node.children().find(|c| c.has_tag_name("metrics"))?;
        Some((
            attribute(metrics, "coveredstatements")?,
            attribute(metrics, "statements")?,
        ))
    };
    let mut coverage = Coverage::default();
    for project in root.children().filter(|n| n.has_tag_name("project")) {
        coverage.count(metrics(project).unwrap_or_default());
        for file in project.descendants().filter(|n| n.has_tag_name("file")) {
            let path = file.attribute("path").or_else(|| file.attribute("name"));
            coverage.list(path.unwrap_or_default(), metrics(file));
        }
    }
    coverage
}

fn jacoco(root: Node<'_, '_>) -> Coverage {
    let lines = |node: Node<'_, '_>| {
        let counter = node
            .children()
            .find(|c| c.has_tag_name("counter") && c.attribute("type") == Some("LINE"))?;
        let covered = attribute(counter, "covered")?;
        Some((covered, covered + attribute(counter, "missed")?))
    };
    let (covered, total) = lines(root).unwrap_or_default();
    let mut coverage = Coverage {
        covered,
        total,
        files: Vec::new(),
    };
    for source in root.descendants().filter(|n| n.has_tag_name("sourcefile")) {
        let package = source.parent().and_then(|p| p.attribute("name"));
        let name = source.attribute("name").unwrap_or_default();
        let path = format!("{}/{name}", package.unwrap_or_default());
        coverage.list(&path, lines(source));
    }
    coverage
}

#[cfg(test)]
mod tests {
    use super::*;

    fn figures(text: &str) -> (u64, u64, String) {
        let coverage = read(text.as_bytes()).unwrap();
        let first = coverage.files.first().cloned().unwrap_or_default();
        (
            coverage.covered,
            coverage.total,
            format!("{} {}/{}", first.path, first.covered, first.total),
        )
    }

    #[test]
    fn the_same_run_has_the_same_figures_in_every_format() {
        let dir = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases/coverage");
        let mut found = 0;
        for entry in std::fs::read_dir(dir).unwrap() {
            let path = entry.unwrap().path();
            let coverage = read(&std::fs::read(&path).unwrap()).unwrap();
            assert_eq!(
                (coverage.covered, coverage.total),
                (14, 15),
                "{}",
                path.display()
            );
            assert_eq!(coverage.files.len(), 2, "{}", path.display());
            found += 1;
        }
        assert_eq!(found, 3);
    }

    #[test]
    fn every_format_is_told_by_its_content() {
        let lcov = "TN:\nSF:src/a.rs\nDA:1,1\nDA:2,0\nend_of_record\nSF:src/b.rs\nDA:1,5\nLF:1\nLH:1\nend_of_record\n";
        assert_eq!(figures(lcov), (2, 3, "src/a.rs 1/2".to_owned()));
        let cut_off = "SF:src/a.rs\nDA:1,1\nend_of_record\nSF:src/b.rs\nDA:1,0\nDA:2,0\n";
        assert_eq!(figures(cut_off), (1, 3, "src/a.rs 1/1".to_owned()));
        let clover = r#"<?xml version="1.0"?><coverage generated="1" clover="3.2.0"><project><metrics statements="4" coveredstatements="3"/>
            <package name="p"><file name="a.js" path="/p/a.js"><metrics statements="4" coveredstatements="3"/></file></package></project></coverage>"#;
        assert_eq!(figures(clover), (3, 4, "/p/a.js 3/4".to_owned()));
        let cobertura = r#"<!DOCTYPE coverage SYSTEM "http://cobertura.sourceforge.net/xml/coverage-04.dtd"><coverage line-rate="0.5"><packages><package><classes>
            <class filename="a.py"><methods/><lines><line number="1" hits="1"/><line number="2" hits="0"/></lines></class></classes></package></packages></coverage>"#;
        assert_eq!(figures(cobertura), (1, 2, "a.py 1/2".to_owned()));
        let llvm = r#"{"type":"llvm.coverage.json.export","version":"2.0.1","data":[{"files":[{"filename":"/p/src/a.rs","summary":{"lines":{"count":10,"covered":8}}}],"totals":{"lines":{"count":10,"covered":8,"percent":80.0}}}]}"#;
        assert_eq!(figures(llvm), (8, 10, "/p/src/a.rs 8/10".to_owned()));
        let istanbul = r#"{"total":{"lines":{"total":4,"covered":3,"skipped":0,"pct":75}},"/p/a.js":{"lines":{"total":4,"covered":3}}}"#;
        assert_eq!(figures(istanbul), (3, 4, "/p/a.js 3/4".to_owned()));
        let go = "mode: set\nexample.com/a/a.go:3.2,5.3 2 1\nexample.com/a/a.go:7.2,9.3 2 0\nexample.com/a/a.go:7.2,9.3 2 0\n";
        assert_eq!(figures(go), (2, 4, "example.com/a/a.go 2/4".to_owned()));
        let jacoco = r#"<report name="r"><package name="com/a"><sourcefile name="A.java"><counter type="LINE" missed="1" covered="3"/></sourcefile></package><counter type="LINE" missed="1" covered="3"/></report>"#;
        assert_eq!(figures(jacoco), (3, 4, "com/a/A.java 3/4".to_owned()));
    }

    #[test]
    fn what_is_no_coverage_report_is_said_so() {
        for text in ["", "hello", "{}", "{", "<a/>", "<a"] {
            assert!(read(text.as_bytes()).is_err(), "{text}");
        }
    }
}
