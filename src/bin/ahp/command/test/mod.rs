//! ahp test: runs tests of policies and oracles.

mod junit;
mod watch;

use std::collections::HashMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use ahp::diagnostic::SourceMap;
use ahp::oracle::rhai::coverage;
use ahp::policy_test::{self, Gap, Outcome, Runner, TestFile};
use serde_json::json;

use crate::exit_code::Exit;
use crate::output::{self, Format};
use crate::project;
use crate::report::{Annotation, Annotator};
use crate::view::count;

#[derive(Clone, Debug, clap::Args)]
pub(crate) struct Args {
    /// A file with tests, or a directory that contains such files; by default `.ahp` of the project
    path: Option<PathBuf>,
    /// Run only tests with this text in their name
    #[arg(long, value_name = "TEXT")]
    filter: Option<String>,
    /// Replace the expectations of failed tests by their results
    #[arg(long)]
    update: bool,
    /// Write a JUnit report
    #[arg(long, value_name = "FILE")]
    junit: Option<PathBuf>,
    /// Report to a CI system too, with the line of each failure [default there: github]
    #[arg(long, value_name = "FORMAT", value_enum)]
    report: Option<Annotator>,
    /// List the bindings, conditions and script lines that no test reached
    #[arg(long)]
    coverage: bool,
    /// Run the tests again whenever a file changes
    #[arg(long)]
    watch: bool,
    /// List the tests that pass, too
    #[arg(short, long)]
    verbose: bool,
    /// The output format
    #[arg(long, value_enum, default_value_t)]
    format: Format,
}

/// The tests of one file with what came of them.
struct Results {
    file: TestFile,
    outcomes: Vec<Option<Outcome>>,
}

pub(crate) fn run(args: &Args) -> Result<Exit, String> {
    if args.watch {
        watch::run(args)
    } else {
        once(args)
    }
}

/// Returns the project's root and where its tests are.
fn places(args: &Args) -> (PathBuf, PathBuf) {
    let around = args.path.as_deref().map(|path| {
        let dir = if path.is_dir() {
            Some(path)
        } else {
            path.parent()
        };
        dir.and_then(|dir| fs::canonicalize(dir).ok())
            .unwrap_or_default()
    });
    let root = project::locations(around.as_deref()).project_root;
    let path = args.path.clone().unwrap_or_else(|| root.join(".ahp"));
    (root, path)
}

/// Returns where the project's policy has its scripts: a test of one need not say that again.
fn script_dirs(root: &Path) -> Vec<PathBuf> {
    let locations = project::locations(Some(root));
    let of_user = locations.user_dir.as_ref().map(|dir| dir.join("oracles"));
    let engine = project::quiet_engine(locations).ok();
    let of_project = engine.map(|engine| engine.state().policy().settings().oracles.clone());
    of_project
        .unwrap_or_default()
        .into_iter()
        .chain(of_user)
        .collect()
}

/// Runs the tests once.
fn once(args: &Args) -> Result<Exit, String> {
    let started = Instant::now();
    if args.coverage {
        coverage::record();
    }
    let (root, path) = places(args);
    let told = |error: io::Error| {
        match error.kind() {
        io::ErrorKind::NotFound if args.path.is_none() => {
            "this project has no `.ahp`, where tests are looked for; `ahp init` writes a policy, and `ahp test PATH` \
             runs the tests of another place"
                .to_owned()
        }
        _ => format!("`{}`: {error}", path.display()),
    }
    };
    let files = policy_test::find_files(&path).map_err(told)?;
    let mut runner = Runner::new(&root).scripts_in(script_dirs(&root));
    let mut all = Vec::new();
    for path in files {
        let shown = SourceMap::display_name(&path, &root);
        let file = policy_test::read(&path, &shown);
        let wanted = |name: &str| {
            args.filter
                .as_ref()
                .is_none_or(|text| name.contains(text.as_str()))
        };
        let outcomes = file
            .cases
            .iter()
            .map(|case| wanted(&case.name).then(|| runner.run(&file, case)))
            .collect();
        all.push(Results { file, outcomes });
    }
    if let Some(text) = &args.filter
        && all
            .iter()
            .all(|results: &Results| results.ran().next().is_none())
    {
        return Err(format!("no test has `{text}` in its name"));
    }
    if let Some(junit) = &args.junit {
        junit::write(junit, &all).map_err(|error| format!("`{}`: {error}", junit.display()))?;
    }
    let gaps = if args.coverage {
        runner.coverage.gaps()
    } else {
        Vec::new()
    };
    match args.format {
        Format::Human => human(args, &all, &gaps, &runner, started.elapsed()),
        Format::Json => machine(&all, &gaps),
    }
    let annotations: Vec<_> = all.iter().flat_map(Results::annotations).collect();
    Annotator::print(args.report, args.format, &annotations);
    if args.update {
        for results in &all {
            update(results)?;
        }
    }
    let faulty = all.iter().any(|results| !results.file.faults.is_empty());
    let failed = all
        .iter()
        .flat_map(Results::ran)
        .any(|(_, outcome)| !outcome.passes());
    Ok(Exit::unless(faulty || (failed && !args.update)))
}

