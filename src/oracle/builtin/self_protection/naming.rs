//! Naming: programs that are given what is guarded, and are not known to only read it.

use std::path::PathBuf;
use std::sync::Arc;

use super::found::{Found, act};
use super::guarded::Guarded;
use super::mention::{covers, path_of};
use super::named::{named, of_find, only_list};
use super::{brought, clean, code, filled, mention, rights, unseen, walk};
use crate::program::Fact;
use crate::search::Deed;
use crate::search::is_steered;
use crate::shell::{Analysis, Effect, Invocation, PathEffect, Word, code_only_reads, sed_scripts};

/// Finds what a program would do to the guarded files that it is given.
pub(super) fn find(
    guarded: &Guarded<'_>,
    analysis: &Analysis,
    invocation: &Invocation,
) -> Option<Found> {
    if invocation.remote {
        return None;
    }
    if invocation.emulated {
        return brought::find(guarded, analysis, invocation);
    }
    let reads = only_reads(invocation);
    links(guarded, invocation)
        .or_else(|| lays_over(guarded, invocation))
        .or_else(|| rights::shuts(guarded, invocation))
        .or_else(|| brought::find(guarded, analysis, invocation))
        .or_else(|| filled::find(guarded, invocation))
        .or_else(|| by_search(guarded, analysis, invocation))
        .or_else(|| by_finding(guarded, analysis, invocation, reads))
        .or_else(|| unseen::find(guarded, analysis, invocation))
        .or_else(|| unseen::by_code(invocation))
        .or_else(|| by_given(guarded, analysis, invocation, reads))
}

/// Variables that hold a program which shows files to a person.
const OPENING: &[&str] = &["BROWSER", "EDITOR", "GIT_EDITOR", "PAGER", "VISUAL"];

/// Whether a program that is known only when it runs is given what is guarded, or what holds it, as one that deletes would be:
/// `$X -rf .`.
pub(super) fn is_blind(guarded: &Guarded<'_>, invocation: &Invocation) -> bool {
    let name = invocation.path.text.strip_prefix('$').unwrap_or_default();
    let name = name.trim_start_matches('{').trim_end_matches('}');
    if invocation.remote
        || !invocation.program.is_empty()
        || name.is_empty()
        || OPENING.contains(&name)
    {
        return false;
    }
    let words = invocation.arguments.iter();
    let (options, operands): (Vec<&Word>, Vec<&Word>) = words
        .filter(|word| word.text != "--")
        .partition(|word| word.is_option());
    let of_deletion = |word: &Word| {
        let letters = word.text.trim_start_matches('-');
        matches!(letters, "recursive" | "force")
            || letters.chars().all(|letter| "rRfvid".contains(letter))
    };
    let has = |letters: &[char], name: &str| {
        let mut options = options.iter();
        options.any(|word| match word.text.strip_prefix("--") {
            Some(long) => long == name,
            None => word.text.contains(letters),
        })
    };
    has(&['r', 'R'], "recursive")
        && has(&['f'], "force")
        && options.iter().all(|word| of_deletion(word))
        && operands
            .iter()
            .any(|word| is_held(guarded, invocation, &word.text, word.glob))
}

/// Whether a word names what is guarded, or a folder that holds it.
fn is_held(guarded: &Guarded<'_>, invocation: &Invocation, text: &str, inexact: bool) -> bool {
    let effect = PathEffect {
        path: path_of(guarded, invocation, text),
        effect: Effect::Delete,
        program: String::new(),
        recursive: true,
        inexact,
    };
    guarded.hit(&effect).is_some()
}

