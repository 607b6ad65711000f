//! Baseline: what passed in the last run that is known must still run, unless the change says otherwise.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use super::judgement::Outcome;
use super::replaced::before;
use super::statement::{says_so, says_so_of_any};
use crate::oracle::toolchain::test_run::{CODE, Tally, fixed, short, template};
use crate::oracle::wording::{counted, listed};
use crate::oracle::{HookContext, toolchain};
use crate::process::Exit;
use crate::signal::Signal;
use crate::workspace::{CommitsOf, Evidence, EvidenceStore, git};

/// How many tests are looked for at once.
const AT_ONCE: usize = 200;
/// How many of them are named.
const NAMED: usize = 20;
/// How many commits of a branch may name a test.
const MOST_COMMITS: usize = 500;
/// The words before the name of a function that is a test.
const FUNCTION: &[&str] = &["def", "fn", "fun", "func", "function", "void"];

/// Returns a block where tests that passed before, and belong to what the change began with, do not run any more.
pub(super) fn lost(
    store: &EvidenceStore,
    suite: &str,
    outcome: &Outcome,
    context: &HookContext,
) -> Option<Signal> {
    let known = store.last_passed(suite)?;
    let now = &outcome.tally;
    if known.tests.is_empty() {
        return fewer(&known, now, context);
    }
    let commits = begun_with(&known, context);
    let (skipped, mut gone): (Vec<&str>, Vec<&str>) = (known.tests.difference(&now.passed_names))
        .map(String::as_str)
        .partition(|name| now.skipped_names.contains(*name));
    let mut new: Vec<&str> = (now.passed_names.difference(&known.tests))
        .map(String::as_str)
        .collect();
    // It was moved, or has other parameters: as many tests of the name came as went.
    let places = Places::of(&gone, &new, &commits, context);
    gone.retain(|name| !places.is_moved(name, &mut new, |new| short(new) == short(name)));
    let left_out: BTreeSet<&str> = skipped.iter().map(|name| short(name)).collect();
    let whole: BTreeMap<&str, &str> = (skipped.into_iter().chain(gone))
        .map(|name| (short(name), name))
        .collect();
    let mut lost: Vec<&str> = whole.keys().copied().collect();
    if lost.is_empty() {
        return None;
    }
    if let Some(begun) = held_by(&lost, &commits, context) {
        // A name that does not stand in the source was computed, and may be another in each run.
        let (mut held, mut computed): (Vec<&str>, Vec<&str>) =
            lost.into_iter().partition(|name| begun.contains(*name));
        computed.retain(|name| {
            let template = template(name);
            let is_same = |new: &str| self::template(short(new)) == template;
            let whole = whole.get(name).copied().unwrap_or(name);
            left_out.contains(name) || !places.is_moved(whole, &mut new, is_same)
        });
        held.extend(made_by(&computed, &commits, context));
        held.sort_unstable();
        lost = held;
    }
    let new: Vec<&str> = new.into_iter().map(short).collect();
    let said = said_by_the_change(context);
    lost.retain(|name| !said.iter().any(|text| says_so(text, name)));
    let renamed = renamed(&lost, &new, &commits, context);
    lost.retain(|name| !renamed.contains(*name));
    if lost.is_empty() {
        return None;
    }
    let noun = counted(lost.len(), "test");
    let reason = format!(
        "{noun} that passed before {} skipped or gone, and the change does not say so: {}",
        if lost.len() == 1 { "is" } else { "are" },
        listed(&lost, NAMED)
    );
    let signal = Signal::block("tests-lost", reason)
        .steps([
            format!("let them run again: {}", listed(&lost, NAMED)),
            format!(
                "or, if they are to go, say so in a commit message of this branch or in the issue, with the reason: `Removed: {}`",
                listed(&lost, NAMED)
            ),
        ])
        .about_each("tests-lost", lost.iter().copied());
    Some(signal)
}

/// Returns a block where fewer tests passed than before, and none of those had a name.
fn fewer(known: &Evidence, now: &Tally, context: &HookContext) -> Option<Signal> {
    let is_said = || {
        said_by_the_change(context)
            .iter()
            .any(|text| says_so_of_any(text))
    };
    if now.passed >= known.passed || is_said() {
        return None;
    }
    let reason = format!(
        "{} passed, {} did before, and the change does not say that any are gone",
        counted(usize::try_from(now.passed).unwrap_or(usize::MAX), "test"),
        known.passed
    );
    let signal = Signal::block("tests-lost", reason)
        .steps([
            "let them run again",
            "or say in a commit message of this branch or in the issue which tests are removed or skipped, with the reason",
        ])
        .fingerprint(["tests-lost", &known.command]);
    Some(signal)
}

