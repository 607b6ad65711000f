//! The gate: lines between a client and its server, with every call of a tool judged before it passes.

use std::collections::HashMap;
use std::io::{self, BufRead as _, BufReader, Read, Write as _};
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};
use std::thread;

use ahp::engine::{Engine, block_on};
use ahp::event::{Event, McpTool, Trigger, parse_json};
use ahp::message;
use ahp::signal::{Severity, Signal};
use ahp::verdict::Decision;
use serde_json::{Value, json};

use super::Server;
use super::pins::{self, Pins, Standing};
use crate::ask;
use crate::command::exec::judged;
use crate::exit_code::Exit;
use crate::output;
use crate::project;

/// The most characters of what is said to the agent.
const TEXT: usize = 8_000;

/// A call that the server has not answered yet: its event, and what there is to say beside the result.
type Asked = (Box<Event>, String);

struct Gate {
    engine: Engine,
    server: String,
    pins: Pins,
    dir: PathBuf,
    asked: Mutex<HashMap<String, Asked>>,
    /// The tools that the server has listed, each with what it is against its pin and what is said of it.
    listed: Mutex<HashMap<String, (Standing, Value)>>,
}

/// Starts the server and passes lines until the client or the server ends.
pub(super) fn run(server: &Server) -> Result<Exit, String> {
    let locations = project::locations(None);
    let gate = Gate {
        pins: Pins::read(&pins::file(&locations.project_root))?,
        dir: locations.work_dir.clone(),
        engine: project::built(project::engine(locations))?,
        server: server.name(),
        asked: Mutex::default(),
        listed: Mutex::default(),
    };
    let mut child = server.start()?;
    let (Some(mut to_server), Some(from_server)) = (child.stdin.take(), child.stdout.take()) else {
        return Err("the server has no input or output".to_owned());
    };
    let status = thread::scope(|scope| {
        scope.spawn(|| {
            for_each_line(from_server, |line| {
                let answer = gate.answered(line);
                output::whole_line(&answer)
            });
        });
        for_each_line(io::stdin().lock(), |line| match gate.wanted(line) {
            Ok(request) => writeln!(to_server, "{request}").is_ok(),
            Err(refusal) => output::whole_line(&refusal),
        });
        drop(to_server);
        child.wait()
    });
    let status = status.map_err(|error| format!("the server is lost: {error}"))?;
    let code = status.code().and_then(|code| u8::try_from(code).ok());
    Ok(Exit::Of(code.unwrap_or(1)))
}

/// Gives every line that is not blank to `take`, until it returns false.
fn for_each_line(from: impl Read, mut take: impl FnMut(&str) -> bool) {
    let mut lines = BufReader::new(from).split(b'\n').map_while(Result::ok);
    // A byte that is no text makes one line wrong, and does not end the talk.
    lines.all(|line| {
        let line = String::from_utf8_lossy(&line);
        line.trim().is_empty() || take(&line)
    });
}

/// Returns an id so that all spellings by which a client may take it for the same are one.
fn same(id: &Value) -> String {
    match (id.as_str(), id.as_f64()) {
        (Some(text), _) => text.to_owned(),
        (None, Some(number)) => number.to_string(),
        (None, None) => id.to_string(),
    }
}

impl Gate {
    /// Returns what is passed to the server, or what the client gets in its place.
    fn wanted(&self, line: &str) -> Result<Value, Value> {
        let error = |code: i32, why: String| json!({"jsonrpc": "2.0", "id": null, "error": {"code": code, "message": why}});
        let mut request = parse_json(line.as_bytes())
            .map_err(|fault| error(-32_700, format!("ahp: the line is not JSON: {fault}")))?;
        if !request.is_object() {
            // What cannot be judged one by one does not pass.
            return Err(error(
                -32_600,
                "ahp: one request a line is taken".to_owned(),
            ));
        }
        let number = request.get("id").cloned().unwrap_or_default();
        let id = request.get("id").map(same);
        if request.get("method").and_then(Value::as_str) == Some("tools/call") {
            let refused = |text: String| {
                let content = json!([{"type": "text", "text": text}]);
                let result = json!({"content": content, "isError": true});
                json!({"jsonrpc": "2.0", "id": number, "result": result})
            };
            let params = request.get("params").cloned().unwrap_or_default();
            let name = params.get("name").and_then(Value::as_str);
            let name = name.unwrap_or_default();
            let doubt = self.doubt(name);
            let tool = format!("mcp__{}__{name}", self.server);
            let input = params
                .get("arguments")
                .cloned()
                .unwrap_or_else(|| json!({}));
            let mut event = Event::tool_use(tool, input).with_work_dir(&self.dir);
            if let Some(call) = &mut event.tool {
                let listed = self.listed.lock().unwrap_or_else(PoisonError::into_inner);
                let said = listed.get(name).map(|(_, annotations)| annotations);
                let tool = McpTool::of_server(&*self.server, name);
                call.mcp = Some(tool.annotated(said.unwrap_or(&Value::Null)));
            }
            event.host = Some("mcp".to_owned());
            event.session_id = Some(format!("mcp-{}", std::process::id()));
            let told = ask::verdict(&event).filter(|_| doubt.is_empty());
            let verdict = told.unwrap_or_else(|| {
                let engine = &self.engine;
                block_on(engine.evaluate_told(event.clone(), doubt, pins::SOURCE))
            });
            let words = message::for_agent(&verdict, TEXT);
            if verdict.stops() {
                let ask = "\nAsk the person, respond as they say, then try again.";
                let asks = verdict.decision == Decision::Ask;
                return Err(refused(words + if asks { ask } else { "" }));
            }
            if let (Some(input), Some(tool)) = (verdict.modified_input, &mut event.tool) {
                tool.input = input.clone();
                let params = request.get_mut("params").and_then(Value::as_object_mut);
                if let Some(params) = params {
                    params.insert("arguments".to_owned(), input);
                }
            }
            let mut all = self.asked.lock().unwrap_or_else(PoisonError::into_inner);
            all.extend(id.map(|id| (id, (Box::new(event), words))));
        }
        Ok(request)
    }

