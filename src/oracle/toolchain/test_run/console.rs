//! What is printed by runners: libtest (`cargo test`, and each test of nextest), unittest, and whatever speaks TAP.

use super::tally::{Failure, Outcome, Tally};
use super::{go, place};

/// What an output tells of one runner.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Read {
    pub(super) tally: Tally,
    /// How the runner ended before it had run everything that it had begun.
    pub(super) cut_short: Vec<String>,
    /// What the runner itself would not print; several runners that print at once may.
    pub(super) odd: Vec<String>,
}

/// Reads an output; there is one result for each kind of runner that it tells of. Anybody may have printed it: it may show
/// that something failed, and never that anything passed.
pub(super) fn read(text: &str) -> Vec<Read> {
    let readers: [fn(&str) -> Option<Read>; 4] = [libtest, unittest, tap, go::read];
    readers.iter().filter_map(|read| read(text)).collect()
}

/// Takes ANSI escape sequences and carriage returns out of an output.
pub(super) fn plain(output: &[u8]) -> String {
    let text = String::from_utf8_lossy(output);
    let mut plain = String::with_capacity(text.len());
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '\u{1b}' if chars.peek() == Some(&'[') => {
                // The sequence ends with its first byte in `@`…`~` after the bracket.
                chars.by_ref().skip(1).find(|c| ('@'..='~').contains(c));
            }
            '\u{1b}' | '\r' => {}
            _ => plain.push(c),
        }
    }
    plain
}

/// Finds the covered share in percent: the last line of pytest-cov, istanbul's table, or what Go says of a package.
pub(super) fn coverage(text: &str) -> Option<f64> {
    let percent = |text: &str| text.trim().trim_end_matches('%').trim().parse::<f64>().ok();
    let of_line = |line: &str| {
        if let Some(rest) = line.strip_prefix("TOTAL ") {
            rest.split_whitespace().last().and_then(percent)
        } else if let Some(rest) = line.trim().strip_prefix("All files") {
            rest.split('|').nth(4).and_then(percent)
        } else {
            let (_, rest) = line.split_once("coverage: ")?;
            percent(rest.split_once(" of statements")?.0)
        }
    };
    text.lines()
        .filter_map(of_line)
        .rfind(|percent| (0.0..=100.0).contains(percent))
}

/// Returns the number before a word: `3` of `3 passed`.
fn count_before(text: &str, word: &str) -> u64 {
    let words: Vec<&str> = text
        .split([' ', ',', ';', '.'])
        .filter(|word| !word.is_empty())
        .collect();
    let at = words.iter().position(|found| *found == word);
    let number = at.and_then(|at| words.get(at.checked_sub(1)?));
    number.and_then(|number| number.parse().ok()).unwrap_or(0)
}

