//! Judge: every invocation of a command line against the rules.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::custom::CommandPattern;
use super::digest::Digest;
use super::finding::Finding;
use super::index::{Rule, Section, sections};
use super::knowledge::{Knowledge, NothingKnown};
use super::predicate::opens_machine;
use super::rules::RuleFile;
use super::script::Read;
use super::{container, custom, script};
use crate::program::{self, Fact};
use crate::shell::{Analysis, DoubtKind, Invocation, Redirect, Surroundings, Word};
use crate::signal::Severity;
use crate::words::words;

/// What is forbidden.
#[derive(Clone, Debug, Default)]
pub struct Selection {
    /// The presets in force, by name; `standard` is all rules that are not strict.
    pub presets: Vec<String>,
    /// Further files of rules, which are in force whatever the presets are.
    pub files: Vec<RuleFile>,
    /// Further commands.
    pub dangerous: Vec<CommandPattern>,
    /// Commands that are never judged.
    pub allowed: Vec<CommandPattern>,
}

impl Selection {
    /// Whether the rules of a preset are in force, and if so, whether its strict ones are too.
    fn has(&self, preset: &str) -> Option<bool> {
        let is_chosen = |name: &str| self.presets.iter().any(|chosen| chosen == name);
        let strict = is_chosen(preset);
        (strict || is_chosen("standard")).then_some(strict)
    }

    /// Returns the entry that allows an invocation.
    pub(super) fn allowing(
        &self,
        analysis: &Analysis,
        invocation: &Invocation,
    ) -> Option<&CommandPattern> {
        let mut allowed = self.allowed.iter();
        allowed.find(|pattern| custom::meets(pattern, analysis, invocation))
    }
}

/// Finds every rule that a command line breaks, in the order of its text, each command's gravest rule alone.
pub fn judge(analysis: &Analysis, selection: &Selection) -> Vec<Finding> {
    judge_with(analysis, selection, &NothingKnown)
}

/// Does the same where something is known beside the words.
pub fn judge_with(
    analysis: &Analysis,
    selection: &Selection,
    knowledge: &dyn Knowledge,
) -> Vec<Finding> {
    judge_within(analysis, selection, knowledge, &mut Read::default())
}

/// Does the same for a script among those that one command line leads to.
fn judge_within(
    analysis: &Analysis,
    selection: &Selection,
    knowledge: &dyn Knowledge,
    done: &mut Read,
) -> Vec<Finding> {
    let mut findings = Vec::new();
    let mut seen = BTreeSet::new();
    for (index, invocation) in analysis.invocations.iter().enumerate() {
        if selection.allowing(analysis, invocation).is_some() {
            continue;
        }
        let found = custom_finding(analysis, invocation, selection)
            .or_else(|| rule_finding(analysis, index, invocation, selection, knowledge))
            .or_else(|| unknown_program(analysis, index, invocation, selection, knowledge));
        let mut judge =
            |script: &Analysis, done: &mut Read| judge_within(script, selection, knowledge, done);
        let by_file = script::findings(analysis, index, knowledge, &mut judge, done);
        for finding in found.into_iter().chain(by_file) {
            if seen.insert((finding.rule.clone(), finding.command.clone())) {
                findings.push(finding);
            }
        }
    }
    let judges_system = selection
        .presets
        .iter()
        .any(|p| p == "standard" || p == "system");
    if judges_system {
        findings.extend(analysis.recursions.iter().map(|name| Finding {
            rule: "system:fork-bomb".to_owned(),
            severity: Severity::Critical,
            reason: match name.as_str() {
                "while" => "a loop that starts programs without end and waits for none takes the machine down",
                _ => "a function that starts itself again without end takes the machine down",
            }
            .to_owned(),
            instead: match name.as_str() {
                "while" => "let the loop wait for each program, or bound it: `for n in 1 2 3`",
                _ => "end the recursion with a condition before the function calls itself",
            }
            .to_owned(),
            command: match name.as_str() {
                "while" => "while …; do … & done".to_owned(),
                _ => format!("{name}()"),
            },
            through: Vec::new(),
            uncertain: false,
        }));
    }
    findings.extend(unread(analysis, &findings));
    findings
}

/// Says what a tool does itself as a program that the rules know would: `sql` with a statement, `cat` with a path.
pub fn said(program: &str, arguments: &[&str], surroundings: Surroundings) -> Analysis {
    let is_somewhere = !surroundings.work_dir.as_os_str().is_empty();
    let invocation = Invocation {
        program: program.to_owned(),
        path: Word::plain(program),
        arguments: arguments.iter().copied().map(Word::plain).collect(),
        emulated: true,
        work_dir: is_somewhere.then(|| surroundings.work_dir.clone()),
        ..Invocation::default()
    };
    Analysis {
        invocations: vec![Arc::new(invocation)],
        surroundings,
        ..Analysis::default()
    }
}

