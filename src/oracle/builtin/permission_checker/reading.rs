//! What a tool that is not a shell would read or send, said as commands, so that one set of rules judges both.

use std::borrow::Cow;
use std::path::Path;

use serde_json::Value;

use crate::event::{Form, Given, ToolCall, ToolKind, ToolView, name_words};
use crate::secret::{holds_secret, is_secret_file};
use crate::shell::{expand_braces, lexical, real};
use crate::words::words;

/// A command that does what the tool would do: a program that the rules know, and its arguments.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Said {
    pub(super) program: Cow<'static, str>,
    pub(super) arguments: Vec<String>,
    /// What is told of it: the tool's own word, and what it would read.
    pub(super) shown: String,
}

/// What a tool does with the files that it names, as far as its name tells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Deed {
    Shows,
    Searches,
    ListsNames,
    Copies,
    Sends,
    Changes,
}

/// Words with which the names of tools begin a part, and what they say; the first that fits holds.
const DEEDS: &[(Deed, &[&str])] = &[
    (Deed::Sends, words!("sending-tools")),
    (Deed::Copies, words!("copying-tools")),
    (Deed::Changes, words!("file-changing-words")),
    (Deed::ListsNames, words!("naming-tools")),
    (Deed::Searches, words!("searching-tools")),
];

/// Names of tools that search for names of files, in lower case without `_` and `-`.
const FINDERS: &[&str] = words!("file-finders");

/// Beginnings of the keys below which text stands, or what is left out: never a file that is read.
const NOT_FILES: &[&str] = words!("fields-of-text");

/// Beginnings of the keys below which a file of this machine stands, in tools of services.
const LOCAL: &[&str] = words!("fields-of-own-files");

/// Beginnings of the keys that narrow a search to files of a name.
const NARROWING: &[&str] = words!("fields-that-narrow");

/// Beginnings of the keys below which code stands that a browser runs.
const CODE: &[&str] = words!("fields-of-code");

/// Returns what a call would read or send.
pub(super) fn of(call: &ToolCall, tool: &ToolView, root: &Path, home: Option<&Path>) -> Vec<Said> {
    let word = tool.mcp_tool.as_deref().unwrap_or(&call.name);
    if is_outward(call, tool) && call.every_text().is_some_and(|text| holds_secret(&text)) {
        return vec![Said {
            program: "send-text".into(),
            arguments: vec!["secret".to_owned()],
            shown: word.to_owned(),
        }];
    }
    if tool.kind == ToolKind::Fetch {
        return tool.urls.iter().flat_map(|url| fetched(url)).collect();
    }
    let texts = call.texts();
    let mut found = Vec::new();
    if tool.kind == ToolKind::Mcp {
        found = of_server(call, word, &texts);
    }
    found.extend(of_files(call, tool, &texts, (root, home)));
    found
}

/// Returns what a tool of a server would read in a page, in a store of secrets, by a client or from an address.
fn of_server(call: &ToolCall, word: &str, texts: &[(String, String)]) -> Vec<Said> {
    let said = |program: Cow<'static, str>, arguments| Said {
        program,
        arguments,
        shown: word.to_owned(),
    };
    let given = |key: &str| {
        let mut texts = texts.iter();
        texts.find(|(k, _)| k == key).map(|(_, text)| text.clone())
    };
    let runs = |(key, _): &&(String, String)| CODE.iter().any(|start| key.starts_with(start));
    let code = texts.iter().filter(runs);
    let mut found: Vec<Said> = code
        .map(|(_, code)| said("page-code".into(), vec![code.clone()]))
        .collect();
    let words = name_words(word);
    let reads = words
        .iter()
        .any(|w| matches!(w.as_str(), "get" | "read" | "access" | "fetch"));
    let is_of_secrets = words.iter().any(|w| w.starts_with("secret"))
        || given("kind").is_some_and(|kind| kind.eq_ignore_ascii_case("secret"));
    if reads && is_of_secrets {
        found.push(said("secret-store".into(), vec![word.to_owned()]));
    }
    // Servers of tools run a program with the arguments that they are given: `run_gcloud_command`.
    let client = word
        .strip_prefix("run_")
        .and_then(|w| w.strip_suffix("_command"));
    if let Some((client, Value::Array(args))) = client.zip(call.input.get("args")) {
        let words = args.iter().filter_map(Value::as_str);
        found.push(said(
            client.to_owned().into(),
            words.map(str::to_owned).collect(),
        ));
    }
    if let Some(verb) = word.strip_prefix("kubectl_") {
        let words = [Some(verb.to_owned()), given("resourcetype"), given("name")];
        let output = given("output").map(|format| format!("-o{format}"));
        found.push(said(
            "kubectl".into(),
            words.into_iter().flatten().chain(output).collect(),
        ));
    }
    if texts.iter().any(|(key, _)| key == "url") {
        let urls = texts.iter().filter(|(_, text)| text.starts_with("http"));
        found.extend(urls.flat_map(|(_, url)| fetched(url)));
    }
    found
}

