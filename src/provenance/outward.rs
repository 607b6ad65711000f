//! Outward: whether a call sends, publishes, installs or opens a connection.

use super::found::leaves;
use super::lists::{lists, reads};
use super::{REMOTE, SNAPSHOT, owner, words};
use crate::danger::Knowledge as _;
use crate::event::{ToolKind, ToolView, name_words};
use crate::fact::Facts;
use crate::oracle::ProjectKnowledge;
use crate::program::{self, Fact};
use crate::session::{Origin, Origins};
use crate::shell::{DoubtKind, Invocation, Redirect, Stdin, destination, names_destination};

/// Whether a call goes out; none where that cannot be told.
pub fn outward(facts: &Facts, origins: Option<&Origins>) -> Option<bool> {
    let tool = facts.tool()?;
    let trust = Trust {
        facts,
        origins,
        known: ProjectKnowledge::new(facts),
    };
    match tool.kind {
        ToolKind::Mcp => {
            let words = name_words(tool.mcp_tool.as_deref()?);
            let has = |list: &str| lists().has_any(list, &words);
            let mut urls = Vec::new();
            if let Some(call) = &facts.event().tool {
                leaves(&call.input, &mut |leaf| {
                    if is_page(leaf) {
                        urls.push(leaf.to_owned());
                    }
                });
            }
            let mut changes = false;
            if let Some(call) = &facts.event().tool {
                leaves(&call.input, &mut |leaf| {
                    changes |= is_changing_statement(leaf);
                });
            }
            let opens = !urls.is_empty() && has("tool-opens");
            if changes || !reads(&words) && !opens {
                return Some(true);
            }
            Some(composed(urls.iter().map(String::as_str), &trust))
        }
        ToolKind::Shell => {
            let shell = facts.shell()?;
            let goes_out = |i: &Invocation| sends(i) && !trust.keeps(i);
            let mut outgoing = shell.invocations.iter().filter(|i| goes_out(i)).peekable();
            if is_code_with_address(facts) {
                return Some(true);
            }
            if outgoing.peek().is_some() {
                let is_looked_at = |i: &Invocation| {
                    fetched_page(i).is_some() || program::find(&i.program).is(Fact::LooksAt)
                };
                let writes = |i: &Invocation| i.redirects.iter().any(Redirect::takes_output);
                if !shell.doubts.is_empty()
                    || !shell
                        .invocations
                        .iter()
                        .all(|i| is_looked_at(i) && !writes(i))
                {
                    return Some(true);
                }
                // What only asks for a page and shows it is a fetch.
                return Some(composed(outgoing.filter_map(|i| fetched_page(i)), &trust));
            }
            let is_hidden = |kind| {
                matches!(
                    kind,
                    DoubtKind::DynamicProgram | DoubtKind::DynamicCode | DoubtKind::TooComplex
                )
            };
            let hidden = shell.doubts.iter().any(|doubt| is_hidden(doubt.kind));
            (!hidden).then_some(false)
        }
        ToolKind::Fetch => Some(composed(tool.urls.iter().map(String::as_str), &trust)),
        _ => Some(false),
    }
}

/// Whether a tool only fetches: it is told an address, and gives back what lies there.
pub(super) fn is_fetch(tool: &ToolView) -> bool {
    let words = name_words(tool.mcp_tool.as_deref().unwrap_or_default());
    tool.kind == ToolKind::Fetch
        || tool.kind == ToolKind::Mcp && (reads(&words) || lists().has_any("tool-opens", &words))
}

/// Whether a text is a statement for a database that does more than read, whatever the tool is called that takes it.
pub(super) fn is_changing_statement(text: &str) -> bool {
    const CHANGING: &[&str] = &[
        "alter", "call", "copy", "create", "delete", "drop", "exec", "execute", "grant", "insert",
        "merge", "replace", "truncate", "update",
    ];
    const OBJECTS: &[&str] = &[
        "into", "from", "to", "set", "table", "on", "schema", "function", "values",
    ];
    let mut words = text.split(|c: char| !c.is_alphanumeric() && c != '_');
    let first = words.find(|word| !word.is_empty()).unwrap_or_default();
    CHANGING.contains(&&*first.to_lowercase())
        && words.any(|word| OBJECTS.contains(&&*word.to_lowercase()))
        && text.split_whitespace().count() > 2
}

