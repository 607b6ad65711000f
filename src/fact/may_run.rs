//! MayRun: the command line that stands for what a tool may run whose name and form nobody knows.
//!
//! It is made of the texts that the tool is given: those that its input or its name say are run, and those that read as a
//! command and hardly as anything else. What people write to each other, and what is written into files, is none of it.

use serde_json::Value;

use crate::event::{Form, Given, ToolCall, ToolKind, ToolView, name_words};
use crate::shell::{Reading, is_plainly_command, is_program, reading};
use crate::shell_word::quoted;
use crate::words::words;

/// As long as the command line gets, in bytes: what is longer is not followed to its end in any case.
const LONGEST: usize = 128 << 10;

/// Words in the names of tools, servers and fields that say that something is run.
const RUNNING: &[&str] = words!("running-words");

/// Words in the names of fields that hold code, beside the running ones.
const CODE: &[&str] = &["args", "arguments", "argv", "code", "javascript", "js"];

/// Words in the names of tools that look at code which they are given.
const LOOKING_AT_CODE: &[&str] = words!("code-reading-words");

/// Words in the names of tools by which people talk to each other.
const TELLING: &[&str] = words!("telling-words");

/// Words in the names of fields that describe what is done.
const DESCRIBING: &[&str] = words!("describing-fields");

/// Further words in the names of fields in which people write, and those by which something is looked for.
const WRITTEN: &[&str] = words!("writing-fields");

/// The languages of code, with the words that tell them and the program that runs it.
const LANGUAGES: &[(&str, &[&str])] = &[
    ("sh", &["bash", "sh", "shell", "zsh"]),
    (
        "python3",
        &["ipython", "jupyter", "py", "python", "python3"],
    ),
    (
        "node",
        &[
            "deno",
            "javascript",
            "js",
            "node",
            "nodejs",
            "ts",
            "typescript",
        ],
    ),
    ("ruby", &["ruby"]),
    ("perl", &["perl"]),
    ("php", &["php"]),
];

/// Programs after which servers and tools are named that take subcommands of them: `{"args": ["push"]}`.
const CLIENTS: &[&str] = words!("subcommand-clients");

/// Programs whose tools have their options as fields: `git_push {"force": true}`.
const BY_FIELDS: &[&str] = &["git", "terraform", "tofu", "terragrunt"];

/// Returns the command line that stands for what a tool may run; none of a tool that is known and no shell, or where nothing
/// may be run.
pub(super) fn line(call: &ToolCall, view: &ToolView) -> Option<String> {
    if !call.is_unknown() {
        return beside_shell(call, view);
    }
    let names = Names::of(call, view);
    let given = call.given();
    let mut lines: Vec<String> = names.by_fields(&call.unwrapped()).into_iter().collect();
    lines.extend(in_container(&given));
    let mut length = 0;
    let mut steps = Vec::new();
    for text in &given {
        for line in names.lines_of(text, view.command.as_deref()) {
            if !lines.contains(&line) {
                length += line.len();
                steps.extend(line.starts_with("sh ").then_some(text.text.as_str()));
                lines.push(line);
            }
        }
        if length > LONGEST {
            break;
        }
    }
    if steps.len() > 1 {
        // They may be steps, one after the other in the same shell.
        lines.push(run_by("sh", &steps.join("\n")));
    }
    (!lines.is_empty()).then(|| lines.join("\n"))
}

/// Returns what a shell may run beside its command line: each text that reads as a command, and the line itself where the
/// input sets variables.
fn beside_shell(call: &ToolCall, view: &ToolView) -> Option<String> {
    if view.kind != ToolKind::Shell {
        return None;
    }
    let own = view.command.as_deref().unwrap_or_default();
    let beside = call.beside_command();
    let mut lines = Vec::new();
    for given in &beside {
        let key = name_words(&given.key);
        let is_told = is_among(&key, DESCRIBING);
        let is_variable = given
            .key
            .bytes()
            .all(|b| b.is_ascii_uppercase() || b.is_ascii_digit() || b == b'_');
        if is_variable && !given.key.is_empty() {
            lines.push(format!("export {}={}", given.key, quoted(&given.text)));
        } else if is_among(&key, &["env", "environment", "variables", "vars"]) {
            lines.push(format!("export {}", quoted(&given.text)));
        } else if !is_told && reading(&given.text) == Reading::Command {
            lines.push(run_by("sh", &given.text));
        }
    }
    let sets = lines.iter().any(|line| line.starts_with("export "));
    lines.extend(sets.then(|| own.to_owned()));
    (!lines.is_empty()).then(|| lines.join("\n"))
}

