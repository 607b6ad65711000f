//! Content that would be lost: files overwritten with nothing, what a search finds, stores of data, code that empties tables.

use std::sync::Arc;

use super::file::{is_critical, is_data_store, is_precious, is_system};
use crate::danger::digest::Digest;
use crate::danger::place::{Place, place};
use crate::danger::sql::loses_data;
use crate::glob::glob;
use crate::program::{self, Fact};
use crate::search::{come_through, keeps_names, searches};
use crate::shell::{Invocation, Stdin, Word, code_of, file_name, only_in_memory};
use crate::words::{holds_any, words};

/// Whether a database that is one file, or a dump of one, is among the words.
pub(super) fn has_data_store(digest: &Digest<'_>, words: &[&Word]) -> bool {
    words.iter().any(|word| {
        is_data_store(&word.text) && is_precious(digest.place(word)) && !is_made_anew(digest, word)
    })
}

/// Whether a store is there for development, by its name, and this line sets it up again, or fills it with what the project
/// keeps for that.
fn is_made_anew(digest: &Digest<'_>, word: &Word) -> bool {
    fn parts(text: &str) -> impl Iterator<Item = &str> {
        text.split(|c: char| !c.is_ascii_alphanumeric())
    }
    let name = file_name(&word.text);
    let has = |names: &[&str]| parts(name).any(|part| names.contains(&part));
    let sets_up = |i: &Invocation| {
        let known = program::find(&i.program);
        let only_says = known.is(Fact::Text) || known.is(Fact::Lists) || i.program == "git";
        let steps = ["migrate", "migrations", "seed", "setup", "upgrade"];
        let mut first = i.operands().take(2).filter(|word| !word.text.contains(' '));
        !only_says && first.any(|word| parts(&word.text).any(|part| steps.contains(&part)))
    };
    let mut later = digest.later().iter();
    let fills = |i: &Invocation| {
        let mut words = i.operands().take(3);
        words.any(|word| {
            parts(&word.text).any(|part| matches!(part, "seed" | "loaddata" | "fixtures"))
        })
    };
    !has(&["live", "prod", "production"])
        && if has(&["dev", "development"]) {
            later.any(|i| sets_up(i))
        } else {
            name == "db.sqlite3" && later.any(|i| fills(i))
        }
}

/// Whether a program prints nothing, so that a file it is led into ends up empty.
pub(super) fn prints_nothing(invocation: &Invocation) -> bool {
    let arguments = invocation.arguments.as_slice();
    match invocation.program.as_str() {
        ":" | "true" => true,
        // What could not be parsed may have lost its words.
        _ if invocation.uncertain => false,
        "echo" => arguments
            .iter()
            .all(|w| w.text.is_empty() || matches!(w.text.as_str(), "-n" | "-e" | "-ne")),
        "printf" => matches!(arguments, [only] if only.text.is_empty()),
        _ => arguments.iter().any(|w| w.text == "/dev/null"),
    }
}

/// Whether the input of a program is empty.
pub(super) fn reads_nothing(digest: &Digest<'_>) -> bool {
    match &digest.invocation.stdin {
        Stdin::File(word) => matches!(word.text.as_str(), "/dev/null" | "/dev/zero"),
        Stdin::Text(text) => text.trim().is_empty() && !digest.invocation.has_short('a'),
        _ => false,
    }
}

/// Whether a search finds no more than links that lead nowhere: `-xtype l`, `-type l ! -exec test -e {} \\;`.
pub(super) fn finds_broken_links(find: &Invocation) -> bool {
    let words: Vec<&str> = find.texts().collect();
    let has = |run: &[&str]| words.windows(run.len()).any(|window| window == run);
    has(&["-xtype", "l"])
        || has(&["-type", "l"])
            && ["!", "-not"]
                .iter()
                .any(|not| has(&[not, "-exec", "test", "-e", "{}", ";"]))
}