/// Whether a text is a statement for a database that only reads.
pub(super) fn is_looking_statement(text: &str) -> bool {
    let first = text.split_whitespace().next().unwrap_or_default();
    matches!(
        &*first.to_lowercase(),
        "select" | "show" | "explain" | "with"
    ) && !is_changing_statement(text)
}

fn is_page(text: &str) -> bool {
    ["http://", "https://"]
        .iter()
        .any(|scheme| text.starts_with(scheme))
        && !text.contains(char::is_whitespace)
}

/// Whether one of several addresses was composed by the agent, and may carry what it knows: it stood whole nowhere.
fn composed<'a>(mut urls: impl Iterator<Item = &'a str>, trust: &Trust<'_>) -> bool {
    urls.any(|url| {
        let words = words::words(url);
        let is_known = |origins: &Origins| {
            matches!(&*words, [word] if stood(word, origins)
                || words::plain(word).is_some_and(|plain| stood(&plain, origins)))
        };
        !trust.names(url, false) && !trust.origins.is_some_and(is_known)
    })
}

/// Returns the page that a program asks for and prints, where it is told nothing else that it could send along.
fn fetched_page(invocation: &Invocation) -> Option<&str> {
    let plain: &[&str] = match invocation.program.as_str() {
        "curl" => &[
            "--compressed",
            "--fail",
            "--head",
            "--include",
            "--insecure",
            "--location",
            "--show-error",
            "--silent",
            "--write-out",
            "-o",
            "-w",
            "/dev/null",
        ],
        "wget" => &["--quiet", "--spider", "-O-", "-qO-", "-q", "-O", "-"],
        _ => return None,
    };
    let mut page = None;
    for word in &invocation.arguments {
        let text = word.text.as_str();
        let letters = text
            .strip_prefix('-')
            .filter(|_| invocation.program == "curl");
        let is_plain = plain.contains(&text)
            || text.starts_with("%{")
            || letters.is_some_and(|letters| letters.chars().all(|c| "46fgikLsSIv".contains(c)));
        if word.dynamic || word.each || !is_plain && (page.is_some() || !is_page(text)) {
            return None;
        }
        if !is_plain {
            page = Some(text);
        }
    }
    page
}

/// Whether a program is given something that it sends along, as far as its arguments tell.
pub(super) fn carries(invocation: &Invocation) -> bool {
    const SENDING: &[&str] = &[
        "--body",
        "--data",
        "--form",
        "--header",
        "--json",
        "--post",
        "--request",
        "--upload",
        "-F",
        "-H",
        "-T",
        "-X",
        "-d",
    ];
    let is_client = matches!(
        invocation.program.as_str(),
        "curl" | "wget" | "http" | "https" | "xh"
    );
    invocation.arguments.iter().any(|word| {
        word.dynamic && sends(invocation)
            || is_client
                && SENDING
                    .iter()
                    .any(|option| match option.strip_prefix("--") {
                        Some(_) => word.text.starts_with(option),
                        None => word.text.starts_with(option) && !word.text.starts_with("--"),
                    })
    }) || is_client && invocation.stdin != Stdin::Inherited
}

/// Whether a word of a line is an address: with its scheme, or as `git` and mail write it.
pub(super) fn is_address(word: &str) -> bool {
    word.contains("://")
        || !owner::is_versioned(word)
            && word
                .split_once('@')
                .is_some_and(|(_, host)| host.contains('.'))
}

/// Whether a line gives an interpreter code, and the line names an address.
pub(super) fn is_code_with_address(facts: &Facts) -> bool {
    let line = facts.tool().and_then(|tool| tool.command.as_deref());
    line.is_some_and(|line| line.contains("://"))
        && facts.shell().is_some_and(|shell| {
            let mut invocations = shell.invocations.iter();
            invocations.any(|invocation| {
                let is_code = |text: &str| text == "-" || text.contains("://");
                program::find(&invocation.program).is(Fact::Language)
                    && (invocation.arguments.is_empty()
                        || invocation.arguments.iter().any(|word| is_code(&word.text)))
            })
        })
}

fn stood(word: &str, origins: &Origins) -> bool {
    let mut all = Origin::ALL.iter();
    all.any(|origin| origins.has(*origin, word))
}

/// Whether a program sends, publishes, installs or opens a connection.
pub(super) fn sends(invocation: &Invocation) -> bool {
    let program = program::find(&invocation.program);
    let verbs = verbs(invocation);
    let mut arguments = invocation.arguments.iter();
    program.is_with(Fact::Downloads, &verbs)
        || invocation.remote
        || program.is_with(Fact::Sends, &verbs)
        || program.is_with(Fact::KeepsAddress, &verbs)
            && (invocation.stdin != Stdin::Inherited || arguments.any(|w| is_address(&w.text)))
        || sockets(invocation).next().is_some()
}