/// Returns what a tool would read or send of the files that it names.
fn of_files(
    call: &ToolCall,
    tool: &ToolView,
    texts: &[(String, String)],
    (root, home): (&Path, Option<&Path>),
) -> Vec<Said> {
    let word = tool.mcp_tool.as_deref().unwrap_or(&call.name);
    let Some(deed) = deed(call, tool) else {
        return Vec::new();
    };
    let word = match tool.kind {
        ToolKind::Read | ToolKind::Search if tool.mcp_tool.is_none() => tool.kind.name(),
        _ => word,
    };
    let said = |program: &'static str, text: &str| Said {
        program: program.into(),
        arguments: vec![text.to_owned()],
        shown: format!("{word} {text}"),
    };
    let is_pattern = |key: &str| key.contains("pattern") || key.contains("glob") || key == "query";
    let begins = |key: &str, all: &[&str]| all.iter().any(|start| key.starts_with(start));
    match deed {
        // What a service makes of a file of this machine, it has been sent.
        Deed::Changes if is_outward(call, tool) => {
            let local = texts.iter().filter(|(key, _)| begins(key, LOCAL));
            local.map(|(_, path)| said("send-file", path)).collect()
        }
        Deed::Changes => Vec::new(),
        Deed::Searches => vec![search(word, texts, &tool.paths)],
        Deed::ListsNames => texts
            .iter()
            .filter(|(key, _)| is_pattern(key))
            .map(|(_, text)| Said {
                arguments: expand_braces(text),
                ..said("glob", text)
            })
            .collect(),
        Deed::Shows | Deed::Sends | Deed::Copies => {
            let program = match deed {
                Deed::Sends => "send-file",
                Deed::Copies => "cp",
                _ => "cat",
            };
            let mut found = Vec::new();
            for (key, text) in texts {
                let is_target =
                    deed == Deed::Copies && begins(key, &["dest", "dst", "to", "target"]);
                // A sentence that only names a file is not one.
                let is_sentence = text.contains(char::is_whitespace)
                    && !["path", "file", "uri"].iter().any(|of| key.contains(of));
                if is_target || is_sentence || begins(key, NOT_FILES) && !key.ends_with("path") {
                    continue;
                }
                for path in expand_braces(text.strip_prefix("file://").unwrap_or(text)) {
                    let meant = linked_secret(&path, root, home).unwrap_or(path);
                    let mut said = said(program, &meant);
                    if deed == Deed::Copies {
                        said.arguments.push("elsewhere".to_owned());
                    }
                    found.push(said);
                }
            }
            found
        }
    }
}

/// Beginnings of the words in the names of fields that may hold a statement for a database.
const STATEMENTS: &[&str] = &["query", "sql", "statement", "command", "script"];

/// How statements begin that lose data.
const LOSING: &[&str] = &["alter ", "delete ", "drop ", "truncate ", "update "];

/// Returns the texts that a tool which nobody knows may give to a database.
pub(super) fn statements(call: &ToolCall) -> Vec<String> {
    if !call.is_unknown() {
        return Vec::new();
    }
    let may_be = |given: &Given| {
        let key = given.key.to_ascii_lowercase();
        let text = given.text.trim_start();
        let begins = |start: &&str| {
            let head = text.get(..start.len());
            head.is_some_and(|head| head.eq_ignore_ascii_case(start))
        };
        // A title may well say what is dropped.
        let is_prose = || NOT_FILES.iter().any(|start| key.starts_with(start));
        let words = name_words(&given.key);
        let says = |start: &&str| words.iter().any(|word| word.starts_with(start));
        STATEMENTS.iter().any(says) || !is_prose() && LOSING.iter().any(begins)
    };
    let given = call.given().into_iter();
    let texts = given.filter(|given| given.form == Form::Text && may_be(given));
    texts.map(|given| given.text).collect()
}