/// Whether words stand for what a search finds and are not known to be made again.
pub(super) fn is_found(digest: &Digest<'_>, words: &[&Word]) -> bool {
    // What a compiler of C writes beside its objects; a folder of such a name is no file.
    let goes_down = digest.has_option("-r") || digest.has_option("-R");
    let names_objects = |i: &Invocation| i.has_word(&["*.o"]);
    let finds_objects = !goes_down && digest.makers().any(names_objects);
    words.iter().any(|word| {
        word.glob
            && !word.made_by.is_empty()
            && word.text != "{}"
            && !(finds_objects && word.text.ends_with("/*.d"))
            && is_precious(digest.place(word))
    })
}

/// Whether its words come from a list of files that no commit and no build keeps: those that git does not know, or of a place
/// outside the project.
pub(super) fn lists_unkept(digest: &Digest<'_>) -> bool {
    digest
        .feeders()
        .any(|feeder| match feeder.program.as_str() {
            "git" => {
                let mut operands = feeder.operands().map(|word| word.text.as_str());
                // A pattern behind it is a choice.
                // What it lists in another folder names other files here.
                operands.next() == Some("ls-files")
                    && (feeder.work_dir != digest.invocation.work_dir
                        || operands.next().is_none()
                            && !lists_chosen_products(digest, feeder)
                            && (feeder.has_short('o') || feeder.has_word(&["--others"])))
            }
            "ls" => feeder.operands().any(|word| {
                let place = place(word, feeder, &digest.analysis.surroundings);
                is_critical(place) || is_system(place) || place == Place::Outside
            }),
            _ => false,
        })
}

/// Whether of the files that git ignores a search in the pipe chooses some by their names, and none that people keep there.
fn lists_chosen_products(digest: &Digest<'_>, list: &Invocation) -> bool {
    let all = digest.analysis.part(digest.invocation.fed_by.clone());
    let filters = all.iter().position(|i| std::ptr::eq(i.as_ref(), list));
    let filters = filters.and_then(|at| all.get(at + 1..)).unwrap_or_default();
    let chooses = |filter: &Arc<Invocation>| searches(&filter.program) && keeps_names(filter);
    let is_out = |name: &&str| !come_through(digest.analysis, filters, name);
    list.has_word(&["--exclude-standard"])
        && (list.has_short('i') || list.has_long("--ignored"))
        && filters.iter().any(chooses)
        && words!("ignored-work").iter().all(is_out)
}

/// Whether a search goes through the system or a home directory.
pub(super) fn searches_system(digest: &Digest<'_>, search: &Invocation) -> bool {
    let skip = usize::from(program::find(&search.program).is(Fact::PatternFirst));
    let mut roots = search.operands().skip(skip);
    roots.any(|root| is_system(place(root, search, &digest.analysis.surroundings)))
}

/// Whether the words are all that a client lists, narrowed by nothing: `$(docker ps -aq)`.
pub(super) fn is_made_of_all(digest: &Digest<'_>) -> bool {
    let lists = |i: &Invocation| {
        i.operands()
            .any(|w| matches!(w.text.as_str(), "ps" | "ls" | "list" | "images"))
    };
    let is_client = |i: &Invocation| i.program == digest.invocation.program && lists(i);
    let narrows = |i: &Invocation| match i.program.as_str() {
        "grep" | "egrep" | "rg" => !i.has_short('v') && !i.has_long("--invert-match"),
        "head" | "tail" => true,
        "awk" | "gawk" | "sed" => i.operands().any(|w| w.text.contains('/')),
        _ if is_client(i) => {
            let mut names = i.operands().skip_while(|w| w.text != "images");
            i.has_short('f') || i.has_long("--filter") || names.nth(1).is_some()
        }
        _ => false,
    };
    digest.makers().any(is_client) && !digest.makers().any(narrows)
}

/// Whether an earlier command of the line moved something precious to where this one deletes.
pub(super) fn was_moved_there(digest: &Digest<'_>, words: &[&Word]) -> bool {
    digest
        .earlier()
        .filter(|i| i.program == "mv")
        .any(|moving| {
            let operands: Vec<&Word> = moving.operands().collect();
            let Some((target, sources)) = operands.split_last() else {
                return false;
            };
            let target = target.text.trim_end_matches('/');
            sources.iter().any(|source| {
                is_precious(digest.place(source))
                    && words.iter().any(|word| {
                        let name = source.text.trim_end_matches('/').rsplit('/').next();
                        let word = word.text.trim_end_matches('/');
                        word == target
                            || name.is_some_and(|name| {
                                word.strip_prefix(target) == Some(&format!("/{name}"))
                            })
                    })
            })
        })
}