/// How sure it is that a text is run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Sureness {
    /// Its field says so.
    Said,
    /// The name of the tool says so.
    Likely,
    /// Nothing says so.
    Perhaps,
}

/// What the names of a tool and of its server say.
struct Names {
    tool: Vec<String>,
    server: Vec<String>,
    /// The program that runs the code, where a field or a name tells its language.
    language: Option<&'static str>,
    only_looks: bool,
}

impl Names {
    fn of(call: &ToolCall, view: &ToolView) -> Self {
        let tool = name_words(view.mcp_tool.as_deref().unwrap_or(&call.name));
        let server = name_words(view.mcp_server.as_deref().unwrap_or_default());
        let said = ["language", "lang", "runtime", "kernel", "interpreter"];
        let said = said.iter().find_map(|key| call.input.get(*key)?.as_str());
        let said = said.map(str::to_lowercase);
        let mut words = said.iter().chain(&tool).chain(&server);
        let language = words.find_map(|word| {
            let mut languages = LANGUAGES.iter();
            languages
                .find_map(|(program, words)| words.contains(&word.as_str()).then_some(*program))
        });
        Self {
            only_looks: view.kind != ToolKind::Shell && view.only_looks(&call.name),
            tool,
            server,
            language,
        }
    }

    fn say(&self, words: &[&str]) -> bool {
        is_among(&self.tool, words)
    }

    fn runs(&self) -> bool {
        self.say(RUNNING) || is_among(&self.server, RUNNING)
    }

    /// Tells how sure it is that a text is run; none where it is not.
    fn sureness(&self, given: &Given) -> Option<Sureness> {
        let key = name_words(&given.key);
        let is_code = is_among(&key, RUNNING) || is_among(&key, CODE);
        match given.form {
            Form::Content => return None,
            Form::Command => return Some(Sureness::Said),
            Form::Text | Form::Words if is_code && !self.say(LOOKING_AT_CODE) => {
                return Some(Sureness::Said);
            }
            Form::Text | Form::Words => {}
        }
        let describes = is_among(&key, DESCRIBING);
        if self.runs() && !describes {
            return Some(Sureness::Likely);
        }
        let is_for_people = describes || is_among(&key, WRITTEN);
        (!is_for_people && !self.only_looks && !self.say(TELLING)).then_some(Sureness::Perhaps)
    }

    /// Returns the command lines that stand for a text, where it is not the command line of the tool by itself.
    fn lines_of(&self, given: &Given, own: Option<&str>) -> Vec<String> {
        let Some(sureness) = self.sureness(given) else {
            return Vec::new();
        };
        let text = given.text.trim();
        if text.is_empty() {
            return Vec::new();
        }
        if sureness == Sureness::Perhaps {
            return is_plainly_command(text)
                .then(|| run_by("sh", text))
                .into_iter()
                .collect();
        }
        let first = text.split_whitespace().next().unwrap_or_default();
        if sureness == Sureness::Said
            && !is_program(first)
            && let Some(client) = self.client()
        {
            return vec![format!("{client} {text}")];
        }
        if own == Some(text) {
            return Vec::new();
        }
        if self.language == Some("sh") || given.form == Form::Command {
            return vec![run_by("sh", text)];
        }
        match (reading(text), sureness) {
            (Reading::Command, _) => vec![run_by("sh", text)],
            (Reading::Shell, Sureness::Said) => {
                let code = self.code(text).into_iter();
                code.chain([run_by("sh", text)]).collect()
            }
            (_, Sureness::Said) => self.code(text),
            (_, _) if text.contains('(') => self.code(text),
            _ => Vec::new(),
        }
    }