/// A second name for a guarded file, or for what holds it, would be a way round.
fn links(guarded: &Guarded<'_>, invocation: &Invocation) -> Option<Found> {
    let makes_names = match invocation.program.as_str() {
        "ln" | "link" | "symlink" | "mklink" => true,
        "cp" => {
            invocation.has_short('l')
                || invocation.has_short('s')
                || invocation.has_long("--link")
                || invocation.has_long("--symbolic-link")
        }
        _ => false,
    };
    if !makes_names {
        return None;
    }
    let operands: Vec<&Word> = invocation.operands().collect();
    let names_target = invocation.has_short('t') || invocation.has_long("--target-directory");
    // The folder in which the links are made gets no other name.
    let sources = match operands.split_last() {
        Some((_, sources)) if !sources.is_empty() && !names_target => sources,
        _ => &operands[..],
    };
    let hit = operands
        .iter()
        .find_map(|word| covers(guarded, invocation, &word.text))
        .or_else(|| {
            let mut sources = sources.iter();
            sources.find_map(|word| holds(guarded, invocation, word))
        })?;
    Some((
        format!("make another name for `{}`", hit.display()),
        Some(hit),
    ))
}

/// Returns the project where a word names it or a folder above it.
fn holds(guarded: &Guarded<'_>, invocation: &Invocation, word: &Word) -> Option<PathBuf> {
    let path = path_of(guarded, invocation, &word.text);
    (path.is_absolute() && !word.glob && guarded.root().starts_with(&path)).then_some(path)
}

/// A mount over a guarded folder.
fn lays_over(guarded: &Guarded<'_>, invocation: &Invocation) -> Option<Found> {
    match invocation.program.as_str() {
        "mount" | "umount" => {
            let mut operands = invocation.operands();
            operands
                .any(|word| {
                    covers(guarded, invocation, &word.text).is_some()
                        || holds(guarded, invocation, word).is_some()
                        || guarded
                            .filled(&path_of(guarded, invocation, &word.text))
                            .is_some()
                })
                .then(|| act("hide a guarded directory"))
        }
        _ => None,
    }
}

/// A search whose finds, at any depth, are given to what changes them.
fn by_search(guarded: &Guarded<'_>, analysis: &Analysis, invocation: &Invocation) -> Option<Found> {
    let program = invocation.program.as_str();
    // What it prints for others to change is judged with the filters on the way.
    let through = walk::started_through(program)?;
    let deletes = || {
        let mut words = invocation.arguments.iter();
        through == walk::OF_FIND && words.any(|word| word.text == "-delete")
    };
    if !deletes() && !changes_through(analysis, through) {
        return None;
    }
    let hit = if program.starts_with("fd") {
        walk::found_by_fd(guarded, invocation, &|_| true)
    } else {
        walk::found_by(guarded, invocation, Deed::Acts, &|_| true)
    }?;
    Some((
        format!("change `{}`, which it finds", hit.display()),
        Some(hit),
    ))
}

/// Whether something that came through one of these programs changes what it is given.
fn changes_through(analysis: &Analysis, programs: &[&str]) -> bool {
    let mut inner = analysis.invocations.iter();
    inner.any(|i| {
        let is_fixer = i.known().is(Fact::Fixes);
        i.through(programs) && !only_reads(i) && !i.emulated && !is_fixer
    })
}

/// Whether a program unpacks what it reads into the directory where it stands.
fn unpacks_here(invocation: &Invocation) -> bool {
    let first = invocation.arguments.first().map_or("", |w| w.text.as_str());
    let elsewhere = invocation.value_of(&["-C", "--directory", "-D"]).is_some();
    let extracts = match invocation.program.as_str() {
        "tar" | "gtar" | "bsdtar" => {
            first.trim_start_matches('-').contains('x') || invocation.has_long("--extract")
        }
        "cpio" => invocation.has_short('i') || invocation.has_long("--extract"),
        _ => false,
    };
    extracts && !elsewhere
}

