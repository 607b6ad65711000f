//! Pins: what the tools of servers were when a person approved them, in `.ahp/mcp.lock`.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::{Path, PathBuf};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use sha2::{Digest as _, Sha256};

use super::Server;

/// Where a refusal comes from, as the log names it.
pub(super) const SOURCE: &str = "mcp-pins";

/// How long a server may take to answer one question.
const PATIENCE: Duration = Duration::from_secs(30);
/// The version of the protocol that we ask for; servers answer with the one that they speak.
const PROTOCOL: &str = "2025-06-18";
/// How many pages of tools are read.
const MOST_PAGES: usize = 100;

/// The pinned tools of every server, each with what it says of itself.
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Pins {
    servers: BTreeMap<String, Tools>,
}

/// The tools of one server, by their names.
type Tools = BTreeMap<String, Pin>;

/// What a tool says of itself, as it was approved.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(untagged)]
enum Pin {
    /// All of it, so that a person can see what has changed.
    Said(Map<String, Value>),
    /// Its digest alone, as files have it that were written before.
    Digest(String),
}

impl Pin {
    /// Whether it is of a tool that says this of itself, in whatever order.
    fn is_of(&self, said: &Map<String, Value>) -> bool {
        match self {
            Self::Said(then) => then == said,
            Self::Digest(then) => *then == digest(said),
        }
    }
}

pub(super) fn by_name(tools: &[Value]) -> BTreeMap<String, &Map<String, Value>> {
    let named = tools
        .iter()
        .filter_map(|tool| Some((name(tool)?, tool.as_object()?)));
    named.collect()
}

/// What a tool is, seen against its pin.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Standing {
    /// As it was approved, or its server is not pinned.
    Approved,
    /// It says something else of itself than when it was approved.
    Changed,
    /// It was not there when the others were approved.
    New,
}

/// Returns where a project keeps its pins.
pub(super) fn file(root: &Path) -> PathBuf {
    root.join(".ahp/mcp.lock")
}

impl Pins {
    /// Reads them; none where there is no such file.
    pub(super) fn read(file: &Path) -> Result<Self, String> {
        not_linked(file)?;
        let text = match fs::read_to_string(file) {
            Ok(text) => text,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Self::default()),
            Err(error) => return Err(format!("cannot read `{}`: {error}", file.display())),
        };
        serde_json::from_str(&text).map_err(|error| {
            format!(
                "`{}` is not what `ahp mcp lock` writes: {error}",
                file.display()
            )
        })
    }

    pub(super) fn write(&self, file: &Path) -> Result<(), String> {
        not_linked(file)?;
        let text = serde_json::to_string_pretty(self).map_err(|error| error.to_string())?;
        fs::create_dir_all(file.parent().unwrap_or(file))
            .and_then(|()| fs::write(file, text + "\n"))
            .map_err(|error| format!("cannot write `{}`: {error}", file.display()))
    }

    /// Pins the tools of a server in the place of those that were.
    pub(super) fn set(&mut self, server: &str, now: &BTreeMap<String, &Map<String, Value>>) {
        let pinned = now
            .iter()
            .map(|(name, said)| (name.clone(), Pin::Said((*said).clone())));
        self.servers.insert(server.to_owned(), pinned.collect());
    }

    /// Says what of the tools of a server is not as it was approved, a line for each member that a tool has of its own: `-`
    /// before what it said, `+` before what it says. Nothing where all is as it was.
    pub(super) fn differences(
        &self,
        server: &str,
        now: &BTreeMap<String, &Map<String, Value>>,
    ) -> Vec<String> {
        let none = Tools::new();
        let before = self.servers.get(server).unwrap_or(&none);
        let gone = before.keys().filter(|name| !now.contains_key(*name));
        let mut lines: Vec<String> = gone.map(|name| format!("gone: {name}")).collect();
        let empty = Map::new();
        for (name, said) in now {
            let then = match before.get(name) {
                None => {
                    lines.push(format!("new: {name}"));
                    &empty
                }
                Some(pin) if pin.is_of(said) => continue,
                Some(Pin::Digest(_)) => {
                    lines.push(format!(
                        "changed: {name} (what it said before was not kept)"
                    ));
                    &empty
                }
                Some(Pin::Said(then)) => {
                    lines.push(format!("changed: {name}"));
                    then
                }
            };
            let mut keys: Vec<&String> = then.keys().chain(said.keys()).collect();
            keys.sort_unstable();
            keys.dedup();
            for key in keys.into_iter().filter(|key| *key != "name") {
                let (then, now) = (then.get(key), said.get(key));
                if then != now {
                    lines.extend(then.map(|value| format!("  - {key}: {value}")));
                    lines.extend(now.map(|value| format!("  + {key}: {value}")));
                }
            }
        }
        lines
    }

    /// Whether the tools of a server are pinned.
    pub(super) fn has(&self, server: &str) -> bool {
        self.servers.contains_key(server)
    }

    /// Returns what a tool of a server is, seen against its pin.
    pub(super) fn standing(&self, server: &str, tool: &Value) -> Standing {
        let Some(pinned) = self.servers.get(server) else {
            return Standing::Approved;
        };
        let said = tool.as_object();
        match name(tool).and_then(|name| pinned.get(&name)) {
            Some(then) if said.is_some_and(|said| then.is_of(said)) => Standing::Approved,
            Some(_) => Standing::Changed,
            None => Standing::New,
        }
    }
}