/// Reads what `cargo test` or nextest printed.
pub(super) fn libtest(text: &str) -> Option<Read> {
    let mut read = Read::default();
    let tally = &mut read.tally;
    let (mut seen, mut begun, mut ended) = (false, 0, 0);
    let mut of_nextest = None;
    let mut binary = None;
    // What a test itself prints stands within the run of its binary: what looks like a run there is not of this one.
    let mut open = Vec::<Section>::new();
    for line in text.lines().map(str::trim) {
        if let Some(count) = line
            .strip_prefix("running ")
            .and_then(|rest| rest.split(' ').next()?.parse::<u64>().ok())
        {
            begun += if open.is_empty() { count } else { 0 };
            let binary = binary.clone();
            open.push(Section {
                begun: count,
                binary,
                told: Vec::new(),
            });
        } else if let Some(rest) = line.strip_prefix("Running ") {
            // The next binary; the one before may have ended by itself.
            open.clear();
            // `unittests src/lib.rs (target/…)` or `tests/it.rs (target/…)`.
            let mut words = rest.split_whitespace();
            binary = words
                .find(|word| word.strip_suffix(".rs").is_some())
                .map(str::to_owned);
        } else if let Some(result) = line.strip_prefix("test result: ") {
            seen = true;
            let [passed, failed, ignored] =
                ["passed", "failed", "ignored"].map(|word| count_before(result, word));
            let all = passed + failed + ignored + count_before(result, "measured");
            // One that a test has only printed the begin of does not end.
            let at = open.iter().rposition(|section| section.begun == all);
            let later = open.split_off(at.unwrap_or_default());
            if !open.is_empty() {
                continue;
            }
            ended += all;
            tally.passed += passed;
            tally.failed += failed;
            tally.skipped += ignored;
            let told = later.iter().map(|section| section.told.len() as u64);
            if at.is_none() || told.sum::<u64>() > all {
                read.odd.push(format!(
                    "it printed `{line}`, and other tests before it than that counts"
                ));
            }
            for section in later {
                section.add_to(tally);
            }
        } else if let Some((name, result)) = line
            .strip_prefix("test ")
            .and_then(|rest| rest.split_once(" ... "))
        {
            let outcome = result.split([' ', ',']).next().unwrap_or_default();
            if ["ok", "ignored", "FAILED", "bench:"].contains(&outcome) {
                match open.last_mut() {
                    Some(section) => section.told.push((name.to_owned(), outcome.to_owned())),
                    None => read
                        .odd
                        .push(format!("it printed `{line}` outside of a run")),
                }
            }
        } else if let Some((_, sums)) = line
            .strip_prefix("Summary [")
            .and_then(|rest| rest.split_once(']'))
        {
            of_nextest = Some(sums);
        }
    }
    // What ended by itself has told of some.
    for section in open {
        section.add_to(tally);
    }
    // Nextest runs each test in a process of its own, and may try a failed one again: its own sums are the result.
    if let Some(sums) = of_nextest {
        seen = true;
        tally.passed = count_before(sums, "passed");
        tally.failed = count_before(sums, "failed") + count_before(sums, "timed");
        tally.skipped = count_before(sums, "skipped");
        tally.failures.retain(|_| tally.failed > 0);
        tally.failures.dedup();
    }
    explain(tally, text);
    let unbuilt = unbuilt(text);
    seen |= !unbuilt.is_empty() || begun > 0;
    tally.failed += unbuilt.len() as u64;
    tally.failures.extend(unbuilt);
    if begun > ended {
        read.cut_short.push(format!(
            "cargo's test process ended by itself: it began {begun} tests, and {ended} ended"
        ));
    }
    seen.then_some(read)
}

/// The run of one binary of tests: how many it said that it runs, and what it told of them.
struct Section {
    begun: u64,
    binary: Option<String>,
    told: Vec<(String, String)>,
}

impl Section {
    fn add_to(self, tally: &mut Tally) {
        for (name, outcome) in self.told {
            match outcome.as_str() {
                "ok" => _ = tally.passed_names.insert(name),
                "ignored" => _ = tally.skipped_names.insert(name),
                "FAILED" => tally.failures.push(match doc_test(&name) {
                    Some(at) => Failure::named(name).at(Some(at)),
                    None => Failure {
                        file: self.binary.clone(),
                        ..Failure::named(name)
                    },
                }),
                _ => {}
            }
        }
    }
}

/// Returns the place in a doc test's name: `src/lib.rs - add (line 4)`.
fn doc_test(name: &str) -> Option<(String, u32)> {
    let (file, rest) = name.split_once(" - ")?;
    let (_, line) = rest.rsplit_once("(line ")?;
    Some((file.to_owned(), line.split(')').next()?.parse().ok()?))
}

/// Completes failures of libtest by what their panics tell.
fn explain(tally: &mut Tally, text: &str) {
    let mut lines = text.lines();
    while let Some(line) = lines.next() {
        let told = line
            .trim_start()
            .strip_prefix("thread '")
            .and_then(|rest| rest.split_once('\''));
        let Some((name, at)) =
            told.and_then(|(name, rest)| Some((name, rest.split_once("panicked at ")?.1)))
        else {
            continue;
        };
        let message = lines.next().unwrap_or_default();
        let known = tally
            .failures
            .iter_mut()
            .find(|f| f.name == name && f.line.is_none());
        if let (Some(known), Some(at)) = (known, place::in_line(at)) {
            *known = Failure::named(name).at(Some(at)).saying(message);
        }
    }
}

