//! ahp oracle new: a script oracle with a test, to begin with.

use std::fs;
use std::path::Path;

use ahp::config::{LayerSource, kebab_case};
use ahp::diagnostic::Span;
use ahp::event::Trigger;
use ahp::oracle::Kind;

use crate::exit_code::Exit;
use crate::output;
use crate::project;

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The name, such as `no-friday-deploys`
    name: String,
    /// The trigger at which it judges
    #[arg(long, default_value = "pre-tool-use")]
    trigger: String,
}

pub(super) fn new(args: &Args) -> Result<Exit, String> {
    let name = kebab_case(&args.name);
    let is_plain = |c: char| c.is_alphanumeric() || matches!(c, '-' | '_' | ' ');
    if name.is_empty() || !args.name.chars().all(is_plain) {
        return Err(format!(
            "`{}` is not a name: write letters, digits and `-`",
            args.name
        ));
    }
    if let Some(there) = named_already(&name)? {
        return Err(format!(
            "an oracle `{there}` is there already, and a binding would mean that one: take another name"
        ));
    }
    let trigger: Trigger = args.trigger.parse().map_err(|e| format!("{e}"))?;
    let root = project::locations(None).project_root;
    let script = root.join(format!(".ahp/oracles/{name}.rhai"));
    let test = root.join(format!(".ahp/tests/{name}.yaml"));
    for file in [&script, &test] {
        if file.exists() {
            return Err(format!("`{}` is there already", file.display()));
        }
    }
    write(&script, &script_text(&name, trigger))?;
    write(&test, &test_text(&name, trigger))?;
    output::line(format!("wrote {}", shown(&script, &root)));
    output::line(format!("wrote {}", shown(&test, &root)));
    output::line("\nput this into .ahp/hooks.yaml:\n");
    output::line(binding(&name, trigger));
    output::line(
        "\nthen: ahp test   (`ahp oracle reference` prints all that a script can ask and call)",
    );
    Ok(Exit::Success)
}

/// Returns the oracle that a binding of the project would mean by a name; a script of the project itself is told by its file.
fn named_already(name: &str) -> Result<Option<String>, String> {
    let state = project::quiet_engine(project::locations(None))?.state();
    let found = state
        .lookup()
        .oracle(name, LayerSource::Project, Span::default());
    let found = found.ok().filter(|factory| factory.kind() == Kind::BuiltIn);
    Ok(found.map(|factory| factory.kebab().to_owned()))
}

fn shown(path: &Path, root: &Path) -> String {
    path.strip_prefix(root)
        .unwrap_or(path)
        .display()
        .to_string()
}

fn write(path: &Path, text: &str) -> Result<(), String> {
    let told = |error: std::io::Error| format!("`{}`: {error}", path.display());
    if let Some(dir) = path.parent() {
        fs::create_dir_all(dir).map_err(told)?;
    }
    fs::write(path, text).map_err(told)
}

fn binding(name: &str, trigger: Trigger) -> String {
    format!("hooks:\n  {trigger}:\n    - oracle: {name}\n      config:\n        words: [TODO]")
}

/// What is looked at depends on what the trigger has.
fn subject(trigger: Trigger) -> &'static str {
    if trigger.is_tool() {
        r#"ctx.tool.content ?? (ctx.tool.command ?? "")"#
    } else if trigger.is_issue() {
        r#"ctx.issue.body ?? """#
    } else {
        r#"ctx.prompt ?? """#
    }
}

fn script_text(name: &str, trigger: Trigger) -> String {
    let page = binding(name, trigger);
    let page: Vec<_> = page.lines().map(|line| ["//! ", line].concat()).collect();
    include_str!("new/script.rhai")
        .replace("$PAGE", &page.join("\n"))
        .replace("$SUBJECT", subject(trigger))
        .replace("$NAME", name)
}

fn test_text(name: &str, trigger: Trigger) -> String {
    let subject = |body: &str| {
        if trigger.is_tool() {
            format!("write: {{path: a.txt, content: {body}}}")
        } else if trigger.is_issue() {
            format!("project: {{issue: \"---\\nid: FEAT-0001\\n---\\n{body}\"}}")
        } else {
            format!("event: {{prompt: {body}}}")
        }
    };
    include_str!("new/test.yaml")
        .replace("$FOUND", &subject("a TODO"))
        .replace("$ACCEPTED", &subject("nothing of the kind"))
        .replace("$TRIGGER", trigger.name())
        .replace("$NAME", name)
}
