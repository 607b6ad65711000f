//! ahp serve: a judge that stays: asked on a socket by `ahp hook`, or by JSON-RPC lines on stdin.

mod door;
mod event;
mod harness;
mod http;
mod judge;
mod known;
mod line;
mod listen;
mod method;
mod rpc;
mod stdio;
mod told;

use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use ahp::config::{Environment, parse_duration};
use serde_json::Value;

use crate::ask;
use crate::exit_code::Exit;
use crate::output;
use crate::view::judge_line;

/// How long one event may take at most, in seconds: a test gate runs a whole suite.
const TIMEOUT: f64 = 480.0;

/// The most events that are judged at once.
const MOST_JOBS: usize = 64;

/// What is said where a socket is asked. Beside one of these, clap does not insist on `--stdio`, with which they conflict.
const OF_SOCKETS: [&str; 3] = ["http", "idle", "status"];

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Read requests from stdin and answer on stdout, one JSON-RPC object a line, until stdin ends
    #[arg(long)]
    stdio: bool,
    /// Show the status of the server that runs now
    #[arg(long, conflicts_with = "stdio")]
    status: bool,
    /// Exit after this time without a request, such as `30m`
    #[arg(long, value_name = "DURATION", conflicts_with = "stdio", value_parser = parse_duration)]
    idle: Option<Duration>,
    /// Answer HTTP too, at this address of this machine: `127.0.0.1:PORT`
    #[arg(long, value_name = "ADDRESS", conflicts_with = "stdio")]
    http: Option<SocketAddr>,
    /// The level of the messages on stderr
    #[arg(long, value_name = "LEVEL", default_value = "info", value_parser = ["warn", "info", "debug"])]
    log_level: String,
    /// Judge by the policy of this project, whatever directory an event names
    #[arg(long, value_name = "DIR", requires = "stdio", conflicts_with_all = OF_SOCKETS)]
    project: Option<PathBuf>,
    /// How many events are judged at once [default: the number of cores]
    #[arg(long, value_name = "N", requires = "stdio", conflicts_with_all = OF_SOCKETS, value_parser = clap::value_parser!(u16).range(1..=MOST_JOBS as i64))]
    jobs: Option<u16>,
    /// How long one event may take
    #[arg(long, value_name = "SECONDS", default_value_t = TIMEOUT, value_parser = seconds)]
    timeout: f64,
    /// Whose answers to signals are accepted; `human` if a person uses this program
    #[arg(long, value_name = "agent|human", default_value = "agent", requires = "stdio", conflicts_with_all = OF_SOCKETS, value_parser = ["agent", "human"])]
    answers: String,
}

fn seconds(text: &str) -> Result<f64, String> {
    match text.parse() {
        Ok(seconds) if seconds > 0.0 && seconds <= 3600.0 => Ok(seconds),
        _ => Err("expected a number of seconds, above 0 and at most 3600".to_owned()),
    }
}

pub(crate) fn run(args: &Args) -> Result<Exit, String> {
    if args.stdio {
        stdio::serve(args)
    } else if args.status {
        status()
    } else {
        listen::listen(args)
    }
}

/// Says how the judge is that listens; inside a shield, the one outside it.
fn status() -> Result<Exit, String> {
    let socket = match ask::shield() {
        Some(marker) => marker?.socket,
        None => {
            ask::socket_path(&Environment::of_process()).ok_or("set HOME or XDG_RUNTIME_DIR")?
        }
    };
    let told =
        ask::status(&socket).map_err(|why| format!("the judge at `{}` {why}", socket.display()))?;
    output::line(format!("listening  {}", socket.display()));
    for (name, value) in told.as_object().into_iter().flatten() {
        match (name.as_str(), value) {
            ("engines", Value::Array(engines)) => {
                for engine in engines {
                    output::line(format!("engine     {}", judge_line(engine)));
                }
            }
            ("memory_bytes", bytes) => {
                let bytes = bytes.as_u64().unwrap_or(0);
                output::line(format!("memory     {} MiB", bytes >> 20));
            }
            (name, Value::String(text)) => output::line(format!("{name:<10} {text}")),
            (_, Value::Null) => {}
            (name, value) => output::line(format!("{name:<10} {value}")),
        }
    }
    Ok(Exit::Success)
}
