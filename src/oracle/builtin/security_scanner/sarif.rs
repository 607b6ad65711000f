//! Runs other scanners and reads what they print: the part of SARIF 2.1.0 that tells rule, place and gravity.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::Value;

use super::finding::{Finding, fingerprint};
use crate::oracle::wording::last_said;
use crate::oracle::{HookContext, OracleError, toolchain};
use crate::process::{Exit, Program};
use crate::signal::Severity;

/// How much of a scanner's output is read.
const MAX_OUTPUT: usize = 256 << 20;

#[derive(Deserialize)]
struct Log {
    version: String,
    runs: Vec<Run>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Run {
    tool: Tool,
    #[serde(default)]
    results: Option<Vec<SarifResult>>,
}

#[derive(Deserialize)]
struct Tool {
    driver: Component,
    #[serde(default)]
    extensions: Vec<Component>,
}

#[derive(Deserialize)]
struct Component {
    #[serde(default)]
    name: String,
    #[serde(default)]
    rules: Vec<Descriptor>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Descriptor {
    id: String,
    #[serde(default)]
    default_configuration: Option<Configuration>,
    #[serde(default)]
    properties: Option<Value>,
}

#[derive(Deserialize)]
struct Configuration {
    #[serde(default)]
    level: Option<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct SarifResult {
    #[serde(default)]
    rule_id: Option<String>,
    #[serde(default)]
    rule: Option<RuleReference>,
    #[serde(default)]
    level: Option<String>,
    #[serde(default)]
    kind: Option<String>,
    #[serde(default)]
    suppressions: Option<Vec<Value>>,
    message: Message,
    #[serde(default)]
    locations: Vec<Location>,
}

#[derive(Deserialize)]
struct RuleReference {
    #[serde(default)]
    id: Option<String>,
}

#[derive(Deserialize)]
struct Message {
    #[serde(default)]
    text: Option<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Location {
    #[serde(default)]
    physical_location: Option<PhysicalLocation>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct PhysicalLocation {
    #[serde(default)]
    artifact_location: Option<ArtifactLocation>,
    #[serde(default)]
    region: Option<Region>,
}

#[derive(Deserialize)]
struct ArtifactLocation {
    #[serde(default)]
    uri: Option<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Region {
    #[serde(default)]
    start_line: Option<u32>,
    #[serde(default)]
    end_line: Option<u32>,
}

/// One result of a scanner, with the last line that it covers.
pub(super) struct Found {
    pub(super) finding: Finding,
    /// The last line, where the scanner tells one.
    pub(super) last_line: Option<u32>,
}

/// Runs a scanner and returns what it found.
///
/// # Errors
/// It could not be run, did not end in time, or printed no SARIF.
pub(super) fn run(command: &str, context: &HookContext) -> Result<Vec<Found>, OracleError> {
    let program = Program::shell(command)
        .dir(context.root())
        .max_output(MAX_OUTPUT);
    let finished = toolchain::run(context, program, &format!("the scanner `{command}`"))?;
    // A shell says so of the program that it ran.
    let signal = match finished.exit {
        Exit::Signal(signal) => Some(signal),
        Exit::Code(code @ 129..=192) => Some(code - 128),
        Exit::Code(_) | Exit::TimedOut => None,
    };
    if let Some(signal) = signal {
        return Err(OracleError::failed(format!(
            "the scanner `{command}` was ended by signal {signal}"
        )));
    }
    // Most scanners end with another code than 0 when they find something.
    read(&finished.stdout, context).map_err(|e| {
        let said = last_said(&finished.stderr_text());
        OracleError::failed(format!(
            "the scanner `{command}` printed no SARIF ({e}) and said: {said}"
        ))
    })
}

fn read(output: &[u8], context: &HookContext) -> Result<Vec<Found>, String> {
    let log: Log = serde_json::from_slice(output).map_err(|e| e.to_string())?;
    if !log.version.starts_with("2.") {
        return Err(format!("its version is `{}`, expected 2.1.0", log.version));
    }
    let mut found = Vec::new();
    for run in log.runs {
        let rules: BTreeMap<&str, &Descriptor> = std::iter::once(&run.tool.driver)
            .chain(&run.tool.extensions)
            .flat_map(|component| &component.rules)
            .map(|rule| (rule.id.as_str(), rule))
            .collect();
        for result in run.results.iter().flatten() {
            let is_pass = matches!(
                result.kind.as_deref(),
                Some("pass" | "notApplicable" | "informational")
            );
            if is_pass || result.suppressions.as_ref().is_some_and(|s| !s.is_empty()) {
                continue;
            }
            let id = result
                .rule_id
                .as_deref()
                .or_else(|| result.rule.as_ref()?.id.as_deref())
                .unwrap_or("unnamed");
            let physical = result
                .locations
                .first()
                .and_then(|l| l.physical_location.as_ref());
            let uri = physical.and_then(|p| p.artifact_location.as_ref()?.uri.as_deref());
            let file = uri.map(|uri| toolchain::relative(context.root(), uri));
            let region = physical.and_then(|p| p.region.as_ref());
            let line = region.and_then(|r| r.start_line);
            let text = result.message.text.as_deref().unwrap_or(id);
            let rule = format!("{}/{id}", run.tool.driver.name);
            found.push(Found {
                last_line: region.and_then(|r| r.end_line).or(line),
                finding: Finding {
                    commit: None,
                    severity: severity(result.level.as_deref(), rules.get(id).copied()),
                    fingerprint: fingerprint(
                        &rule,
                        &format!("{}\0{text}", file.as_deref().unwrap_or_default()),
                    ),
                    what: text.lines().next().unwrap_or(id).to_owned(),
                    rule,
                    file,
                    line,
                    remedy: "fix it as the scanner's rule says",
                },
            });
        }
    }
    Ok(found)
}

/// Maps a level, or GitHub's `security-severity` (CVSS), to ours.
fn severity(level: Option<&str>, rule: Option<&Descriptor>) -> Severity {
    let score = rule
        .and_then(|r| r.properties.as_ref()?.get("security-severity"))
        .and_then(|s| s.as_f64().or_else(|| s.as_str()?.parse().ok()));
    if let Some(score) = score {
        return match score {
            s if s >= 7.0 => Severity::High,
            s if s >= 4.0 => Severity::Medium,
            _ => Severity::Low,
        };
    }
    let level = level.or_else(|| rule?.default_configuration.as_ref()?.level.as_deref());
    match level {
        Some("error") => Severity::High,
        Some("note" | "none") => Severity::Low,
        // `warning` is what the standard says where nothing is said.
        _ => Severity::Medium,
    }
}
