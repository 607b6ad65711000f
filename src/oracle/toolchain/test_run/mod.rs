//! Test runs: a project's own test runners, found, run, and read by the reports that they write.

mod aside;
mod console;
mod files;
mod find;
mod go;
mod jest;
mod junit;
mod name;
mod place;
mod replaced;
mod reports;
mod tally;
mod told;

pub(in crate::oracle) use self::aside::Aside;
pub(in crate::oracle) use self::files::CODE;
pub(in crate::oracle) use self::files::TEST_FILES;
pub(in crate::oracle) use self::files::expand;
pub(in crate::oracle) use self::files::holds_tests;
pub(in crate::oracle) use self::files::is_test_attribute;
pub(in crate::oracle) use self::files::times;
pub(in crate::oracle) use self::find::find;
pub(in crate::oracle) use self::junit::read as read_junit;
pub(in crate::oracle) use self::name::fixed;
pub(in crate::oracle) use self::name::is_meant;
pub(in crate::oracle) use self::name::short;
pub(in crate::oracle) use self::name::template;
pub(in crate::oracle) use self::replaced::Replaced;
pub(in crate::oracle) use self::tally::Failure;
pub(in crate::oracle) use self::tally::Tally;

use std::collections::BTreeSet;
use std::path::Path;

use self::find::{JVM_MANIFESTS, JVM_REPORTS};
use self::reports::{Reports, manifest_above};
use crate::oracle::toolchain::relative;
use crate::oracle::wording::shortened;
use crate::oracle::{HookContext, OracleError, toolchain};
use crate::process::Exit;

/// How much of a run's output is kept; the sums stand at its end, so that it must be much.
const MAX_OUTPUT: usize = 64 << 20;

/// One test run that a project offers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::oracle) struct Runner {
    /// The command line.
    pub(in crate::oracle) command: String,
    /// The JUnit reports that it is said to write, as paths or globs: where there are any, they alone tell of the run.
    pub(in crate::oracle) reports: Vec<String>,
}

/// What became of a run.
#[derive(Clone, Debug)]
pub(in crate::oracle) struct TestRun {
    /// How the command line ended.
    pub(in crate::oracle) exit: Exit,
    /// The tests; none where nothing tells of any.
    pub(in crate::oracle) tally: Option<Tally>,
    /// How a runner ended before it had run and reported everything.
    pub(in crate::oracle) cut_short: Vec<String>,
    /// The runners that reported; `jvm` for those of Maven and Gradle, which write what lies in the project.
    pub(in crate::oracle) runners: BTreeSet<String>,
    /// The files of tests, and the manifests, that ran, as far as the runners tell: outside of the project whole paths.
    pub(in crate::oracle) places: BTreeSet<String>,
    /// Reports that nobody can have made who may, with the reason.
    pub(in crate::oracle) forged: Vec<String>,
    /// What of the project's own stood in the place of a runner, or of a part of one.
    pub(in crate::oracle) replaced: BTreeSet<Replaced>,
    /// Reports that cannot be read, with the reason.
    pub(in crate::oracle) unreadable: Vec<(String, String)>,
    /// The reports that it has written, of those that it is said to write.
    pub(in crate::oracle) written: Vec<String>,
    /// The last lines that it printed.
    pub(in crate::oracle) said: String,
}

impl Runner {
    /// Makes a runner of a command line.
    pub(in crate::oracle) fn of(command: impl Into<String>) -> Self {
        Self {
            command: command.into(),
            reports: Vec::new(),
        }
    }

