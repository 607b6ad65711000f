//! ahp oracle run: one oracle on one event, with its time and operations.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use ahp::config::{Node, parse_duration, parse_yaml};
use ahp::diagnostic::{SourceMap, Span};
use ahp::engine::block_on;
use ahp::event::Event;
use ahp::oracle::{HookContext, OracleConfig};
use ahp::signal::Signal;
use ahp::trust::Trust;
use serde_json::json;

use super::Oracles;
use crate::command::run::read_event;
use crate::exit_code::Exit;
use crate::output::{self, Format};

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The oracle, by any spelling of its name, or a script's path
    name: String,
    /// The event as JSON, or `-` for stdin
    #[arg(long, value_name = "FILE")]
    event: PathBuf,
    /// The oracle's configuration, as YAML or JSON
    #[arg(long, value_name = "YAML", default_value = "{}")]
    config: String,
    /// Run it this many times and print the median; facts are determined once
    #[arg(long, value_name = "N", default_value_t = 1)]
    repeat: u32,
    /// How long one run may take: `500ms`, `2s`
    #[arg(long, value_name = "TIME", default_value = "60s", value_parser = parse_duration)]
    timeout: Duration,
    /// How the result is written
    #[arg(long, value_enum, default_value_t)]
    format: Format,
}

/// One run: what it gave, and what it took.
struct OracleRun {
    result: Result<Vec<Signal>, String>,
    duration: Duration,
    operations: Option<u64>,
    printed: Vec<String>,
}

pub(super) fn run(args: &Args) -> Result<Exit, String> {
    let oracles = Oracles::find()?;
    let mut sources = SourceMap::default();
    let file = sources.add("--config", args.config.as_str());
    let mut faults = Vec::new();
    let config = parse_yaml(&args.config, file, &mut faults)
        .filter(|_| faults.is_empty())
        .unwrap_or_else(|| Node::empty_map(Span::default()));
    for fault in &faults {
        output::error(output::diagnostic(fault, &sources));
    }
    if !faults.is_empty() {
        return Ok(Exit::Failure);
    }
    let mut event = read_event(&args.event)?;
    event.work_dir.get_or_insert_with(|| oracles.root.clone());
    let mut runs = Vec::new();
    let judge = match Judge::make(&oracles, args, &config)? {
        Ok(judge) => judge,
        Err(faults) => {
            for fault in &faults {
                output::error(output::diagnostic(fault, &sources));
            }
            return Ok(Exit::Failure);
        }
    };
    let context = context(&oracles, event);
    for _ in 0..args.repeat.max(1) {
        let context = HookContext {
            deadline: Some(Instant::now() + args.timeout),
            ..context.clone()
        };
        runs.push(judge.once(&context));
    }
    let mut durations: Vec<_> = runs.iter().map(|run| run.duration).collect();
    durations.sort_unstable();
    let median = durations
        .get(durations.len() / 2)
        .copied()
        .unwrap_or_default();
    let first = durations_first(&runs);
    match runs.pop() {
        Some(last) => Ok(tell(args, &last, first, median)),
        None => Err("nothing was run".to_owned()),
    }
}

fn durations_first(runs: &[OracleRun]) -> Duration {
    runs.first().map_or(Duration::ZERO, |run| run.duration)
}

/// An oracle that is ready: a script tells more of itself than others do.
enum Judge {
    Script(ahp::oracle::rhai::ScriptOracle),
    Other(Arc<dyn ahp::oracle::Oracle>),
}

type Faults = Vec<ahp::diagnostic::Diagnostic>;

impl Judge {
    fn make(oracles: &Oracles, args: &Args, config: &Node) -> Result<Result<Self, Faults>, String> {
        if let Some(factory) = oracles.catalog.find(&args.name) {
            let config = OracleConfig {
                node: config,
                root: &oracles.root,
            };
            return Ok(factory.build(&config).map(Self::Other).map_err(|e| e.0));
        }
        match oracles.library.find(&args.name) {
            Ok(Some(script)) => {
                for misspelt in script.misspelt_facts() {
                    let hint = misspelt
                        .nearest
                        .as_ref()
                        .map_or_else(String::new, |near| format!("; did you mean `{near}`?"));
                    output::error(format!(
                        "{}:{}:{}: warning: there is no fact `{}`{hint}",
                        script.file(),
                        misspelt.line,
                        misspelt.column,
                        misspelt.name
                    ));
                }
                Ok(script.oracle(config).map(Self::Script).map_err(|e| e.0))
            }
            Ok(None) => Err(oracles.unknown(&args.name)),
            Err(error) => Err(error.to_string()),
        }
    }

    fn once(&self, context: &HookContext) -> OracleRun {
        let started = Instant::now();
        match self {
            Self::Script(script) => match block_on(script.run(context)) {
                Ok(run) => OracleRun {
                    result: run.result.map_err(|e| e.to_string()),
                    duration: run.duration,
                    operations: Some(run.operations),
                    printed: run.printed,
                },
                Err(error) => OracleRun {
                    result: Err(error.to_string()),
                    duration: started.elapsed(),
                    operations: None,
                    printed: Vec::new(),
                },
            },
            Self::Other(oracle) => {
                let result = block_on(oracle.evaluate(context)).map_err(|e| e.to_string());
                OracleRun {
                    result,
                    duration: started.elapsed(),
                    operations: None,
                    printed: Vec::new(),
                }
            }
        }
    }
}

fn context(oracles: &Oracles, event: Event) -> HookContext {
    let state = oracles.engine.state();
    HookContext {
        facts: oracles.engine.facts(&state, Arc::new(event)),
        binding: "ahp-oracle-run".into(),
        deadline: None,
        state_dir: oracles.root.join(".ahp").into(),
        // Who names an oracle on the command line wants it to run.
        trust: Trust::everything(),
        guards: state.guards().clone(),
        outside: false,
    }
}

fn tell(args: &Args, last: &OracleRun, first: Duration, median: Duration) -> Exit {
    let signals = last.result.as_ref().map(Vec::as_slice).unwrap_or_default();
    match args.format {
        Format::Json => output::json(&json!({
            "signals": signals,
            "error": last.result.as_ref().err(),
            "duration_us": u64::try_from(first.as_micros()).unwrap_or(u64::MAX),
            "median_us": u64::try_from(median.as_micros()).unwrap_or(u64::MAX),
            "operations": last.operations,
            "printed": last.printed,
        })),
        Format::Human => {
            for text in &last.printed {
                output::line(format!("printed: {text}"));
            }
            for signal in signals {
                output::line(format!(
                    "{} {}: {}",
                    signal.intensity(),
                    signal.header.kind,
                    signal.payload.said()
                ));
                for step in signal.payload.steps() {
                    output::line(format!("  · {step}"));
                }
            }
            match &last.result {
                Ok(signals) if signals.is_empty() => output::line("accepted"),
                Ok(_) => {}
                Err(error) => output::error(format!("failed: {error}")),
            }
            let mut took = format!("{first:.1?}");
            if args.repeat > 1 {
                took.push_str(&format!(", median of {}: {median:.1?}", args.repeat));
            }
            if let Some(operations) = last.operations {
                took.push_str(&format!(", {operations} operations"));
            }
            output::line(took);
        }
    }
    if last.result.is_err() {
        Exit::Failure
    } else if signals
        .iter()
        .any(|signal| signal.intensity() == ahp::signal::Intensity::Block)
    {
        Exit::Blocked
    } else {
        Exit::Success
    }
}