/// Returns the commit that the change is measured against, and the one of the last run.
fn begun_with(known: &Evidence, context: &HookContext) -> Vec<String> {
    let changes = context.facts.changes().ok();
    let base = changes.and_then(|changes| changes.base.as_deref());
    let commits = base.into_iter().chain(known.head.as_deref());
    commits.map(str::to_owned).collect()
}

/// Returns which of these names stand in one of the commits; none where that cannot be told.
fn held_by(names: &[&str], commits: &[String], context: &HookContext) -> Option<BTreeSet<String>> {
    let mut found = BTreeSet::new();
    for commit in commits {
        found.extend(grep(names, &["-o", commit, "--"], context)?);
    }
    (!commits.is_empty()).then_some(found)
}

/// Returns the lines that hold one of these names, in what `git grep` is to look through; none where that cannot be told.
fn grep(names: &[&str], place: &[&str], context: &HookContext) -> Option<Vec<String>> {
    let mut found = Vec::new();
    for names in names.chunks(AT_ONCE) {
        let mut arguments = vec!["grep", "--no-textconv", "-h", "-F"];
        for name in names {
            arguments.extend(["-e", name]);
        }
        arguments.extend(place);
        let program = git(context.root(), &arguments).max_output(64 << 20);
        let finished = toolchain::run(context, program, "git grep").ok()?;
        // Code 1: none of them.
        if !matches!(finished.exit, Exit::Code(0 | 1)) || finished.stdout_dropped > 0 {
            return None;
        }
        found.extend(finished.stdout_text().lines().map(str::to_owned));
    }
    Some(found)
}

/// Where tests that are gone stood: one that still stands there was not moved, whatever came of its name elsewhere.
struct Places<'n> {
    /// What the files held before the change, and what they hold.
    files: BTreeMap<&'n str, (String, String)>,
    /// The names of which more stand in the code of the project than came and went as tests.
    copied: BTreeSet<&'n str>,
}

