//! ahp doctor: what is wired here, and whether it would hold: a canary is sent through each host's own command line.

mod canary;
mod show;

use ahp::config::Environment;
use ahp::config::LayerSource;
use ahp::config::Locations;
use ahp::engine::Engine;
use ahp::engine::log_path;
use ahp::host;
use ahp::host::Host;
use ahp::host::Journal;
use ahp::host::Note;
use ahp::host::Way;
use ahp::host::Wish;
use ahp::install::Installer;
use ahp::install::Needs;
use ahp::install::Places;
use ahp::install::Scope;
use ahp::policy::IntensityCeiling;
use ahp::signal::Intensity;
use ahp::signal::Strength;
use ahp::signal_log;
use ahp::trust::Trust;

use self::canary::Canary;
use crate::command::install;
use crate::exit_code::Exit;
use crate::output;
use crate::output::Format;
use crate::project;
use crate::view::count;

/// How many odd calls of hosts are shown.
const NOTES: usize = 5;

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Only this host
    host: Option<String>,
    /// Show the hosts that are not installed here, too
    #[arg(long)]
    all: bool,
    /// How the findings are written
    #[arg(long, value_enum, default_value_t)]
    format: Format,
}

#[derive(Debug, serde::Serialize)]
struct Findings {
    program: String,
    version: &'static str,
    project: String,
    policy: Policy,
    log: Log,
    trust: String,
    hosts: Vec<HostFindings>,
    /// What was odd about the last calls of hosts.
    odd_calls: Vec<Note>,
    problems: Vec<String>,
}

#[derive(Debug, serde::Serialize)]
struct Policy {
    layers: Vec<String>,
    bindings: usize,
    /// Whether any binding before an event may block it or ask about it.
    stops: bool,
    faults: Vec<String>,
    warnings: Vec<String>,
}

#[derive(Debug, serde::Serialize)]
struct Log {
    path: String,
    records: Option<u64>,
    fault: Option<String>,
    /// Why nothing can be written there.
    refusal: Option<String>,
    free_bytes: Option<u64>,
}

#[derive(Debug, serde::Serialize)]
struct HostFindings {
    host: &'static str,
    title: &'static str,
    /// Whether its program is in the search path.
    installed: bool,
    wired: Vec<Wired>,
    /// The settings file that switches off every hook of the host.
    #[serde(skip_serializing_if = "Option::is_none")]
    switched_off: Option<String>,
    /// What becomes of answers that it cannot carry, where the policy in force gives them.
    degraded: Vec<String>,
    blind_spots: &'static [&'static str],
}

#[derive(Debug, serde::Serialize)]
struct Wired {
    scope: &'static str,
    file: String,
    events: Vec<String>,
    /// Events that the policy in force needs and that are not wired.
    missing: Vec<&'static str>,
    command: Option<String>,
    /// Events at which the host does not heed what it is answered, or does not always ask.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    weak: Vec<String>,
    canary: Canary,
    trusted: bool,
}

pub(crate) fn run(args: &Args) -> Exit {
    examine(args).unwrap_or_else(output::failure)
}

fn examine(args: &Args) -> Result<Exit, String> {
    let environment = Environment::of_process();
    let locations = Locations::find(&environment, None);
    let places = install::places(&environment, &locations)?;
    let engine = project::engine(locations.clone())
        .without_log()
        .build()
        .map_err(|e| e.to_string())?;
    if let Some(name) = &args.host
        && Installer::find(name).is_none()
    {
        let names = Installer::all().iter().map(|i| i.host);
        let near = ahp::diagnostic::nearest(name, names)
            .map_or_else(String::new, |near| format!("; did you mean `{near}`?"));
        return Err(format!("unknown host `{name}`{near}"));
    }
    let needs = install::needs(&engine);
    let mut hosts = Vec::new();
    for installer in Installer::all() {
        let asked = args.host.as_deref() == Some(installer.host);
        if args.host.is_some() && !asked {
            continue;
        }
        if let Some(found) = of_host(installer, &places, &needs, &environment)?
            && (asked || args.all || found.installed || !found.wired.is_empty())
        {
            hosts.push(found);
        }
    }
    let mut findings = Findings {
        program: places.program.display().to_string(),
        version: env!("CARGO_PKG_VERSION"),
        project: places.project.display().to_string(),
        policy: of_policy(&engine, &locations),
        log: of_log(&engine, &locations),
        trust: of_trust(&locations),
        hosts,
        odd_calls: locations
            .state_dir
            .as_deref()
            .map(|dir| Journal::new(dir).last(NOTES))
            .unwrap_or_default(),
        problems: Vec::new(),
    };
    findings.problems = problems(&findings);
    match args.format {
        Format::Json => output::json(&findings),
        Format::Human => show::show(&findings),
    }
    Ok(if findings.problems.is_empty() {
        Exit::Success
    } else {
        Exit::Failure
    })
}

