//! Deep: the canary goes through the real client, with the settings, plugins and other hooks that it starts with here.

mod dialect;
mod model;

use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use ahp::host::{CANARY, Host, Trial};
use ahp::message::cut;
use ahp::process::{Exit as ProgramExit, Finished, Program, find_program};
use ahp::random;

use self::model::{Model, Seen};

/// How long a client may take to start, to ask its model twice, and to end.
const PATIENCE: Duration = Duration::from_mins(1);

/// What the model is asked for; whichever model it is, it has nothing to do.
const PROMPT: &str = "This is `ahp doctor`. Do nothing and end this turn.";

/// What came of a client's own call of its shell.
#[derive(Debug, serde::Serialize)]
#[serde(rename_all = "kebab-case", tag = "result", content = "detail")]
pub(super) enum Deep {
    /// The client asked, and heeded the answer.
    Held,
    /// The command ran.
    Ran,
    /// What came of it does not tell.
    Unknown(String),
    /// Its model cannot be played.
    NotTried,
}

/// Starts a client once, whose model asks for a command that makes an empty file in a new folder.
pub(super) fn send(host: &Host, project: &Path, path: Option<&str>) -> Deep {
    let Some(trial) = host.trial else {
        return Deep::NotTried;
    };
    let search = path.map(AsRef::as_ref);
    let mut programs = host.programs.iter();
    let Some(program) = programs.find_map(|name| find_program(name, search)) else {
        return Deep::Unknown("its program is not in the search path".to_owned());
    };
    let dir = std::env::temp_dir().join(format!("ahp-doctor-{}", random::id().simple()));
    if let Err(error) = fs::create_dir(&dir) {
        return Deep::Unknown(format!("cannot make `{}`: {error}", dir.display()));
    }
    let marker = dir.join(CANARY);
    let came_to = Model::start(trial, &format!("touch {}", marker.display()))
        .map_err(|error| format!("no model can be played: {error}"))
        .and_then(|model| {
            let finished = run(&program, trial, &model.url, project)?;
            Ok(outcome(&marker, &model.seen(), &finished))
        });
    fs::remove_dir_all(&dir).ok();
    came_to.unwrap_or_else(Deep::Unknown)
}

fn run(program: &Path, trial: &Trial, url: &str, project: &Path) -> Result<Finished, String> {
    let filled = |text: &&str| text.replace("$URL", url).replace("$PROMPT", PROMPT);
    let program = program.to_string_lossy().into_owned();
    let argv = [program].into_iter();
    let argv = argv.chain(trial.arguments.iter().map(filled)).collect();
    let mut client = Program::new(argv).dir(project);
    for (name, value) in trial.variables {
        client = client.env(*name, filled(value));
    }
    client
        // An agent that has called `ahp doctor` is no part of this.
        .env_remove("CLAUDECODE")
        .deadline(Some(Instant::now() + PATIENCE))
        .run()
        .map_err(|error| format!("it does not start: {error}"))
}

fn outcome(marker: &Path, seen: &Seen, finished: &Finished) -> Deep {
    if marker.exists() {
        return Deep::Ran;
    }
    let told = format!("{}{}", finished.stdout_text(), finished.stderr_text());
    let told = cut(told.trim(), 300);
    match seen.result.as_deref() {
        Some(result) if result.contains("`ahp doctor`") => Deep::Held,
        Some(result) => Deep::Unknown(format!(
            "its call was refused, but not by `ahp`: {}",
            cut(result, 300)
        )),
        // Some end the turn where a tool is refused; the words then reach the person alone.
        None if seen.is_called && told.contains("`ahp doctor` is to be blocked") => Deep::Held,
        None if seen.is_called => {
            Deep::Unknown(format!("it did not say what became of its call: {told}"))
        }
        None if finished.exit == ProgramExit::TimedOut => Deep::Unknown(format!(
            "it made no call within {} s: {told}",
            PATIENCE.as_secs()
        )),
        None => Deep::Unknown(format!(
            "it did not ask the model that `ahp` plays for a call: {told}"
        )),
    }
}