fn rule_finding(
    analysis: &Analysis,
    at: usize,
    invocation: &Invocation,
    selection: &Selection,
    knowledge: &dyn Knowledge,
) -> Option<Finding> {
    let mut gravest: Option<Finding> = None;
    for subject in subjects(invocation) {
        // Most sections read the words alike.
        let mut readings: BTreeMap<&str, Vec<Digest<'_>>> = BTreeMap::new();
        for (section, is_strict) in in_force(&subject, analysis, at, invocation, selection) {
            if only_prints_help(section, invocation) {
                continue;
            }
            let values = &*section.values;
            let digests = &*readings.entry(values).or_insert_with(|| {
                subject.readings(Digest::new(analysis, at, invocation, values, knowledge))
            });
            for rule in section.rules_for(digests, is_strict) {
                if gravest
                    .as_ref()
                    .is_some_and(|g| g.severity >= rule.severity)
                {
                    continue;
                }
                if let Some(meant) = digests.iter().find(|digest| rule.is_broken_by(digest)) {
                    let mut finding = found(analysis, invocation, rule);
                    if let Some(fact) = meant.note.take() {
                        finding.reason = format!("{} ({fact})", finding.reason);
                    }
                    gravest = Some(finding);
                }
                for digest in digests {
                    digest.note.take();
                }
            }
        }
    }
    gravest
}

/// What rules speak of in an invocation: its program, or the files that its redirections write or read.
pub(super) struct Subject<'a> {
    /// By which name the sections know it.
    name: &'a str,
    targets: Option<Vec<&'a Word>>,
}

impl<'a> Subject<'a> {
    /// Returns how the words may be read: as they are, or with the first one taken for the value of an option.
    fn readings(&self, digest: Digest<'a>) -> Vec<Digest<'a>> {
        if self.targets.is_some() {
            return vec![self.reading(digest)];
        }
        let other = digest.past_leading_value();
        std::iter::once(digest).chain(other).collect()
    }

    /// Returns the words as they are, or the targets in their place.
    pub(super) fn reading(&self, mut digest: Digest<'a>) -> Digest<'a> {
        if let Some(targets) = &self.targets {
            digest.operands.clone_from(targets);
        }
        digest
    }
}

/// Returns what rules speak of in an invocation.
pub(super) fn subjects(invocation: &Invocation) -> impl Iterator<Item = Subject<'_>> {
    let targets = |name, opens: fn(&Redirect) -> bool| {
        let redirects = invocation.redirects.iter();
        let opened: Vec<_> = redirects.filter(|r| opens(r)).map(|r| &r.target).collect();
        (!opened.is_empty()).then_some(Subject {
            name,
            targets: Some(opened),
        })
    };
    let program = (!invocation.program.is_empty()).then_some(Subject {
        name: &invocation.program,
        targets: None,
    });
    let is_near = |subject: &Subject<'_>| {
        let mut targets = subject.targets.iter().flatten();
        !invocation.remote || targets.any(|word| opens_machine(&word.text))
    };
    let written = targets(">", Redirect::writes).filter(is_near);
    let read = targets("<", Redirect::reads);
    program.into_iter().chain(written).chain(read)
}

/// Returns the sections that speak of a subject and are in force, each with whether its strict rules are too.
pub(super) fn in_force<'a>(
    subject: &Subject<'_>,
    analysis: &Analysis,
    at: usize,
    invocation: &Invocation,
    selection: &'a Selection,
) -> impl Iterator<Item = (&'a Section, bool)> {
    let own = selection
        .files
        .iter()
        .flat_map(|file| file.sections(subject.name));
    let known = sections(subject.name).filter_map(move |section| {
        let is_strict = selection.has(&section.preset)?;
        let is_excused = container::excuses(&section.preset, analysis, at, invocation);
        (!is_excused).then_some((section, is_strict))
    });
    known.chain(own.map(|section| (section, true)))
}

fn found(analysis: &Analysis, invocation: &Invocation, rule: &Rule) -> Finding {
    Finding {
        rule: rule.id.to_string(),
        severity: rule.severity,
        reason: rule.reason.to_string(),
        instead: rule.instead.to_string(),
        command: if rule.asks_feeders() {
            pipeline(analysis, invocation)
        } else {
            invocation.display()
        },
        through: invocation.wrappers.clone(),
        uncertain: invocation.uncertain,
    }
}

/// The longest text that is told of what feeds a command, in characters.
const MAX_FEEDERS: usize = 120;

/// Returns a command as one line with the commands that feed it before it.
fn pipeline(analysis: &Analysis, invocation: &Invocation) -> String {
    let feeders = analysis.part(invocation.fed_by.clone());
    let mut feeders = feeders.iter().peekable();
    let made_by_words = invocation.arguments.iter().any(|w| !w.made_by.is_empty());
    let Some(outermost) = feeders
        .peek()
        .map(|f| &f.wrappers)
        .filter(|_| !made_by_words)
    else {
        return invocation.display();
    };
    // What runs inside another is told by that one.
    let mut line = feeders
        .filter(|f| f.wrappers == *outermost && !f.emulated)
        .map(|feeder| feeder.display())
        .collect::<Vec<_>>()
        .join(" | ");
    if let Some((cut, _)) = line.char_indices().nth(MAX_FEEDERS) {
        line.truncate(cut);
        line.push('…');
    }
    format!("{line} | {}", invocation.display())
}