/// Refuses a link that came with a clone: what is read or written under a name of ours must be a file of that name.
fn not_linked(file: &Path) -> Result<(), String> {
    let links = file.parent().into_iter().chain([file]);
    let mut links = links.filter(|path| path.is_symlink());
    links.next().map_or(Ok(()), |link| {
        Err(format!(
            "`{}` is a link, and none is followed here: put a file of its own there",
            link.display()
        ))
    })
}

fn name(tool: &Value) -> Option<String> {
    tool.get("name")?.as_str().map(str::to_owned)
}

/// Returns the digest of all that a tool says of itself, whatever the order in which it says it.
fn digest(said: &Map<String, Value>) -> String {
    use std::fmt::Write as _;
    let mut text = String::from("sha256:");
    for byte in Sha256::digest(sorted_members(said).to_string()) {
        write!(text, "{byte:02x}").ok();
    }
    text
}

fn sorted(value: &Value) -> Value {
    match value {
        Value::Object(members) => sorted_members(members),
        Value::Array(items) => items.iter().map(sorted).collect(),
        other => other.clone(),
    }
}

fn sorted_members(members: &Map<String, Value>) -> Value {
    let members: BTreeMap<&String, Value> = members
        .iter()
        .map(|(key, value)| (key, sorted(value)))
        .collect();
    json!(members)
}

pub(super) fn tools_of(server: &Server) -> Result<Vec<Value>, String> {
    let mut child = server.start()?;
    let (Some(mut stdin), Some(stdout)) = (child.stdin.take(), child.stdout.take()) else {
        return Err("the server has no input or output".to_owned());
    };
    let (give, take) = mpsc::channel();
    thread::spawn(move || {
        let lines = BufReader::new(stdout).lines().map_while(Result::ok);
        for value in lines.filter_map(|line| serde_json::from_str::<Value>(&line).ok()) {
            if give.send(value).is_err() {
                return;
            }
        }
    });
    let mut ask = |id: usize, method: &str, params: Value| -> Result<Value, String> {
        let request = json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params});
        writeln!(stdin, "{request}").map_err(|error| format!("the server has ended: {error}"))?;
        loop {
            let answer = take
                .recv_timeout(PATIENCE)
                .map_err(|_| format!("the server does not answer `{method}`"))?;
            if answer.get("id") == Some(&id.into()) {
                return match answer.get("result") {
                    Some(result) => {
                        let done = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
                        if method == "initialize" {
                            writeln!(stdin, "{done}").ok();
                        }
                        Ok(result.clone())
                    }
                    None => Err(format!("the server refuses `{method}`: {answer}")),
                };
            }
        }
    };
    let mut read = || -> Result<Vec<Value>, String> {
        let client = json!({"name": "ahp", "version": env!("CARGO_PKG_VERSION")});
        let hello = json!({"protocolVersion": PROTOCOL, "capabilities": {}, "clientInfo": client});
        ask(1, "initialize", hello)?;
        let mut tools = Vec::new();
        let mut params = json!({});
        for n in 0..MOST_PAGES {
            let result = ask(n + 2, "tools/list", params)?;
            let page = result.get("tools").and_then(Value::as_array);
            tools.extend(page.cloned().unwrap_or_default());
            match result.get("nextCursor").and_then(Value::as_str) {
                Some(cursor) => params = json!({ "cursor": cursor }),
                None => return Ok(tools),
            }
        }
        Err(format!(
            "the server has more than {MOST_PAGES} pages of tools"
        ))
    };
    let tools = read();
    drop(stdin);
    child.kill().ok();
    child.wait().ok();
    tools
}
