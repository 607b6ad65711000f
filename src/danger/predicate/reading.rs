//! What a program reads that is secret, or dumps of its surroundings.

use super::file::is_secret_dir;
use super::known::{git_command, path};
use super::network::is_given;
use crate::danger::digest::Digest;
use crate::danger::place::Place;
use crate::danger::secret;
use crate::program::{self, Fact, Program};
use crate::search::Options;
use crate::secret::{is_secret_file, is_secret_variable};
use crate::shell::{Invocation, Word, file_name};
use crate::words::{holds_any, words};

/// Whether an argument of a program that sends names a secret file: `@.env`, `file=@.env`, `.env`.
pub(super) fn holds_secret_path(text: &str) -> bool {
    // A title or a message may speak of such a file.
    let is_prose = text.contains(' ') && !text.contains(['@', '=', '<']);
    !text.contains("://")
        && if is_prose {
            is_secret_file(text)
        } else {
            text.split(['@', '=', ',', '<', ';', ' '])
                .any(is_secret_file)
        }
}

/// Whether an argument names a secret file, other than the key by which a client shows who it is, and what it writes itself.
pub(super) fn names_secret_argument(invocation: &Invocation) -> bool {
    let own = words!("own-key-options");
    let known = program::find(&invocation.program);
    let is_own = |option: &str| own.contains(&option) || known.lists(Fact::Output, option);
    let mut before = "";
    invocation.arguments.iter().any(|word| {
        let attached = word.text.split_once('=').map(|(option, _)| option);
        let is_own = is_own(before) || attached.is_some_and(is_own);
        before = &word.text;
        !is_own && holds_secret_path(&word.text)
    })
}

/// Whether `socat` is given a file of secrets as one of its two addresses: `FILE:.env`, `OPEN:.env,rdonly`, `./.env`.
pub(super) fn is_secret_address(socat: &Invocation) -> bool {
    let mut addresses = socat
        .arguments
        .iter()
        .flat_map(|word| word.text.split("!!"));
    addresses.any(|address| {
        let (kind, file) = address.split_once(':').unwrap_or(("", address));
        let kind = kind.to_ascii_lowercase();
        let is_file = matches!(
            kind.as_str(),
            "" | "file" | "open" | "gopen" | "create" | "creat"
        );
        let file = file.split(',').next().unwrap_or_default();
        is_file && is_secret_file(file.trim_matches(['"', '\'']))
    })
}

/// Whether a program that is not known to keep secrets to itself is given a file of them.
///
/// What stands behind an option is what the program loads: `--config .env`. Of an interpreter that holds of long options, and
/// of what its script is given; its own letters have code as their value, or none.
pub(super) fn gives_secret(invocation: &Invocation) -> bool {
    let known = program::find(&invocation.program);
    let keeps = [Fact::KeepsSecrets, Fact::Lists, Fact::Text];
    if invocation.emulated
        || invocation.remote
        || invocation.uncertain
        || invocation.program.is_empty()
        || keeps.into_iter().any(|fact| known.is(fact))
    {
        return false;
    }
    let runs_code = known.is(Fact::Language) || known.is(Fact::Shell);
    let mut before: Option<&Word> = None;
    let mut has_script = false;
    invocation.arguments.iter().any(|word| {
        let option = before.replace(word).filter(|word| word.is_option());
        if word.is_option() {
            return false;
        }
        let is_long = |option: &Word| option.text.starts_with("--") && !option.text.contains('=');
        let may_load = |option: &Word| is_long(option) || !runs_code || has_script;
        let is_loaded = option.is_some_and(|option| may_load(option) && !is_flag(known, option));
        has_script |= option.is_none();
        !is_loaded && holds_secret_path(&word.text)
    })
}

/// Whether an option is known to take no value, so that the word behind it is not its own.
fn is_flag(known: Program, option: &Word) -> bool {
    let is_known = |name: &str| {
        let letters = known.words(Fact::Letters);
        let mut letters = letters.flat_map(str::chars);
        let is_letter = name.strip_prefix('-').is_some_and(|rest| {
            let mut rest = rest.chars();
            let letter = rest.next();
            rest.next().is_none() && letters.any(|known| Some(known) == letter)
        });
        (is_letter || known.lists(Fact::Flags, name)) && !known.lists(Fact::Values, name)
    };
    match option.text.strip_prefix('-') {
        Some(long) if long.starts_with('-') => is_known(&option.text),
        Some(cluster) => cluster
            .chars()
            .all(|letter| is_known(&format!("-{letter}"))),
        None => false,
    }
}