impl Results {
    /// Returns the tests that ran, with what came of them.
    fn ran(&self) -> impl Iterator<Item = (&policy_test::Case, &Outcome)> {
        let outcomes = self.file.cases.iter().zip(&self.outcomes);
        outcomes.filter_map(|(case, outcome)| Some((case, outcome.as_ref()?)))
    }

    /// Returns what a CI system shows of it: the faults of the file, and the tests that failed.
    fn annotations(&self) -> Vec<Annotation> {
        let faults = self.file.faults.iter();
        let faults = faults.map(|fault| Annotation::of_fault(fault, &self.file.sources));
        let failed = self.ran().filter(|(_, outcome)| !outcome.passes());
        let failed = failed.map(|(case, outcome)| {
            Annotation::failure(self.shown(), case.line, &case.name, told(outcome))
        });
        faults.chain(failed).collect()
    }

    fn shown(&self) -> &str {
        let first = self.file.sources.files().first();
        first.map_or("?", |source| &source.name)
    }
}

/// Says all that is not as expected.
fn told(outcome: &Outcome) -> String {
    let told = outcome.differences.iter().map(ToString::to_string);
    told.collect::<Vec<_>>().join("\n")
}

fn human(args: &Args, all: &[Results], gaps: &[Gap], runner: &Runner, took: Duration) {
    let (mut passed, mut failed) = (0, 0);
    // Each fault of a policy or script that was told, and where.
    let mut faults = HashMap::new();
    for results in all {
        for fault in &results.file.faults {
            output::line(output::diagnostic(fault, &results.file.sources));
        }
        for (case, outcome) in results.ran() {
            let place = format!("{}:{}", results.shown(), case.line);
            if outcome.passes() {
                passed += 1;
                if args.verbose {
                    output::line(format!("ok    {place} {}", case.name));
                }
                continue;
            }
            failed += 1;
            output::line(format!("FAIL  {place} {}", case.name));
            for difference in &outcome.differences {
                if difference.what == "policy" {
                    let first = faults
                        .entry(&difference.found)
                        .or_insert_with(|| place.clone());
                    if *first != place {
                        output::line(format!("        policy: the fault of {first}"));
                        continue;
                    }
                }
                for line in difference.to_string().lines() {
                    output::line(format!("        {line}"));
                }
            }
        }
    }
    if args.coverage {
        let (total, ran) = runner.coverage.bindings();
        output::line(format!("coverage: {ran} of {total} bindings ran"));
        for gap in gaps {
            output::line(format!("  {gap}"));
        }
    }
    output::line(format!(
        "{passed} passed, {failed} failed, in {}, {} ms",
        count(all.len(), "file"),
        took.as_millis()
    ));
}

fn machine(all: &[Results], gaps: &[Gap]) {
    for results in all {
        for fault in &results.file.faults {
            output::json(&fault.to_json(&results.file.sources));
        }
        for (case, outcome) in results.ran() {
            output::json(&json!({
                "file": results.shown(),
                "line": case.line,
                "name": case.name,
                "passed": outcome.passes(),
                "duration_us": u64::try_from(outcome.duration.as_micros()).unwrap_or(u64::MAX),
                "differences": outcome.differences,
            }));
        }
    }
    for gap in gaps {
        output::json(&json!({"not_reached": gap.to_string()}));
    }
}

/// Rewrites the expectations of the failed tests of a file.
fn update(results: &Results) -> Result<(), String> {
    let failed: Vec<_> = results
        .ran()
        .filter(|(_, outcome)| !outcome.passes())
        .filter_map(|(case, outcome)| Some((case, outcome.verdict.as_ref()?)))
        .collect();
    if failed.is_empty() {
        return Ok(());
    }
    let count = failed.len();
    let (text, left) = policy_test::updated(&results.file.text, failed);
    let path: &Path = &results.file.path;
    fs::write(path, text).map_err(|error| format!("`{}`: {error}", path.display()))?;
    output::line(format!(
        "{}: {} rewritten",
        results.shown(),
        count - left.len()
    ));
    for name in left {
        output::line(format!(
            "  `{name}`: its `expect` is part of a longer value: rewrite it by hand"
        ));
    }
    Ok(())
}
