//! ahp fleet and ahp bundle, and `ahp log export` in the forms of many machines: done by the program `ahp-fleet`, which lies beside this one.
//!
//! It stands apart so that the program in the hook's path has neither a network nor a table format in it.

use std::ffi::OsString;
use std::io::{self, Write as _};
use std::os::unix::process::CommandExt as _;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};

use crate::exit_code::Exit;
use crate::output;

/// The name of the program.
const PROGRAM: &str = "ahp-fleet";

#[derive(Debug, clap::Args)]
#[command(disable_help_flag = true)]
pub(crate) struct Args {
    /// A command of `ahp-fleet`, and its arguments
    #[arg(
        trailing_var_arg = true,
        allow_hyphen_values = true,
        value_name = "ARGUMENT"
    )]
    arguments: Vec<OsString>,
}

#[derive(Debug, clap::Args)]
#[command(disable_help_flag = true)]
pub(crate) struct BundleArgs {
    /// What to do with bundles, and its arguments; `--help` lists all
    #[arg(
        trailing_var_arg = true,
        allow_hyphen_values = true,
        value_name = "ARGUMENT"
    )]
    arguments: Vec<OsString>,
}

pub(crate) fn run(args: &Args) -> Result<Exit, String> {
    help("fleet", &args.arguments).map_or_else(|| become_it(&args.arguments), Ok)
}

/// Says what a command is, where that is asked and the program that knows it all is not there.
fn help(command: &str, arguments: &[OsString]) -> Option<Exit> {
    let asks = arguments
        .iter()
        .any(|word| word == "--help" || word == "-h");
    let missing = find().err().filter(|_| asks)?;
    let about = match command {
        "bundle" => {
            "Signed policy of an organisation: build, verify, install, pull, status, rollback, break-glass"
        }
        _ => "Logs of many machines: ship, compact, export, bundle",
    };
    output::line(format!(
        "{about}\n\nUsage: ahp {command} [ARGUMENT]...\n\nThe program `{PROGRAM}` does it, and says more: {missing}"
    ));
    Some(Exit::Success)
}

pub(crate) fn run_bundle(args: &BundleArgs) -> Result<Exit, String> {
    let bundle = std::iter::once(OsString::from("bundle"));
    let all = bundle.chain(args.arguments.iter().cloned());
    let arguments: Vec<OsString> = all.collect();
    help("bundle", &args.arguments).map_or_else(|| become_it(&arguments), Ok)
}

fn become_it(arguments: &[OsString]) -> Result<Exit, String> {
    Err(command(&find()?, arguments).exec().to_string())
}

/// Starts it with records on its standard input.
pub(super) fn start(arguments: &[OsString]) -> Result<Child, String> {
    let started = command(&find()?, arguments).stdin(Stdio::piped()).spawn();
    started.map_err(|error| format!("`{PROGRAM}` cannot be started: {error}"))
}

/// Writes records to it, line by line, and waits for its end.
pub(super) fn finish(mut child: Child) -> Result<Exit, String> {
    drop(child.stdin.take());
    let status = child.wait().map_err(|error| error.to_string())?;
    Ok(Exit::unless(!status.success()))
}

/// Writes one line to it; an error where it has ended.
pub(super) fn write_line(child: &mut Child, line: &[u8]) -> io::Result<()> {
    let to = child.stdin.as_mut().ok_or(io::ErrorKind::BrokenPipe)?;
    to.write_all(line)?;
    to.write_all(b"\n")
}

/// It lies beside this program: one from `PATH` could be anybody's.
fn find() -> Result<PathBuf, String> {
    let own = std::env::current_exe().map_err(|error| error.to_string())?;
    let beside = own.canonicalize().unwrap_or(own).with_file_name(PROGRAM);
    if beside.is_file() {
        return Ok(beside);
    }
    let dir = beside
        .parent()
        .map_or_else(String::new, |dir| dir.display().to_string());
    Err(format!(
        "`{PROGRAM}` is not installed beside `ahp` in `{dir}`: the archive, the Debian package and the container have it, wheels and npm packages do not; take `{PROGRAM}` of the same version from the archive and put it there, or build it from the source of `ahp` (`cargo build --release -p {PROGRAM}`)"
    ))
}

#[expect(
    clippy::disallowed_methods,
    reason = "it takes the place of this program, and has no deadline of ours"
)]
fn command(program: &PathBuf, arguments: &[OsString]) -> Command {
    let mut command = Command::new(program);
    command.args(arguments);
    command
}