/// Words of the names of servers whose tools work on this machine: what they are given does not leave it.
const LOCAL_SERVERS: &[&str] = &[
    "file", "fs", "editor", "ide", "serena", "desktop", "memory", "shell", "terminal", "sqlite",
];

/// Whether what the tool is given leaves the machine: an address, a search of the web, a server that is not a local one.
pub(super) fn is_outward(call: &ToolCall, tool: &ToolView) -> bool {
    let folded = call.name.replace(['_', '-'], "").to_ascii_lowercase();
    tool.kind == ToolKind::Fetch
        || folded.ends_with("websearch")
        || tool.mcp_server.as_deref().is_some_and(|server| {
            let words = name_words(server);
            let is_local = |word: &String| LOCAL_SERVERS.iter().any(|of| word.starts_with(of));
            !words.iter().any(is_local)
        })
}

fn fetched(url: &str) -> Vec<Said> {
    let said = |program: &'static str, argument: &str| Said {
        program: program.into(),
        arguments: vec![argument.to_owned()],
        shown: format!("fetch {url}"),
    };
    match url.strip_prefix("file://") {
        Some(path) => vec![said("cat", path)],
        None => vec![said("fetch", url), said("curl", url)],
    }
}

/// Says a search of contents, which goes into what begins with a dot but not into what git ignores; one that tells names or
/// numbers alone shows no line.
fn search(word: &str, texts: &[(String, String)], paths: &[String]) -> Said {
    let pattern = texts
        .iter()
        .find(|(key, _)| key == "pattern" || key == "query");
    let pattern = pattern.map_or("x", |(_, text)| text.as_str());
    let mut arguments = vec!["--hidden".to_owned(), "-e".to_owned(), pattern.to_owned()];
    let mut shown = word.to_owned();
    for (key, text) in texts {
        if key == "output_mode" && matches!(text.as_str(), "files_with_matches" | "count") {
            arguments.push("-l".to_owned());
        }
        if NARROWING.iter().any(|start| key.starts_with(start)) {
            let globs = text.split('|').flat_map(expand_braces);
            arguments.extend(globs.map(|glob| format!("--glob={glob}")));
            shown = format!("{shown} {text}");
        }
    }
    for path in paths.iter().filter(|path| *path != ".") {
        shown = format!("{shown} {path}");
        arguments.push(path.clone());
    }
    Said {
        program: "rg".into(),
        arguments,
        shown,
    }
}

/// Returns the secret file that a path leads to, where it is a link with another name.
fn linked_secret(path: &str, root: &Path, home: Option<&Path>) -> Option<String> {
    if is_secret_file(path)
        || path.len() > 512
        || path.contains(['\n', '*', '{'])
        || !path.contains(['/', '.'])
    {
        return None;
    }
    let there = lexical(path, root, home);
    let target = there.exists().then(|| real(&there))?;
    let target = target.to_string_lossy();
    is_secret_file(&target).then(|| target.into_owned())
}

/// Tells what a tool does with files; none where it names none that it would read.
fn deed(call: &ToolCall, tool: &ToolView) -> Option<Deed> {
    let name = tool.mcp_tool.as_deref().unwrap_or(&call.name);
    let folded = name.replace(['_', '-'], "").to_ascii_lowercase();
    match tool.kind {
        ToolKind::Read => Some(Deed::Shows),
        ToolKind::Search if FINDERS.contains(&folded.as_str()) || folded.starts_with("list") => {
            Some(Deed::ListsNames)
        }
        ToolKind::Search => Some(Deed::Searches),
        ToolKind::Shell if !call.is_unknown() => None,
        ToolKind::Mcp | ToolKind::Other | ToolKind::Shell => {
            let words = name_words(name);
            let says = |all: &[&str]| {
                words
                    .iter()
                    .any(|word| all.iter().any(|start| word.starts_with(start)))
            };
            if folded.contains("searchfiles") || FINDERS.contains(&folded.as_str()) {
                return Some(Deed::ListsNames);
            }
            let found = DEEDS.iter().find(|(_, all)| says(all));
            Some(found.map_or(Deed::Shows, |(deed, _)| *deed))
        }
        _ => None,
    }
}
