//! Names that tell what a thing is for: tasks, tests, playing fields of agents, addresses of stores, options of cmdlets.

use crate::danger::container;
use crate::danger::digest::Digest;
use crate::danger::testing::says_test_store;
use crate::glob::glob;
use crate::program::{self, Fact};
use crate::shell::{Invocation, Stdin, Word, file_name, is_loopback, is_reader};
use crate::words::{names_for, words};

/// Whether the first word is the name of a task that drops or destroys: `db:drop`, `reset-db`, `nuke`; of a task for production
/// less is enough.
pub(super) fn is_destroying_task(invocation: &Invocation, words: &[&Word]) -> bool {
    let Some(task) = words.first() else {
        return false;
    };
    let separators = [':', '-', '_', '.', '/', '='];
    let lower = task.text.to_ascii_lowercase();
    let parts: Vec<&str> = lower.split(separators).collect();
    let has = |names: &[&str]| parts.iter().any(|part| names.contains(part));
    let of_production = || {
        invocation.arguments.iter().any(|word| {
            let lower = word.text.to_ascii_lowercase();
            lower
                .split(separators)
                .any(|part| matches!(part, "prod" | "production"))
        })
    };
    let harmless = has(words!("harmless-task-words"));
    let of_store = has(words!("stored-things"));
    !harmless
        && (has(&["destroy", "nuke", "wipe", "obliterate", "annihilate"])
            || has(&[
                "drop", "reset", "purge", "erase", "clean", "delete", "truncate", "teardown",
            ]) && (of_store || of_production()))
}

/// Whether ansible runs a module, or a command, that only looks at machines.
pub(super) fn only_asks(ansible: &Invocation) -> bool {
    let module = ansible.value_of(&["-m", "--module-name"]);
    let name = module.as_ref().and_then(|m| m.text.rsplit('.').next());
    match name.unwrap_or("command") {
        "command" | "raw" | "shell" => ansible
            .value_of(&["-a", "--args"])
            .is_some_and(|command| !command.dynamic && is_reader(&command.text)),
        name => words!("ansible-readers").contains(&name),
    }
}

/// Whether a program is told to work on what is there for tests: `RAILS_ENV=test`, `--env=testing`.
pub(super) fn is_for_tests(invocation: &Invocation) -> bool {
    let is_test = |value: &str| matches!(value, "test" | "testing");
    // A variable says so to the programs that choose their database by it. A task may start any of them.
    let runs_tasks = matches!(
        invocation.program.as_str(),
        "make" | "gmake" | "just" | "task" | "rake" | "npm" | "pnpm" | "yarn" | "bun"
    );
    let heeds = |name: &str| {
        if runs_tasks && (name == "ENV" || name.ends_with("_ENV")) {
            return true;
        }
        let variables = words!("environment-variables", lines);
        names_for(variables, name, &invocation.program)
    };
    let environment = invocation.environment.iter();
    environment
        .filter(|(name, _)| heeds(name))
        .any(|(_, value)| is_test(&value.text))
        || invocation.arguments.iter().any(|w| {
            w.text.split_once('=').is_some_and(|(name, value)| {
                (name.to_ascii_lowercase().ends_with("env") || heeds(name)) && is_test(value)
            })
        })
        || invocation
            .value_of(&["--env", "-e"])
            .is_some_and(|value| is_test(&value.text))
}