/// Whether the variables of a file of secrets were loaded before a program runs, or by what runs it.
pub(super) fn has_loaded_secret(digest: &Digest<'_>) -> bool {
    let wrappers = &digest.invocation.wrappers;
    let mut earlier = digest.earlier();
    let mut all = digest.analysis.invocations.iter();
    let is_given = |i: &Invocation| i.arguments.iter().any(|word| holds_secret_path(&word.text));
    earlier.any(|i| matches!(i.program.as_str(), "." | "source") && is_given(i))
        || all.any(|i| wrappers.contains(&i.program) && is_given(i))
}

/// Whether the shell shows each command with its words before it runs, and this one loads or is given secrets: `set -x`.
pub(super) fn is_traced_with_secret(digest: &Digest<'_>) -> bool {
    let invocation = digest.invocation;
    // What stands in a shell of its own is shown where that one is told so.
    let (shell, outer) = match invocation.wrappers.split_last() {
        Some((shell, outer)) => (shell.as_str(), outer),
        None => ("", &[][..]),
    };
    let starts = |i: &&Invocation| {
        i.program == shell && i.wrappers == outer && program::find(shell).is(Fact::Shell)
    };
    let sets = |i: &&Invocation| i.program == "set" && i.wrappers == invocation.wrappers;
    let told = digest.earlier().filter(|i| starts(i) || sets(i));
    let is_traced = told.filter_map(traces).last() == Some(true);
    let loads = matches!(invocation.program.as_str(), "." | "source")
        && invocation
            .arguments
            .iter()
            .any(|word| holds_secret_path(&word.text));
    let is_secret =
        |word: &Word| word.dynamic && secret::variables(&word.text).any(is_secret_variable);
    is_traced && (loads || invocation.arguments.iter().any(is_secret))
}

/// Whether `set`, or a shell that is started, switches the showing of commands on or off; none where it does neither.
fn traces(set: &Invocation) -> Option<bool> {
    let mut before = "";
    let mut found = None;
    let words = set.texts();
    for word in words.take_while(|word| *word != "--") {
        // `-o xtrace` and a cluster with an `x` say the same.
        let switch = if word == "xtrace" { before } else { word };
        if word.contains('x') && switch.starts_with(['-', '+']) {
            found = Some(switch.starts_with('-'));
        }
        before = word;
    }
    found
}

/// Whether a search is narrowed to files of secrets: `--include=.env*`.
pub(super) fn is_narrowed_to_secrets(invocation: &Invocation) -> bool {
    let globs = Options::of(invocation).values(&["--include", "-g", "--glob", "--iglob"]);
    let mut globs = globs.into_iter();
    globs.any(|(pattern, _)| !pattern.starts_with('!') && is_secret_file(pattern))
}

/// Whether a search for files names such that hold secrets, and does not leave them out.
pub(super) fn finds_secrets(search: &Invocation) -> bool {
    let mut before = [""; 2];
    search.arguments.iter().any(|word| {
        let [negation, option] = before;
        before = [option, &word.text];
        let is_left_out =
            option == "-E" || option.ends_with("name") && matches!(negation, "!" | "-not");
        !is_left_out && is_secret_file(&word.text)
    })
}

/// Whether what is written into a pipeline lets its log show a secret: all of them at once, or one whose text is changed so
/// that the log no longer hides it.
pub(super) fn bares_ci_secrets(digest: &Digest<'_>) -> bool {
    let is_pipeline = |path: &str| holds_any(path, words!("pipeline-files"));
    let mut targets = digest
        .invocation
        .redirects
        .iter()
        .filter(|r| r.writes())
        .map(|r| &r.target);
    let mut operands = digest.invocation.operands();
    let writes = targets.any(|word| is_pipeline(&word.text))
        || digest.invocation.program == "tee" && operands.any(|word| is_pipeline(&word.text));
    let bares = |line: &str| {
        let shows = line.contains("echo") || line.contains("printf");
        let close = line.replace(' ', "");
        let changed = holds_any(&close, words!("changing-filters"));
        line.contains("tojson(secrets)") || shows && line.contains("secrets.") && changed
    };
    writes
        && digest
            .texts()
            .any(|text| text.to_ascii_lowercase().lines().any(bares))
}

