//! ahp shield: starts an agent so that the kernel keeps it, and all that it starts, from changing what governs it.

mod inner;
mod judge;
mod show;
mod world;

pub(crate) use self::inner::{Args as InnerArgs, run as inner};
pub(crate) use self::world::{Standing, standing};

use std::os::unix::net::UnixStream;
use std::os::unix::process::ExitStatusExt as _;
use std::path::PathBuf;
use std::process::{Child, Command};
use std::sync::Arc;
use std::{io, thread};

use ahp::process::{enclose, find_program};
use ahp::shield::{Obstacle, bubblewrap};
use rustix::process::{Pid, Signal};
use signal_hook::consts::{SIGHUP, SIGINT, SIGQUIT, SIGTERM};

use self::judge::Outside;
use self::world::World;
use crate::ask;
use crate::daemon;
use crate::daemon::{Load, Service, Until};
use crate::exit_code::Exit;
use crate::output;

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Let it write this too
    #[arg(long, value_name = "PATH")]
    write: Vec<PathBuf>,
    /// Let it reach this socket too; `ssh-agent` for the one of SSH
    #[arg(long, value_name = "PATH")]
    socket: Vec<PathBuf>,
    /// Let it reach no server
    #[arg(long)]
    no_network: bool,
    /// Show what would be held, written, hidden and reached, and start nothing
    #[arg(long)]
    dry_run: bool,
    /// How that is written: for people, or as the options of a container that holds the same
    #[arg(long, value_enum, requires = "dry_run", default_value_t)]
    format: show::Format,
    /// The agent, and its arguments
    #[arg(
        last = true,
        required_unless_present = "dry_run",
        value_name = "COMMAND"
    )]
    command: Vec<String>,
}

pub(crate) fn run(args: &Args) -> Exit {
    shield(args).unwrap_or_else(output::failure)
}

fn shield(args: &Args) -> Result<Exit, String> {
    if ask::shield().is_some() && !args.dry_run {
        // Nothing more could be held here, and nothing is held less.
        return inner::become_command(&args.command);
    }
    let world = World::find(args)?;
    if args.dry_run {
        show::show(&world.plan, args.format);
        return Ok(Exit::Success);
    }
    if !cfg!(target_os = "linux") {
        return Err(
            "there is no shield on this system yet: Linux alone has what it is made of".to_owned(),
        );
    }
    let [program, ..] = args.command.as_slice() else {
        return Err("which command is to be started?".to_owned());
    };
    if find_program(program, std::env::var_os("PATH").as_deref()).is_none() {
        return Err(format!("there is no program `{program}`"));
    }
    let bubblewrap = bubblewrap().map_err(|obstacle| obstacle.to_string())?;
    for warning in &world.plan.warnings {
        output::error(format!("ahp: {warning}"));
    }
    // Taken away again by its drop, whatever comes between.
    let (run, socket) = world.run_files()?;
    world.prepare()?;
    let start = run.starter(&world.plan, &bubblewrap, &world.program);
    Obstacle::try_out(start(&["/bin/true".to_owned()], None), &world.here.work_dir)
        .map_err(|obstacle| format!("no shield: {obstacle}"))?;
    // A panic is answered for; the terminal is the agent's.
    std::panic::set_hook(Box::new(|_| {}));
    let argv = start(&args.command, Some(&world.here.work_dir));
    enclose(Box::new(move |argv, dir| start(argv, dir)));
    let outside = Outside::new(&world, run.id.clone());
    let (ended, end) = UnixStream::pair().map_err(|error| error.to_string())?;
    let until = Until {
        idle: None,
        replaced: false,
        told: ended,
    };
    let judge = thread::Builder::new()
        .spawn(move || {
            let service: Arc<dyn Service> = Arc::new(outside);
            if let Err(error) = daemon::run(socket, &service, until, &Arc::new(Load::new())) {
                tracing::error!("the judge of the shield has ended: {error}");
            }
        })
        .map_err(|error| format!("no thread could be started: {error}"))?;
    let exit = supervise(&argv);
    drop(end);
    judge.join().ok();
    drop(run);
    exit
}

/// Runs the command with the terminal as it is, and returns its own exit code. What the terminal says is for the agent alone;
/// who ends this process ends the agent with it.
fn supervise(argv: &[String]) -> Result<Exit, String> {
    let cannot = |error: io::Error| format!("the shield cannot be started: {error}");
    let (told, tell) = UnixStream::pair().map_err(cannot)?;
    for signal in [SIGINT, SIGQUIT] {
        signal_hook::flag::register(signal, Arc::default()).map_err(cannot)?;
    }
    for signal in [SIGTERM, SIGHUP] {
        let tell = tell.try_clone().map_err(cannot)?;
        signal_hook::low_level::pipe::register(signal, tell).map_err(cannot)?;
    }
    let (starter, words) = argv.split_first().ok_or("nothing is to be started")?;
    #[expect(
        clippy::disallowed_methods,
        reason = "the agent gets the terminal itself and may take as long as it likes"
    )]
    let mut child = Command::new(starter).args(words).spawn().map_err(cannot)?;
    end_with(&child, told).map_err(cannot)?;
    let status = child.wait().map_err(cannot)?;
    let code = status
        .code()
        .or_else(|| status.signal().map(|signal| 128 + signal))
        .unwrap_or(1);
    Ok(Exit::Of(u8::try_from(code & 0xff).unwrap_or(1)))
}

/// Ends the agent once a signal says so.
fn end_with(child: &Child, mut told: UnixStream) -> io::Result<()> {
    let pid = Pid::from_child(child);
    let wait = move || {
        if io::Read::read(&mut told, &mut [0]).is_ok_and(|count| count > 0) {
            // What `bwrap` holds ends with it.
            rustix::process::kill_process(pid, Signal::KILL).ok();
        }
    };
    thread::Builder::new().spawn(wait)?;
    Ok(())
}