/// Whether a program works on a store of this machine that is there for tests, or on the settings or files for tests.
pub(super) fn is_on_store_for_tests(digest: &Digest<'_>) -> bool {
    let invocation = digest.invocation;
    if container::is_of_line(digest.analysis, digest.index, invocation) {
        return true;
    }
    // A client of statements is given a file of them by `-f`: that says nothing of the store.
    let takes_statements = program::find(&invocation.program).is(Fact::Statements);
    let is_named = |word: &Word| says_test_store(&word.text);
    let named = |of: &Invocation, options: &[&str]| {
        // Of several files of one composition the last one may be what makes it one for tests.
        let mut values = of.values_of(options);
        values.any(|value| is_named(&value) || value.text.ends_with(".integration.yml"))
    };
    if named(invocation, words!("store-options"))
        || !takes_statements && named(invocation, words!("composition-options"))
        || loads_settings_for_tests(digest)
    {
        return true;
    }
    let composition = invocation.environment.iter();
    let mut composition = composition
        .filter(|(name, _)| matches!(name.as_str(), "COMPOSE_FILE" | "COMPOSE_PROJECT_NAME"));
    if composition.any(|(_, value)| is_named(value)) {
        return true;
    }
    // The file of a composition tells what its containers are there for.
    let outer = invocation.wrappers.last();
    if let Some(around) = digest.earlier().last()
        && outer == Some(&around.program)
        && (named(around, words!("composition-options")) || named(around, &["--project-name"]))
    {
        return true;
    }
    let host = invocation.value_of(&["-h", "--host"]);
    let is_here = host.as_ref().is_some_and(|host| is_loopback(&host.text));
    let is_database = |word: &Word| is_named(word) && !word.text.contains(['.', '/', ' ']);
    if takes_statements && is_here && invocation.operands().any(is_database) {
        return true;
    }
    if invocation.program == "mongosh" && invocation.operands().next().is_some_and(is_named) {
        return true;
    }
    let environment = invocation
        .environment
        .iter()
        .chain(&digest.analysis.assignments);
    let given = environment.map(|(_, word)| word.text.as_str());
    if given.clone().any(|text| text.ends_with(":memory:")) {
        return true;
    }
    let arguments = invocation.texts();
    let mut addresses = arguments.chain(given).filter_map(|text| {
        if let Some(file) = text
            .strip_prefix("file:")
            .filter(|file| !file.starts_with("//"))
        {
            return Some(says_test_store(file));
        }
        let (host, path) = address(text).or_else(|| settings(text))?;
        // A store that is a file has no host.
        let is_here = host.is_empty() || is_loopback(host);
        Some(is_here && says_test_store(path))
    });
    if let Some(first) = addresses.next() {
        return first && addresses.all(|is_one| is_one);
    }
    // By convention the first store of redis is the one in use, and others are for tests.
    let is_other = invocation
        .value_of(&["-n"])
        .is_some_and(|store| store.text != "0");
    let finds_tests = |i: &Invocation| {
        let pattern = i.value_of(&["--pattern"]);
        pattern
            .is_some_and(|pattern| says_test_store(&pattern.text) || pattern.text.contains("cache"))
    };
    // So is a server at a port of its own.
    let is_apart = || {
        let port = invocation.value_of(&["-p", "--port"]);
        is_here || port.is_some_and(|port| !port.dynamic && port.text != "6379")
    };
    let is_at_home = host.is_none() && !invocation.has_word(&["-u"]);
    invocation.program == "redis-cli"
        && !invocation.remote
        && (is_at_home || is_here)
        && (is_other && is_apart() || digest.feeders().any(finds_tests))
}

/// Whether the variables of a file for tests are loaded before a program runs, or by what runs it: `source .env.test`.
fn loads_settings_for_tests(digest: &Digest<'_>) -> bool {
    let wrappers = &digest.invocation.wrappers;
    let is_file = |word: &Word| {
        let name = file_name(&word.text);
        name.starts_with(".env.") && says_test_store(name)
    };
    let is_exported = |at: usize| {
        let mut exports = digest.earlier().filter(|i| i.program == "export");
        exports.any(|i| i.arguments.iter().any(|word| word.made_by.contains(&at)))
    };
    digest.earlier().enumerate().any(|(at, i)| {
        let loads = matches!(i.program.as_str(), "." | "source") || wrappers.contains(&i.program);
        (loads || is_exported(at)) && i.arguments.iter().any(is_file)
    })
}

/// Returns the host and the path of an address: `postgres://ann@localhost/shop_test`, and how drivers of Go write it,
/// `ann@tcp(localhost:3306)/shop_test`.
fn address(text: &str) -> Option<(&str, &str)> {
    let rest = match text.split_once("://") {
        Some((_, address)) => address,
        None => Some(text).filter(|text| text.contains("@tcp("))?,
    };
    let (host, path) = rest.split_once('/')?;
    let host = host.rsplit_once('@').map_or(host, |(_, host)| host);
    let host = host.trim_start_matches("tcp(").trim_end_matches(')');
    Some((host, path.split('?').next()?))
}

/// Returns the host and the name of a database that settings give: `host=localhost dbname=shop_test`; none is this machine.
fn settings(text: &str) -> Option<(&str, &str)> {
    let value = |names: &[&str]| {
        let mut pairs = text
            .split([' ', ';'])
            .filter_map(|pair| pair.split_once('='));
        let found = pairs.find(|(name, _)| names.iter().any(|one| one.eq_ignore_ascii_case(name)));
        found.map(|(_, value)| value.trim_matches(['\'', '"']))
    };
    let name = value(&["dbname", "database"])?;
    Some((value(&["host", "hostaddr", "server"]).unwrap_or(""), name))
}

/// Whether a client is told to speak with a cluster that runs on this machine, and with no other one.
pub(super) fn is_on_local_cluster(invocation: &Invocation) -> bool {
    let local = words!("local-clusters");
    let mut named = false;
    let mut words = invocation.before_dashes();
    while let Some(word) = words.next() {
        let (option, attached) = match word.text.split_once('=') {
            Some((option, value)) => (option, Some(value)),
            None => (word.text.as_str(), None),
        };
        match option {
            "--server" | "-s" | "--kube-apiserver" => return false,
            "--context" | "--kube-context" | "--cluster" => {
                let value = attached.or_else(|| words.next().map(|word| word.text.as_str()));
                let is_local = |name: &str| local.iter().any(|one| glob(one, name));
                if !value.is_some_and(is_local) {
                    return false;
                }
                named = true;
            }
            _ => {}
        }
    }
    named
}