/// Whether a copy of the project's own secret stays in the project under a name of a secret, `cp .env.local .env`, or a link
/// to one has such a name.
pub(super) fn keeps_secret_in_place(digest: &Digest<'_>, words: &[&Word]) -> bool {
    let lies_inside = |word: &Word| matches!(digest.place(word), Place::Inside | Place::Project);
    let Some((target, sources)) = words.split_last() else {
        return false;
    };
    let text = target.text.as_str();
    let is_here = |word: &Word| !word.text.contains(['/', '~']);
    if is_secret_file(text) && is_here(target) && sources.iter().all(|word| is_here(word)) {
        return true;
    }
    // Where secrets lie anyway, they may be put.
    if is_secret_dir(text) && text != "~" {
        return sources.iter().all(|word| !is_secret_dir(&word.text));
    }
    let is_there = || path(digest, target).is_some_and(|path| path.is_dir());
    let is_folder = text.ends_with('/') || matches!(text, "." | "..") || is_there();
    // A copy beside it counts as what tools make again: `.env.bak`.
    let is_beside = !text.contains('/') && digest.place(target) == Place::Artifact;
    let stays = is_folder && lies_inside(target)
        || is_secret_file(text) && (lies_inside(target) || is_beside);
    let is_link = matches!(digest.invocation.program.as_str(), "ln" | "gln" | "link");
    stays && !text.contains(':') && (is_link || sources.iter().all(|word| lies_inside(word)))
}

/// Whether a search goes into directories.
pub(super) fn searches_trees(digest: &Digest<'_>) -> bool {
    matches!(digest.invocation.program.as_str(), "rg" | "ag" | "ack") || digest.goes_down()
}

/// Whether what is read only goes on without its values: `sed 's/=.*/=***/'`, `cut -d= -f1`, `wc -l`.
pub(super) fn is_masked(digest: &Digest<'_>) -> bool {
    let mut later = digest.later().iter();
    later
        .find(|i| i.fed_by.contains(&digest.index))
        .is_some_and(|i| shows_names_alone(i))
        || shows_names_alone(digest.invocation)
}

/// Whether a search of `NAME=value` lines finds no other settings than those that it names, and none of those is a secret:
/// `^DEBUG=`, `^(HOST|PORT)=`. Options may add lines to it or turn it round, but for the few that only change how it is shown.
pub(super) fn finds_settings(digest: &Digest<'_>) -> bool {
    let is_plain = |option: &Word| {
        let mut letters = option.text.chars().skip(1);
        letters.all(|letter| "EHPhinosw".contains(letter))
    };
    let mut options = digest.invocation.arguments.iter().filter(|w| w.is_option());
    let Some(pattern) = digest.operands.first().filter(|_| options.all(is_plain)) else {
        return false;
    };
    let is_setting = |name: &str| {
        let is_name = |c: char| c.is_ascii_alphanumeric() || c == '_';
        !name.is_empty() && name.chars().all(is_name) && !is_secret_variable(name)
    };
    let names = |text: &str| {
        let text = text
            .strip_prefix('^')
            .and_then(|text| text.strip_suffix('='));
        text.is_some_and(|text| {
            let group = text
                .strip_prefix('(')
                .and_then(|text| text.strip_suffix(')'));
            group.unwrap_or(text).split('|').all(is_setting)
        })
    };
    let mut parts = pattern.text.split('|');
    names(&pattern.text) || parts.all(|part| names(part.strip_suffix('\\').unwrap_or(part)))
}

/// Whether a search of a shell's history finds no more than lines with commands that it names, none of which are given secrets.
pub(super) fn finds_commands(digest: &Digest<'_>, words: &[&Word]) -> bool {
    let is_word = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let names_command = |part: &str| {
        let is_plain = |c: char| is_word(c) || " -/^\\".contains(c);
        let mut words = part.split(|c| !is_word(c)).filter(|word| word.len() > 1);
        let with_secrets = |word: &str| {
            words!("commands-with-secrets").contains(&word.to_ascii_lowercase().as_str())
                || is_secret_variable(word)
        };
        part.chars().all(is_plain) && words.clone().count() > 0 && !words.any(with_secrets)
    };
    let script =
        digest.invocation.program.ends_with("awk") || digest.invocation.program.ends_with("sed");
    let Some((pattern, files)) = words.split_first() else {
        return false;
    };
    let text = pattern.text.as_str();
    let shows_all = digest.invocation.program.ends_with("sed") && !digest.invocation.has_short('n');
    let text = if script {
        let (inner, behind) = text
            .strip_prefix('/')
            .and_then(|t| t.rsplit_once('/'))
            .unwrap_or_default();
        if matches!(behind, "" | "p" | "{print}" | "{print $0}") {
            inner
        } else {
            ""
        }
    } else {
        text
    };
    let is_plain = |option: &Word| {
        let mut letters = option.text.chars().skip(1);
        letters.all(|letter| "EFHPhinosw".contains(letter))
    };
    let mut options = digest.invocation.arguments.iter().filter(|w| w.is_option());
    let mut secrets = files.iter().filter(|file| is_secret_file(&file.text));
    !shows_all
        && options.all(is_plain)
        && text.split('|').all(names_command)
        && secrets.all(|file| file_name(&file.text).ends_with("_history"))
}