    /// Says why a tool is not what a person has approved; nothing where it is.
    fn doubt(&self, tool: &str) -> Vec<Signal> {
        if !self.pins.has(&self.server) {
            return Vec::new();
        }
        let listed = self.listed.lock().unwrap_or_else(PoisonError::into_inner);
        let why = match listed.get(tool) {
            Some((Standing::Approved, _)) => return Vec::new(),
            Some((Standing::Changed, _)) => {
                "says something else of itself than when it was approved"
            }
            Some((Standing::New, _)) => "was not there when the tools of its server were approved",
            None => {
                "was not listed by its server in this session, so that nobody knows what it says of itself"
            }
        };
        let server = &self.server;
        let step = if listed.contains_key(tool) {
            format!(
                "Ask a person to look at what `{server}` says of it now: `ahp mcp lock --name {server} -- …` approves it"
            )
        } else {
            "List the tools of the server (`tools/list`), then call it again".to_owned()
        };
        let signal = Signal::block("mcp-pin", format!("the tool `{tool}` {why}"))
            .unresolvable()
            .severity(Severity::High)
            .steps([step])
            .about("mcp-pin", format!("{server}/{tool}"))
            .fingerprint(["mcp-pin", server, tool]);
        vec![signal]
    }

    /// Returns what the client gets of a line of the server.
    fn answered(&self, line: &str) -> Value {
        match serde_json::from_str::<Value>(line) {
            // Older versions of the protocol know several messages in one line.
            Ok(Value::Array(answers)) => answers.into_iter().map(|one| self.passed(one)).collect(),
            Ok(answer) => self.passed(answer),
            Err(_) => json!({"jsonrpc": "2.0", "method": "notifications/message",
                "params": {"level": "error", "data": "ahp: the server wrote a line that is not JSON"}}),
        }
    }

    /// Returns what the client gets of one message of the server.
    fn passed(&self, mut answer: Value) -> Value {
        // A client takes a list of tools for one, whatever it is an answer to.
        self.note_tools(&mut answer);
        let id = answer.get("id").map(same);
        let asked = id.filter(|_| answer.get("result").or(answer.get("error")).is_some());
        let mut all = self.asked.lock().unwrap_or_else(PoisonError::into_inner);
        let asked = asked.and_then(|id| all.remove(&id));
        drop(all);
        if let Some((event, words)) = asked {
            self.after(*event, words, &mut answer);
        }
        answer
    }

    /// Notes what tools the server has; of one that is not approved nothing reaches the model but its name.
    fn note_tools(&self, answer: &mut Value) {
        let tools = answer
            .pointer_mut("/result/tools")
            .and_then(Value::as_array_mut);
        let mut listed = self.listed.lock().unwrap_or_else(PoisonError::into_inner);
        for tool in tools.into_iter().flatten() {
            let standing = self.pins.standing(&self.server, tool);
            let name = tool
                .get("name")
                .and_then(Value::as_str)
                .unwrap_or_default()
                .to_owned();
            let annotations = tool.get("annotations").cloned().unwrap_or_default();
            if standing != Standing::Approved {
                let words = "Not approved by a person: it cannot be called.";
                *tool =
                    json!({"name": name, "description": words, "inputSchema": {"type": "object"}});
            }
            listed.insert(name, (standing, annotations));
        }
    }

    /// Judges a call that has happened, and says what there is to say behind its result.
    fn after(&self, mut event: Event, mut words: String, answer: &mut Value) {
        let is_error = answer.pointer("/result/isError") == Some(&Value::Bool(true));
        let failed = is_error || answer.get("error").is_some();
        event.trigger = if failed {
            Trigger::PostToolUseFailure
        } else {
            Trigger::PostToolUse
        };
        if let Some(tool) = &mut event.tool {
            tool.output = answer.get("result").cloned();
            tool.error = answer.get("error").cloned();
        }
        let verdict = judged(&self.engine, event);
        words = [words, message::for_agent(&verdict, TEXT)].join("\n");
        let content = answer
            .pointer_mut("/result/content")
            .and_then(Value::as_array_mut);
        if let (false, Some(content)) = (words.trim().is_empty(), content) {
            content.push(json!({"type": "text", "text": words.trim()}));
        }
    }
}
