//! Predicates: the conditions of rules that need more than the words, `@name` in a pattern.

mod again;
mod branch;
mod client;
mod content;
mod endpoint;
mod file;
mod kept;
mod known;
mod naming;
mod network;
mod overwrite;
mod process;
mod reach;
mod reading;
mod service;
mod transfer;

pub(super) use self::file::opens_machine;

use self::file::{
    holds_system, is_agent_settings, is_critical, is_precious, is_startup, is_system,
};
use self::network::{is_socket, prints_foreign};
use super::digest::Digest;
use super::place::{self, Place};
use super::{losses, secret, sql};
use crate::secret::{holds_secret, is_secret_file, is_secret_variable};
use crate::shell::{Invocation, Stdin, Word, before_action, destination, file_name, found_by_find};
use crate::words::words;

/// A condition.
#[derive(Clone, Copy, Debug)]
pub(super) enum Predicate {
    /// Gets the operands behind those that the pattern names.
    Plain(fn(&Digest<'_>, &[&Word]) -> bool),
    /// Gets whether a name fits the globs that the pattern gives: `@env:LD_*`.
    Of(fn(&Digest<'_>, &Fits<'_>) -> bool),
}

/// Whether a name fits what a pattern gives.
type Fits<'a> = dyn Fn(&str) -> bool + 'a;

/// Returns the predicate that a rule of the program's own names; one that there is not does not compile.
#[expect(
    clippy::panic,
    reason = "it is asked when the tables of rules are compiled"
)]
pub(super) const fn known(name: &str) -> Predicate {
    match find(name) {
        Some(found) => found,
        None => panic!("a rule names a predicate that there is not"),
    }
}

const fn is_same(mut one: &[u8], mut other: &[u8]) -> bool {
    if one.len() != other.len() {
        return false;
    }
    while let ([first, rest @ ..], [begin, others @ ..]) = (one, other) {
        if *first != *begin {
            return false;
        }
        (one, other) = (rest, others);
    }
    true
}

macro_rules! predicates {
    ($($name:literal $kind:ident $test:expr;)*) => {
        /// Returns the predicate of a name.
        pub(super) const fn find(name: &str) -> Option<Predicate> {
            $(if is_same(name.as_bytes(), $name.as_bytes()) {
                return Some(Predicate::$kind($test));
            })*
            None
        }
    };
}