/// Whether the variables of the environment come from the pipe, with their values.
pub(super) fn is_fed_by_dump(digest: &Digest<'_>) -> bool {
    digest.feeders().any(is_environment_dump) && !digest.feeders().any(shows_names_alone)
}

/// Whether of lines such as `NAME=value` no more is shown than the names, or how many there are.
fn shows_names_alone(invocation: &Invocation) -> bool {
    let arguments = invocation.arguments.iter();
    let words: Vec<&str> = arguments.map(|w| w.text.as_str()).collect();
    // `s/=.*/=/`, and `s/^([A-Z_]+=).*/\1***/`: only what comes before the value is kept.
    let masks = |script: &str| {
        let sign = script.strip_prefix('s').and_then(|s| s.chars().next());
        let parts: Vec<&str> = sign.map_or_else(Vec::new, |sign| script.split(sign).collect());
        let [_, pattern, text, "" | "g"] = parts[..] else {
            return false;
        };
        let pattern = pattern
            .trim_start_matches('^')
            .trim_end_matches('$')
            .replace('\\', "");
        let group = pattern
            .strip_suffix(").*")
            .map(|group| group.trim_start_matches(['(', '^']));
        let is_name = |c: char| c.is_ascii_alphanumeric() || "_-+*[]^".contains(c);
        let is_before = |group: &str| {
            let name = group.strip_suffix('=');
            name.is_some_and(|name| name.replace("[^=]", "").chars().all(is_name))
        };
        let rest = text
            .strip_prefix("\\1")
            .filter(|_| group.is_some_and(is_before));
        let rest = rest.or((pattern == "=.*").then_some(text));
        rest.is_some_and(|text| !text.contains(['&', '\\', ';', '\n']))
    };
    let names_first = |script: &str| {
        let close = script.replace(' ', "");
        let rest = close
            .strip_prefix("{print$1")
            .and_then(|rest| rest.strip_suffix('}'));
        rest.is_some_and(|rest| matches!(rest, "" | "\"=\"" | "\":\""))
    };
    // An option behind them may give another script, or take the mask away.
    let names_files = |rest: &[&str]| rest.iter().all(|word| !word.starts_with('-'));
    match (invocation.program.as_str(), words.as_slice()) {
        ("sed", ["-E" | "-r", script, rest @ ..] | [script, rest @ ..]) => {
            masks(script) && names_files(rest)
        }
        (
            "cut",
            ["-d=", "-f1", rest @ ..]
            | ["-d", "=", "-f1", rest @ ..]
            | ["-d", "=", "-f", "1", rest @ ..],
        ) => names_files(rest),
        ("awk" | "gawk" | "mawk", ["-F=", script, rest @ ..] | ["-F", "=", script, rest @ ..]) => {
            names_first(script) && names_files(rest)
        }
        (
            "grep",
            ["-o", "-E", pattern, rest @ ..]
            | ["-E", "-o", pattern, rest @ ..]
            | ["-o" | "-oE" | "-Eo", pattern, rest @ ..],
        ) => finds_names(pattern) && names_files(rest),
        ("jq", [script] | ["-r" | "-c" | "-M", script]) => is_of_keys(script),
        ("wc", _) => true,
        _ => false,
    }
}

/// Whether a pattern finds the names of variables alone: `^[A-Z0-9_]+=`. Small letters would find parts of a key.
fn finds_names(pattern: &str) -> bool {
    let pattern = pattern.strip_suffix('=').unwrap_or(pattern);
    let letters = pattern
        .strip_prefix("^[")
        .and_then(|rest| rest.strip_suffix("]*").or(rest.strip_suffix("]+")));
    letters.is_some_and(|letters| {
        letters
            .replace("A-Z", "")
            .replace("0-9", "")
            .replace('_', "")
            .is_empty()
    })
}