/// Returns the words that name what a program writes to and that another makes: the target of a redirection or of a copy.
///
/// Of a word that begins with a folder in which nothing guarded lies, the rest does not matter.
fn written_by_loop<'a>(guarded: &Guarded<'_>, invocation: &'a Invocation) -> Vec<&'a Word> {
    let redirects = invocation.redirects.iter();
    let targets = redirects.filter(|r| r.writes()).map(|r| &r.target);
    let copied = invocation.known().is(Fact::ToLast).then(|| {
        let to = invocation.value_of(&["-t", "--target-directory"]).is_none();
        to.then(|| invocation.operands().last()).flatten()
    });
    let words = targets.chain(copied.flatten());
    let may_be_guarded = |word: &&Word| {
        let fixed = word.text.split_once(['$', '`', '{']);
        let folder = fixed.and_then(|(fixed, _)| fixed.rsplit_once('/'));
        folder.is_none_or(|(folder, _)| is_held(guarded, invocation, &format!("{folder}/"), false))
    };
    words
        .filter(|word| (word.dynamic || word.each) && !word.made_by.is_empty())
        .filter(may_be_guarded)
        .collect()
}

/// A program that changes what another finds in a guarded folder.
fn by_finding(
    guarded: &Guarded<'_>,
    analysis: &Analysis,
    invocation: &Invocation,
    reads: bool,
) -> Option<Found> {
    let unpacks = unpacks_here(invocation);
    let written = written_by_loop(guarded, invocation);
    let is_given = !reads && !matches!(invocation.program.as_str(), "xargs" | "gxargs");
    if !unpacks && !is_given && written.is_empty() {
        return None;
    }
    let inner = Inner::of(analysis, invocation);
    // What a search runs by itself is judged with the search.
    let by_itself = invocation.through(&["find", "fd"]);
    let mut given: Vec<_> = invocation
        .arguments
        .iter()
        .filter(|word| is_given && (word.dynamic || (word.each && !by_itself)))
        .filter(|word| !inner.takes(word))
        .chain(written)
        .map(|word| word.made_by.clone())
        .collect();
    if unpacks || (invocation.program == "parallel" && changes_through(analysis, &["parallel"])) {
        given.push(invocation.fed_by.clone());
    }
    let is_fixer = invocation.known().is(Fact::Fixes);
    let mut finders = given
        .into_iter()
        .filter_map(|range| analysis.invocations.get(range));
    let hit = finders.find_map(|finders| {
        let named = finders.iter().find_map(|finder| {
            let mut operands = finder.operands();
            // What a formatter finds by itself it may change; what somebody names for it, it may not.
            if is_fixer || !only_list(std::slice::from_ref(finder)) {
                return operands.find_map(|word| covers(guarded, finder, &word.text));
            }
            named(guarded, finder)
        });
        let walked = || {
            (!is_fixer)
                .then(|| walk::listed(guarded, analysis, finders))
                .flatten()
        };
        named.or_else(walked)
    })?;
    Some((
        format!("change what lies in `{}`", hit.display()),
        Some(hit),
    ))
}

