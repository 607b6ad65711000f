//! ahp shield: starts an agent so that the kernel keeps it, and all that it starts, from changing what governs it.

mod descriptors;
mod inner;
mod judge;
mod show;
mod signals;
mod start;
mod world;

pub(crate) use self::inner::{Args as InnerArgs, run as inner};
pub(crate) use self::world::{Standing, standing};

use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::sync::Arc;
use std::thread;

use ahp::process::{Enclosed, Enclosure, enclose, find_program};
use ahp::shield::{SEEN_IN, bubblewrap};

use self::judge::Outside;
use self::signals::Signals;
use self::start::{Gate, NotMade, Supervisor, made};
use self::world::{First, World};
use crate::ask;
use crate::daemon;
use crate::daemon::{Load, Service, Until};
use crate::exit_code::Exit;
use crate::output;

#[derive(Debug, Default, clap::Args)]
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
    /// Show what the agent could write, read and reach, and start nothing
    #[arg(long)]
    dry_run: bool,
    /// The output format: for people, or as the options of a container with the same limits
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

pub(crate) fn run(args: &Args) -> Result<Exit, String> {
    if ask::shield().is_some() && !args.dry_run {
        // Nothing more could be held here, and nothing is held less.
        return inner::become_command(&args.command);
    }
    // First of all: whatever is made from here on is taken away again by the drops.
    let signals = Signals::noted().map_err(|error| error.to_string())?;
    descriptors::close_given().map_err(|error| format!("open files: {error}"))?;
    let world = match (World::find(args, &signals), signals.stopped()) {
        (Err(_), Some(exit)) => return Ok(exit),
        (world, _) => world?,
    };
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
    if let Some(why) = descriptors::leads_past(&world.plan)? {
        return Err(why);
    }
    let bubblewrap = bubblewrap().map_err(|obstacle| obstacle.to_string())?;
    for warning in &world.plan.warnings {
        output::error(format!("ahp: {warning}"));
    }
    let (run, socket) = world.run_files()?;
    if let Some(exit) = signals.stopped() {
        return Ok(exit);
    }
    if let Err(why) = world.prepare(&signals) {
        return signals.stopped().ok_or(why);
    }
    let starter = run.starter(&bubblewrap, &world.program);
    starter
        .try_out(&world.plan, &world.here.work_dir)
        .map_err(|why| format!("no shield: {why}"))?;
    if let Some(exit) = signals.stopped() {
        return Ok(exit);
    }
    // A panic is answered for; the terminal is the agent's.
    std::panic::set_hook(Box::new(|_| {}));
    let gate = Arc::new(Gate::new(&world.plan));
    let (of_judge, mounted) = (starter.clone(), gate.clone());
    enclose(Enclosure {
        folders: run.folders(),
        seen_in: SEEN_IN.into(),
        start: Box::new(move |enclosed| {
            // What the agent's shield covers may have gone since.
            let plan = mounted.plan().without_gone();
            of_judge.argv(&plan, enclosed, First::Other)
        }),
    });
    let outside = Outside::new(&world, run.id.clone(), gate.clone());
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
    let supervisor = Supervisor::new().map_err(|error| error.to_string())?;
    let exit = made(&world.plan, |plan| {
        gate.mounts(plan);
        let agent = Enclosed {
            argv: &args.command,
            dir: Some(&world.here.work_dir),
            folder: None,
        };
        let argv = starter.argv(plan, &agent, First::Agent);
        let exit = supervisor
            .run(&argv, &signals)
            .map_err(|why| NotMade::because(&why))?;
        match gate.refused() {
            Some(refused) => signals.stopped().ok_or(refused),
            None => Ok(exit),
        }
    });
    drop(end);
    judge.join().ok();
    drop(run);
    exit
}
