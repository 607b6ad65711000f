//! ahp log advise: what the figures say should change.

use std::slice;

use ahp::analysis::{Change, Edit, Proposal, RULES, Stats, advise, edit};
use ahp::config::{Approved, Config};
use ahp::signal_log::Reader;
use anstyle::{AnsiColor, Style};
use serde_json::{Value, json};

use super::filter::FilterArgs;
use super::sums::SumsFile;
use crate::command::replay::{self, Effect};
use crate::exit_code::Exit;
use crate::log_file::LogFile;
use crate::output::{self, Format};
use crate::project::{self, PROJECT_FILE};
use crate::view::count;

const BOLD: Style = Style::new().bold();
const DIM: Style = Style::new().dimmed();

/// How many of the events that would be judged otherwise are shown, the newest first.
const SHOWN: usize = 5;

/// Why it cannot be told what an event would come to.
const NOT_JUDGED: &str =
    "they were not logged whole, or what the project was then would have to be known";

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    filter: FilterArgs,
    #[command(flatten)]
    sums: SumsFile,
    /// Change the files, each after a person has said yes at the terminal; comments, layout and line ends stay
    #[arg(long)]
    apply: bool,
    /// Do not ask
    #[arg(long, requires = "apply")]
    yes: bool,
    /// Only these rules
    #[arg(long, value_name = "NAME")]
    rule: Vec<String>,
    /// Explain the rules
    #[arg(long)]
    rules: bool,
    /// For people or for programs
    #[arg(long, value_enum, default_value_t)]
    format: Format,
}

pub(super) fn run(log: &LogFile, args: &Args) -> Result<Exit, String> {
    if args.rules {
        for rule in RULES {
            output::line(format!(
                "{BOLD}{}{BOLD:#} {}\n  from {} cases on, of which surely {:.0}% or more speak for it",
                rule.name,
                rule.meaning,
                rule.at_least,
                rule.rate * 100.0
            ));
        }
        return Ok(Exit::Success);
    }
    for name in &args.rule {
        if !RULES.iter().any(|rule| rule.name == name) {
            let names: Vec<_> = RULES.iter().map(|r| format!("`{}`", r.name)).collect();
            return Err(format!("no rule `{name}`: expected {}", names.join(", ")));
        }
    }
    let locations = project::locations(None);
    let (stats, source) = match args.sums.read(log)? {
        Some(_) if args.apply => {
            return Err("these figures are of many machines, so nothing is changed by them: change the policy where it is kept".to_owned());
        }
        Some(stats) => (stats, None),
        None => {
            let reader = log.read()?;
            let filter = args.filter.filter(&reader)?;
            let stats = Stats::collect(&reader, &filter).map_err(|e| e.to_string())?;
            (stats, Some((reader, filter)))
        }
    };
    let reader = source.as_ref().map(|(reader, _)| reader);
    super::tell_of_bad_lines(stats.bad_lines);
    let mut loaded = Config::load(&locations);
    if loaded.is_broken() {
        return Err("the configuration is broken; `ahp check` says where".to_owned());
    }
    let mut proposals = advise(&stats, &loaded.config, &loaded.sources);
    proposals.retain(|p| args.rule.is_empty() || args.rule.iter().any(|r| r == p.rule));
    if proposals.is_empty() {
        if args.format == Format::Json {
            output::line("[]");
        } else if stats.records == 0
            && let Some((reader, filter)) = &source
        {
            super::tell_of_nothing(log, reader, filter);
        } else {
            output::line(format!(
                "no advice from {} and {}",
                count(stats.evaluations, "event"),
                count(stats.signals.total(), "signal")
            ));
        }
        return Ok(Exit::Success);
    }
    if args.apply && !log.foreign()?.is_empty() {
        return Err("this log was not written here, so nothing is changed by it".to_owned());
    }
    if args.apply {
        project::decided(args.yes, "each change of `--apply`")?;
    }
    let is_approved = Approved::waiting(&locations).is_empty();
    let (mut told, mut has_advice, mut can_apply) = (Vec::new(), false, false);
    for proposal in &proposals {
        let edit = edit(proposal, &loaded.config, &loaded.sources, PROJECT_FILE);
        let effect = edit
            .as_ref()
            .ok()
            .and_then(|edit| effect_of(reader?, proposal, edit));
        // It is made to judge what was logged otherwise; where it does not, it only widens the policy.
        let is_vain = effect.as_ref().is_some_and(|effect| {
            effect.judged > 0
                && effect.changes.is_empty()
                && proposal
                    .change
                    .as_ref()
                    .is_some_and(Change::is_of_judgement)
        });
        if is_vain {
            continue;
        }
        has_advice = true;
        can_apply |= edit.is_ok();
        match args.format {
            Format::Human => {
                let known = (reader.is_some(), is_approved);
                print(proposal, edit.as_ref(), effect.as_ref(), known);
            }
            Format::Json => told.push(as_json(proposal, edit.as_ref(), effect)),
        }
        if args.apply
            && let Ok(edit) = edit
            && (args.yes || project::confirmed(&format!("Change {} so?", edit.file)))
        {
            let path = locations.project_root.join(&edit.file);
            let mut tried = locations.clone();
            tried.drafts.insert(path.clone(), edit.after.clone());
            if Config::load(&tried).is_broken() {
                return Err(format!(
                    "nothing was changed: {} would be broken by it; change it by hand",
                    edit.file
                ));
            }
            project::approving(&locations, args.yes, slice::from_ref(&path), || {
                std::fs::write(&path, &edit.after)
                    .map_err(|error| format!("cannot write `{}`: {error}", path.display()))
            })?;
            output::error(format!("changed {}", edit.file));
            // The next edit stands on this one.
            loaded = Config::load(&locations);
        }
    }
    let held = Config::load(&locations).held;
    if args.apply && !held.is_empty() {
        output::error(format!(
            "not in force yet, as the stricter policy holds until `ahp trust` has shown and approved the change: {}",
            held.join(", ")
        ));
    }
    if args.format == Format::Json {
        output::json(&told);
    } else if !args.apply && can_apply && reader.is_some() {
        output::line(format!("{DIM}--apply makes these changes{DIM:#}"));
    }
    if args.apply && has_advice && !can_apply {
        output::error("nothing was changed: none of this can be applied");
        return Ok(Exit::Failure);
    }
    Ok(Exit::Success)
}