/// Whether a client of subcommands prints its help and ends. What stands behind the name of a program that it runs in
/// turn is that program's own.
fn only_prints_help(section: &Section, invocation: &Invocation) -> bool {
    let last = invocation.before_dashes().last();
    let asks = match last.map(|word| word.text.as_str()) {
        Some("--help" | "-help") => true,
        Some("--generate-cli-skeleton" | "help") => invocation.program == "aws",
        // Behind names alone, with no host behind it.
        Some("-h") => {
            let names = invocation.arguments.len() - 1;
            names >= 1 && invocation.operands().count() == names
        }
        _ => false,
    };
    if !asks {
        return false;
    }
    let known = program::find(&invocation.program);
    let has_subcommands = section.has_subcommands() && !known.is(Fact::Statements)
        || known.words(Fact::Sends).next().is_some();
    let runs = |word: &Word| match word.text.as_str() {
        "create" => known.is(Fact::Mounts),
        word => matches!(word, "run" | "exec" | "x" | "dlx"),
    };
    has_subcommands && !invocation.operands().any(runs)
}

/// Whether an invocation is told to print its help, or what it would do, and to do nothing.
fn only_tells(invocation: &Invocation) -> bool {
    invocation
        .before_dashes()
        .any(|word| match word.text.as_str() {
            "--help" | "--dry-run" | "--dryrun" | "--simulate" => true,
            text => text
                .strip_prefix("--dry-run=")
                .is_some_and(|value| !matches!(value, "none" | "false")),
        })
}

fn custom_finding(
    analysis: &Analysis,
    invocation: &Invocation,
    selection: &Selection,
) -> Option<Finding> {
    let pattern = selection
        .dangerous
        .iter()
        .find(|pattern| custom::meets(pattern, analysis, invocation))
        .filter(|_| !only_tells(invocation))?;
    Some(Finding {
        rule: format!("dangerous_commands:{}", pattern.text),
        severity: Severity::High,
        reason: format!("the policy names `{}` as dangerous", pattern.text),
        instead: "do it in a way that the policy allows, or ask a person to run it".to_owned(),
        command: invocation.display(),
        through: invocation.wrappers.clone(),
        uncertain: invocation.uncertain,
    })
}

/// A program that is known only when it runs, with arguments that are grave for one that takes them.
fn unknown_program(
    analysis: &Analysis,
    at: usize,
    invocation: &Invocation,
    selection: &Selection,
    knowledge: &dyn Knowledge,
) -> Option<Finding> {
    if !invocation.program.is_empty() || selection.presets.is_empty() {
        return None;
    }
    let mut names = program::all(Fact::MayBe);
    let is_grave = names.any(|name| {
        let named = Invocation {
            program: name.to_owned(),
            ..invocation.clone()
        };
        let found = rule_finding(analysis, at, &named, selection, knowledge);
        found.is_some_and(|finding| finding.severity >= Severity::High)
    });
    is_grave.then(|| Finding {
        rule: "filesystem:unknown-program".to_owned(),
        severity: Severity::High,
        reason: "which program would run is not known, but its arguments are those of one that \
                 loses what nobody brings back"
            .to_owned(),
        instead: "write the program's name out".to_owned(),
        command: invocation.display(),
        through: invocation.wrappers.clone(),
        uncertain: true,
    })
}

/// Parts that could not be understood and hold the words of a rule, where nothing else was found.
fn unread(analysis: &Analysis, findings: &[Finding]) -> Option<Finding> {
    if !findings.is_empty() {
        return None;
    }
    analysis
        .doubts
        .iter()
        .filter(|d| matches!(d.kind, DoubtKind::TooComplex | DoubtKind::Unparseable))
        .find_map(|doubt| {
            let lower = doubt.text.to_ascii_lowercase();
            let word = words!("unread-words", lines).iter().find(|word| lower.contains(**word));
            if word.is_none() && doubt.kind == DoubtKind::TooComplex {
                return Some(Finding {
                    rule: "unreadable-command".to_owned(),
                    severity: Severity::Medium,
                    reason: "the command is too long or too deeply nested to be followed to its end"
                        .to_owned(),
                    instead: "split it into several shorter commands".to_owned(),
                    command: shortened(&doubt.text),
                    through: Vec::new(),
                    uncertain: true,
                });
            }
            let word = word?;
            Some(Finding {
                rule: "unreadable-command".to_owned(),
                severity: Severity::High,
                reason: format!("the command is too long or too deeply nested to be understood, and holds `{word}`"),
                instead: "split it into several shorter commands".to_owned(),
                command: word.to_string(),
                through: Vec::new(),
                uncertain: true,
            })
        })
}

/// Returns the beginning of a text, for messages.
fn shortened(text: &str) -> String {
    let line = text.lines().next().unwrap_or_default();
    match line.char_indices().nth(MAX_FEEDERS) {
        Some((cut, _)) => format!("{}…", line.get(..cut).unwrap_or_default()),
        None => line.to_owned(),
    }
}