impl<'n> Places<'n> {
    fn of(gone: &[&'n str], new: &[&str], commits: &[String], context: &HookContext) -> Self {
        let text = |content: Option<Vec<u8>>| {
            String::from_utf8_lossy(&content.unwrap_or_default()).into_owned()
        };
        let mut files = BTreeMap::new();
        for file in gone.iter().filter_map(|name| file_of(name)) {
            let read = || {
                let now = context.workspace().read(file).ok().map(|now| now.to_vec());
                (text(before(file, context)), text(now))
            };
            files.entry(file).or_insert_with(read);
        }
        files.retain(|_, (before, now)| !before.is_empty() || !now.is_empty());
        let came: Vec<&str> = new.iter().map(|name| short(name)).collect();
        let is_unplaced = |name: &&&str| file_of(name).is_none_or(|file| !files.contains_key(file));
        let unplaced: Vec<&str> = gone
            .iter()
            .filter(is_unplaced)
            .map(|name| short(name))
            .collect();
        let mut copied: BTreeSet<&str> = unplaced.iter().copied().collect();
        copied.retain(|name| came.contains(name));
        let names: Vec<&str> = copied.iter().copied().collect();
        let code: Vec<String> = CODE.iter().map(|ending| format!("*.{ending}")).collect();
        let in_code = |place: &[&str]| {
            let code = code.iter().map(String::as_str);
            let place: Vec<&str> = place.iter().copied().chain(["--"]).chain(code).collect();
            grep(&names, &place, context).unwrap_or_default()
        };
        let before: Vec<Vec<String>> = commits.iter().map(|commit| in_code(&[commit])).collect();
        let now = in_code(&["--untracked"]);
        copied.retain(|name| {
            let count = |names: &[&str]| names.iter().filter(|other| *other == name).count();
            let (went, came) = (count(&unplaced), count(&came));
            let defined = |lines: &Vec<String>| lines.iter().filter(|l| defines(l, name)).count();
            let was = before.iter().map(defined).find(|was| *was > 0);
            was.is_some_and(|was| defined(&now) + went > was + came.max(went))
        });
        Self { files, copied }
    }

    /// Whether a test that is gone is one of the new ones, which then is taken.
    fn is_moved(&self, gone: &str, new: &mut Vec<&str>, is_same: impl Fn(&str) -> bool) -> bool {
        let at = new
            .iter()
            .position(|new| is_same(new) && self.has_left(gone, new));
        at.map(|at| new.swap_remove(at)).is_some()
    }

    /// Whether a test stands no more where it stood, so that `new` may be it.
    fn has_left(&self, gone: &str, new: &str) -> bool {
        let name = short(gone);
        let Some(file) = file_of(gone).filter(|file| self.files.contains_key(file)) else {
            return !self.copied.contains(name);
        };
        let Some((before, now)) = self.files.get(file) else {
            return true;
        };
        let template = template(name);
        let parts = fixed(&template);
        let stands = |text: &str| {
            let is_computed = !before.lines().any(|line| defines(line, name));
            let is_it = |line: &&str| {
                if is_computed {
                    !parts.is_empty() && parts.iter().all(|part| line.contains(part))
                } else {
                    defines(line, name)
                }
            };
            text.lines().filter(is_it).count()
        };
        let own = usize::from(file_of(new) == Some(file));
        stands(now).saturating_sub(own) < stands(before).max(1)
    }
}

/// Returns the file that stands before a test's name, where its runner tells it.
fn file_of(name: &str) -> Option<&str> {
    let (file, _) = name.split_once(" > ")?;
    Path::new(file).extension().map(|_| file)
}

/// Whether a line of code defines a test of this name: behind the word for a function, or in quotes.
fn defines(line: &str, name: &str) -> bool {
    line.match_indices(name).any(|(at, _)| {
        let before = line.get(..at).unwrap_or_default();
        let after = line.get(at + name.len()..).unwrap_or_default();
        let word = before.split_whitespace().next_back().unwrap_or_default();
        let is_function = before.ends_with(char::is_whitespace) && FUNCTION.contains(&word);
        let is_whole = !after.starts_with(|c: char| c.is_alphanumeric() || c == '_');
        is_whole && (is_function || before.ends_with(['"', '\'', '`']))
    })
}

/// Returns which of these computed names a line of one of the commits makes: it holds all of a name that is not computed.
fn made_by<'n>(names: &[&'n str], commits: &[String], context: &HookContext) -> Vec<&'n str> {
    let mut known = BTreeMap::<String, bool>::new();
    let mut is_made = |name: &str| {
        let template = template(name);
        let parts = fixed(&template);
        // Where nothing of it is fixed, nothing tells whether it was there.
        if parts.is_empty() || parts == [name] {
            return false;
        }
        let is_in = |commit: &String| {
            let mut arguments = vec!["grep", "--no-textconv", "-q", "-F"];
            for (at, part) in parts.iter().enumerate() {
                arguments.extend((at > 0).then_some("--and"));
                arguments.extend(["-e", part]);
            }
            arguments.extend([commit.as_str(), "--"]);
            let grep = git(context.root(), &arguments);
            // What cannot be told is not gone without a word.
            toolchain::run(context, grep, "git grep").is_ok_and(|found| found.exit != Exit::Code(1))
        };
        if let Some(is_made) = known.get(&template) {
            return *is_made;
        }
        // So many kinds of names are not looked for one by one.
        let is_made = known.len() >= AT_ONCE || commits.iter().any(is_in);
        known.insert(template.clone(), is_made);
        is_made
    };
    names.iter().copied().filter(|name| is_made(name)).collect()
}

/// Returns which of the tests that are gone only got another name: the lines that changed are the same but for it.
fn renamed(
    gone: &[&str],
    new: &[&str],
    commits: &[String],
    context: &HookContext,
) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    if gone.is_empty() || new.is_empty() {
        return found;
    }
    for commit in commits {
        let arguments = [
            "diff",
            "-U0",
            "--no-color",
            "--no-ext-diff",
            "--no-textconv",
            "--no-renames",
            commit,
            "--",
        ];
        let program = git(context.root(), &arguments).max_output(64 << 20);
        let Ok(finished) = toolchain::run(context, program, "git diff") else {
            continue;
        };
        let text = finished.stdout_text();
        for hunk in text.split("\n@@ ").skip(1) {
            let side = |mark: char| {
                let lines = hunk
                    .lines()
                    .skip(1)
                    .filter_map(move |line| line.strip_prefix(mark));
                lines.collect::<Vec<_>>().join("\n")
            };
            let (before, after) = (side('-'), side('+'));
            found.extend(
                (gone.iter().filter(|old| before.contains(**old)))
                    .filter(|old| {
                        new.iter()
                            .any(|new| after.contains(new) && before.replace(**old, new) == after)
                    })
                    .map(|old| (*old).to_owned()),
            );
        }
    }
    found
}

/// Returns where a change may say what it means: its commit messages, and the issue.
fn said_by_the_change(context: &HookContext) -> Vec<String> {
    let commits = context
        .workspace()
        .commits(&CommitsOf::Branch, MOST_COMMITS);
    let messages = commits.into_iter().flatten().map(|commit| commit.message);
    let issue = context.facts.issue().ok().flatten();
    messages
        .chain(issue.map(|issue| issue.body.clone()))
        .collect()
}