    /// Returns the program that runs code; where its language is not told, those of two that most such tools run.
    fn code(&self, code: &str) -> Vec<String> {
        let unknown = ["python3", "node"];
        let programs = self
            .language
            .as_ref()
            .map_or(&unknown[..], std::slice::from_ref);
        programs
            .iter()
            .map(|program| run_by(program, code))
            .collect()
    }

    /// Returns the program after which the tool or its server is named.
    fn client(&self) -> Option<&str> {
        let mut words = self.tool.iter().chain(&self.server).map(String::as_str);
        words.find(|word| CLIENTS.contains(word))
    }

    /// Returns the command of a tool whose fields are the options of a program.
    fn by_fields(&self, input: &Value) -> Option<String> {
        let mut words = self.tool.iter().chain(&self.server);
        let program = words.find(|word| BY_FIELDS.contains(&word.as_str()))?;
        let verbs = self.tool.iter();
        let verbs: Vec<&str> = verbs
            .map(String::as_str)
            .filter(|word| !word.is_empty() && *word != program && !RUNNING.contains(word))
            .collect();
        let fields = input.as_object()?;
        if verbs.is_empty() {
            return None;
        }
        let mut line = vec![program.clone(), verbs.join(" ")];
        let mut named = Vec::new();
        for (key, value) in fields {
            match (key.as_str(), value) {
                (_, Value::Bool(true)) => {
                    line.push(quoted(&format!("--{}", key.replace('_', "-"))));
                }
                ("mode" | "operation" | "action", Value::String(word)) => {
                    line.push(quoted(&format!("--{word}")));
                }
                ("args" | "arguments" | "extra_args" | "flags" | "options", value) => {
                    let one = std::slice::from_ref(value);
                    let words = value.as_array().map_or(one, Vec::as_slice).iter();
                    let words = words.filter_map(Value::as_str);
                    line.extend(words.flat_map(str::split_whitespace).map(quoted));
                }
                ("remote", Value::String(word)) => named.insert(0, quoted(word)),
                (
                    "branch" | "branch_name" | "branchName" | "commit" | "file" | "files" | "name"
                    | "path" | "paths" | "ref" | "revision" | "tag" | "target",
                    value,
                ) => {
                    let one = std::slice::from_ref(value);
                    let words = value.as_array().map_or(one, Vec::as_slice).iter();
                    named.extend(words.filter_map(Value::as_str).map(quoted));
                }
                _ => {}
            }
        }
        line.extend(named);
        Some(line.join(" "))
    }
}

/// Returns the command that a container gets which has folders of this machine.
fn in_container(given: &[Given]) -> Option<String> {
    let is_of = |given: &&Given, keys: &[&str], form| {
        given.form == form && keys.contains(&given.key.to_ascii_lowercase().as_str())
    };
    let binds = given
        .iter()
        .filter(|given| is_of(given, &["binds", "volumes", "mounts"], Form::Text));
    let binds: Vec<String> = binds
        .map(|bind| format!("-v {}", quoted(&bind.text)))
        .collect();
    let mut commands = given.iter();
    let command =
        commands.find(|given| is_of(given, &["cmd", "command", "entrypoint"], Form::Words))?;
    let command = &command.text;
    (!binds.is_empty()).then(|| format!("docker run {} image {command}", binds.join(" ")))
}

/// Returns the command by which a program runs a text.
pub(super) fn run_by(program: &str, text: &str) -> String {
    const END: &str = "END";
    let behind = text.split(END).skip(1);
    let longest = behind.map(|rest| rest.len() - rest.trim_start_matches('_').len() + 1);
    let end = format!("{END}{}", "_".repeat(longest.max().unwrap_or(0)));
    format!("{program} <<'{end}'\n{text}\n{end}")
}

fn is_among(words: &[String], wanted: &[&str]) -> bool {
    words.iter().any(|word| wanted.contains(&word.as_str()))
}