fn of_policy(engine: &Engine, locations: &Locations) -> Policy {
    let state = engine.state();
    let line = |d: &ahp::diagnostic::Diagnostic| d.one_line(state.sources());
    Policy {
        layers: locations
            .layers()
            .into_iter()
            .filter(|(_, path)| path.exists())
            .map(|(_, path)| locations.display(&path))
            .collect(),
        bindings: state
            .policy()
            .specs()
            .values()
            .flatten()
            .filter(|b| b.enabled && b.is_written())
            .count(),
        stops: state
            .policy()
            .triggers()
            .filter(|trigger| trigger.is_pre())
            .flat_map(|trigger| state.policy().enabled(trigger, state.lookup()))
            .any(|(binding, spec)| {
                let asks = matches!(
                    &binding.ceiling,
                    Some(IntensityCeiling::Fixed(Strength::Ask))
                );
                spec.layer != LayerSource::BuiltIn
                    && (asks
                        || binding
                            .strongest()
                            .is_none_or(|most| most == Intensity::Block))
            }),
        faults: state
            .faults()
            .iter()
            .chain(&state.hook_faults())
            .map(line)
            .collect(),
        warnings: state
            .warnings()
            .iter()
            .chain(&state.untrusted())
            .map(line)
            .collect(),
    }
}

fn of_log(engine: &Engine, locations: &Locations) -> Log {
    let state = engine.state();
    let settings = &state.policy().settings().log;
    let path = log_path(locations, &settings.path);
    let (records, fault) = if path.exists() {
        match signal_log::verify(&path) {
            Ok(found) => (Some(found.records), found.damage.map(|d| d.to_string())),
            Err(error) => (None, Some(error.to_string())),
        }
    } else {
        (None, None)
    };
    let (refusal, free_bytes) = match signal_log::probe(&path) {
        Ok(free) if free < settings.max_size => (
            Some(format!(
                "only {} are free, and it may grow by {} before it is packed",
                megabytes(free),
                megabytes(settings.max_size)
            )),
            Some(free),
        ),
        Ok(free) => (None, Some(free)),
        Err(error) => (Some(error.to_string()), None),
    };
    Log {
        path: locations.display(&path),
        records,
        fault,
        refusal,
        free_bytes,
    }
}

fn megabytes(bytes: u64) -> String {
    format!("{} MB", bytes / 1_000_000)
}

fn of_trust(locations: &Locations) -> String {
    if locations.trust_all {
        return "everything is trusted (AHP_TRUST=all)".to_owned();
    }
    let trust = Trust::of(&locations.project_root, locations.state_dir.as_deref());
    match trust.look().map(|look| look.changes().len()) {
        Err(error) => format!("cannot be told: {error}"),
        Ok(0) if trust.manifest().is_none() => {
            "the project has nothing that would need it".to_owned()
        }
        Ok(0) => "trusted".to_owned(),
        Ok(changes) if trust.manifest().is_none() => {
            format!(
                "not trusted: what runs programs from its {} waits for `ahp trust`",
                count(changes, "file")
            )
        }
        Ok(1) => "1 file has changed since it was trusted: `ahp trust --diff` shows it".to_owned(),
        Ok(changes) => {
            format!(
                "{changes} files have changed since it was trusted: `ahp trust --diff` shows them"
            )
        }
    }
}

