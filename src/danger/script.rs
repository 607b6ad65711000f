//! Scripts: what the files say from which a command line takes its commands, judged as if the line said it.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::finding::Finding;
use super::knowledge::Knowledge;
use super::place::{Place, place};
use crate::program::{self, Fact};
use crate::search::read_short;
use crate::shell::{
    Analysis, Invocation, LINE_OF_FILE, Stdin, Surroundings, Word, analyse, file_name, lexical,
    run_by, shebang,
};
use crate::shell_word::quoted_where_needed;
use crate::signal::Severity;
use crate::words::words;

/// How deep scripts that run scripts are followed, and how many are read for one command line.
const MAX_DEPTH: usize = 3;
const MAX_FILES: usize = 8;

/// Up to which length a script is judged, in bytes: some milliseconds of work. Code of other languages takes longer.
const MAX_LENGTH: u64 = 16 << 10;
const MAX_CODE: usize = 4 << 10;

/// How scripts say in which folder they lie.
const OWN_FOLDER: &[&str] = words!("own-folder", lines);

/// What was read so far for one command line.
#[derive(Debug, Default)]
pub(super) struct Read {
    depth: usize,
    files: BTreeSet<PathBuf>,
}

/// Finds what the files hold that one program takes its commands from.
pub(super) fn findings(
    analysis: &Analysis,
    at: usize,
    knowledge: &dyn Knowledge,
    judge: &mut dyn FnMut(&Analysis, &mut Read) -> Vec<Finding>,
    done: &mut Read,
) -> Vec<Finding> {
    let surroundings = &analysis.surroundings;
    let Some(invocation) = analysis.invocations.get(at) else {
        return Vec::new();
    };
    let is_none = invocation.remote || invocation.emulated || invocation.only_parses();
    if is_none || done.depth >= MAX_DEPTH {
        return Vec::new();
    }
    let lists = lists(analysis, at, invocation);
    let scripts = run_by(invocation, surroundings).into_iter();
    let files = scripts.map(|file| (file, false));
    let files = files.chain(lists.iter().map(|file| (file.clone(), true)));
    let mut found = Vec::new();
    for (named, is_list) in files {
        let Some(file) = as_it_will_be(analysis, at, named) else {
            continue;
        };
        let is_new = done.files.len() < MAX_FILES && done.files.insert(file.clone());
        if !is_new || !is_of_project(invocation, &file, surroundings) {
            continue;
        }
        let Some(text) = text_of(&file) else { continue };
        let Some(script) = analysed(invocation, &file, &text, is_list, surroundings) else {
            continue;
        };
        done.depth += 1;
        let inner = judge(&script.analysis, done);
        done.depth -= 1;
        let root = &surroundings.project_root;
        let shown = file.strip_prefix(root).unwrap_or(&file).display();
        let told = kept(inner, &file, script.is_shell, knowledge);
        found.extend(told.map(|finding| {
            Finding {
                through: std::iter::once(shown.to_string())
                    .chain(finding.through)
                    .collect(),
                ..finding
            }
        }));
    }
    // Where it cannot be read it may be anything.
    let is_taken_whole = invocation.program.is_empty() || invocation.program == "eval";
    let is_unread =
        is_taken_whole && !lists.is_empty() && lists.iter().all(|file| text_of(file).is_none());
    found.extend(is_unread.then(|| Finding {
        rule: "unreadable-command".to_owned(),
        severity: Severity::High,
        reason: "the command is taken from a file that cannot be read before it runs".to_owned(),
        instead: "write the command out".to_owned(),
        command: invocation.display(),
        through: Vec::new(),
        uncertain: true,
    }));
    found
}

/// Whether a file is the project's or the person's work, not the system's or what a package manager has put there.
fn is_of_project(invocation: &Invocation, file: &Path, surroundings: &Surroundings) -> bool {
    let word = Word::plain(file.to_string_lossy());
    matches!(
        place(&word, invocation, surroundings),
        Place::Inside | Place::Outside | Place::Temporary | Place::Project
    )
}

/// Returns the file with the text that a script has when it runs: itself, or what the line copies there before; none where the
/// line writes it anew, which is then judged by what it writes.
fn as_it_will_be(analysis: &Analysis, at: usize, file: PathBuf) -> Option<PathBuf> {
    let earlier = analysis.part(..at);
    let is_it = |i: &Invocation, word: &Word| place_of(analysis, i, word).as_ref() == Some(&file);
    let mut source = None;
    for i in earlier.iter().filter(|i| !i.remote) {
        let mut empties = i
            .redirects
            .iter()
            .filter(|r| r.writes() && !r.operator.ends_with(">>"));
        if empties.any(|redirect| is_it(i, &redirect.target)) {
            return None;
        }
        let operands: Vec<&Word> = i.operands().collect();
        let copies = matches!(i.program.as_str(), "cp" | "mv" | "install" | "ln");
        if let [from, to] = operands.as_slice()
            && copies
            && is_it(i, to)
        {
            source = place_of(analysis, i, from);
        }
    }
    Some(source.unwrap_or(file))
}

/// Returns the findings that count. What a commit holds a person has seen: of that only what nobody brings back is told. So it is
/// of code in a language, which is not followed as a command line is, and of what could not be understood: the programs of
/// scripts often stand in variables.
fn kept(
    found: Vec<Finding>,
    file: &Path,
    is_shell: bool,
    knowledge: &dyn Knowledge,
) -> impl Iterator<Item = Finding> {
    let is_grave = |finding: &Finding| finding.severity >= Severity::High;
    let is_committed = found.iter().any(is_grave) && knowledge.uncommitted(file, true) == Some(0);
    let is_own_way =
        move |finding: &Finding| is_committed && finding.rule.starts_with("supply-chain:");
    found.into_iter().filter(move |finding| {
        let is_plain = is_shell && !is_committed && !finding.uncertain;
        let least = if is_plain {
            Severity::High
        } else {
            Severity::Critical
        };
        finding.severity >= least && !is_own_way(finding)
    })
}