/// A program that is given a guarded file, in any form, and is not known to only read it with the options that it has.
fn by_given(
    guarded: &Guarded<'_>,
    analysis: &Analysis,
    invocation: &Invocation,
    reads: bool,
) -> Option<Found> {
    let known = invocation.known();
    let is_console = known.is(Fact::Console);
    let is_language = known.is(Fact::Language);
    if known.is(Fact::Evaluates)
        && let Some(hit) = evaluated(guarded, invocation)
    {
        let what = format!("run what may change `{}`", hit.display());
        return Some((what, Some(hit)));
    }
    let is_unknown = || {
        let mut values = invocation.unknown_values();
        values.any(|w| mention::in_word(guarded, invocation, &w.text, w.is_option()).is_some())
    };
    let is_unknown = is_unknown();
    let reads = reads && !is_steered(analysis, invocation) && !is_unknown;
    if reads && !known.is(Fact::Language) {
        return None;
    }
    let mounts = known.is(Fact::Mounts);
    let inner = Inner::of(analysis, invocation);
    // What is replaced in a file may look like a path.
    let is_replaced = known.is(Fact::PatternFirst)
        && !known.is(Fact::Unless)
        && !is_unknown
        && !['e', 'f']
            .iter()
            .any(|letter| invocation.has_short(*letter))
        && !["--expression", "--file"]
            .iter()
            .any(|name| invocation.has_long(name));
    let script = is_replaced.then(|| {
        let own = invocation.own_operands(known).next();
        own.map_or("", |word| word.text.as_str())
    });
    let options = invocation.before_dashes().count();
    let run = script_place(invocation);
    let in_text = |text: &str| {
        let is_read = (mention::is_prose(text) && !is_console) || inner.runs(text);
        (!is_read)
            .then(|| mention::in_text(guarded, invocation, text))
            .flatten()
    };
    // What a search asks of its finds names none of them; what it does with them is judged with the search.
    let is_search = walk::started_through(&invocation.program) == Some(walk::OF_FIND);
    let is_test =
        |word: &Word| is_search && !of_find(invocation).any(|own| std::ptr::eq(own, word));
    let mut is_message = false;
    let by_argument = |(nth, word): (usize, &Word)| {
        let text = word.text.as_str();
        let was_message = std::mem::replace(&mut is_message, known.lists(Fact::Texts, text));
        if reads
            || was_message
            || run == Some(nth)
            || (script == Some(text) && (!is_language || replaces(text)))
            || inner.is_given(text)
            || clean::leaves_out(invocation, nth)
        {
            return None;
        }
        if let Some(listers) = listers(analysis, word) {
            return listers.iter().find_map(|lister| named(guarded, lister));
        }
        if is_made(word) && !is_console {
            return by_makers(guarded, analysis, invocation, word);
        }
        let may_be_code = is_console || !known.is_known();
        if text.contains(char::is_whitespace) || (may_be_code && text.contains(['(', '"', '\''])) {
            return in_text(text);
        }
        if is_test(word) {
            return None;
        }
        // In quotes it is what finds any text, and not a pattern of names.
        let is_anything = !word.glob && !known.is_known() && text.rsplit('=').next() == Some(".*");
        // So is it in the name of a thing in code: `parser::.*`.
        let is_in_code =
            !word.glob && text.contains("::") && !text.contains('/') && !text.starts_with('.');
        if is_anything || is_in_code || (mounts && text.ends_with(":ro")) {
            return None;
        }
        let is_option = nth <= options && text.starts_with(['-', '+']);
        mention::in_word(guarded, invocation, text, is_option)
    };
    let mut arguments = invocation.arguments.iter().enumerate();
    let hit = arguments
        .find_map(by_argument)
        .or_else(|| {
            let mut variables = invocation.environment.iter();
            variables.find_map(|(_, value)| {
                if is_made(value) {
                    return by_makers(guarded, analysis, invocation, value);
                }
                let is_text = value.text.contains([' ', '(', '\'', '"']);
                if is_text {
                    mention::in_text(guarded, invocation, &value.text)
                } else {
                    mention::in_word(guarded, invocation, &value.text, false)
                }
            })
        })
        .or_else(|| {
            let takes_data = reads || is_language || known.is(Fact::Data) || known.is(Fact::Shell);
            let stdin = invocation
                .stdin
                .text()
                .filter(|_| !takes_data && inner.is_empty())?;
            in_text(stdin)
        })?;
    Some((
        format!(
            "be given `{}` and is not known to only read it",
            hit.display()
        ),
        Some(hit),
    ))
}

/// Whether a part of a word is what programs print, and stands there as they are written.
fn is_made(word: &Word) -> bool {
    !word.made_by.is_empty() && !word.glob && (word.text.contains("$(") || word.text.contains('`'))
}

/// Returns what is guarded and named by the words of the programs whose output is a part of a word, or by what stands around
/// it. In quotes, a text with `*` in it says what these look for in other texts.
fn by_makers(
    guarded: &Guarded<'_>,
    analysis: &Analysis,
    invocation: &Invocation,
    word: &Word,
) -> Option<PathBuf> {
    let makers = analysis.invocations.get(word.made_by.clone());
    let mut patterns = makers.unwrap_or_default().iter().flat_map(|maker| {
        let words = maker.arguments.iter().filter(|word| word.glob);
        words.map(move |word| (maker, word))
    });
    mention::in_text_by_name(guarded, invocation, &word.text)
        .or_else(|| patterns.find_map(|(maker, word)| covers(guarded, maker, &word.text)))
}

