//! Reports: a folder of its own for each run, into which the test runners write what they ran.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use sha2::{Digest as _, Sha256};

use super::console::{self, Read};
use super::replaced::{self, Replaced};
use super::tally::Tally;
use super::told::{Ear, Told};
use super::{go, jest, junit};
use crate::oracle::toolchain;
use crate::process::{Folder, Program, installed};
use crate::random;
use crate::shell_word::quoted;
use crate::signal::hex;
use crate::stamp::Stamp;

/// What is put into the folder for the runners to load.
const REPORTERS: &[(&str, &str)] = &[
    ("ahp_env.sh", ENVIRONMENT),
    ("ahp_tell.py", include_str!("reporters/ahp_tell.py")),
    ("ahp_tell.cjs", include_str!("reporters/ahp_tell.cjs")),
    ("ahp_pytest.py", include_str!("reporters/ahp_pytest.py")),
    ("ahp_unittest.py", include_str!("reporters/ahp_unittest.py")),
    (
        "sitecustomize.py",
        include_str!("reporters/sitecustomize.py"),
    ),
    ("ahp_jest.cjs", include_str!("reporters/ahp_jest.cjs")),
    ("ahp_vitest.mjs", include_str!("reporters/ahp_vitest.mjs")),
    // What lies in such a folder, no transformer of a project touches.
    (
        "node_modules/ahp_expect.cjs",
        include_str!("reporters/ahp_expect.cjs"),
    ),
    (
        "node_modules/ahp_expect_end.cjs",
        include_str!("reporters/ahp_expect_end.cjs"),
    ),
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

/// What `go test` starts each binary of tests by.
const GO_EXEC: &str = include_str!("reporters/ahp_go_exec.sh");

/// The environment that makes runners write their reports into `$dir`, whatever starts them (`npm test`, `make`, a script).
const ENVIRONMENT: &str = include_str!("reporters/ahp_env.sh");

/// The programs that need it, which are given it where a project has set its variables anew.
const LOADERS: &[&str] = &["node", "python", "python3", "pytest"];

/// What stands before these in `PATH`. A test that starts one has no seal, and gets what it gave.
const LOADER: &str = r#"case ${AHP_SEAL-} in "${dir##*/}:"*) . "$dir/ahp_env.sh" ;; esac
exec "$real" "$@"
"#;

/// What comes before the command line.
///
/// Programs are copied by a process of one thread: a file that this one has written may for a moment still be open for writing in
/// the child of another thread. Such a file cannot be started, and some shells then start the next of its name in `PATH`.
const PRELUDE: &str = r#"cp -Rp "$dir/written" "$dir/bin" && export PATH="$dir/bin:$PATH"
. "$dir/ahp_env.sh"
unset dir AHP_PART NODE_TEST_CONTEXT"#;

/// The folder.
pub(super) struct Reports {
    folder: Arc<Folder>,
    ear: Ear,
    /// What only the reporters know. It stands in no file and on no command line; they take it out of the environment.
    seal: String,
    /// What was put into the folder, as it was then.
    put: BTreeMap<PathBuf, Option<Stamp>>,
}

/// What was found in the folder.
#[derive(Debug, Default)]
pub(super) struct Found {
    pub(super) tallies: Vec<Tally>,
    /// Runners that began and did not report everything.
    pub(super) cut_short: Vec<String>,
    pub(super) runners: BTreeSet<String>,
    /// The files of tests, and the manifests, that ran, as their runners tell them.
    pub(super) places: BTreeSet<String>,
    /// Reports that nobody can have made who may.
    pub(super) forged: Vec<String>,
    /// What of the project's own stands in the place of a runner, or of a part of one.
    pub(super) replaced: BTreeSet<Replaced>,
}

/// What was told of one runner.
#[derive(Debug, Default)]
struct Runner {
    begun: usize,
    code: Option<String>,
    part: Option<String>,
    sealed: BTreeMap<String, String>,
}

#[derive(Debug, Default)]
struct Reported {
    tally: Option<Tally>,
    cut_short: Vec<String>,
    forged: Vec<String>,
}

impl Reports {
    /// Makes the folder, for a run in a project.
    ///
    /// # Errors
    /// It cannot be made or written to.
    pub(super) fn new(root: &Path) -> io::Result<Self> {
        let folder = Arc::new(Folder::new("ahp-tests")?);
        let mut reports = Self {
            ear: Ear::open(&folder.path().join("told"))?,
            folder,
            seal: random::id().to_string(),
            put: BTreeMap::new(),
        };
        let real = root.canonicalize()?;
        reports.put("root", real.as_os_str().as_encoded_bytes())?;
        fs::create_dir(reports.at("node_modules"))?;
        for (name, text) in REPORTERS {
            reports.put(name, text.as_bytes())?;
        }
        reports.program("ahp_go_exec.sh", GO_EXEC)?;
        fs::create_dir(reports.at("written"))?;
        let printers = PRINTERS.iter().map(|(name, _)| (*name, PRINTER));
        for (name, text) in printers.chain(LOADERS.iter().map(|name| (*name, LOADER))) {
            if let Some(real) = installed(name) {
                let [real, dir] =
                    [&real, reports.folder.seen()].map(|path| quoted(&path.to_string_lossy()));
                let set = format!("#!/bin/sh\nreal={real} name={name} dir={dir} skip=\n");
                reports.program(&format!("written/{name}"), &(set + text))?;
            }
        }
        Ok(reports)
    }

    fn put(&mut self, name: &str, content: &[u8]) -> io::Result<()> {
        let file = self.at(name);
        fs::write(&file, content)?;
        self.put.insert(file.clone(), Stamp::at(&file));
        Ok(())
    }

    fn program(&mut self, name: &str, content: &str) -> io::Result<()> {
        self.put(name, content.as_bytes())?;
        let file = self.at(name);
        fs::set_permissions(&file, fs::Permissions::from_mode(0o755))?;
        self.put.insert(file.clone(), Stamp::at(&file));
        Ok(())
    }

    fn at(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Whether a file of the project is one of the reporters: folders for a while may be made in the project.
    fn is_put(&self, root: &Path, file: &str) -> bool {
        let root = root.canonicalize();
        root.is_ok_and(|root| self.put.contains_key(&root.join(file)))
    }

    /// Lets a command line tell its reporters where the reports go, and that they may.
    pub(super) fn given_to(&self, command: &str) -> Program {
        let dir = self.folder.seen();
        let name = dir.file_name().unwrap_or_default().to_string_lossy();
        let dir = quoted(&dir.to_string_lossy());
        // What is printed on both outputs comes in the order in which it was printed.
        Program::shell(&format!("exec 2>&1\ndir={dir}\n{PRELUDE}\n{command}"))
            .env("AHP_SEAL", format!("{name}:{}", self.seal))
            .sharing(&self.folder)
    }

    /// Reads what the runners have written; places become relative to `root`.
    pub(super) fn read(&mut self, root: &Path) -> Found {
        let mut found = Found::default();
        let mut runners = BTreeMap::<String, Runner>::new();
        for told in self.ear.told(&self.seal) {
            match told {
                Told::Begun(name) => runners.entry(name).or_default().begun += 1,
                Told::Part(name, part) => runners.entry(name).or_default().part = Some(part),
                Told::Code(name, code) => runners.entry(name).or_default().code = Some(code),
                Told::Sealed(file, digest) => {
                    let name = file
                        .rsplit_once('.')
                        .map_or(file.as_str(), |(name, _)| name);
                    let runner = runners.entry(name.to_owned()).or_default();
                    if runner.sealed.insert(file.clone(), digest).is_some() {
                        found.forged.push(format!("`{file}` was written twice"));
                    }
                }
                Told::Place(place, manifest) => {
                    let file = match manifest {
                        Some(manifest) => manifest_above(&place, &[&manifest]),
                        None => place,
                    };
                    let file = file.to_string_lossy();
                    found.places.insert(toolchain::relative(root, &file));
                }
                Told::Cut(file, how) => {
                    let file = toolchain::relative(root, &file);
                    let how = crate::oracle::wording::shortened(&how, 80);
                    found.cut_short.push(format!("`{file}` {how}"));
                }
                Told::Replaced(what, dir, value) => {
                    let named = replaced::named(root, &what, &dir, &value).into_iter();
                    let foreign = named.filter(|named| !self.is_put(root, &named.file));
                    found.replaced.extend(foreign);
                }
                Told::Forged(line) => {
                    found
                        .forged
                        .push(format!("somebody told of `{line}` without its seal"));
                }
            }
        }
        for (name, told) in &runners {
            if told.begun != 1 || told.sealed.len() > 1 {
                found
                    .forged
                    .push(format!("{name} reported what it did not begin, or twice"));
                continue;
            }
            match self.report(name, told, root) {
                Ok(read) => {
                    found.runners.insert(runner(name).to_owned());
                    found.tallies.extend(read.tally);
                    found.cut_short.extend(read.cut_short);
                    found.forged.extend(read.forged);
                }
                Err(fault) => found.cut_short.push(format!(
                    "{} ended before it had reported its tests ({fault})",
                    runner(name)
                )),
            }
        }
        found.cut_short.extend(without_the_rest(&runners));
        found.forged.extend(self.tampered());
        found
    }

    /// Returns what was done to the folder by others than the reporters.
    fn tampered(&self) -> Vec<String> {
        let mut told = Vec::new();
        for (file, stamp) in &self.put {
            let name = file.strip_prefix(self.folder.path()).unwrap_or(file);
            let name = name.display();
            if Stamp::at(file) != *stamp {
                told.push(format!("`{name}`, which reports, was changed"));
            }
        }
        let written = self.at("written");
        for file in self.put.keys().filter(|file| file.starts_with(&written)) {
            let name = file.file_name().unwrap_or_default();
            let copied = self.at("bin").join(name);
            if fs::read(file).ok() != fs::read(copied).ok() {
                told.push(format!(
                    "`bin/{}`, which reports, was changed",
                    name.display()
                ));
            }
        }
        told
    }

    fn report(&self, begun: &str, told: &Runner, root: &Path) -> Result<Reported, String> {
        let Some((file, digest)) = told.sealed.first_key_value() else {
            return Err("it has written no report".to_owned());
        };
        // Read once: what is judged is what was compared.
        let content = fs::read(self.at(file)).unwrap_or_default();
        if hex(&Sha256::digest(&content)) != *digest {
            return Ok(Reported {
                forged: vec![format!("`{file}` was changed after it was written")],
                ..Reported::default()
            });
        }
        let name = runner(begun);
        if let Some((_, reader)) = PRINTERS.iter().find(|(printer, _)| *printer == name) {
            let code = told.code.as_deref().ok_or("it was stopped")?;
            let text = console::plain(&content);
            let mut told = Reported::default();
            if let Some(read) = reader(&text) {
                told.cut_short = read.cut_short;
                told.forged = read.odd;
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
        let (tally, lost) = match file.rsplit_once('.') {
            Some((_, "xml")) => (junit::read(&content, root)?, None),
            _ => jest::read(&content, root)?,
        };
        Ok(Reported {
            tally: Some(tally),
            cut_short: lost
                .map(|lost| format!("{name} {lost}"))
                .into_iter()
                .collect(),
            forged: Vec::new(),
        })
    }
}

/// Returns the manifest of a folder: the first that it or one above has; of one that is gone, the one that it would have.
pub(super) fn manifest_above(dir: &Path, names: &[&str]) -> PathBuf {
    let manifests = |dir: &Path| names.iter().map(|name| dir.join(name)).collect::<Vec<_>>();
    let mut all = dir.ancestors().flat_map(manifests);
    let found = all.find(|manifest| dir.is_dir() && manifest.is_file());
    found.unwrap_or_else(|| dir.join(names.first().copied().unwrap_or_default()))
}

/// Returns what to say of runs that were one part of several, where the other parts did not run too.
fn without_the_rest(runners: &BTreeMap<String, Runner>) -> Vec<String> {
    let mut parts = BTreeMap::<(&str, &str), BTreeSet<&str>>::new();
    for (begun, told) in runners {
        if let Some((part, of)) = told.part.as_deref().and_then(|part| part.split_once('/')) {
            parts.entry((runner(begun), of)).or_default().insert(part);
        }
    }
    let is_whole = |of: &str, ran: &BTreeSet<&str>| {
        let count = of.parse::<usize>().unwrap_or(usize::MAX);
        ran.len() >= count && (1..=count).all(|part| ran.contains(part.to_string().as_str()))
    };
    let alone = parts.iter().filter(|((_, of), ran)| !is_whole(of, ran));
    let say = |((runner, of), ran): (&(&str, &str), &BTreeSet<&str>)| {
        let ran = ran.iter().copied().collect::<Vec<_>>().join(", ");
        format!("{runner} ran part {ran} of {of} alone")
    };
    alone.map(say).collect()
}

/// Returns the runner of a report: `cargo-nextest` of `cargo-nextest-123`, `unittest` of `unittest-123-1`.
fn runner(begun: &str) -> &str {
    begun.trim_end_matches(|c: char| c.is_ascii_digit() || c == '-')
}
