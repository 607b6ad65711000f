//! Reports: a folder of its own for each run, into which the test runners write what they ran.

use std::fs;
use std::io;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use super::console::{self, Read};
use super::tally::Tally;
use super::{go, jest, junit};
use crate::process::installed;
use crate::shell::quoted;

/// What is put into the folder for the runners to load.
const REPORTERS: &[(&str, &str)] = &[
    ("ahp_pytest.py", include_str!("reporters/ahp_pytest.py")),
    ("ahp_unittest.py", include_str!("reporters/ahp_unittest.py")),
    (
        "sitecustomize.py",
        include_str!("reporters/sitecustomize.py"),
    ),
    ("ahp_jest.cjs", include_str!("reporters/ahp_jest.cjs")),
    ("ahp_vitest.mjs", include_str!("reporters/ahp_vitest.mjs")),
    ("ahp_node.cjs", include_str!("reporters/ahp_node.cjs")),
    (
        "ahp_node_test.mjs",
        include_str!("reporters/ahp_node_test.mjs"),
    ),
];

/// Reads what a runner printed.
type Reader = fn(&str) -> Option<Read>;

/// The runners that only print, each with what reads that: libtest has no report that stable Rust offers, and `go test`
/// names each test on its output alone.
const PRINTERS: &[(&str, Reader)] = &[
    ("cargo", console::libtest),
    ("cargo-nextest", console::libtest),
    ("go", go::read),
];

/// What stands before them in `PATH`.
const PRINTER: &str = include_str!("reporters/ahp_runner.sh");

/// The environment that makes runners write their reports into `$AHP`, whatever starts them (`npm test`, `make`, a script).
///
/// Programs are copied by a process of one thread: a file that this one has written may for a moment still be open for writing in
/// the child of another thread. Such a file cannot be started, and some shells then start the next of its name in `PATH`.
const PRELUDE: &str = r#"cp -Rp "$AHP/written" "$AHP/bin" && export PATH="$AHP/bin:$PATH"
export PYTHONPATH="$AHP${PYTHONPATH:+:$PYTHONPATH}" PYTHONDONTWRITEBYTECODE=1
export PYTEST_PLUGINS="${PYTEST_PLUGINS:+$PYTEST_PLUGINS,}ahp_pytest"
export NODE_OPTIONS="${NODE_OPTIONS:+$NODE_OPTIONS }--require=\"$AHP/ahp_node.cjs\" --test-reporter=spec --test-reporter-destination=stdout --test-reporter=$AHP/ahp_node_test.mjs --test-reporter-destination=stdout"
if [ -e go.mod ] && command -v go > /dev/null; then export GOFLAGS="$(go env GOFLAGS) -v"; fi
unset AHP AHP_RUNNER NODE_TEST_CONTEXT"#;

/// The folder; it is removed when this is dropped.
pub(super) struct Reports(PathBuf);

/// What was found in the folder.
#[derive(Debug, Default)]
pub(super) struct Found {
    pub(super) tallies: Vec<Tally>,
    /// Runners that began and did not report everything.
    pub(super) cut_short: Vec<String>,
}

/// What one runner has told.
#[derive(Debug, Default)]
struct Told {
    tally: Option<Tally>,
    cut_short: Vec<String>,
}

impl Reports {
    /// Makes the folder.
    ///
    /// # Errors
    /// It cannot be made or written to.
    pub(super) fn new() -> io::Result<Self> {
        let path = std::env::temp_dir().join(format!("ahp-tests-{}", uuid::Uuid::new_v4()));
        fs::create_dir_all(&path)?;
        let reports = Self(path);
        for (name, text) in REPORTERS {
            fs::write(reports.0.join(name), text)?;
        }
        let written = reports.0.join("written");
        fs::create_dir(&written)?;
        for (name, _) in PRINTERS {
            if let Some(real) = installed(name) {
                let [real, dir] = [&real, &reports.0].map(|path| quoted(&path.to_string_lossy()));
                let set = format!("#!/bin/sh\nreal={real} name={name} dir={dir} skip=\n");
                let file = written.join(name);
                fs::write(&file, set + PRINTER)?;
                fs::set_permissions(&file, fs::Permissions::from_mode(0o755))?;
            }
        }
        Ok(reports)
    }

    /// Returns the lines of shell that come before the command line.
    pub(super) fn prelude(&self) -> String {
        format!("AHP={}\n{PRELUDE}", quoted(&self.0.to_string_lossy()))
    }

    /// Reads what the runners have written; places become relative to `root`.
    pub(super) fn read(&self, root: &Path) -> Found {
        let mut found = Found::default();
        let mut names: Vec<String> = fs::read_dir(&self.0)
            .into_iter()
            .flatten()
            .filter_map(|entry| entry.ok()?.file_name().into_string().ok())
            .collect();
        names.sort_unstable();
        for name in names {
            if let Some(begun) = name.strip_suffix(".started") {
                match self.report(begun, root) {
                    Ok(read) => {
                        found.tallies.extend(read.tally);
                        found.cut_short.extend(read.cut_short);
                    }
                    Err(fault) => found.cut_short.push(format!(
                        "{} ended before it had reported its tests ({fault})",
                        runner(begun)
                    )),
                }
            } else if name.strip_suffix(".cut").is_some() {
                let file = fs::read_to_string(self.0.join(&name)).unwrap_or_default();
                let file = crate::oracle::toolchain::relative(root, &file);
                found.cut_short.push(format!(
                    "`{file}` ended its own process before its tests were reported"
                ));
            }
        }
        found
    }

    /// Reads the report of one runner.
    fn report(&self, begun: &str, root: &Path) -> Result<Told, String> {
        let read = |end: &str| fs::read(self.0.join(format!("{begun}.{end}")));
        let name = runner(begun);
        if let Some((_, reader)) = PRINTERS.iter().find(|(printer, _)| *printer == name) {
            let code = read("code").map_err(|_| "it was stopped".to_owned())?;
            let code = String::from_utf8_lossy(&code).trim().to_owned();
            let text = console::plain(&read("out").map_err(|e| e.to_string())?);
            let mut told = Told::default();
            if let Some(read) = reader(&text) {
                told.cut_short = read.cut_short;
                told.tally = Some(read.tally);
            }
            if let Some(tally) = &mut told.tally {
                tally.coverage = console::coverage(&text);
            }
            let failed = told.tally.as_ref().map_or(0, |tally| tally.failed);
            if code != "0" && failed == 0 {
                told.cut_short
                    .push(format!("{name} ended with code {code}"));
            }
            return Ok(told);
        }
        let (tally, lost) = match read("xml") {
            Ok(bytes) => (junit::read(&bytes, root)?, None),
            Err(_) => match read("json") {
                Ok(bytes) => jest::read(&bytes, root)?,
                Err(_) => return Err("it has written no report".to_owned()),
            },
        };
        Ok(Told {
            tally: Some(tally),
            cut_short: lost
                .map(|lost| format!("{name} {lost}"))
                .into_iter()
                .collect(),
        })
    }
}

/// Returns the runner of a report: `cargo-nextest` of `cargo-nextest-123`, `unittest` of `unittest-123-1`.
fn runner(begun: &str) -> &str {
    begun.trim_end_matches(|c: char| c.is_ascii_digit() || c == '-')
}

impl Drop for Reports {
    fn drop(&mut self) {
        if let Err(error) = fs::remove_dir_all(&self.0) {
            tracing::debug!(%error, "a folder of reports could not be removed");
        }
    }
}
