//! Canary: a known-bad event, sent through a wired command as its host would send it.

use std::path::Path;
use std::time::Duration;
use std::time::Instant;

use ahp::config::Environment;
use ahp::host;
use ahp::host::CANARY;
use ahp::host::Host;
use ahp::host::Input;
use ahp::host::Reply;
use ahp::install::Installer;
use ahp::install::Places;
use ahp::install::Scope;
use ahp::install::Wire;
use ahp::process::Exit as ProgramExit;
use ahp::process::Program;

/// How long a wired command may take to answer the canary.
const PATIENCE: Duration = Duration::from_secs(20);

/// What came back for the known-bad event.
#[derive(Debug, serde::Serialize)]
#[serde(rename_all = "kebab-case", tag = "result", content = "detail")]
pub(super) enum Canary {
    Blocked,
    NotBlocked(String),
    NotSent(String),
}

fn bytes_of(host: &Host, project: &Path) -> String {
    let dir = serde_json::Value::from(project.to_string_lossy()).to_string();
    host.sample
        .replace("$DIR", dir.trim_matches('"'))
        .replace("$SESSION", CANARY)
}

/// Finds the wire that the host would run for the canary's event.
pub(super) fn wire_for<'a>(
    host: &'static Host,
    wires: &'a [Wire],
    project: &Path,
) -> Option<&'a Wire> {
    let bytes = bytes_of(host, project);
    let event = if bytes.is_empty() {
        host.moments.first()?.name().to_owned()
    } else {
        let told = host::decode(&Input {
            bytes: bytes.as_bytes(),
            host: Some(host),
            event: None,
            arguments: &[],
            work_dir: project,
        });
        told.ok()?.moment?.name().to_owned()
    };
    wires.iter().find(|w| w.event.eq_ignore_ascii_case(&event))
}

/// Runs a wired command as the host would, with a known-bad event.
pub(super) fn send(host: &Host, wire: &Wire, project: &Path) -> Canary {
    let bytes = bytes_of(host, project);
    let command = if bytes.is_empty() {
        format!("{} -- {CANARY}", wire.command)
    } else {
        wire.command.clone()
    };
    let finished = Program::shell(&command)
        .dir(project)
        .stdin(bytes.into_bytes())
        .deadline(Some(Instant::now() + PATIENCE))
        .run();
    let finished = match finished {
        Ok(finished) => finished,
        Err(error) => return Canary::NotBlocked(format!("the command does not start: {error}")),
    };
    let reply = Reply {
        stdout: finished.stdout_text(),
        stderr: finished.stderr_text(),
        blocks: finished.exit == ProgramExit::Code(2),
    };
    let told = format!("{}{}", reply.stdout, reply.stderr);
    match finished.exit {
        ProgramExit::Code(0 | 2) if host.obeys(&reply) && told.contains("canary") => {
            Canary::Blocked
        }
        ProgramExit::Code(0 | 2) => {
            Canary::NotBlocked(format!("it answered: {}", ahp::message::cut(&told, 200)))
        }
        ProgramExit::Code(code) => Canary::NotBlocked(format!(
            "the command ended with {code}: {}",
            ahp::message::cut(told.trim(), 200)
        )),
        ProgramExit::Signal(signal) => {
            Canary::NotBlocked(format!("the command died of signal {signal}"))
        }
        ProgramExit::TimedOut => {
            Canary::NotBlocked(format!("no answer within {} s", PATIENCE.as_secs()))
        }
    }
}

/// Looks whether the search path leads to the shim before it leads to the real program.
pub(super) fn try_shim(
    places: &Places,
    scope: Scope,
    installer: &Installer,
    environment: &Environment,
) -> Canary {
    let first = environment
        .get("PATH")
        .and_then(|path| ahp::process::find_program("monoco", Some(path.as_ref())));
    let shim = installer.file(places, scope).ok();
    match (first, shim) {
        (Some(first), Some(shim)) if first.canonicalize().ok() == shim.canonicalize().ok() => {
            Canary::NotSent("the shim is first in the search path".to_owned())
        }
        (_, Some(shim)) => Canary::NotBlocked(format!(
            "the shim is not first in the search path: export PATH=\"{}:$PATH\"",
            shim.parent().unwrap_or(&shim).display()
        )),
        _ => Canary::NotSent("there is no shim".to_owned()),
    }
}