fn of_host(
    installer: &'static Installer,
    places: &Places,
    needs: &Needs,
    environment: &Environment,
) -> Result<Option<HostFindings>, String> {
    let Some(host) = Host::find(installer.host) else {
        return Ok(None);
    };
    let mut wired = Vec::new();
    for scope in Scope::ALL {
        let Ok(file) = installer.file(places, scope) else {
            continue;
        };
        let git = install::git_hooks(installer, places, scope).unwrap_or_default();
        let wires = installer
            .wires(places, scope, git.as_deref())
            .map_err(|e| e.to_string())?;
        if wires.is_empty() && !installer.has_shim(places, scope) {
            continue;
        }
        let events: Vec<String> = wires.iter().map(|w| w.event.clone()).collect();
        let there = |name: &str| events.iter().any(|e| e.eq_ignore_ascii_case(name));
        let canary_wire = canary::wire_for(host, &wires, &places.project);
        wired.push(Wired {
            scope: scope.name(),
            file: git.unwrap_or(file).display().to_string(),
            missing: if installer.is_shim() {
                Vec::new()
            } else {
                needs
                    .moments(host)
                    .into_iter()
                    .map(host::Moment::name)
                    .filter(|name| !there(name))
                    .collect()
            },
            canary: match (installer.is_shim(), canary_wire) {
                (true, _) => canary::try_shim(places, scope, installer, environment),
                (false, Some(wire)) => canary::send(host, wire, &places.project),
                (false, None) => Canary::NotSent("no event before a tool is wired".to_owned()),
            },
            command: canary_wire.map(|w| w.command.clone()),
            weak: wires
                .iter()
                .filter_map(|w| Some(format!("{}: {}", w.event, w.weakness(host)?)))
                .collect(),
            trusted: installer.is_trusted(places, scope),
            events,
        });
    }
    Ok(Some(HostFindings {
        host: host.name,
        title: host.title,
        installed: install::is_here(host, environment),
        switched_off: installer
            .switched_off(places)
            .map_err(|e| e.to_string())?
            .map(|file| file.display().to_string()),
        wired,
        degraded: degraded(host, needs),
        blind_spots: host.blind_spots,
    }))
}

/// Lists the answers that the host cannot carry at the moments that the policy needs.
fn degraded(host: &'static Host, needs: &Needs) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    for moment in needs.moments(host) {
        let Some(trigger) = moment.trigger else {
            continue;
        };
        for wish in [Wish::Block, Wish::Ask, Wish::Rewrite, Wish::Say] {
            // Only a tool has an input, and what has happened is neither stopped nor asked about.
            let apt = match wish {
                Wish::Rewrite => trigger == ahp::event::Trigger::PreToolUse,
                Wish::Ask | Wish::Block => trigger.is_pre(),
                Wish::Say => true,
            };
            let way = host.way(wish, moment);
            if apt && way != Way::AsIs {
                found.push(format!("{} at {}: {way}", wish.name(), moment.name()));
            }
        }
    }
    found
}

fn problems(findings: &Findings) -> Vec<String> {
    let mut found: Vec<String> = findings.policy.faults.clone();
    if found.is_empty() && !findings.policy.stops {
        found.push(
            "the policy in force stops nothing: `ahp init` writes one that does, `ahp init --pack standard` adds it to yours".to_owned(),
        );
    }
    if let Some(fault) = &findings.log.fault {
        found.push(format!("the log {}: {fault}", findings.log.path));
    }
    if let Some(refusal) = &findings.log.refusal {
        found.push(format!("the log {}: {refusal}", findings.log.path));
    }
    for host in &findings.hosts {
        if let (Some(file), false) = (&host.switched_off, host.wired.is_empty()) {
            found.push(format!(
                "{} runs no hook at all: `disableAllHooks` stands in {file}; take it out there",
                host.host
            ));
        }
        for wired in &host.wired {
            let place = format!("{} ({})", host.host, wired.scope);
            if let Canary::NotBlocked(why) = &wired.canary {
                found.push(format!(
                    "{place} would let a bad event pass: {why}; try `ahp install {}`",
                    host.host
                ));
            }
            for weak in &wired.weak {
                found.push(format!(
                    "{place} would let things pass at {weak}; `ahp install {} --{}` mends it",
                    host.host, wired.scope
                ));
            }
            if !wired.missing.is_empty() {
                found.push(format!(
                    "{place} lacks events that the policy needs: {}; `ahp install {} --{}` adds them",
                    wired.missing.join(", "),
                    host.host,
                    wired.scope
                ));
            }
            if !wired.trusted {
                found.push(format!(
                    "{place} does not trust its hooks and skips them without a word: `ahp install {} --{}`",
                    host.host, wired.scope
                ));
            }
        }
    }
    found
}
