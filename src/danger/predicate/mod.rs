//! Predicates: the conditions of rules that need more than the words, `@name` in a pattern.

mod client;
mod content;
mod naming;
mod network;
mod overwrite;
mod reading;
mod rights;
mod transfer;

use self::content::given_texts;
use self::content::loses_mongo_data;
use self::network::has_odd_host;
use self::network::is_collector;
use self::network::is_decoder;
use self::network::is_downloaded;
use self::network::is_downloader;
use self::network::is_metadata;
use self::network::is_remote_url;
use self::network::is_socket;
use self::network::uploads;
use self::reading::holds_secret_path;
use self::reading::is_environment_dump;
use self::reading::is_secret_dir;
use self::reading::is_secret_reader;
use self::reading::reads_secret_input;
use self::rights::is_host_mount;
use self::rights::is_preload;
use self::rights::is_set_uid;
use self::rights::is_world_writable;
use super::digest::Digest;
use super::place::Place;
use super::place::place;
use super::rules;
use super::secret;
use super::sql;
use crate::shell::Invocation;
use crate::shell::Stdin;
use crate::shell::Word;
use crate::shell::found_by_find;

/// A condition; it gets the operands behind those that the pattern names.
pub(super) type Predicate = fn(&Digest<'_>, &[&Word]) -> bool;

macro_rules! predicates {
    ($($name:literal $test:expr;)*) => {
        /// Returns the predicate of a name.
        pub(super) fn find(name: &str) -> Option<Predicate> {
            match name {
                $($name => Some($test),)*
                _ => None,
            }
        }
    };
}

predicates! {
    "recursive" |d, _| d.has_option("-r") || d.has_option("-R") || d.has_option("--recursive") || naming::has_cmdlet_option(d.invocation, "recurse", 3);
    "critical" |d, w| any_place(d, w, is_critical);
    "system" |d, w| any_place(d, w, is_system);
    "personal" |d, w| any_place(d, w, |p| p == Place::Personal);
    "device" |d, w| any_place(d, w, |p| p == Place::Device);
    "precious" |d, w| any_place(d, w, content::is_precious);
    "temporary" |d, w| any_place(d, w, |p| p == Place::Temporary);
    "outside" |d, w| any_place(d, w, |p| is_critical(p) || matches!(p, Place::Outside | Place::Unknown));
    "into-system" |d, w| w.len() > 1 && w.last().is_some_and(|last| holds_system(d, last));
    "from-critical" |d, w| w.len() > 1 && any_place(d, w.get(..w.len() - 1).unwrap_or_default(), is_critical);
    "startup" |_, w| w.iter().any(|word| is_startup(&word.text));
    "dd-device" |d, w| dd_target(w).is_some_and(|t| matches!(place_of(d, &t), Place::Device | Place::Root | Place::System));
    "everything" |d, w| w.iter().any(|x| x.glob && (matches!(x.text.as_str(), "*" | "./*" | ".*" | "**" | "**/*" | "./**") || x.text.contains("**/") && content::is_precious(place_of(d, x))));
    "unfollowed" |d, w| w.iter().any(|x| x.text == "{}" || !x.made_by.is_empty() && !x.glob && content::is_precious(place_of(d, x)));
    "everything-below" |d, w| w.iter().any(|x| x.glob && x.text.ends_with("/*") && matches!(place_of(d, x), Place::Inside | Place::Outside));
    "found-precious" |d, _| found_precious(d);
    "overwrites" |d, _| d.invocation.redirects.iter().any(|r| r.writes() && !r.operator.starts_with(">>") && r.operator != "&>>");
    "nothing-printed" |d, _| content::prints_nothing(d.invocation);
    "nothing-read" |d, _| content::reads_nothing(d);
    "empties-own-input" |d, _| overwrite::empties_own_input(d);
    "tees-own-input" |d, _| overwrite::tees_own_input(d);
    "gathers-in-one" overwrite::gathers_in_one;
    "replaces-store" overwrite::replaces_store;
    "archives-over-source" |d, _| overwrite::archives_over_source(d);
    "named-empty" |d, _| d.invocation.redirects.iter().any(|r| is_empty_by_name(&r.target.text));
    "data-store" content::has_data_store;
    "found" content::is_found;
    "moved-there" content::was_moved_there;
    "every-line" |_, w| content::deletes_every_line(w);
    "windows-precious" |d, w| w.iter().any(|x| naming::is_windows_path(&x.text) && any_place(d, &[x], content::is_precious) && any_place(d, &[&naming::without_dot(x)], content::is_precious));
    "several-precious" |d, w| w.iter().filter(|x| content::is_precious(place_of(d, x))).count() > 1;
    "empties-tables" |d, _| content::empties_tables(d);
    "named-for-loss" |d, _| content::is_named_for_loss(d);
    "sends-tree" transfer::sends_tree;
    "new-remote" transfer::goes_to_new_remote;
    "network-made" |d, _| makers(d).any(is_downloader);
    "protector" |_, w| w.iter().any(|x| naming::is_protector(&x.text));
    "protector-made" |d, _| makers(d).filter(|i| matches!(i.program.as_str(), "pidof" | "pgrep" | "cat")).any(|i| i.operands().any(|w| naming::is_protector(w.text.rsplit('/').next().unwrap_or_default())));
    "shadows" |_, w| w.last().is_some_and(|x| naming::shadows_program(&x.text));
    "sets-uid-mode" |d, _| d.invocation.value_of(&["-m", "--mode"]).is_some_and(|mode| is_set_uid(&mode.text));
    "fed-by-tree" |d, _| transfer::is_fed_by_tree(d);
    "sends-by-commands" |d, _| transfer::sends_by_commands(d);
    "sends-data-store" |d, _| transfer::sends_data_store(d);
    "misdirects-secret" transfer::misdirects_secret;
    "fed-by-statements" |d, _| content::is_fed_by_statements(d);
    "kills-server" |d, _| content::kills_server(d);
    "unknown-client" |d, _| client::is_client(d) && !rules::know(&d.invocation.program);
    "client" |d, _| client::is_client(d);
    "named-for-tests" |d, _| naming::is_named_for_tests(d.invocation);
    "clears" client::clears;
    "for-tests" |d, _| naming::is_for_tests(d.invocation);
    "destroying-task" |_, w| naming::is_destroying_task(w);
    "agent-settings" |_, w| w.iter().any(|x| naming::is_agent_settings(&x.text));
    "agent-settings-later" |_, w| w.iter().skip(1).any(|x| naming::is_agent_settings(&x.text));
    "open-to-all" |d, _| naming::is_open_to_all(d);
    "store-url" |d, _| d.invocation.arguments.iter().any(|w| naming::is_store_url(&w.text));
    "given-drop" |d, _| naming::is_given_drop(d);
    "powershell-recurse" |d, _| naming::has_cmdlet_option(d.invocation, "recurse", 3);
    "fed-by-recursion" |d, _| d.feeders().any(|i| matches!(i.program.as_str(), "get-childitem" | "gci" | "dir" | "ls") && naming::has_cmdlet_option(i, "recurse", 3));
    "powershell-force" |d, _| naming::has_cmdlet_option(d.invocation, "force", 2);
    "redirects-remote" |_, w| naming::redirects_remote(w);
    "names-itself" |d, _| makers(d).any(|i| matches!(i.program.as_str(), "whoami" | "hostname" | "id"));
    "secret-object" |_, w| w.iter().any(|x| secret::is_secret_path(x.text.rsplit_once(':').map_or(&x.text, |(_, path)| path)));
    "secret" |_, w| w.iter().any(|x| secret::is_secret_path(&x.text));
    "secret-rest" |d, w| {
        let skip = usize::from(!(d.has_option("-e") || d.has_option("-f") || d.has_option("--regexp")));
        w.get(skip..).unwrap_or_default().iter().any(|x| secret::is_secret_path(&x.text))
    };
    "file-operand" |_, w| w.iter().any(|x| is_file_name(&x.text));
    "secret-source" |_, w| w.get(..w.len().saturating_sub(1)).unwrap_or_default().iter().any(|x| secret::is_secret_path(&x.text));
    "secret-dir" |_, w| w.iter().any(|x| is_secret_dir(&x.text));
    "secret-argument" |d, _| d.invocation.arguments.iter().any(|w| holds_secret_path(&w.text));
    "secret-input" |d, _| reads_secret_input(d.invocation);
    "secret-variable" |d, _| d.invocation.arguments.iter().any(|w| w.dynamic && secret::variables(&w.text).any(secret::is_secret_variable));
    "secret-name" |_, w| w.iter().any(|x| secret::is_secret_variable(&x.text));
    "secret-found" |d, _| makers(d).any(|i| matches!(i.program.as_str(), "find" | "fd" | "locate" | "ls") && i.arguments.iter().any(|w| secret::is_secret_path(&w.text)));
    "secret-made" |d, _| makers(d).any(is_secret_reader);
    "fed-by-secret" |d, _| d.feeders().any(|i| is_secret_reader(i) || reading::prints_token(i));
    "unpacks-into-system" |d, _| d.invocation.value_of(&["-C", "--directory"]).is_some_and(|dir| holds_system(d, &dir));
    "fed-by-network" |d, _| pipes_text(d) && d.feeders().any(is_downloader);
    "fed-by-decoder" |d, _| pipes_text(d) && d.feeders().any(is_decoder);
    "kills-all" |d, _| {
        let texts: Vec<&str> = d.invocation.arguments.iter().map(|w| w.text.as_str()).collect();
        matches!(texts.as_slice(), [.., "-1" | "0"] | [_, "1"] | ["1"])
    };
    "killall5" |d, _| d.invocation.program == "killall5";
    "ifdown" |d, _| d.invocation.program == "ifdown";
    "tears-down" |d, _| matches!(d.invocation.program.as_str(), "aa-teardown" | "aa-disable");
    "changes-password" |d, w| match d.invocation.program.as_str() {
        "passwd" => !d.has_option("-S") && !w.iter().any(|x| x.text == "--help"),
        "chage" => !d.has_option("-l"),
        _ => !d.has_option("-c"),
    };
    "su-root" |d, w| d.invocation.program == "su" && !d.has_option("-c") && w.iter().all(|x| matches!(x.text.as_str(), "-" | "root"));
    "tees-into-system" |d, w| matches!(d.invocation.program.as_str(), "tee" | "sponge" | "touch" | "ed" | "ex" | "set-content" | "add-content" | "out-file") && any_place(d, w, is_system);
    "downloads-into-system" |d, _| {
        let target = network::output_file(d.invocation);
        target.is_some_and(|t| is_startup(&t.text) || naming::shadows_program(&t.text) || t.text.starts_with('/') && is_system(place_of(d, &t)))
    };
    "fills-disk" |d, _| d.invocation.redirects.iter().any(crate::shell::Redirect::writes) && d.invocation.redirects.iter().any(|r| r.writes() && r.target.text != "/dev/null");
    "s3-tree" |_, w| w.iter().any(|x| x.text.ends_with("/*") || x.text.ends_with("/**") || x.text.ends_with("://*") );
    "fed-by-socket" |d, _| d.feeders().any(|i| matches!(i.program.as_str(), "nc" | "ncat" | "netcat" | "socat" | "telnet") || i.redirects.iter().any(|r| is_socket(&r.target.text)) || i.arguments.iter().any(|w| w.text.contains("/tmp/f") && d.analysis.invocations.iter().any(|m| m.program == "mkfifo")));
    "publishes" |d, w| w.is_empty() && matches!(d.invocation.program.as_str(), "semantic-release" | "release-it" | "np");
    "package-index" |d, _| d.invocation.arguments.iter().any(|w| w.text.contains("pypi.org") || w.text.contains("download.pytorch.org") || w.text.contains("files.pythonhosted.org"));
    "fed-by-dump" |d, _| d.feeders().any(is_environment_dump);
    "fed" |d, _| !d.invocation.fed_by.is_empty() || matches!(d.invocation.stdin, Stdin::Pipe);
    "reads-file" |d, _| matches!(d.invocation.stdin, Stdin::File(_));
    "shows" |d, _| !is_consumed(d);
    "runs-input" runs_input;
    "uploads" |d, _| uploads(d);
    "collector" |d, _| d.invocation.arguments.iter().any(|w| is_collector(&w.text));
    "remote-url" |d, _| d.invocation.arguments.iter().any(|w| is_remote_url(&w.text));
    "remote-target" |_, w| w.last().is_some_and(|x| x.text.contains(':') && !x.text.starts_with('/'));
    "odd-host" |d, _| d.invocation.arguments.iter().any(|w| has_odd_host(&w.text));
    "metadata" |d, _| d.invocation.arguments.iter().any(|w| is_metadata(&w.text));
    "made" |d, _| d.invocation.arguments.iter().any(|w| !w.made_by.is_empty());
    "sql" |d, _| given_texts(d).any(sql::loses_data);
    "mongo" |d, _| given_texts(d).any(loses_mongo_data);
    "preload" |d, _| d.invocation.environment.iter().any(|(name, _)| is_preload(name));
    "preload-name" |_, w| w.iter().any(|x| x.text.split_once('=').is_some_and(|(name, value)| is_preload(name) && !value.is_empty()));
    "downloaded" |d, w| w.first().is_some_and(|script| is_downloaded(d, &script.text));
    "runs-downloaded" |d, _| d.invocation.path.text.contains('/') && is_downloaded(d, &d.invocation.path.text);
    "dev-tcp" |d, _| d.invocation.redirects.iter().any(|r| is_socket(&r.target.text)) || d.invocation.arguments.iter().any(|w| is_socket(&w.text));
    "socket" |_, w| w.iter().any(|x| is_socket(&x.text));
    "history-file" |_, w| w.iter().any(|x| x.text.ends_with("_history") || x.text.ends_with("HISTFILE"));
    "no-operand" |_, w| w.is_empty();
    "host-mount" |d, _| d.invocation.arguments.iter().any(|w| is_host_mount(&w.text));
    "world-writable" |_, w| w.first().is_some_and(|x| is_world_writable(&x.text));
    "sets-uid" |_, w| w.first().is_some_and(|x| is_set_uid(&x.text));
    "locks-out" |_, w| w.first().is_some_and(|x| matches!(x.text.as_str(), "000" | "0" | "0000" | "a-rwx" | "ugo-rwx" | "-rwx"));
}

fn place_of(digest: &Digest<'_>, word: &Word) -> Place {
    place(word, digest.invocation, &digest.analysis.surroundings)
}

/// Whether what is put at a place is the system's. `/tmp` and a home directory are, what is put into them is not.
fn holds_system(digest: &Digest<'_>, place: &Word) -> bool {
    let inside = Word {
        text: format!("{}/x", place.text.trim_end_matches('/')),
        ..place.clone()
    };
    is_system(place_of(digest, place))
        && (place.text == "/" || is_system(place_of(digest, &inside)))
}

fn any_place(digest: &Digest<'_>, words: &[&Word], is_meant: fn(Place) -> bool) -> bool {
    words.iter().any(|word| is_meant(place_of(digest, word)))
}

fn is_critical(place: Place) -> bool {
    is_system(place) || matches!(place, Place::Personal | Place::Project | Place::Repository)
}

fn is_system(place: Place) -> bool {
    matches!(
        place,
        Place::Root | Place::System | Place::Home | Place::Device
    )
}

/// Whether a file is read by every shell or login, or lets people in.
fn is_startup(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path);
    let is_own = path.starts_with(['/', '~', '$']);
    matches!(
        name,
        ".bashrc"
            | ".zshrc"
            | ".profile"
            | ".bash_profile"
            | ".zprofile"
            | ".zshenv"
            | ".bash_login"
            | ".zlogin"
            | ".bash_logout"
            | ".bash_aliases"
            | ".inputrc"
            | ".xinitrc"
            | ".xprofile"
            | "config.fish"
    ) && is_own
        || name == "authorized_keys"
        || path.contains("LaunchAgents/")
        || path.contains("LaunchDaemons/")
        || path.contains(".config/systemd/user/")
        || path.contains(".config/autostart/")
        || path.contains("/.ssh/config")
        || path.contains("/.ssh/rc")
        || path.contains("/cron.d/")
        || path.contains("/spool/cron")
}