/// Returns the text of a file that is short enough to be judged.
fn text_of(file: &Path) -> Option<String> {
    read_short(file, MAX_LENGTH).filter(|text| !text.contains('\0'))
}

/// A script as what it would run.
struct Script {
    analysis: Analysis,
    is_shell: bool,
}

/// Returns what a script would run with the arguments that it is given; none where its language is not known.
fn analysed(
    invocation: &Invocation,
    file: &Path,
    text: &str,
    is_list: bool,
    surroundings: &Surroundings,
) -> Option<Script> {
    let program = invocation.program.as_str();
    let known = program::find(program);
    let is_interpreter = known.is(Fact::Shell) || known.is(Fact::Language);
    let own = match shebang(text) {
        _ if is_list || matches!(program, "." | "source" | "eval") => "sh",
        _ if is_interpreter => program,
        Some((own, _)) => own,
        None => "sh",
    };
    let surroundings = Surroundings {
        work_dir: invocation.work_dir.clone().unwrap_or_default(),
        ..surroundings.clone()
    };
    if program::find(own).is(Fact::Shell) {
        let folder = file.parent().unwrap_or(Path::new("/")).to_string_lossy();
        let mut text = text.to_owned();
        for spelling in OWN_FOLDER.iter().filter(|_| !is_list) {
            if text.contains(spelling) {
                text = text.replace(spelling, &folder);
            }
        }
        let given = given(invocation, file);
        let line = if given.is_empty() {
            text
        } else {
            format!("set -- {given}\n{text}")
        };
        return Some(Script {
            analysis: analyse(&line, surroundings),
            is_shell: true,
        });
    }
    let line = format!("{own} - <<'AHP_END_OF_SCRIPT'\n{text}\nAHP_END_OF_SCRIPT");
    let is_followed = program::find(own).is(Fact::Language) && text.len() <= MAX_CODE;
    is_followed.then(|| Script {
        analysis: analyse(&line, surroundings),
        is_shell: false,
    })
}

/// Returns the arguments that a script is given, as words of a shell.
fn given(invocation: &Invocation, file: &Path) -> String {
    let name = file.file_name().unwrap_or_default().to_string_lossy();
    let is_script = |word: &Word| file_name(&word.text) == name;
    let mut arguments = invocation.arguments.iter();
    if !is_script(&invocation.path) {
        arguments.find(|word| is_script(word));
    }
    let words = arguments.map(|word| {
        if word.dynamic && !word.text.contains(['"', '`', '\\']) {
            format!("\"{}\"", word.text)
        } else {
            quoted_where_needed(&word.text)
        }
    });
    words.collect::<Vec<_>>().join(" ")
}

/// Returns the files whose lines become a command: `$(cat FILE)`, `eval "$(< FILE)"`, `cat FILE | sh`, `read -r c < FILE; $c`.
fn lists(analysis: &Analysis, at: usize, invocation: &Invocation) -> Vec<PathBuf> {
    let all = &analysis.invocations;
    let known = program::find(&invocation.program);
    let is_shell =
        known.is(Fact::Shell) || matches!(invocation.program.as_str(), "." | "eval" | "source");
    let words: Vec<&Word> = if invocation.program.is_empty() {
        vec![&invocation.path]
    } else if is_shell {
        invocation.arguments.iter().collect()
    } else {
        return Vec::new();
    };
    let made = words.iter().map(|word| word.made_by.clone());
    let fed = is_shell.then(|| invocation.fed_by.clone());
    let makers = made
        .chain(fed)
        .flat_map(|range| all.get(range).unwrap_or_default());
    // A filter takes its script for a file no less than a file.
    let shows = |i: &&Arc<Invocation>| {
        let known = program::find(&i.program);
        known.is(Fact::Shows) && !known.is(Fact::PatternFirst) && !known.is(Fact::Decodes)
    };
    let mut files: Vec<PathBuf> = makers
        .filter(shows)
        .flat_map(|i| named(analysis, i))
        .collect();
    if words
        .iter()
        .any(|word| word.text == LINE_OF_FILE && word.made_by.is_empty())
    {
        let earlier = all.get(..=at).unwrap_or_default().iter();
        let takes = |i: &&Arc<Invocation>| {
            let takers = ["mapfile", "parallel", "read", "readarray", "xargs"];
            i.program.is_empty() || takers.contains(&i.program.as_str())
        };
        files.extend(earlier.filter(takes).flat_map(|i| {
            let given = i.value_of(&["-a", "--arg-file"]);
            let given = given.and_then(|word| place_of(analysis, i, &word));
            given.into_iter().chain(input(analysis, i))
        }));
    }
    files
}

/// Returns the files that a program is given to show, or reads.
fn named(analysis: &Analysis, invocation: &Invocation) -> Vec<PathBuf> {
    let operands = invocation
        .operands()
        .filter(|word| !word.dynamic && !word.glob);
    let files = operands.filter_map(|word| place_of(analysis, invocation, word));
    files.chain(input(analysis, invocation)).collect()
}

fn input(analysis: &Analysis, invocation: &Invocation) -> Option<PathBuf> {
    match &invocation.stdin {
        Stdin::File(word) if !word.dynamic => place_of(analysis, invocation, word),
        _ => None,
    }
}

fn place_of(analysis: &Analysis, invocation: &Invocation, word: &Word) -> Option<PathBuf> {
    let dir = invocation.work_dir.as_ref()?;
    Some(lexical(
        &word.text,
        dir,
        analysis.surroundings.home.as_deref(),
    ))
}