    /// Runs it to its end, and reads what it reports.
    ///
    /// # Errors
    /// It took longer than the oracle may, no shell could be started, or there is no place for reports.
    pub(in crate::oracle) fn run(&self, context: &HookContext) -> Result<TestRun, OracleError> {
        let root = context.root();
        let mut reports = Reports::new(root)
            .map_err(|e| OracleError::failed(format!("there is no place for reports: {e}")))?;
        let mut globs = self.reports.clone();
        let is_of_jvm = find::is_of_jvm(context.workspace());
        if is_of_jvm && globs.is_empty() {
            globs.extend(JVM_REPORTS.iter().map(|&glob| glob.to_owned()));
        }
        let mut aside = Aside::of(context, &expand(root, &globs), |_| true);
        let program = reports
            .given_to(&self.command)
            .dir(root)
            .env("NO_COLOR", "1")
            .env("COLUMNS", "200")
            // Without it some runners of JavaScript wait for changes and never end.
            .env("CI", "true")
            // What each test process printed is the only trace of one that ended itself.
            .env("NEXTEST_SUCCESS_OUTPUT", "immediate")
            .env("NEXTEST_FAILURE_OUTPUT", "immediate")
            .max_output(MAX_OUTPUT);
        let finished = toolchain::run(context, program, &format!("`{}`", self.command))?;
        let text = console::plain(&finished.stdout);
        let mut run = TestRun {
            exit: finished.exit,
            tally: None,
            cut_short: Vec::new(),
            runners: BTreeSet::new(),
            places: BTreeSet::new(),
            forged: Vec::new(),
            replaced: BTreeSet::new(),
            unreadable: Vec::new(),
            written: Vec::new(),
            said: tail(&text, 8),
        };
        let written = aside.written(root, &expand(root, &globs));
        for file in written {
            run.written.push(file.clone());
            if is_of_jvm {
                run.runners.insert("jvm".to_owned());
                let dir = Path::new(&file).ancestors().nth(3).unwrap_or(Path::new(""));
                let manifest = manifest_above(&root.join(dir), JVM_MANIFESTS);
                run.places
                    .insert(relative(root, &manifest.to_string_lossy()));
            }
            let read = std::fs::read(root.join(&file)).map_err(|e| e.to_string());
            match read.and_then(|bytes| read_junit(&bytes, root)) {
                Ok(tally) => {
                    run.cut_short.extend(tally.unlisted(&file));
                    run.add(tally);
                }
                Err(fault) => run.unreadable.push((file, fault)),
            }
        }
        let is_named = !self.reports.is_empty();
        // Runners tell places by their true names.
        let own = reports.read(&root.canonicalize().unwrap_or_else(|_| root.to_owned()));
        run.places.extend(own.places);
        run.cut_short.extend(own.cut_short);
        run.forged.extend(own.forged);
        run.runners.extend(own.runners);
        run.replaced.extend(own.replaced);
        for mut tally in own.tallies {
            run.places.append(&mut tally.places);
            if is_named {
                run.add_failures(tally);
            } else {
                run.add(tally);
            }
        }
        for read in console::read(&text) {
            run.cut_short.extend(read.cut_short);
            run.add_failures(read.tally);
        }
        run.cut_short.sort_unstable();
        run.cut_short.dedup();
        Ok(run)
    }
}

impl TestRun {
    fn add(&mut self, tally: Tally) {
        self.tally.get_or_insert_default().add(tally);
    }

    /// Adds what failed, where nothing that is known has failed yet: what passed by the same word is not believed.
    fn add_failures(&mut self, tally: Tally) {
        let known = self.tally.as_ref().map_or(0, |known| known.failed);
        if known == 0 && tally.failed > 0 {
            self.add(Tally {
                failed: tally.failed,
                failures: tally.failures,
                ..Tally::default()
            });
        }
    }
}

/// Returns the last lines of an output that say anything, for a run that named no test.
fn tail(text: &str, lines: usize) -> String {
    let told: Vec<&str> = (text.lines().map(str::trim_end))
        .filter(|line| !line.trim().is_empty())
        .collect();
    let first = told.len().saturating_sub(lines);
    let last = told.get(first..).unwrap_or_default().iter();
    last.map(|line| shortened(line, 200))
        .collect::<Vec<_>>()
        .join("\n")
}