/// Whether the project keeps settings of its own for tests, without which a framework takes those of every day.
pub(super) fn has_settings_for_tests(invocation: &Invocation) -> bool {
    let dir = invocation.work_dir.as_ref();
    dir.is_some_and(|dir| dir.join(".env.testing").exists())
}

/// Whether what is named last is there for tests, by its name: `app_test`, `tmp-3`.
pub(super) fn is_named_for_tests(invocation: &Invocation) -> bool {
    invocation
        .operands()
        .last()
        .is_some_and(|word| says_test_store(&word.text))
}

/// Whether the words are what the same client lists of things that their names or labels say are there for tests:
/// `docker ps -aq --filter name=shop-test`.
pub(super) fn are_listed_for_tests(digest: &Digest<'_>) -> bool {
    let is_named = |value: &Word| {
        let (kind, name) = value.text.split_once('=').unwrap_or_default();
        matches!(kind, "label" | "name") && name.split('=').any(says_test_store)
    };
    let lists = |i: &Invocation| {
        i.program == digest.invocation.program
            && i.remote == digest.invocation.remote
            && i.values_of(&["-f", "--filter"])
                .any(|value| is_named(&value))
    };
    let is_list = |word: &Word| word.text == "{}" || word.text.starts_with("$(");
    digest
        .operands
        .iter()
        .skip(1)
        .all(|word| is_list(word) || matches!(word.text.as_str(), "rm" | "remove"))
        && digest.feeders().chain(digest.makers()).any(lists)
}

/// Whether everything that is named is.
pub(super) fn are_all_for_tests(words: &[&Word]) -> bool {
    !words.is_empty() && words.iter().all(|word| says_test_store(&word.text))
}

/// Whether a process is there to protect, to record or to ask.
pub(super) fn is_protector(name: &str) -> bool {
    let lower = name.to_ascii_lowercase();
    // What is built here may have such a name.
    if lower.contains('/') {
        return false;
    }
    lower
        .split(|c: char| !c.is_ascii_alphanumeric())
        .any(|part| words!("protectors").contains(&part))
}

/// Whether an argument opens something to everybody.
pub(super) fn is_open_to_all(digest: &Digest<'_>) -> bool {
    digest.invocation.arguments.iter().any(|w| {
        let value = w.text.rsplit('=').next().unwrap_or(&w.text);
        matches!(
            value.to_ascii_lowercase().as_str(),
            "*" | "0.0.0.0/0" | "::/0" | "internet" | "any" | "0.0.0.0"
        )
    })
}

/// Whether the input tells a console to drop or empty something.
pub(super) fn is_given_drop(digest: &Digest<'_>) -> bool {
    let Stdin::Text(text) = &digest.invocation.stdin else {
        return false;
    };
    text.split(['\n', ';']).any(|line| {
        let command = line.split_whitespace().next().unwrap_or_default();
        words!("console-drops").contains(&command.to_ascii_lowercase().as_str())
    })
}

/// Whether a setting of git sends what is meant for one host to another: `url.https://a/.insteadOf https://b/`.
pub(super) fn redirects_remote(words: &[&Word]) -> bool {
    let host = |text: &str| {
        let rest = text.split_once("://").map_or(text, |(_, rest)| rest);
        let rest = rest.rsplit_once('@').map_or(rest, |(_, rest)| rest);
        rest.split(['/', ':']).next().unwrap_or_default().to_owned()
    };
    words.windows(2).any(|pair| {
        let [name, value] = pair else {
            return false;
        };
        let lower = name.text.to_ascii_lowercase();
        let Some(target) = lower.strip_prefix("url.").and_then(|rest| {
            rest.strip_suffix(".insteadof")
                .or_else(|| rest.strip_suffix(".pushinsteadof"))
        }) else {
            return false;
        };
        let (target, meant) = (host(target), host(&value.text.to_ascii_lowercase()));
        target.contains('.') && meant.contains('.') && target != meant
    })
}

/// Whether a word can be a path for `cmd`, not one of its switches such as `/s`.
pub(super) fn is_windows_path(text: &str) -> bool {
    !(text.starts_with('/') && text.len() <= 3)
}

/// Returns a path without the dot that is left of `.\\` once a shell has taken the backslash for a quote.
pub(super) fn without_dot(word: &Word) -> Word {
    word.with_text(word.text.trim_start_matches(['.', '\\']))
}

/// Whether a program of PowerShell lists a directory with all below it.
pub(super) fn lists_tree(invocation: &Invocation) -> bool {
    let recurses = |text: &str| text.starts_with("-rec");
    matches!(
        invocation.program.as_str(),
        "get-childitem" | "gci" | "dir" | "ls"
    ) && (invocation.arguments.iter()).any(|w| recurses(&w.text.to_ascii_lowercase()))
}