/// Whether a file lets people in or runs what it says, on whatever machine it lies.
pub(super) fn opens_machine(path: &str) -> bool {
    const FILES: &[&str] = &[
        "/etc/cron",
        "/etc/pam.d/",
        "/etc/passwd",
        "/etc/shadow",
        "/etc/ssh/",
        "/etc/sudoers",
        "/etc/systemd/",
    ];
    is_startup(path) || FILES.iter().any(|file| path.starts_with(file))
}

/// Whether a file is empty by its very purpose.
fn is_empty_by_name(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path);
    matches!(
        name,
        "__init__.py" | "py.typed" | ".gitkeep" | ".keep" | ".nojekyll" | ".gitignore"
    )
}

/// Whether a word is a file's name rather than a branch's or a tag's.
fn is_file_name(text: &str) -> bool {
    let name = text.rsplit('/').next().unwrap_or(text);
    name.rsplit_once('.').is_some_and(|(stem, extension)| {
        !stem.is_empty()
            && (1..=5).contains(&extension.len())
            && extension.chars().all(|c| c.is_ascii_lowercase())
    })
}

fn dd_target(words: &[&Word]) -> Option<Word> {
    words.iter().find_map(|word| {
        word.text.strip_prefix("of=").map(|target| Word {
            text: target.to_owned(),
            ..(*word).clone()
        })
    })
}

