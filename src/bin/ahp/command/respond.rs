//! ahp respond: answers a signal.

use std::io::Read as _;

use ahp::signal::{Action, Actor, Response};
use ahp::signal_log::{Answer, SignalLog, respond};
use clap::builder::{PossibleValuesParser, TypedValueParser as _};
use serde::Deserialize;
use serde_json::{Map, Value, json};

use crate::ask;
use crate::exit_code::Exit;
use crate::log_file::{self, LogFile};
use crate::output::{self, Format};

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    log: LogFile,
    /// The signal: its id, four or more digits from its beginning or end, or `last`
    #[arg(required_unless_present = "stdin")]
    signal: Option<String>,
    /// What is done about it
    #[arg(required_unless_present = "stdin", value_parser = actions())]
    action: Option<Action>,
    /// More about the answer, as a JSON object
    #[arg(long, value_name = "JSON", conflicts_with = "note", value_parser = object)]
    details: Option<Map<String, Value>>,
    /// A note in words
    #[arg(long, value_name = "TEXT")]
    note: Option<String>,
    /// Who answers [default: agent]
    #[arg(long, value_name = "agent|human", value_parser = actor)]
    by: Option<Actor>,
    /// Read the answer from stdin: `{"signal_id":…,"action":…,"details":{…},"by":…}`
    #[arg(long, conflicts_with_all = ["signal", "action", "details", "note"])]
    stdin: bool,
    /// The output format
    #[arg(long, value_enum, default_value_t)]
    format: Format,
}

/// The answer of a host, as it comes on stdin.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct HostAnswer {
    signal_id: String,
    action: Action,
    #[serde(default)]
    details: Map<String, Value>,
    #[serde(default)]
    by: Option<Actor>,
    #[serde(default, rename = "consumed_at")]
    _consumed_at: Option<Value>,
}

fn actions() -> impl clap::builder::TypedValueParser<Value = Action> {
    PossibleValuesParser::new(
        Action::ALL
            .iter()
            .map(|action| clap::builder::PossibleValue::new(action.name()).help(action.meaning())),
    )
    .try_map(|name| Action::find(&name).ok_or("no such action"))
}

fn object(text: &str) -> Result<Map<String, Value>, String> {
    serde_json::from_str(text).map_err(|error| format!("expected a JSON object: {error}"))
}

fn actor(text: &str) -> Result<Actor, String> {
    match text {
        "agent" => Ok(Actor::Agent),
        "human" => Ok(Actor::Human),
        _ => Err("expected `agent` or `human`".to_owned()),
    }
}

pub(crate) fn run(args: Args) -> Result<Exit, String> {
    let (selector, answer) = if args.stdin {
        let mut text = String::new();
        std::io::stdin()
            .read_to_string(&mut text)
            .map_err(|error| format!("cannot read the answer from stdin: {error}"))?;
        let told: HostAnswer = serde_json::from_str(&text)
            .map_err(|error| format!("the answer on stdin is not as expected: {error}"))?;
        let answer = Answer {
            action: told.action,
            details: told.details,
            by: args.by.or(told.by).unwrap_or_default(),
        };
        (told.signal_id, answer)
    } else {
        let (Some(signal), Some(action)) = (args.signal, args.action) else {
            return Err("which signal, and what is done about it?".to_owned());
        };
        let mut details = args.details.unwrap_or_default();
        if let Some(note) = args.note {
            details.insert("note".to_owned(), note.into());
        }
        let by = args.by.unwrap_or_default();
        (
            signal,
            Answer {
                action,
                details,
                by,
            },
        )
    };
    let told = json!({"signal": selector, "action": answer.action, "details": answer.details});
    if let Some(reply) = ask::respond(&told) {
        let reply = reply?;
        if !reply.stderr.is_empty() {
            return Err(reply.stderr);
        }
        let responses: Vec<Response> =
            serde_json::from_str(&reply.stdout).map_err(|e| e.to_string())?;
        return Ok(show(&responses, args.format));
    }
    let (place, settings) = args.log.find()?;
    log_file::is_heard(&place)?;
    let log = SignalLog::open(place, &settings).map_err(|e| e.to_string())?;
    let records = respond(&log, &selector, answer, log_file::now()).map_err(|e| e.to_string())?;
    let responses: Vec<Response> = records.into_iter().map(|r| r.response).collect();
    Ok(show(&responses, args.format))
}

fn show(responses: &[Response], format: Format) -> Exit {
    for response in responses {
        if format == Format::Json {
            output::json(response);
        } else {
            output::line(format!(
                "{} answered: {}",
                response.signal_id,
                response.action.meaning().trim_end_matches('.')
            ));
        }
    }
    Exit::Success
}