/// Returns what an edit would have done to the logged events.
fn effect_of(reader: &Reader, proposal: &Proposal, edit: &Edit) -> Option<Effect> {
    // What an issue was judged by, as its checklist and its change, is not what it was then.
    if proposal.hook.is_issue() {
        return None;
    }
    let binding = (proposal.hook.name(), proposal.binding.as_str());
    replay::effect(reader, binding, edit).ok()
}

fn print(
    proposal: &Proposal,
    edit: Result<&Edit, &String>,
    effect: Option<&Effect>,
    (has_events, is_approved): (bool, bool),
) {
    let added = Style::new().fg_color(Some(AnsiColor::Green.into()));
    let removed = Style::new().fg_color(Some(AnsiColor::Red.into()));
    let meaning = RULES.iter().find(|rule| rule.name == proposal.rule);
    let layer = proposal.layer.name();
    output::line(format!(
        "{BOLD}{}{BOLD:#}: {} at {} ({layer} layer, {})",
        proposal.rule, proposal.binding, proposal.hook, proposal.place
    ));
    let rate = &proposal.confidence;
    output::line(format!(
        "  {}: {} of {}, so {:.0}% to {:.0}% (95% interval)",
        proposal.why,
        rate.cases,
        rate.of,
        rate.low * 100.0,
        rate.high * 100.0
    ));
    output::line(format!("  {}", meaning.map_or("", |rule| rule.meaning)));
    if let Some(told) = edit
        .ok()
        .and_then(|edit| reach(proposal, edit, is_approved))
    {
        output::line(format!("  {told}"));
    }
    match edit {
        Ok(edit) => {
            for line in edit.diff().lines() {
                let style = match line.as_bytes().first() {
                    Some(b'+') => added,
                    Some(b'-') => removed,
                    _ => DIM,
                };
                output::line(format!("    {style}{line}{style:#}"));
            }
        }
        Err(reason) => output::line(format!("  {DIM}no patch: {reason}{DIM:#}")),
    }
    match effect {
        None if edit.is_ok() && has_events && proposal.hook.is_issue() => output::line(
            "  what it would have changed cannot be told: the issues and their changes are not what they were then",
        ),
        None if edit.is_ok() && has_events => {
            output::line("  what it would have changed cannot be told: `ahp check` says more");
        }
        None => {}
        Some(effect) if effect.judged == 0 => output::line(format!(
            "  what it would have changed of {} cannot be told: {NOT_JUDGED}",
            count(effect.not_judged, "logged event")
        )),
        Some(effect) => {
            output::line(format!(
                "  of {} that it was against, {} would be judged otherwise{}",
                count(effect.judged + effect.not_judged, "logged event"),
                effect.changes.len(),
                match effect.not_judged {
                    0 => String::new(),
                    unknown => format!(", and of {unknown} it cannot be told: {NOT_JUDGED}"),
                }
            ));
            for change in effect.changes.iter().rev().take(SHOWN) {
                output::line(format!(
                    "    {} #{} {} -> {}",
                    change.timestamp.format("%Y-%m-%d %H:%M:%S"),
                    change.seq,
                    change.old,
                    change.new
                ));
            }
        }
    }
    output::line("");
}

/// Says how far a change reaches, where that is not the layer that has the binding.
fn reach(proposal: &Proposal, edit: &Edit, is_approved: bool) -> Option<String> {
    let layer = proposal.layer;
    let waits = if is_approved {
        ""
    } else {
        ", and what of it is stricter holds until `ahp trust` has approved this"
    };
    (!layer.is_of_project()).then(|| {
        format!(
            "in this project alone, by {}; the {} layer stays as it is{waits}",
            edit.file,
            layer.name()
        )
    })
}

fn as_json(proposal: &Proposal, edit: Result<&Edit, &String>, effect: Option<Effect>) -> Value {
    let (key, text) = match edit {
        Ok(edit) => ("patch", edit.diff()),
        Err(reason) => ("no_patch", reason.clone()),
    };
    let mut told = json!(proposal);
    output::put(&mut told, key, text);
    if let Some(effect) = effect {
        output::put(&mut told, "effect", json!(effect));
    }
    told
}
