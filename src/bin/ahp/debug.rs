//! `--debug`: what hooks do, on stderr, in the words of their standard.

use ahp::config::Environment;
use tracing_subscriber::filter::{LevelFilter, Targets};
use tracing_subscriber::layer::SubscriberExt as _;
use tracing_subscriber::util::SubscriberInitExt as _;

use crate::output;

/// Starts to tell, if that was asked for by the flag or by `AHP_DEBUG`.
pub(crate) fn start(asked: bool) {
    // Asked first of the system alone: this stands before every tool call, and few people debug.
    let in_environment =
        std::env::var_os("AHP_DEBUG").is_some() && Environment::of_process().is_on("AHP_DEBUG");
    if !asked && !in_environment {
        return;
    }
    let lines = tracing_subscriber::fmt::layer()
        .with_writer(output::error_stream)
        .with_ansi(false)
        .with_target(false)
        .with_level(false)
        .without_time();
    // A second start in one process changes nothing, and there is none.
    tracing_subscriber::registry()
        .with(lines)
        .with(Targets::new().with_target("ahp::hook", tracing::Level::DEBUG))
        .try_init()
        .ok();
}

/// Whether hooks are told of.
pub(crate) fn is_on() -> bool {
    tracing::enabled!(target: "ahp::hook", tracing::Level::DEBUG)
}

/// Lets a daemon tell on stderr what it does, from a level on: `warn`, `info` or `debug`.
pub(crate) fn start_at(level: &str) {
    let level = level.parse().unwrap_or(tracing::Level::INFO);
    let lines = tracing_subscriber::fmt::layer()
        .with_writer(output::error_stream)
        .with_ansi(false)
        .with_target(false);
    // What hooks say may repeat what they were given.
    let told = Targets::new()
        .with_default(level)
        .with_target("ahp::hook", LevelFilter::OFF);
    tracing_subscriber::registry()
        .with(lines)
        .with(told)
        .try_init()
        .ok();
}