/// Whether a program is told to run code that it is given.
fn takes_code(digest: &Digest<'_>) -> bool {
    ["-c", "-e", "-p", "-r", "--eval", "--execute", "--command"]
        .iter()
        .any(|option| digest.has_option(option))
        || digest.invocation.operands().take(2).any(|w| {
            matches!(
                w.text.as_str(),
                "runner" | "r" | "console" | "c" | "shell" | "shell_plus" | "dbshell" | "tinker"
            )
        })
}

/// Whether code for a framework or a console of a service holds one of some words, which have no blanks.
pub(super) fn code_holds(digest: &Digest<'_>, words: &[&str]) -> bool {
    let holds = |text: &str| {
        let text: String = text.split_whitespace().collect();
        holds_any(&text.to_ascii_lowercase(), words)
    };
    (takes_code(digest) || digest.invocation.stdin.text().is_some()) && digest.texts().any(holds)
}

/// Whether code for a framework empties tables, with all rows at once.
pub(super) fn empties_tables(digest: &Digest<'_>) -> bool {
    let takes_code = takes_code(digest);
    if !takes_code && digest.invocation.stdin.text().is_none() {
        return false;
    }
    digest
        .texts()
        .any(|text| {
            let code = code_of(&digest.invocation.program, text);
            if only_in_memory(&code) {
                return false;
            }
            let text: String = code
                .split_whitespace()
                .collect::<String>()
                .to_ascii_lowercase();
            holds_any(&text, words!("emptying-calls"))
                // A script may hold such text for a file that it writes; one line of code does it.
                || takes_code && text.contains(".objects.") && text.contains(").delete()")
                || digest.invocation.program.ends_with("rails") && holds_any(&text, &[".destroy", "&:destroy", "&:delete"])
        })
        // A console of the database takes statements; what code holds in strings may be any text.
        || digest.invocation.operands().take(2).any(|w| w.text.starts_with("db"))
            && given_texts(digest).any(|text| loses_data(text, false))
}

/// Whether statements come from a client that writes them: `SELECT CONCAT('DROP TABLE …')`.
pub(super) fn is_fed_by_statements(digest: &Digest<'_>) -> bool {
    matches!(digest.invocation.stdin, Stdin::Pipe)
        && digest.feeders().any(|feeder| {
            feeder.arguments.iter().any(|w| {
                let lower = w.text.to_ascii_lowercase();
                lower.contains("select")
                    && holds_any(
                        &lower,
                        &[
                            "drop table",
                            "drop database",
                            "truncate ",
                            "delete from",
                            "drop schema",
                        ],
                    )
            })
        })
}

/// Whether a file of statements is there, by its name, to drop or empty what a database holds.
pub(super) fn is_named_for_loss(digest: &Digest<'_>) -> bool {
    let is_meant = |path: &str| {
        let name = file_name(path).to_ascii_lowercase();
        holds_any(&name, words!("loss-names"))
    };
    let file = match &digest.invocation.stdin {
        Stdin::File(word) => Some(word.text.as_str()),
        _ => None,
    };
    let option = digest.invocation.value_of(&["-f", "--file", "-i"]);
    let within = digest.invocation.arguments.iter().filter_map(|w| {
        [".read ", "\\i ", "source ", "\\. "]
            .iter()
            .find_map(|command| w.text.strip_prefix(command))
    });
    file.into_iter()
        .chain(option.as_ref().map(|w| w.text.as_str()))
        .chain(within)
        .any(is_meant)
}

/// Returns what a client is given as text: its arguments and its input.
pub(super) fn given_texts<'a>(digest: &Digest<'a>) -> impl Iterator<Item = &'a str> {
    let stdin = digest.invocation.stdin.text();
    digest
        .invocation
        .arguments
        .iter()
        .map(|w| match w.text.split_once('=') {
            Some((option, value)) if option.starts_with("--") && !option.contains(' ') => value,
            _ => w
                .text
                .strip_prefix("-e")
                .or_else(|| w.text.strip_prefix("-c"))
                .unwrap_or(&w.text),
        })
        .chain(stdin)
        .chain(written_texts(digest))
}

