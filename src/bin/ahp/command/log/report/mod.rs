//! ahp log report: one self-contained HTML file.

mod chart;
mod page;

use std::collections::HashMap;
use std::ops::ControlFlow;
use std::path::PathBuf;

use ahp::analysis::{Filter, Stats, advise, each_entry, edit};
use ahp::config::Config;
use ahp::signal_log::Reader;

use self::chart::Timeline;
use super::filter::FilterArgs;
use super::sums::SumsFile;
use crate::exit_code::Exit;
use crate::log_file::LogFile;
use crate::output;
use crate::project;
use crate::view::count;

/// How many issues get a time line, and how many signals one shows.
const MOST_ISSUES: usize = 20;
const MOST_SIGNALS: usize = 200;

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    filter: FilterArgs,
    #[command(flatten)]
    sums: SumsFile,
    /// Where to write the page; `-` is stdout
    #[arg(short, long, value_name = "FILE", default_value = "ahp-report.html")]
    output: PathBuf,
}

pub(super) fn run(log: &LogFile, args: &Args) -> Result<Exit, String> {
    let (stats, timelines) = if let Some(stats) = args.sums.read(log)? {
        (stats, Vec::new())
    } else {
        let reader = log.read()?;
        let filter = args.filter.filter(&reader)?;
        let stats = Stats::collect(&reader, &filter).map_err(|e| e.to_string())?;
        let timelines = timelines(&reader, &filter, &stats)?;
        (stats, timelines)
    };
    let locations = project::locations(None);
    let loaded = Config::load(&locations);
    let advice: Vec<_> = advise(&stats, &loaded.config, &loaded.sources)
        .into_iter()
        .map(|proposal| {
            let edit = edit(
                &proposal,
                &loaded.config,
                &loaded.sources,
                ".ahp/hooks.yaml",
            );
            (proposal, edit)
        })
        .collect();
    let name = locations.project_root.file_name();
    let html = page::page(&page::Report {
        of: match &stats.gathered {
            Some(gathered) => count(gathered.machines, "machine"),
            None => name.map_or_else(|| "/".into(), |n| n.to_string_lossy().into_owned()),
        },
        stats: &stats,
        timelines: &timelines,
        advice: &advice,
    });
    if args.output.as_os_str() == "-" {
        output::line(html);
        return Ok(Exit::Success);
    }
    std::fs::write(&args.output, html)
        .map_err(|error| format!("cannot write `{}`: {error}", args.output.display()))?;
    output::line(format!("wrote {}", args.output.display()));
    Ok(Exit::Success)
}

/// Collects the lives of the issues with most signals.
fn timelines(reader: &Reader, filter: &Filter, stats: &Stats) -> Result<Vec<Timeline>, String> {
    let mut issues: Vec<_> = stats
        .issues
        .iter()
        .filter(|issue| issue.signals.total() > 0)
        .collect();
    issues.sort_by_key(|issue| std::cmp::Reverse(issue.signals.total()));
    let mut timelines: Vec<Timeline> = issues
        .into_iter()
        .take(MOST_ISSUES)
        .filter_map(|issue| {
            Some(Timeline {
                issue: issue.name.clone(),
                first: issue.first?,
                last: issue.last?,
                signals: Vec::new(),
                stopped: issue.stopped,
            })
        })
        .collect();
    let places: HashMap<String, usize> = timelines
        .iter()
        .enumerate()
        .map(|(place, line)| (line.issue.clone(), place))
        .collect();
    each_entry(reader, filter, |entry| {
        let place = entry.issue_id.as_ref().and_then(|issue| places.get(issue));
        if let Some(line) = place.and_then(|place| timelines.get_mut(*place))
            && line.signals.len() < MOST_SIGNALS
        {
            let text: String = entry.text.chars().take(120).collect();
            line.signals.push((entry.timestamp, entry.intensity, text));
        }
        ControlFlow::Continue(())
    })
    .map_err(|e| e.to_string())?;
    Ok(timelines)
}