/// Returns the programs that list what a word stands for, if it stands for nothing else: what that comes upon is judged by
/// their filters.
fn listers<'a>(analysis: &'a Analysis, word: &Word) -> Option<&'a [Arc<Invocation>]> {
    let text = word.text.as_str();
    let is_whole = text.starts_with("$(") && text.ends_with(')');
    let made_by = analysis.invocations.get(word.made_by.clone())?;
    let is_list =
        is_whole && text.matches("$(").count() == 1 && !text.contains('`') && only_list(made_by);
    is_list.then_some(made_by)
}

/// The commands that an invocation starts, which are judged by themselves.
struct Inner<'a>(Vec<&'a Invocation>);

impl<'a> Inner<'a> {
    fn of(analysis: &'a Analysis, outer: &Invocation) -> Self {
        let program = outer.program.as_str();
        let is_inner = |i: &&'a Arc<Invocation>| i.wrappers.iter().any(|w| w == program);
        let inner = analysis.invocations.iter().filter(is_inner);
        Self(inner.map(AsRef::as_ref).collect())
    }

    const fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether a word is one of an inner command.
    fn is_given(&self, word: &str) -> bool {
        self.0.iter().any(|inner| {
            let variables = inner.environment.iter();
            inner.path.text == word
                || inner.arguments.iter().any(|argument| argument.text == word)
                || variables
                    .map(|(name, value)| (name.as_str(), value.text.as_str()))
                    .any(|pair| word.split_once('=') == Some(pair))
        })
    }

    /// Whether an inner command on this machine gets a made word as it is, and is judged by what it does to it:
    /// `npx prettier --write $(git diff --name-only)`.
    fn takes(&self, word: &Word) -> bool {
        let mut inner = self.0.iter();
        inner.any(|inner| !inner.remote && inner.arguments.contains(word))
    }

    /// Whether a text is one that an inner shell runs.
    fn runs(&self, text: &str) -> bool {
        self.0.iter().any(|inner| text.contains(&inner.path.text))
    }
}

/// Returns which argument is the script that an interpreter runs, and does not change: what it says is judged by itself.
fn script_place(invocation: &Invocation) -> Option<usize> {
    let known = invocation.known();
    let runs = known.is(Fact::Shell) || known.is(Fact::Language);
    // The code of awk is its first operand.
    if !runs || known.lists(Fact::Language, "awk") || code::takes_code(invocation) {
        return None;
    }
    let nth = invocation.arguments.iter().position(|w| !w.is_option())?;
    let mut before = invocation.arguments.iter().take(nth);
    // The value of a long option is not the script.
    let is_letters = |word: &Word| {
        let letters = word.text.strip_prefix('-').unwrap_or_default();
        !letters.is_empty() && letters.chars().all(|c| c.is_ascii_alphabetic())
    };
    before.all(is_letters).then_some(nth)
}

/// Whether code only replaces one text with another: `s/a/b/`.
fn replaces(code: &str) -> bool {
    let starts = ["s/", "s#", "s|", "s,", "tr/", "y/"];
    starts.iter().any(|start| code.starts_with(start))
}

/// Returns what is guarded and named by a command in the index of a variable: `test -v 'a[$(command)]'`.
fn evaluated(guarded: &Guarded<'_>, invocation: &Invocation) -> Option<PathBuf> {
    let words = invocation.arguments.iter();
    words
        .filter(|word| word.made_by.is_empty() && word.text.contains(['$', '`']))
        .find_map(|word| mention::in_text(guarded, invocation, &word.text))
}

/// Whether a program leaves the files that it is given as they are, but for what its effects tell.
fn only_reads(invocation: &Invocation) -> bool {
    let known = invocation.known();
    let is_sed = matches!(invocation.program.as_str(), "sed" | "gsed");
    known.is(Fact::Agent)
        || known.is(Fact::ByEffect)
        || code_only_reads(invocation)
        || (invocation.only_reads()
            && !known.is(Fact::Language)
            && !(is_sed && sed_scripts(invocation).runs_input))
}