/// Returns what earlier commands of the line wrote into the files that a client is given: `cat > x.sql <<E …`, `psql -f x.sql`.
fn written_texts<'a>(digest: &Digest<'a>) -> impl Iterator<Item = &'a str> + use<'a> {
    let invocation = digest.invocation;
    let is_given = move |file: &str| {
        let names = |text: &str| {
            let mut parts = text.split(['=', ' ']);
            parts.any(|part| part == file || part.strip_prefix("-f") == Some(file))
        };
        invocation.arguments.iter().any(|word| names(&word.text))
            || matches!(&invocation.stdin, Stdin::File(word) if word.text == file)
    };
    let writes = move |i: &&Invocation| {
        let mut redirects = i.redirects.iter();
        redirects.any(|r| r.writes() && is_given(&r.target.text))
    };
    digest.earlier().filter(writes).flat_map(|earlier| {
        let prints = matches!(earlier.program.as_str(), "echo" | "printf");
        let said = earlier.arguments.iter().filter(move |_| prints);
        said.map(|word| word.text.as_str())
            .chain(earlier.stdin.text())
    })
}

fn says_production(text: &str) -> bool {
    words!("production-names")
        .iter()
        .any(|name| glob(name, text))
}

/// Whether a program is told to speak with what is live, by its words or its variables.
pub(super) fn is_on_production(digest: &Digest<'_>) -> bool {
    fn told(invocation: &Invocation) -> impl Iterator<Item = &Word> {
        let variables = invocation.environment.iter().map(|(_, value)| value);
        variables.chain(&invocation.arguments)
    }
    let is_live = |word: &Word| {
        let lower = word.text.to_ascii_lowercase();
        let value = match lower.split_once('=') {
            Some((option, value)) if option.starts_with('-') => value,
            _ => lower.as_str(),
        };
        says_production(value) || words!("live-names").iter().any(|name| glob(name, value))
    };
    // What runs it elsewhere says where: `kubectl --context prod exec api --`. The words behind that are its own.
    let wrappers = &digest.invocation.wrappers;
    let around = digest.earlier().filter(|i| wrappers.contains(&i.program));
    let mut around = around.flat_map(|i| i.arguments.iter());
    let mut own = told(digest.invocation);
    own.any(is_live) || around.any(|word| word.text.len() < 80 && is_live(word))
}

/// Whether code speaks with a store that is named for production, and changes what it holds.
pub(super) fn code_changes_production(digest: &Digest<'_>) -> bool {
    let connects = |line: &str| {
        let connects = holds_any(line, words!("connecting-words"));
        // The environment of a framework is no address.
        let names = line.split(|c: char| !(c.is_ascii_alphanumeric() || c == '_'));
        let is_named = |name: &str| name.split('_').any(|part| part == "prod");
        connects && !line.contains("_env") && (says_production(line) || names.clone().any(is_named))
    };
    let given = digest.invocation.environment.iter();
    let is_given = given
        .filter(|(name, _)| !name.ends_with("_ENV"))
        .any(|(_, value)| says_production(&value.text.to_ascii_lowercase()));
    digest.texts().any(|text| {
        let lower = text.to_ascii_lowercase();
        let begins = words!("changing-words", lines);
        let updates = || {
            let mut behind = lower.split("update ").skip(1);
            behind.any(|rest| rest.split_whitespace().nth(1) == Some("set"))
        };
        let changes = holds_any(&lower, begins) || updates();
        changes && (is_given || lower.split(['\n', ';']).any(connects))
    })
}

pub(super) fn loses_mongo_data(text: &str) -> bool {
    let text: String = text.split_whitespace().collect();
    holds_any(&text, words!("mongo-calls"))
}

/// Whether a word stands for several files: a pattern, each one of a loop or a search in turn, numbers in braces; in code a
/// folder with a name behind it that is known only when it runs.
pub(super) fn stands_for_several(invocation: &Invocation, word: &Word) -> bool {
    word.glob
        || word.each
        || word.text.contains(['*', '?'])
        || word.text.contains('{') && word.text.contains("..")
        || invocation.emulated && word.text.ends_with('/')
}
