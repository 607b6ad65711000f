//! ahp oracle: makes, lists, shows and runs oracles.

mod new;
mod run;
mod show;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use ahp::config::Locations;
use ahp::engine::Engine;
use ahp::oracle::rhai::{Library, Script};
use ahp::oracle::{Catalog, Factory as _, folded_name};
use ahp::visible::on_one_line;
use serde_json::json;

use crate::exit_code::Exit;
use crate::output::{self, Format};
use crate::project;

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, clap::Subcommand)]
enum Command {
    /// Write a script oracle with a test, and print the binding to paste
    New(new::Args),
    /// List every oracle that a policy can name
    List {
        /// How the list is written
        #[arg(long, value_enum, default_value_t)]
        format: Format,
    },
    /// Show an oracle's manual page and its configuration with the defaults
    Show(show::Args),
    /// Print everything that a script can read and call
    Reference,
    /// Run one oracle on an event, and print how long it took
    Run(run::Args),
}

pub(crate) fn run(args: &Args) -> Result<Exit, String> {
    match &args.command {
        Command::New(args) => new::new(args),
        Command::List { format } => list(*format),
        Command::Show(args) => show::show(args),
        Command::Reference => {
            output::line(ahp::oracle::rhai::manual::reference().trim_end());
            Ok(Exit::Success)
        }
        Command::Run(args) => run::run(args),
    }
}

/// The oracles that a project's policy can name.
pub(super) struct Oracles {
    engine: Engine,
    catalog: Catalog,
    library: Library,
    root: PathBuf,
}

impl Oracles {
    pub(super) fn find() -> Result<Self, String> {
        Self::of(project::locations(None))
    }

    /// Finds the oracles of the project around a directory.
    pub(super) fn around(dir: &Path) -> Result<Self, String> {
        Self::of(project::locations(Some(dir)))
    }

    fn of(locations: Locations) -> Result<Self, String> {
        let root = locations.project_root.clone();
        let of_user = locations.user_dir.as_ref().map(|dir| dir.join("oracles"));
        let engine = project::quiet_engine(locations)?;
        let directories = engine.state().policy().settings().oracles.clone();
        Ok(Self {
            catalog: Catalog::default(),
            library: Library::new(&root, directories.into_iter().chain(of_user)),
            engine,
            root,
        })
    }

    /// Returns the scripts that a policy can name and that can be used, each name once.
    pub(super) fn scripts(&self) -> Vec<Arc<Script>> {
        let mut scripts: Vec<Arc<Script>> = Vec::new();
        for found in self.library.all() {
            let Ok(script) = self.library.load(&found) else {
                continue;
            };
            let hidden = self.catalog.find(script.name()).is_some();
            if !hidden && scripts.iter().all(|other| other.name() != script.name()) {
                scripts.push(script);
            }
        }
        scripts
    }

    /// Says that there is no such oracle, and which may have been meant.
    fn unknown(&self, name: &str) -> String {
        let scripts = self.library.all();
        let names = self
            .catalog
            .names()
            .into_iter()
            .chain(scripts.iter().map(|found| found.name.as_str()));
        let hint = ahp::diagnostic::nearest(name, names)
            .map_or_else(String::new, |near| format!("; did you mean `{near}`?"));
        format!("no oracle is called `{name}`{hint} (`ahp oracle list` shows them all)")
    }
}

fn list(format: Format) -> Result<Exit, String> {
    let oracles = Oracles::find()?;
    let mut rows = Vec::new();
    for definition in oracles.catalog.definitions() {
        rows.push((
            definition.kebab.to_owned(),
            "built-in".to_owned(),
            definition.summary.to_owned(),
        ));
    }
    let mut seen = Vec::new();
    for found in oracles.library.all() {
        let name = folded_name(&found.name);
        if oracles.catalog.find(&found.name).is_some() || seen.contains(&name) {
            continue;
        }
        seen.push(name);
        let from = match &found.path {
            Some(path) => {
                let shown = path.strip_prefix(&oracles.root).unwrap_or(path);
                on_one_line(&shown.to_string_lossy()).into_owned()
            }
            None => "script".to_owned(),
        };
        let (name, summary) = match oracles.library.load(&found) {
            Ok(script) => (script.name().to_owned(), script.summary().to_owned()),
            Err(error) => (
                on_one_line(&found.name).into_owned(),
                format!("cannot be used: {}", error.one_line()),
            ),
        };
        rows.push((name, from, summary));
    }
    match format {
        Format::Json => {
            for (name, from, summary) in &rows {
                output::json(&json!({"name": name, "from": from, "summary": summary}));
            }
        }
        Format::Human => {
            let width = |of: fn(&(String, String, String)) -> &String| {
                rows.iter()
                    .map(|row| of(row).chars().count())
                    .max()
                    .unwrap_or(0)
            };
            let (names, froms) = (width(|row| &row.0), width(|row| &row.1));
            for (name, from, summary) in &rows {
                output::line(format!("{name:names$}  {from:froms$}  {summary}"));
            }
        }
    }
    Ok(Exit::Success)
}
