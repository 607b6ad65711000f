//! Reports: a folder of its own for each run, into which the test runners write what they ran.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::tally::Tally;
use super::{jest, junit};

/// What is put into the folder for the runners to load.
const REPORTERS: &[(&str, &str)] = &[
    ("ahp_pytest.py", include_str!("reporters/ahp_pytest.py")),
    ("ahp_node.cjs", include_str!("reporters/ahp_node.cjs")),
    (
        "ahp_node_test.mjs",
        include_str!("reporters/ahp_node_test.mjs"),
    ),
];

/// The environment that makes runners write their reports into `$AHP`, whatever starts them (`npm test`, `make`, a script).
const PRELUDE: &str = r#"export PYTHONPATH="$AHP${PYTHONPATH:+:$PYTHONPATH}" PYTHONDONTWRITEBYTECODE=1
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
        Ok(reports)
    }

    /// Returns the lines of shell that come before the command line.
    pub(super) fn prelude(&self) -> String {
        let dir = self.0.to_string_lossy().replace('\'', r"'\''");
        format!("AHP='{dir}'\n{PRELUDE}")
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
                let runner = begun.split('-').next().unwrap_or(begun);
                match self.report(begun, root) {
                    Ok((tally, lost)) => {
                        found.tallies.push(tally);
                        found
                            .cut_short
                            .extend(lost.map(|lost| format!("{runner} {lost}")));
                    }
                    Err(fault) => found.cut_short.push(format!(
                        "{runner} ended before it had reported its tests ({fault})"
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
    fn report(&self, begun: &str, root: &Path) -> Result<(Tally, Option<String>), String> {
        let read = |end: &str| fs::read(self.0.join(format!("{begun}.{end}")));
        if let Ok(bytes) = read("xml") {
            return junit::read(&bytes, root).map(|tally| (tally, None));
        }
        match read("json") {
            Ok(bytes) => jest::read(&bytes, root),
            Err(_) => Err("it has written no report".to_owned()),
        }
    }
}

impl Drop for Reports {
    fn drop(&mut self) {
        if let Err(error) = fs::remove_dir_all(&self.0) {
            tracing::debug!(%error, "a folder of reports could not be removed");
        }
    }
}