/// Returns the first two operands, one of which is the subcommand.
pub(super) fn verbs(invocation: &Invocation) -> [Option<&str>; 2] {
    let mut operands = invocation.operands().map(|word| word.text.as_str());
    [operands.next(), operands.next()]
}

/// Returns the arguments that may say where a program goes: names of branches do not.
pub(super) fn told(invocation: &Invocation) -> impl Iterator<Item = &str> {
    let is_git = invocation.program == "git"
        && matches!(verbs(invocation)[0], Some("fetch" | "pull" | "push"));
    let mut operands = 0;
    invocation.arguments.iter().filter_map(move |word| {
        operands += usize::from(!word.is_option());
        (!is_git || operands <= 2 || word.is_option()).then_some(word.text.as_str())
    })
}

/// Returns the packages that a program is told to install, by their names alone.
pub(super) fn packages(invocation: &Invocation) -> impl Iterator<Item = &str> {
    const INSTALLING: &[&str] = &["add", "get", "i", "install", "require", "update", "upgrade"];
    let is_for_packages = program::find(&invocation.program).lists(Fact::Sends, "install");
    let verb = verbs(invocation)[0];
    let installs = is_for_packages && verb.is_some_and(|verb| INSTALLING.contains(&verb));
    let runs = matches!(invocation.program.as_str(), "bunx" | "npx" | "pipx" | "uvx");
    let (skipped, most) = if runs { (0, 1) } else { (1, usize::MAX) };
    let operands = invocation.operands().skip(skipped).take(most);
    let operands = operands.filter(move |word| (installs || runs) && !word.dynamic);
    operands.filter_map(|word| {
        let name = word.text.split(['=', '<', '>', '~', '[']).next()?;
        let name = match name.rsplit_once('@') {
            Some((before, _)) if !before.is_empty() => before,
            _ => name,
        };
        let is_place = name.starts_with(['.', '/', '~']) || word.text.contains("://");
        (!is_place && !name.is_empty()).then_some(name)
    })
}

/// Whether a call of a service's client sets something there by a path of the service.
pub(super) fn sets_at_service(invocation: &Invocation) -> bool {
    const SETTING: &[&str] = &["-f", "-F", "--field", "--raw-field", "--input"];
    let words = || invocation.texts();
    let method = words()
        .skip_while(|word| !matches!(*word, "-X" | "--method"))
        .nth(1);
    matches!(invocation.program.as_str(), "gh" | "glab")
        && verbs(invocation)[0] == Some("api")
        && method.map_or_else(
            || words().any(|word| SETTING.contains(&word)),
            |method| !method.eq_ignore_ascii_case("get"),
        )
}

/// Returns what the last part of a path of a service names, where a call writes there: a person or a key by its name.
pub(super) fn named_in_path(invocation: &Invocation) -> Option<&str> {
    let is_call =
        matches!(invocation.program.as_str(), "gh" | "glab") && verbs(invocation)[0] == Some("api");
    let paths = invocation.texts();
    let mut paths = paths.filter(|text| is_call && text.matches('/').count() >= 3);
    let name = paths.next()?.rsplit('/').next()?;
    (name.len() > 4 && name.contains(['-', '_'])).then_some(name)
}

/// Returns the connections that the shell itself opens for a program, as `host/port`.
pub(super) fn sockets(invocation: &Invocation) -> impl Iterator<Item = &str> {
    let targets = invocation.redirects.iter().map(|r| r.target.text.as_str());
    targets.filter_map(|target| {
        let socket = target.strip_prefix("/dev/tcp/");
        socket.or_else(|| target.strip_prefix("/dev/udp/"))
    })
}

/// Whom the policy and the project trust as destinations.
struct Trust<'a> {
    facts: &'a Facts,
    origins: Option<&'a Origins>,
    known: ProjectKnowledge<'a>,
}