/// Whether a filter of `jq` shows of what is below `.data` no more than the keys: `.data | keys`, and such in a text.
fn is_of_keys(script: &str) -> bool {
    let script: String = script.chars().filter(|c| *c != ' ').collect();
    let shows_keys = |text: &str| {
        let behind = text.strip_prefix(".data|keys");
        let known = [
            "",
            "[]",
            "|.[]",
            "|length",
            "|join(\",\")",
            "|join(\"\\n\")",
        ];
        behind.is_some_and(|behind| known.contains(&behind))
    };
    if let Some(text) = script
        .strip_prefix(".items[]|\"")
        .and_then(|text| text.strip_suffix('"'))
    {
        let mut parts = text.split("\\(").skip(1);
        return parts.all(|part| {
            let inner = part.rsplit_once(')').map_or(part, |(inner, _)| inner);
            // An annotation may repeat the secret whole.
            matches!(inner, ".metadata.name" | ".metadata.namespace") || shows_keys(inner)
        });
    }
    shows_keys(&script)
}

pub(super) fn reads_secret_input(invocation: &Invocation) -> bool {
    invocation
        .redirects
        .iter()
        .any(|r| r.reads() && is_secret_file(&r.target.text))
}

pub(super) fn is_secret_reader(invocation: &Invocation) -> bool {
    if is_environment_dump(invocation) || reads_secret_input(invocation) {
        return true;
    }
    let program = invocation.program.as_str();
    if program::find(program).is(Fact::Shows) {
        let is_taken = |w: &&Word| !w.text.starts_with("--exclude");
        return invocation.arguments.iter().filter(is_taken).any(|w| {
            is_secret_file(&w.text)
                || matches!(w.text.as_str(), "/etc/passwd" | "/etc/hosts" | "/etc/group")
                || w.text.strip_prefix("if=").is_some_and(is_secret_file)
                || matches!(program, "tar" | "zip" | "7z") && is_secret_dir(&w.text)
        });
    }
    let first = invocation.operands().next().map(|w| w.text.as_str());
    match program {
        "history" => true,
        "security" => first.is_some_and(|f| f.starts_with("find-") || f.starts_with("dump")),
        "pass" => matches!(first, Some("show")),
        "op" => matches!(first, Some("read" | "item")),
        "vault" => matches!(first, Some("read" | "kv")),
        "aws" => invocation.has_word(&["get-secret-value"]),
        "echo" | "printf" => invocation
            .arguments
            .iter()
            .any(|w| w.dynamic && secret::variables(&w.text).any(is_secret_variable)),
        "crontab" => false,
        _ => false,
    }
}

/// Whether a client prints a token or secret for another program, which is fine for one that logs in with it.
pub(super) fn prints_token(invocation: &Invocation) -> bool {
    is_given(invocation, Fact::PrintsToken)
}

/// Whether a client makes an address by which whoever has it gets in.
pub(super) fn signs_link(invocation: &Invocation) -> bool {
    is_given(invocation, Fact::SignsLinks)
}

/// Whether what a program prints, secrets or a link that lets in, goes into a file of the project, which a later command of the
/// line commits.
pub(super) fn is_committed(digest: &Digest<'_>) -> bool {
    let invocation = digest.invocation;
    let is_kept = |target: &Word| digest.place(target) == Place::Inside;
    let tells = |i: &Invocation| is_secret_reader(i) || prints_token(i) || signs_link(i);
    let mut redirects = invocation.redirects.iter();
    let mut later = digest.later().iter();
    // What makes another text of it may hide it: `kubeseal`, `sops -e`.
    let hands_on = program::find(&invocation.program).is(Fact::Shows);
    redirects.any(|r| r.takes_output() && is_kept(&r.target))
        && (tells(invocation)
            || digest.makers().any(tells)
            || hands_on && digest.feeders().any(tells))
        && later.any(|i| i.program == "git" && git_command(i) == "commit")
}

pub(super) fn is_environment_dump(invocation: &Invocation) -> bool {
    let no_operands = invocation.operands().next().is_none();
    match invocation.program.as_str() {
        "env" | "printenv" => no_operands,
        "set" => invocation.arguments.is_empty(),
        "export" | "declare" | "typeset" => {
            no_operands
                && invocation
                    .arguments
                    .iter()
                    .all(|w| matches!(w.text.as_str(), "-p" | "-x" | "-xp" | "-px"))
                && !invocation.arguments.is_empty()
        }
        _ => false,
    }
}