/// Returns the errors of a crate that does not compile.
fn unbuilt(text: &str) -> Vec<Failure> {
    if !text.contains("error: could not compile") {
        return Vec::new();
    }
    let mut found = Vec::new();
    let mut lines = text.lines().peekable();
    while let Some(line) = lines.next() {
        let at = lines
            .peek()
            .and_then(|next| next.trim_start().strip_prefix("--> "))
            .and_then(place::in_line);
        if at.is_some() && (line.starts_with("error[") || line.starts_with("error: ")) {
            let name = format!("compile error {}", found.len() + 1);
            found.push(Failure::named(name).at(at).saying(line));
        }
    }
    if found.is_empty() {
        found.push(Failure::named("the build"));
    }
    found
}

fn unittest(text: &str) -> Option<Read> {
    let mut lines = text.lines().rev().map(str::trim);
    let verdict = lines.find(|line| {
        ["OK", "FAILED", "NO TESTS RAN"]
            .iter()
            .any(|word| line.starts_with(word))
    })?;
    let ran = lines.find_map(|line| {
        let (count, rest) = line.strip_prefix("Ran ")?.split_once(' ')?;
        rest.starts_with("test")
            .then(|| count.parse::<u64>().ok())?
    })?;
    let counts = verdict
        .split_once('(')
        .map_or("", |(_, counts)| counts.trim_end_matches(')'));
    let count = |label: &str| {
        let mut parts = counts.split(", ").filter_map(|part| part.split_once('='));
        parts
            .find(|(name, _)| *name == label)
            .and_then(|(_, n)| n.parse::<u64>().ok())
            .unwrap_or(0)
    };
    let failed = count("failures") + count("errors") + count("unexpected successes");
    // A failure that is expected proves nothing.
    let skipped = count("skipped") + count("expected failures");
    let mut tally = Tally {
        passed: ran.saturating_sub(failed + skipped),
        failed,
        skipped,
        ..Tally::default()
    };
    let mut current = None::<Failure>;
    for line in text.lines() {
        if let Some(title) = line
            .strip_prefix("FAIL: ")
            .or_else(|| line.strip_prefix("ERROR: "))
        {
            tally
                .failures
                .extend(current.replace(Failure::named(title)));
        } else if line.starts_with("Ran ") || line.starts_with("=====") {
            tally.failures.extend(current.take());
        } else if let Some(failure) = &mut current {
            if let Some((file, rest)) = line
                .trim_start()
                .strip_prefix("File \"")
                .and_then(|rest| rest.split_once("\", line "))
            {
                failure.file = Some(file.to_owned());
                failure.line = rest.split(',').next().and_then(|n| n.parse().ok());
            } else if failure.message.is_none()
                && !line.is_empty()
                && !line.starts_with([' ', '-'])
                && !line.starts_with("Traceback")
            {
                failure.message = Failure::default().saying(line).message;
            }
        }
    }
    tally.failures.extend(current);
    Some(Read {
        tally,
        ..Read::default()
    })
}