/// Whether a `find` meets anything that cannot be made again.
fn found_precious(digest: &Digest<'_>) -> bool {
    found_by_find(digest.invocation)
        .iter()
        .any(|word| content::is_precious(place_of(digest, word)))
        && !digest
            .invocation
            .arguments
            .iter()
            .any(|w| w.text == "-empty")
}

/// Whether an interpreter runs what it reads, not what its arguments say.
fn runs_input(digest: &Digest<'_>, words: &[&Word]) -> bool {
    let program = digest.invocation.program.as_str();
    if matches!(program, "eval" | "source" | ".") {
        return true;
    }
    if program.ends_with("sh") && digest.invocation.only_parses() {
        return false;
    }
    let takes_code = ["-c", "-e", "-E", "-p", "-r", "--eval", "--print", "-m"]
        .iter()
        .any(|option| digest.has_option(option));
    if takes_code {
        return digest
            .invocation
            .arguments
            .iter()
            .any(|w| !w.made_by.is_empty());
    }
    let is_shell = program.ends_with("sh");
    let words = match words {
        [first, rest @ ..] if first.text == "run" => rest,
        _ => words,
    };
    (is_shell && digest.has_option("-s"))
        || words.first().is_none_or(|word| {
            matches!(word.text.as_str(), "-" | "/dev/stdin") || word.text.starts_with("<(")
        })
}

/// The invocations that make the words of this one.
fn makers<'a>(digest: &Digest<'a>) -> impl Iterator<Item = &'a Invocation> {
    let all = &digest.analysis.invocations;
    digest
        .invocation
        .arguments
        .iter()
        .flat_map(|w| all.get(w.made_by.clone()).unwrap_or_default())
        .map(AsRef::as_ref)
}

/// Whether the input is text that is known only when it runs.
fn pipes_text(digest: &Digest<'_>) -> bool {
    !matches!(digest.invocation.stdin, Stdin::Text(_)) || digest.invocation.program == "eval"
}

/// Whether another program takes what this one prints.
fn is_consumed(digest: &Digest<'_>) -> bool {
    digest
        .invocation
        .redirects
        .iter()
        .any(crate::shell::Redirect::writes)
        || digest
            .analysis
            .invocations
            .get(digest.index + 1..)
            .unwrap_or_default()
            .iter()
            .any(|i| {
                i.fed_by.contains(&digest.index)
                    || i.arguments
                        .iter()
                        .any(|w| w.made_by.contains(&digest.index))
            })
}
