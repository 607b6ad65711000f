//! ahp log advise: what the figures say should change.

use ahp::analysis::Edit;
use ahp::analysis::Proposal;
use ahp::analysis::RULES;
use ahp::analysis::Stats;
use ahp::analysis::advise;
use ahp::analysis::edit;
use ahp::config::Config;
use anstyle::AnsiColor;
use anstyle::Style;
use serde_json::Value;
use serde_json::json;

use super::filter::FilterArgs;
use crate::exit_code::Exit;
use crate::log_file::LogFile;
use crate::output;
use crate::output::Format;
use crate::project;
use crate::view::count;

const BOLD: Style = Style::new().bold();
const DIM: Style = Style::new().dimmed();

/// The project's own layer, as the source map names it.
const PROJECT_FILE: &str = ".ahp/hooks.yaml";

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    filter: FilterArgs,
    /// Change the files; comments and layout stay
    #[arg(long)]
    apply: bool,
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
                "{BOLD}{}{BOLD:#} {}\n  from {} on",
                rule.name, rule.meaning, rule.at_least
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
    let reader = log.read()?;
    let filter = args.filter.filter()?;
    let stats = Stats::collect(&reader, &filter).map_err(|e| e.to_string())?;
    let mut loaded = Config::load(&locations);
    if loaded.is_broken() {
        return Err("the configuration is broken; `ahp check` says where".to_owned());
    }
    let mut proposals = advise(&stats, &loaded.config, &loaded.sources);
    proposals.retain(|p| args.rule.is_empty() || args.rule.iter().any(|r| r == p.rule));
    if proposals.is_empty() {
        if args.format == Format::Json {
            output::line("[]");
        } else if stats.records == 0 {
            super::tell_of_nothing(log, &reader, &filter);
        } else {
            output::line(format!(
                "no advice from {} and {}",
                count(stats.evaluations, "event"),
                count(stats.signals.total(), "signal")
            ));
        }
        return Ok(Exit::Success);
    }
    let mut told = Vec::new();
    for proposal in &proposals {
        let edit = edit(proposal, &loaded.config, &loaded.sources, PROJECT_FILE);
        match args.format {
            Format::Human => print(proposal, edit.as_ref()),
            Format::Json => told.push(as_json(proposal, edit.as_ref())),
        }
        if args.apply
            && let Ok(edit) = edit
        {
            let path = locations.project_root.join(&edit.file);
            std::fs::write(&path, &edit.after)
                .map_err(|error| format!("cannot write `{}`: {error}", path.display()))?;
            output::error(format!("changed {}", edit.file));
            // The next edit stands on this one.
            loaded = Config::load(&locations);
            if loaded.is_broken() {
                std::fs::write(&path, &edit.before)
                    .map_err(|error| format!("cannot write `{}`: {error}", path.display()))?;
                loaded = Config::load(&locations);
                output::error(format!("took it back: {} would be broken by it", edit.file));
            }
        }
    }
    if args.format == Format::Json {
        output::json(&told);
    } else if !args.apply {
        output::line(format!("{DIM}--apply makes these changes{DIM:#}"));
    }
    Ok(Exit::Success)
}

fn print(proposal: &Proposal, edit: Result<&Edit, &String>) {
    let added = Style::new().fg_color(Some(AnsiColor::Green.into()));
    let removed = Style::new().fg_color(Some(AnsiColor::Red.into()));
    let meaning = RULES.iter().find(|rule| rule.name == proposal.rule);
    let layer = proposal.layer.map_or("", |layer| layer.name());
    output::line(format!(
        "{BOLD}{}{BOLD:#}: {} at {} ({layer} layer, {})",
        proposal.rule, proposal.binding, proposal.hook, proposal.place
    ));
    output::line(format!(
        "  {} ({:.0}% sure)",
        proposal.why,
        proposal.confidence * 100.0
    ));
    output::line(format!("  {}", meaning.map_or("", |rule| rule.meaning)));
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
    output::line("");
}

fn as_json(proposal: &Proposal, edit: Result<&Edit, &String>) -> Value {
    let (key, text) = match edit {
        Ok(edit) => ("patch", edit.diff()),
        Err(reason) => ("no_patch", reason.clone()),
    };
    let mut told = json!(proposal);
    if let Value::Object(fields) = &mut told {
        fields.insert(key.to_owned(), text.into());
    }
    told
}
