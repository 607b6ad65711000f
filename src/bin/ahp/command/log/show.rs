//! ahp log show: the newest signals and what became of them.

use std::collections::VecDeque;
use std::io::Write as _;
use std::ops::ControlFlow;

use ahp::analysis::{Filter, each_entry, each_line, newest_entries};
use ahp::fact::MarkCount;
use ahp::session::{Count, Truth};
use ahp::signal_log::{Body, Reader};
use ahp::verdict::Decision;
use ahp::visible::on_one_line;
use serde_json::json;

use super::filter::SignalFilterArgs;
use super::table;
use crate::exit_code::Exit;
use crate::log_file::LogFile;
use crate::output::{self, Format};

/// How many signals a person is shown who did not say how many.
const MOST: usize = 50;

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    filter: SignalFilterArgs,
    /// At most this many, the newest; 0 for all [default: 50 for people, all for programs]
    #[arg(short = 'n', long, value_name = "N")]
    limit: Option<usize>,
    /// Show the events that this mark counted, or that reset or read it, instead of signals
    #[arg(long, value_name = "NAME")]
    mark: Option<String>,
    /// Show the events that were judged, accepted ones too, instead of signals
    #[arg(long, conflicts_with = "mark")]
    events: bool,
    /// One JSON object a line; the same as --format json
    #[arg(long)]
    json: bool,
    /// For people or for programs
    #[arg(long, value_enum, default_value_t)]
    format: Format,
}

pub(super) fn run(log: &LogFile, args: &Args) -> Result<Exit, String> {
    let reader = log.read()?;
    let filter = args.filter.filter(&reader)?;
    let for_programs = args.json || args.format == Format::Json;
    let limit = match args.limit {
        Some(0) => None,
        Some(limit) => Some(limit),
        None if for_programs => None,
        None => Some(MOST),
    };
    if let Some(mark) = &args.mark {
        return marks(&reader, &filter, mark, for_programs);
    }
    if args.events {
        return events(log, &reader, &filter, limit, for_programs);
    }
    if for_programs {
        let mut out = output::stream();
        let mut put = |entry: &ahp::analysis::Entry| {
            let written = serde_json::to_writer(&mut out, entry).map_err(std::io::Error::from);
            match written.and_then(|()| out.write_all(b"\n")) {
                Ok(()) => ControlFlow::Continue(()),
                // The reader has seen enough.
                Err(_) => ControlFlow::Break(()),
            }
        };
        match limit {
            None => each_entry(&reader, &filter, |entry| put(&entry)).map_err(|e| e.to_string())?,
            Some(limit) => {
                let entries = newest_entries(&reader, &filter, limit).map_err(|e| e.to_string())?;
                entries.iter().try_for_each(&mut put).is_break();
            }
        }
        out.flush().ok();
        super::tell_of_bad_lines(reader.left_out());
        return Ok(Exit::Success);
    }
    let most = limit.unwrap_or(usize::MAX);
    let entries = newest_entries(&reader, &filter, most).map_err(|e| e.to_string())?;
    if entries.is_empty() {
        super::tell_of_nothing(log, &reader, &filter);
        return Ok(Exit::Success);
    }
    table::print(&table::entries(&entries));
    super::tell_of_bad_lines(reader.left_out());
    if entries.len() == most {
        output::error(format!("the newest {most}; -n 0 shows all"));
    }
    Ok(Exit::Success)
}

/// Shows the newest events that were judged, oldest first, each with what was decided.
fn events(
    log: &LogFile,
    reader: &Reader,
    filter: &Filter,
    limit: Option<usize>,
    for_programs: bool,
) -> Result<Exit, String> {
    let mut newest: VecDeque<String> = VecDeque::new();
    let read = reader.newest_first(|_, line| {
        if filter.admits(&line)
            && let Body::Evaluation(evaluation) = &line.body
        {
            let tool = evaluation.tool.as_deref();
            newest.push_front(if for_programs {
                json!({
                    "seq": line.seq,
                    "timestamp": line.timestamp,
                    "hook": &*evaluation.hook,
                    "decision": evaluation.decision,
                    "tool": tool,
                    "host": line.host(),
                    "session_id": line.session(),
                })
                .to_string()
            } else {
                format!(
                    "{} {:<22} {:<8} {:<12} {}",
                    line.timestamp.format("%Y-%m-%d %H:%M:%S"),
                    &*evaluation.hook,
                    match evaluation.decision {
                        Decision::None => "accepted",
                        other => other.name(),
                    },
                    on_one_line(tool.unwrap_or("-")),
                    on_one_line(line.host().unwrap_or("-"))
                )
            });
        }
        if limit.is_some_and(|most| newest.len() >= most) {
            ControlFlow::Break(())
        } else {
            ControlFlow::Continue(())
        }
    });
    read.map_err(|error| error.to_string())?;
    if for_programs {
        // No terminal's width breaks it: it must stay JSON.
        let mut out = output::stream();
        newest
            .iter()
            .try_for_each(|line| writeln!(out, "{line}"))
            .ok();
        out.flush().ok();
    } else if newest.is_empty() {
        super::tell_of_nothing(log, reader, filter);
    } else {
        newest.iter().for_each(output::line);
    }
    super::tell_of_bad_lines(reader.left_out());
    Ok(Exit::Success)
}

/// Shows what events did to a mark, oldest first.
fn marks(reader: &Reader, filter: &Filter, mark: &str, for_programs: bool) -> Result<Exit, String> {
    let mut any = false;
    let read = each_line(reader, |_, line| {
        if filter.admits(&line)
            && let Body::Evaluation(evaluation) = &line.body
            && let Some(record) = evaluation.marks.get(mark)
        {
            any = true;
            let tool = evaluation.tool.as_deref();
            if for_programs {
                output::json(&json!({
                    "seq": line.seq,
                    "timestamp": line.timestamp,
                    "hook": &*evaluation.hook,
                    "tool": tool,
                    "session_id": line.session(),
                    "mark": mark,
                    "fed": record.fed,
                    "ended": record.ended,
                    "asked": record.asked,
                }));
            } else {
                let told = |what: &str, truth: Option<Truth>| {
                    truth.map(|truth| format!("{what}: {}", truth.name()))
                };
                let asked = record.asked.map(|[least, most]| {
                    let why = String::new();
                    let count = Count { least, most };
                    format!("asked: {}", MarkCount { count, why })
                });
                let told: Vec<String> =
                    [told("fed", record.fed), told("ended", record.ended), asked]
                        .into_iter()
                        .flatten()
                        .collect();
                output::line(format!(
                    "{} {:<22} {:<12} {}",
                    line.timestamp.format("%Y-%m-%d %H:%M:%S"),
                    &*evaluation.hook,
                    tool.unwrap_or("-"),
                    told.join(", ")
                ));
            }
        }
        ControlFlow::Continue(())
    });
    read.map_err(|error| error.to_string())?;
    if !any && !for_programs {
        output::error(format!(
            "no event in the log did anything to the mark `{mark}`"
        ));
    }
    Ok(Exit::Success)
}
