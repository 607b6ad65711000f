//! Opens a pull request with the forge's own program: `gh` or `glab`.

use crate::oracle::HookContext;
use crate::oracle::toolchain::in_time;
use crate::oracle::wording::last_said;
use crate::process::{Exit, Program, installed};

/// What is asked of the forge.
pub(super) struct Request<'a> {
    pub(super) title: String,
    pub(super) body: String,
    pub(super) reviewers: &'a [String],
}

/// Opens a pull request, or asks the reviewers of the one that is open; returns what was done.
///
/// # Errors
/// Why nothing was done.
pub(super) fn open(context: &HookContext, request: &Request<'_>) -> Result<String, String> {
    let remote = run(context, &["git", "remote", "get-url", "origin"])
        .map_err(|_| "the repository has no remote `origin`".to_owned())?;
    // Addresses name people to whom only a letter can be written.
    let names: Vec<&str> = request
        .reviewers
        .iter()
        .filter_map(|r| r.strip_prefix('@'))
        .collect();
    let names = names.join(",");
    if remote.contains("gitlab") {
        present("glab")?;
        let mut arguments = vec![
            "glab",
            "mr",
            "create",
            "--yes",
            "--push",
            "--title",
            &request.title,
            "--description",
            &request.body,
        ];
        if !names.is_empty() {
            arguments.extend(["--reviewer", &names]);
        }
        let said = run(context, &arguments)?;
        return Ok(format!("opened a merge request: {}", link(&said)));
    }
    present("gh")?;
    if let Ok(open) = run(
        context,
        &[
            "gh",
            "pr",
            "view",
            "--json",
            "url,state",
            "--jq",
            "select(.state == \"OPEN\") | .url",
        ],
    ) && !open.is_empty()
    {
        if !names.is_empty() {
            run(context, &["gh", "pr", "edit", "--add-reviewer", &names])?;
        }
        return Ok(format!(
            "asked for a review of the open pull request {open}"
        ));
    }
    let mut arguments = vec![
        "gh",
        "pr",
        "create",
        "--title",
        &request.title,
        "--body",
        &request.body,
    ];
    if !names.is_empty() {
        arguments.extend(["--reviewer", &names]);
    }
    let said = run(context, &arguments)?;
    Ok(format!("opened a pull request: {}", link(&said)))
}

fn present(program: &str) -> Result<(), String> {
    match installed(program) {
        Some(_) => Ok(()),
        None => Err(format!("the program `{program}` is not installed")),
    }
}

/// Returns the address in what a program said, else its last line.
fn link(said: &str) -> &str {
    said.split_whitespace()
        .rev()
        .find(|word| word.starts_with("https://"))
        .or_else(|| said.lines().last())
        .unwrap_or("no address was given")
}

/// Runs a program and returns its output, trimmed; its last words where it fails.
fn run(context: &HookContext, arguments: &[&str]) -> Result<String, String> {
    let program = Program::new(arguments.iter().map(|&a| a.to_owned()).collect());
    let finished = (context.held(program))
        .dir(context.root())
        // A question would wait for an answer that nobody can give.
        .env("GH_PROMPT_DISABLED", "1")
        .env("GIT_TERMINAL_PROMPT", "0")
        .env("NO_COLOR", "1")
        .deadline(in_time(context))
        .run()
        .map_err(|e| e.to_string())?;
    let name = arguments
        .iter()
        .take(3)
        .copied()
        .collect::<Vec<_>>()
        .join(" ");
    match finished.exit {
        Exit::Code(0) => Ok(finished.stdout_text().trim().to_owned()),
        Exit::TimedOut => Err(format!("`{name}` did not end in time")),
        _ => {
            let said = last_said(&finished.stderr_text());
            Err(format!("`{name}` failed: {said}"))
        }
    }
}