predicates! {
    // What is named, by its place.
    "critical" Plain |d, w| any_place(d, w, is_critical);
    "device" Plain |d, w| any_place(d, w, |p| p == Place::Device);
    "outside" Plain |d, w| any_place(d, w, |p| is_critical(p) || matches!(p, Place::Outside | Place::Unknown));
    "personal" Plain |d, w| any_place(d, w, |p| p == Place::Personal);
    "precious" Plain |d, w| any_place(d, w, is_precious);
    "precious-paths" Plain |d, _| {
        let behind = d.invocation.arguments.iter().skip_while(|x| x.text != "--").skip(1);
        behind.map(|x| d.place(x)).any(is_precious)
    };
    "several-outside" Plain |d, w| {
        let outside = |i: &Invocation, x: &Word| match place::place(x, i, &d.analysis.surroundings) {
            Place::Outside | Place::System if content::stands_for_several(i, x) => 3,
            Place::Outside | Place::System => 1,
            _ => 0,
        };
        let own: usize = w.iter().map(|x| outside(d.invocation, x)).sum();
        // A loop, or one command behind the other, takes them one by one.
        let same = d.earlier().filter(|i| i.program == d.invocation.program && i.remote == d.invocation.remote);
        own > 2 || own > 0 && own + same.flat_map(|i| i.operands().map(move |x| outside(i, x))).sum::<usize>() > 2
    };
    "several-precious" Plain |d, w| w.iter().filter(|x| is_precious(d.place(x))).count() > 1;
    "system" Plain |d, w| any_place(d, w, is_system);
    "temporary" Plain |d, w| any_place(d, w, |p| p == Place::Temporary);
    "windows-precious" Plain |d, w| w.iter().any(|x| naming::is_windows_path(&x.text) && is_precious(d.place(x)) && is_precious(d.place(&naming::without_dot(x))));
    "dd-device" Plain |d, w| dd_target(w).is_some_and(|t| matches!(d.place(&t), Place::Device | Place::Root | Place::System));
    "dd-store" Plain |d, w| dd_target(w).is_some_and(|t| content::has_data_store(d, &[&t]));
    "from-critical" Plain |d, w| w.len() > 1 && any_place(d, w.get(..w.len() - 1).unwrap_or_default(), is_critical);
    "named-critical" Plain |d, _| file::is_named_critical(d);
    "serves-home" Plain file::serves_home;
    "into-critical" Plain |d, w| w.len() > 1 && w.last().is_some_and(|last| is_critical(d.place(last)));
    "into-system" Plain |d, w| w.len() > 1 && w.last().is_some_and(|last| holds_system(d, last));
    "into-device" Plain |d, w| w.len() > 1 && w.last().is_some_and(|last| d.place(last) == Place::Device);
    "into-remade" Plain again::is_into_remade;
    "unpacks-over-home" Plain |d, _| transfer::unpacks_over_home(d);
    "unpacks-over-changes" Plain |d, _| transfer::unpacks_over_changes(d);
    "unpacks-into-system" Plain |d, _| transfer::unpacks_into_system(d);
    "downloads-into-system" Plain |d, _| {
        let target = network::output_file(d.invocation);
        target.is_some_and(|t| is_startup(&t.text) || file::shadows_program(&t.text) || t.text.starts_with('/') && is_system(d.place(&t)))
    };
    // What is named, by how much it is.
    "everything" Plain |d, w| w.iter().any(|x| x.glob && (matches!(x.text.as_str(), "*" | "./*" | ".*" | "**" | "**/*" | "./**") || x.text.contains("**/") && is_precious(d.place(x))));
    "everything-below" Plain |d, w| w.iter().any(|x| x.glob && x.text.ends_with("/*") && matches!(d.place(x), Place::Inside | Place::Outside));
    "found" Plain content::is_found;
    "found-critical" Plain |d, _| {
        let narrows = before_action(d.invocation).any(|w| words!("find-filters").contains(&w.text.as_str()));
        !narrows && !content::finds_broken_links(d.invocation) && found_by_find(d.invocation).iter().any(|word| is_critical(d.place(word)))
    };
    "found-precious" Plain |d, _| {
        found_by_find(d.invocation).iter().any(|word| is_precious(d.place(word)))
            && !before_action(d.invocation).any(|w| w.text == "-empty")
            && !content::finds_broken_links(d.invocation)
    };
    "found-in-system" Plain |d, w| w.iter().any(|x| !x.made_by.is_empty()) && d.makers().any(|i| content::searches_system(d, i));
    "lists-unkept" Plain |d, _| content::lists_unkept(d);
    "many" Plain |d, w| w.iter().any(|x| x.glob && is_precious(d.place(x)));
    "made" Plain |d, _| d.invocation.arguments.iter().any(|w| !w.made_by.is_empty());
    "created-on-line" Plain known::is_created_on_line;
    "made-on-line" Plain known::is_made_on_line;
    "made-folder" Plain |d, w| !w.is_empty() && w.iter().all(|x| known::is_in_made_folder(d, x));
    "copied-again" Plain again::is_copied_again;
    "built-again" Plain again::is_built_again;
    "dotnet-output" Plain |d, _| again::are_dotnet_output(d);
    "in-memory" Plain |d, _| again::is_in_memory(d);
    "listed-products" Plain again::are_listed_products;
    "of-removed-submodule" Plain again::is_of_removed_submodule;
    "removes-submodule" Plain again::removes_submodule;
    "own-infrastructure" Plain |d, _| again::is_own_infrastructure(d);
    "made-all" Plain |d, _| content::is_made_of_all(d);
    "recursive" Plain |d, _| d.goes_down();
    "unfollowed" Plain |d, w| w.iter().any(|x| x.text == "{}" || !x.made_by.is_empty() && !x.glob && is_precious(d.place(x)));
    // What is named, by its name.
    "agent-settings" Plain |_, w| w.iter().any(|x| is_agent_settings(&x.text));
    "data-store" Plain content::has_data_store;
    "destroying-task" Plain |d, w| naming::is_destroying_task(d.invocation, w);
    "file-operand" Plain |_, w| w.iter().any(|x| file::is_file_name(&x.text));
    "listed-for-tests" Plain |d, _| naming::are_listed_for_tests(d);
    "all-for-tests" Plain |_, w| naming::are_all_for_tests(w);
    "apart-for-tests" Plain |d, _| naming::is_for_tests(d.invocation) && (naming::has_settings_for_tests(d.invocation) || naming::is_on_store_for_tests(d));
    "for-tests" Plain |d, _| naming::is_for_tests(d.invocation) || naming::is_on_store_for_tests(d);
    "local-cluster" Plain |d, _| naming::is_on_local_cluster(d.invocation);
    "named-for-loss" Plain |d, _| content::is_named_for_loss(d);
    "named-for-tests" Plain |d, _| naming::is_named_for_tests(d.invocation);
    "only-asks" Plain |d, _| naming::only_asks(d.invocation);
    "open-to-all" Plain |d, _| naming::is_open_to_all(d);
    "ends-all" Plain |d, _| process::ends_all(d.invocation);
    "ends-own" Plain |d, _| process::ends_own(d);
    "sends-no-end" Plain |d, _| process::sends_no_end(d.invocation);
    "own-process" Plain known::is_own_process;
    "protector" Plain |_, w| w.iter().any(|x| naming::is_protector(&x.text));
    "protector-made" Plain |d, _| looked_up(d).any(|x| naming::is_protector(file_name(&x.text)));
    "shadows" Plain |_, w| w.last().is_some_and(|x| file::shadows_program(&x.text));
    "startup" Plain |_, w| w.iter().any(|word| is_startup(&word.text));
    // Secrets.
    "bares-ci-secrets" Plain |d, _| reading::bares_ci_secrets(d);
    "narrowed-to-secrets" Plain |d, _| reading::is_narrowed_to_secrets(d.invocation);
    "masked" Plain |d, _| reading::is_masked(d);
    "finds-settings" Plain |d, _| reading::finds_settings(d);
    "finds-commands" Plain reading::finds_commands;
    "secret" Plain |_, w| w.iter().any(|x| is_secret_file(&x.text));
    "secret-address" Plain |d, _| reading::is_secret_address(d.invocation);
    "secret-argument" Plain |d, _| reading::names_secret_argument(d.invocation);
    "dumps" Plain |d, _| reading::is_environment_dump(d.invocation);
    "gives-secret" Plain |d, _| reading::gives_secret(d.invocation);
    "loads-secret" Plain |d, _| reading::has_loaded_secret(d);
    "secret-dir-source" Plain |_, w| w.get(..w.len().saturating_sub(1)).unwrap_or_default().iter().any(|x| file::is_secret_dir(x.text.trim_end_matches("/.")) && !matches!(x.text.as_str(), "~" | "~/" | "~/."));
    "secret-interpolated" Plain |d, _| reach::is_interpolated(d);
    "secret-packed" Plain reach::is_packed;
    "secret-reached" Plain reach::is_read;
    "secret-searched" Plain reach::is_searched;
    "secret-dir" Plain |_, w| w.iter().any(|x| file::is_secret_dir(&x.text));
    "secret-found" Plain |d, _| d.makers().any(|i| matches!(i.program.as_str(), "find" | "fd" | "locate" | "ls") && reading::finds_secrets(i));
    "secret-input" Plain |d, _| reading::reads_secret_input(d.invocation);
    "secret-made" Plain |d, _| d.makers().any(reading::is_secret_reader);
    "secret-committed" Plain |d, _| reading::is_committed(d);
    "link-made" Plain |d, _| d.makers().chain(d.feeders()).any(reading::signs_link);
    "traced-with-secret" Plain |d, _| reading::is_traced_with_secret(d);
    "token-made" Plain |d, _| d.makers().any(reading::prints_token);
    "token-in-address" Plain |d, _| {
        let mut addresses = d.invocation.arguments.iter().filter(|w| w.text.contains("://"));
        addresses.any(|w| d.makers_of(w).iter().any(|i| reading::prints_token(i)))
    };
    "secret-text" Plain |d, _| d.texts().any(holds_secret);
    "secret-name" Plain |_, w| w.iter().any(|x| is_secret_variable(&x.text));
    "secret-object" Plain |_, w| w.iter().any(|x| is_secret_file(x.text.rsplit_once(':').map_or(&x.text, |(_, path)| path)));
    "secret-rest" Plain |d, w| {
        let skip = usize::from(!(d.has_option("-e") || d.has_option("-f") || d.has_option("--regexp")));
        let is_tree = |x: &Word| x.text != "~" && file::is_secret_dir(&x.text) && reading::searches_trees(d);
        w.get(skip..).unwrap_or_default().iter().any(|x| is_secret_file(&x.text) || is_tree(x))
    };
    "secret-source" Plain |_, w| w.get(..w.len().saturating_sub(1)).unwrap_or_default().iter().any(|x| is_secret_file(&x.text));
    "to-secret" Plain reading::keeps_secret_in_place;
    "secret-variable" Plain |d, _| d.invocation.arguments.iter().any(|w| w.dynamic && secret::variables(&w.text).any(is_secret_variable));
    "secret-in-address" Plain |d, _| transfer::puts_secret_in_address(d);
    "misdirects-secret" Plain transfer::misdirects_secret;
    // Content that would be lost.
    "loses-secrets" Plain |d, w| w.iter().any(|target| overwrite::holds_secrets(d, target));
    "into-secret" Plain |d, _| d.invocation.redirects.iter().any(|r| r.writes() && is_secret_file(&r.target.text));
    "archives-over-source" Plain |d, _| overwrite::archives_over_source(d);
    "empties-own-input" Plain |d, _| overwrite::empties_own_input(d);
    "gathers-in-one" Plain overwrite::gathers_in_one;
    "moved-there" Plain content::was_moved_there;
    "nothing-printed" Plain |d, _| content::prints_nothing(d.invocation);
    "nothing-read" Plain |d, _| content::reads_nothing(d);
    "overwrites" Plain |d, _| d.invocation.redirects.iter().any(|r| r.writes() && !r.operator.starts_with(">>") && r.operator != "&>>");
    "replaces-secrets" Plain overwrite::replaces_secrets;
    "replaces-store" Plain overwrite::replaces_store;
    "restores-over" Plain |d, _| overwrite::restores_over(d);
    "tees-own-input" Plain |d, _| overwrite::tees_own_input(d);
    // What git and the disk know.
    "all-committed" Plain |d, _| known::has_all_committed(d);
    "cd-may-fail" Plain |d, _| known::has_cd_that_fails(d);
    "merged" Plain branch::is_merged;
    "moves" Of |d, fits| branch::moves(d, fits);
    "orphans" Plain branch::orphans;
    "to-scratch" Plain known::pushes_to_scratch;
    "own-commits-held" Plain |d, _| known::are_own_commits_held(d);
    "scratch" Plain |d, _| known::is_scratch(d);
    "worktree-clean" Plain known::has_clean_worktrees;
    "nothing-untracked" Plain known::has_nothing_untracked;
    "changed" Plain kept::is_changed;
    "comes-back" Plain kept::comes_back;
    "holds-changes" Plain kept::holds_changes;
    "found-holds-changes" Plain |d, _| kept::holds_changes(d, &found_by_find(d.invocation).iter().collect::<Vec<_>>());
    "found-comes-back" Plain |d, _| kept::found_comes_back(d);
    "recoverable" Plain kept::is_recoverable;
    "unchanged" Plain known::is_unchanged;
    "current-shared" Plain branch::is_current_shared;
    // Stores of data and services.
    "clears" Plain client::clears;
    "client" Plain |d, _| client::is_client(d);
    "unknown-client" Plain |d, _| client::is_client(d) && !losses::knows(&d.invocation.program);
    "ends-at-server" Plain |d, _| content::code_holds(d, words!("server-deletions"));
    "mails" Plain |d, _| content::code_holds(d, words!("mailing-code"));
    "mails-each" Plain |d, _| content::code_holds(d, words!("mailing-code")) && content::code_holds(d, words!("every-row"));
    "calls-service" Of |d, fits| service::effects(d).iter().any(|effect| fits(effect));
    "empties-tables" Plain |d, _| content::empties_tables(d);
    "given-drop" Plain |d, _| naming::is_given_drop(d);
    "writes-rows" Plain |d, _| content::code_holds(d, words!("writing-calls"));
    "code-on-production" Plain |d, _| content::code_changes_production(d);
    "on-production" Plain |d, _| content::is_on_production(d);
    "sql-changes" Plain |d, _| content::given_texts(d).any(sql::changes_data);
    "mongo" Plain |d, _| content::given_texts(d).any(content::loses_mongo_data);
    "redirects-remote" Plain |_, w| naming::redirects_remote(w);
    "sql" Plain |d, _| content::given_texts(d).any(|text| sql::loses_data(text, sql::takes_back(&d.invocation.program)));
    // What feeds it, and what takes what it prints.
    "agreed" Plain |d, _| d.invocation.stdin.text().is_some_and(|text| text.trim_start().starts_with(['y', 'Y']));
    "fed" Plain |d, _| !d.invocation.fed_by.is_empty() || matches!(d.invocation.stdin, Stdin::Pipe);
    "fed-by-decoder" Plain |d, _| d.pipes_text() && d.feeders().any(network::is_decoder);
    "fed-by-dump" Plain |d, _| reading::is_fed_by_dump(d);
    "fed-by-network" Plain |d, _| d.pipes_text() && d.feeders().any(prints_foreign);
    "fed-by-print" Plain |d, _| d.feeders().all(|i| matches!(i.program.as_str(), "echo" | "printf"));
    "fed-by-recursion" Plain |d, _| d.feeders().any(naming::lists_tree);
    "fed-by-secret" Plain |d, _| d.feeders().any(|i| reading::is_secret_reader(i) || reading::prints_token(i));
    "fed-by-socket" Plain |d, _| d.feeders().any(|i| network::listens(d, i));
    "fed-by-statements" Plain |d, _| content::is_fed_by_statements(d);
    "fed-by-rows" Plain |d, _| transfer::is_fed_by_rows(d);
    "fed-by-tree" Plain |d, _| transfer::is_fed_by_tree(d);
    "network-input" Plain |d, _| {
        let mut redirects = d.invocation.redirects.iter();
        redirects.any(|r| d.makers_of(&r.target).iter().any(|i| prints_foreign(i)))
    };
    "network-made" Plain |d, _| d.makers().any(prints_foreign);
    "reads-file" Plain |d, _| matches!(d.invocation.stdin, Stdin::File(_));
    "runs-input" Plain runs_input;
    "remote" Plain |d, _| d.invocation.remote;
    "shows" Plain |d, _| !d.is_consumed();
    "writes-file" Plain |d, _| d.invocation.redirects.iter().any(|r| r.writes() && r.target.text != "/dev/null");
    // Other machines.
    "dev-tcp" Plain |d, _| d.invocation.redirects.iter().any(|r| is_socket(&r.target.text)) || d.invocation.arguments.iter().any(|w| is_socket(&w.text));
    "downloaded" Plain |d, w| w.first().is_some_and(|script| network::is_downloaded(d, &script.text));
    "new-remote" Plain transfer::goes_to_new_remote;
    "foreign-address" Plain |d, _| d.operands.iter().any(|x| (x.text.contains('\\') || destination(&x.text).is_some()) && !d.knowledge.is_trusted(&x.text, false));
    "foreign-target" Plain |d, w| w.iter().any(|x| x.text.contains(':') && !x.text.starts_with('/') && !d.knowledge.is_trusted(&x.text, false));
    "with-credentials" Plain |d, _| network::has_credentials(d.invocation);
    "foreign-url" Plain |d, _| network::is_rerouted(d.invocation) || d.invocation.arguments.iter().any(|w| network::is_remote_url(&w.text) && !d.knowledge.is_trusted(&w.text, false));
    "known-registry" Plain network::uses_known_registry;
    "odd-host" Plain |d, _| d.invocation.arguments.iter().any(|w| network::has_odd_host(&w.text));
    "remote-target" Plain |_, w| w.last().is_some_and(|x| x.text.contains(':') && !x.text.starts_with('/'));
    "remote-url" Plain |d, _| network::is_rerouted(d.invocation) || d.invocation.arguments.iter().any(|w| network::is_remote_url(&w.text));
    "to-loopback" Plain |d, _| d.invocation.operands().any(network::goes_to_loopback);
    "to-loopback-url" Plain endpoint::is_on_loopback;
    "own-server" Plain |d, _| endpoint::is_own_server(d);
    "own-store" Plain |d, _| endpoint::is_own_store(d);
    "verified" Plain network::is_verified;
    "runs-downloaded" Plain |d, _| d.invocation.path.text.contains('/') && network::is_downloaded(d, &d.invocation.path.text);
    "sends-by-commands" Plain |d, _| transfer::sends_by_commands(d);
    "sends-file" Plain |d, _| network::sends_file(d.invocation);
    "sends-data-store" Plain |d, _| transfer::sends_data_store(d);
    "sends-store" Plain |_, w| transfer::sent(w).iter().any(|x| file::is_data_store(&x.text));
    "sends-tree" Plain transfer::sends_tree;
    "socat-sends" Plain |d, _| network::socat_sends(d.invocation);
    "copy-of-secret" Plain |d, _| transfer::sends_copy(d);
    // Of names that the pattern gives.
    "env" Of |d, fits| d.invocation.environment.iter().any(|(name, _)| fits(name));
    "holds-store" Plain |d, _| d.makers().chain(d.feeders()).any(|i| i.arguments.iter().any(|w| words!("server-ports").iter().any(|port| w.text.ends_with(port))));
    "last" Of |d, fits| d.invocation.arguments.last().is_some_and(|word| fits(&word.text));
    "looks-up" Of |d, fits| looked_up(d).any(|word| fits(file_name(&word.text)));
    "through" Of |d, fits| d.invocation.wrappers.iter().any(|name| fits(name));
    "made-by" Of |d, fits| d.makers().any(|i| fits(&i.program));
}

fn any_place(digest: &Digest<'_>, words: &[&Word], is_meant: fn(Place) -> bool) -> bool {
    words.iter().any(|word| is_meant(digest.place(word)))
}

/// Returns the names by which processes are looked up for the words of an invocation.
fn looked_up<'a>(digest: &Digest<'a>) -> impl Iterator<Item = &'a Word> {
    digest
        .makers()
        .filter(|i| matches!(i.program.as_str(), "pidof" | "pgrep" | "cat"))
        .flat_map(Invocation::operands)
}

fn dd_target(words: &[&Word]) -> Option<Word> {
    words.iter().find_map(|word| {
        let target = word.text.strip_prefix("of=")?;
        Some(word.with_text(target))
    })
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