/// Reads TAP, the outermost level of it: <https://testanything.org/tap-version-14-specification.html>.
fn tap(text: &str) -> Option<Read> {
    let mut read = Read::default();
    let mut plan = None;
    let mut seen = 0;
    let (mut in_diagnostic, mut block_begins) = (false, false);
    for line in text.lines() {
        if let Some(count) = line
            .strip_prefix("1..")
            .and_then(|rest| rest.split([' ', '#']).next()?.parse::<u64>().ok())
        {
            plan = Some(plan.unwrap_or(0) + count);
        } else if let Some(why) = line.strip_prefix("Bail out!") {
            read.cut_short.push(format!("the tests bailed out:{why}"));
        } else if let Some(result) = line
            .strip_prefix("ok ")
            .or_else(|| line.strip_prefix("not ok "))
        {
            seen += 1;
            let is_bad = line.starts_with("not ok ");
            // What follows is its diagnostic: indented, commonly in YAML.
            (in_diagnostic, block_begins) = (is_bad, true);
            let (name, directive) = result.split_once(" # ").unwrap_or((result, ""));
            let name = name.trim_start_matches(|c: char| c.is_ascii_digit() || c == ' ');
            let name = name.strip_prefix("- ").unwrap_or(name);
            let directive = directive.to_ascii_uppercase();
            let is_left_out = ["SKIP", "TODO"]
                .iter()
                .any(|word| directive.starts_with(word));
            read.tally.count(
                name,
                match (is_left_out, !is_bad) {
                    (true, _) => Outcome::Skipped,
                    (false, true) => Outcome::Passed,
                    (false, false) => Outcome::Failed(Failure::named(name)),
                },
            );
        } else if !line.starts_with(' ') || line.trim() == "..." {
            in_diagnostic = false;
        } else if line.trim() == "---" {
            block_begins = false;
        } else if let Some(failure) = read.tally.failures.last_mut().filter(|_| in_diagnostic) {
            let keys = ["message: ", "error: "];
            let said = keys.iter().find_map(|key| line.trim().strip_prefix(key));
            let is_block = said.is_some_and(|said| said.starts_with(['|', '>']));
            if failure.message.is_none() && (block_begins || said.is_some() && !is_block) {
                let said = said.unwrap_or(line).trim().trim_matches(['\'', '"']);
                failure.message = Failure::default().saying(said).message;
            }
            block_begins = is_block;
            if failure.line.is_none()
                && !line.contains("node_modules")
                && let Some((file, at)) = place::in_line(line)
            {
                failure.file = Some(file);
                failure.line = Some(at);
            }
        }
    }
    let plan = plan.or_else(|| {
        text.lines()
            .any(|line| line.starts_with("TAP version "))
            .then_some(u64::MAX)
    })?;
    if seen != plan {
        let planned = if plan == u64::MAX {
            "no plan".to_owned()
        } else {
            format!("a plan of {plan}")
        };
        read.cut_short
            .push(format!("the tests told of {planned} and of {seen} results"));
    }
    Some(read)
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::Path;

    use super::*;

    /// Writes what was read as the case's `.expected` file has it.
    fn written(read: &[Read]) -> String {
        let mut text = String::new();
        for Read {
            tally, cut_short, ..
        } in read
        {
            text.push_str(&format!(
                "passed {} failed {} skipped {}\n",
                tally.passed, tally.failed, tally.skipped
            ));
            for failure in &tally.failures {
                let place = failure.place().unwrap_or_default();
                let message = failure.message.as_deref().unwrap_or_default();
                text.push_str(&format!("{} | {place} | {message}\n", failure.name));
            }
            text.extend(cut_short.iter().map(|told| format!("cut short: {told}\n")));
        }
        if text.is_empty() {
            "no test run\n".to_owned()
        } else {
            text
        }
    }

    #[test]
    fn the_output_of_each_runner_is_read_as_its_case_says() {
        let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases/test_output");
        let mut wrong = String::new();
        for entry in fs::read_dir(dir).unwrap() {
            let path = entry.unwrap().path();
            if path.extension().is_none_or(|e| e != "txt") {
                continue;
            }
            let text = plain(&fs::read(&path).unwrap());
            let mut found = written(&read(&text));
            found.extend(coverage(&text).map(|percent| format!("coverage {percent}\n")));
            let expected = fs::read_to_string(path.with_extension("expected")).unwrap_or_default();
            if found != expected {
                wrong.push_str(&format!("{}\n{found}", path.display()));
                if std::env::var_os("AHP_BLESS").is_some() {
                    fs::write(path.with_extension("expected"), found).unwrap();
                }
            }
        }
        assert!(wrong.is_empty(), "{wrong}");
    }
}
