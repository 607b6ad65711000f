//! ahp mcp: a gate before one server of tools, for hosts that call no hook for them, and what its tools were when a person
//! approved them.

mod gate;
mod pins;

use std::path::Path;
use std::process::{Child, Command, Stdio};

use ahp::visible::on_one_line;

use self::pins::Pins;
use crate::exit_code::Exit;
use crate::output;
use crate::project;
use crate::view::count;

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(subcommand)]
    command: Verb,
}

#[derive(Debug, clap::Subcommand)]
enum Verb {
    /// Start an MCP server and judge every tool call; use this in place of the server's own command
    Run(Server),
    /// Pin the name, description and input of each tool that a server has now
    Lock(LockArgs),
}

#[derive(Debug, clap::Args)]
struct Server {
    /// The server's name in the policy, `tool.mcp_server`; by default that of its program
    #[arg(long)]
    name: Option<String>,
    /// The command that starts the server
    #[arg(last = true, required = true)]
    command: Vec<String>,
}

#[derive(Debug, clap::Args)]
struct LockArgs {
    #[command(flatten)]
    server: Server,
    /// Do not ask for confirmation: what the tools say has been looked at. Required without a terminal
    #[arg(short, long)]
    yes: bool,
}

impl Server {
    /// Returns the name by which the policy knows it.
    fn name(&self) -> String {
        let program = self.command.first().map(Path::new);
        let stem = program.and_then(Path::file_stem).unwrap_or_default();
        let named = self.name.clone();
        named.unwrap_or_else(|| stem.to_string_lossy().into_owned())
    }

    /// Starts it with its input and output in our hands.
    fn start(&self) -> Result<Child, String> {
        let (program, arguments) = self.command.split_first().ok_or("no command was given")?;
        #[expect(
            clippy::disallowed_methods,
            reason = "the server lives as long as its client wants it to"
        )]
        let command = Command::new(program)
            .args(arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn();
        command.map_err(|error| format!("cannot start `{program}`: {error}"))
    }
}

pub(crate) fn run(args: &Args) -> Result<Exit, String> {
    match &args.command {
        Verb::Run(server) => gate::run(server),
        Verb::Lock(args) => lock(args),
    }
}

fn lock(args: &LockArgs) -> Result<Exit, String> {
    let server = &args.server;
    let file = pins::file(&project::locations(None).project_root);
    let mut pins = Pins::read(&file)?;
    let name = server.name();
    let tools = pins::tools_of(server)?;
    let now = pins::by_name(&tools);
    let differences = pins.differences(&name, &now);
    for line in &differences {
        // No name of a server makes a second line.
        output::line(on_one_line(line));
    }
    // Nobody can decide what has not been shown.
    project::decided(args.yes, "what the tools of a server may say")?;
    if !args.yes
        && !differences.is_empty()
        && !project::confirmed(&format!("Approve what the tools of `{name}` say?"))
    {
        output::line("nothing was changed");
        return Ok(Exit::Failure);
    }
    pins.set(&name, &now);
    pins.write(&file)?;
    let count = count(tools.len(), "tool");
    output::line(format!("pinned {count} of `{name}` in {}", file.display()));
    Ok(Exit::Success)
}