impl Trust<'_> {
    /// Whether a program says where it goes, and all of that is trusted.
    fn keeps(&self, invocation: &Invocation) -> bool {
        if is_led_elsewhere(invocation, self.facts) {
            return false;
        }
        let is_for_packages = program::find(&invocation.program).lists(Fact::Sends, "install");
        if let Some(remotes) = git_remotes(invocation, self.facts) {
            return !remotes.is_empty() && remotes.iter().all(|remote| self.names(remote, false));
        }
        let mut addresses = addresses(invocation).peekable();
        addresses.peek().is_some() && addresses.all(|address| self.names(address, is_for_packages))
    }

    fn names(&self, address: &str, for_packages: bool) -> bool {
        self.known.is_trusted(address, for_packages)
            && (is_listed(address, self.facts.trusted_hosts())
                || !is_new_remote(address, self.facts, self.origins))
    }
}

/// Whether an option or a variable may have a program go to another machine than its address names.
fn is_led_elsewhere(invocation: &Invocation, facts: &Facts) -> bool {
    let set = facts
        .shell()
        .into_iter()
        .flat_map(|shell| &shell.assignments);
    let mut variables = invocation.environment.iter().chain(set);
    let any = program::find("*");
    invocation.has_any_option(program::find(&invocation.program).words(Fact::LeadsElsewhere))
        || variables.any(|(name, _)| {
            any.lists(Fact::LeadsElsewhere, &name.to_ascii_lowercase())
                || any.lists(Fact::Steers, name)
                || any.lists(Fact::RunsVariables, name)
        })
}

/// Whether an address belongs to a remote of the repository that the session did not begin with.
pub(super) fn is_new_remote(address: &str, facts: &Facts, origins: Option<&Origins>) -> bool {
    let Some(meant) = destination(address) else {
        return false;
    };
    let remotes = remotes(facts);
    let mut naming = remotes
        .iter()
        .filter(|own| names_destination(own, &meant))
        .peekable();
    let stood = |own: &String| {
        origins.is_none_or(|origins| {
            let has = |word: &str| origins.has(Origin::Project, word);
            has(&format!("{REMOTE}{own}")) || !has(SNAPSHOT)
        })
    };
    naming.peek().is_some() && !naming.any(stood)
}

/// Returns the remotes of the repository as it is now, as destinations.
pub(super) fn remotes(facts: &Facts) -> Vec<String> {
    let own = facts.workspace().own_remotes();
    own.iter()
        .filter_map(|remote| destination(remote))
        .collect()
}

/// Returns where git goes that is given the name of a remote, or none; none where the line says it, or it cannot be told.
pub(super) fn git_remotes(invocation: &Invocation, facts: &Facts) -> Option<Vec<String>> {
    const STEERING: &[&str] = &["--exec", "--receive-pack", "--repo", "--upload-pack"];
    let first = invocation.arguments.first()?;
    let is_plain = invocation.program == "git"
        && matches!(&*first.text, "fetch" | "ls-remote" | "pull" | "push")
        && invocation.environment.is_empty()
        && !invocation.arguments.iter().any(|word| {
            word.dynamic || STEERING.iter().any(|option| word.text.starts_with(option))
        });
    let (dir, root) = (invocation.work_dir.as_deref()?, facts.project_root());
    let mut between = dir.ancestors().take_while(|dir| *dir != root);
    if !is_plain || !dir.starts_with(root) || between.any(|dir| dir.join(".git").exists()) {
        return None;
    }
    let named = verbs(invocation)[1];
    if named.is_some_and(|name| name.contains([':', '/', '.'])) {
        return None;
    }
    facts.workspace().addresses_of(named)
}

/// Whether a program says where it goes, and the policy trusts all of that. What text says may be believed by this alone.
pub(super) fn is_believed(invocation: &Invocation, facts: &Facts) -> bool {
    let mut addresses = addresses(invocation).peekable();
    addresses.peek().is_some()
        && addresses.all(|address| is_listed(address, facts.trusted_hosts()))
        && !is_led_elsewhere(invocation, facts)
}

/// Whether a list of trusted hosts names an address.
pub(super) fn is_listed(address: &str, trusted: &[String]) -> bool {
    destination(address)
        .is_some_and(|meant| trusted.iter().any(|entry| names_destination(entry, &meant)))
}

/// Returns what of a program's arguments names another machine.
pub(super) fn addresses(invocation: &Invocation) -> impl Iterator<Item = &str> {
    let texts = invocation.texts();
    texts.filter(|text| {
        let host = text.split(['/', ':']).next().unwrap_or_default();
        text.contains("://")
            || !text.starts_with(['-', '@', '.', '/'])
                && (host.len() < text.len() && text.contains(':'))
            || owner::is_host(host)
    })
}
