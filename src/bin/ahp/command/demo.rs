//! ahp demo: plays the submission of an issue on a real, throw-away repository.

use std::fs;
use std::path::{Path, PathBuf};

use ahp::process::{Finished, Program};
use anstyle::{AnsiColor, Style};

use crate::exit_code::Exit;
use crate::output;

const TITLE: Style = AnsiColor::Green.on_default().bold();
const COMMAND: Style = Style::new().bold();
const DIM: Style = Style::new().dimmed();

const POLICY: &str = include_str!("demo/hooks.yaml");
const ISSUE: &str = include_str!("demo/issue.md");

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Keep the repository afterwards, in this new folder
    #[arg(long, value_name = "DIR")]
    keep: Option<PathBuf>,
}

pub(crate) fn run(args: &Args) -> Result<Exit, String> {
    let stage = Stage::set(args.keep.as_deref())?;
    stage.title("A project with an issue, a policy and a branch that changes 25 files");
    stage.note("cat .ahp/hooks.yaml");
    output::line(indent(POLICY));
    stage.note("cat Issues/Features/open/FEAT-0123-serve-orders.md");
    output::line(indent(
        ISSUE
            .split_once("## Acceptance")
            .map_or(ISSUE, |(_, rest)| rest)
            .trim_start_matches(" criteria\n\n"),
    ));

    stage.ahp(&["check"], 0)?;

    stage.title(
        "1. The agent submits FEAT-0123: one of three checklist items is open, so it is blocked",
    );
    stage.ahp(&["run", "pre-issue-submit", "--issue", "FEAT-0123"], 2)?;

    stage.title("2. The agent writes the API docs, ticks the item and submits again: the change is large, so it is warned");
    fs::create_dir_all(stage.dir.join("docs")).map_err(|e| e.to_string())?;
    stage.write(
        "docs/api.md",
        "# Orders API\n\n`GET /orders`, `POST /orders`\n",
    )?;
    stage.note("sed -i 's/- \\[ \\] API docs/- [x] API docs/' Issues/Features/open/FEAT-0123-serve-orders.md");
    stage.write(
        "Issues/Features/open/FEAT-0123-serve-orders.md",
        &ISSUE.replace("- [ ] API docs", "- [x] API docs"),
    )?;
    stage.ahp(&["run", "pre-issue-submit", "--issue", "FEAT-0123"], 0)?;

    stage.title("3. It decides that the size is acceptable, says so, and submits: it passes, and the issue goes to review");
    stage.ahp(
        &[
            "respond",
            "last",
            "acknowledge",
            "--note",
            "one feature, reviewed as one",
        ],
        0,
    )?;
    stage.ahp(&["run", "pre-issue-submit", "--issue", "FEAT-0123"], 0)?;

    stage.title("4. After the submission the reviewers are named");
    stage.ahp(&["run", "post-issue-submit", "--issue", "FEAT-0123"], 0)?;

    stage.title("5. What the signal log remembers");
    stage.ahp(&["log", "show"], 0)?;
    stage.ahp(&["log", "verify"], 0)?;
    output::line("");
    output::line(match &args.keep {
        Some(dir) => format!(
            "The repository is in {}. Try it: `cd {} && ahp explain`",
            dir.display(),
            dir.display()
        ),
        None => "The repository is gone again; `ahp demo --keep DIR` keeps it.".to_owned(),
    });
    Ok(Exit::Success)
}

/// The throw-away repository; removed when the play is over, unless it is to be kept.
struct Stage {
    dir: PathBuf,
    throw_away: bool,
    program: PathBuf,
}

impl Stage {
    fn set(keep: Option<&Path>) -> Result<Self, String> {
        let dir = match keep {
            Some(dir) => std::path::absolute(dir).map_err(|e| e.to_string())?,
            None => std::env::temp_dir().join(format!("ahp-demo-{}", std::process::id())),
        };
        fs::create_dir(&dir).map_err(|e| format!("cannot make `{}`: {e}", dir.display()))?;
        let program = std::env::current_exe().map_err(|e| format!("cannot find myself: {e}"))?;
        let stage = Self {
            dir,
            throw_away: keep.is_none(),
            program,
        };
        stage.git(&["init", "-q", "-b", "main"])?;
        stage.git(&["config", "user.name", "Demo Agent"])?;
        stage.git(&["config", "user.email", "agent@example.invalid"])?;
        for folder in [".ahp", "src", ".github", "Issues/Features/open"] {
            fs::create_dir_all(stage.dir.join(folder)).map_err(|e| e.to_string())?;
        }
        stage.write(".ahp/hooks.yaml", POLICY)?;
        stage.write(".gitignore", ".ahp/signals*\n")?;
        stage.write(".github/CODEOWNERS", "src/ @orders-team\ndocs/ @writers\n")?;
        stage.write("Issues/Features/open/FEAT-0123-serve-orders.md", ISSUE)?;
        stage.git(&["add", "-A"])?;
        stage.git(&["commit", "-q", "-m", "chore: begin"])?;
        stage.git(&["checkout", "-q", "-b", "feat/FEAT-0123"])?;
        for n in 1..=24 {
            stage.write(
                &format!("src/order_{n:02}.py"),
                &format!("def order_{n:02}():\n    return {n}\n"),
            )?;
        }
        stage.git(&["add", "-A"])?;
        stage.git(&[
            "commit",
            "-q",
            "-m",
            "feat(orders): serve orders (FEAT-0123)",
        ])?;
        Ok(stage)
    }

    fn write(&self, path: &str, text: &str) -> Result<(), String> {
        fs::write(self.dir.join(path), text).map_err(|e| format!("cannot write `{path}`: {e}"))
    }

    fn git(&self, arguments: &[&str]) -> Result<(), String> {
        let argv = std::iter::once("git").chain(arguments.iter().copied());
        let done = Program::new(argv.map(str::to_owned).collect())
            .dir(&self.dir)
            .run()
            .map_err(|e| e.to_string())?;
        if done.exit.is_success() {
            Ok(())
        } else {
            Err(format!(
                "git {}: {}",
                arguments.join(" "),
                done.stderr_text().trim()
            ))
        }
    }

    /// Runs `ahp` itself in the repository, shows the command and all that it prints, and fails where it does not end
    /// as the play needs it.
    fn ahp(&self, arguments: &[&str], expected: i32) -> Result<Finished, String> {
        let shown: Vec<String> = arguments
            .iter()
            .map(|a| {
                if a.contains(' ') {
                    format!("'{a}'")
                } else {
                    (*a).to_owned()
                }
            })
            .collect();
        self.note(&format!("ahp {}", shown.join(" ")));
        let mut argv = vec![self.program.to_string_lossy().into_owned()];
        argv.extend(arguments.iter().map(|&a| a.to_owned()));
        let mut program = Program::new(argv).dir(&self.dir);
        // The play shows the policy of the play: layers of this machine stay out of it.
        program = program.env(
            "AHP_HOME",
            self.dir.join(".home").to_string_lossy().into_owned(),
        );
        if output::has_colours() {
            program = program.env("CLICOLOR_FORCE", "1");
        }
        let done = program.run().map_err(|e| e.to_string())?;
        output::line(indent(&done.stdout_text()));
        if !done.stderr.is_empty() {
            output::line(indent(&done.stderr_text()));
        }
        let code = match done.exit {
            ahp::process::Exit::Code(code) => code,
            other => return Err(format!("`ahp {}` ended with {other:?}", shown.join(" "))),
        };
        output::line(format!("{DIM}    exit code {code}{DIM:#}"));
        if code == expected {
            Ok(done)
        } else {
            Err(format!(
                "`ahp {}` ended with exit code {code}, where the play needs {expected}",
                shown.join(" ")
            ))
        }
    }

    #[expect(clippy::unused_self, reason = "the stage speaks")]
    fn title(&self, text: &str) {
        output::line(format!("\n{TITLE}{text}{TITLE:#}"));
    }

    #[expect(clippy::unused_self, reason = "the stage speaks")]
    fn note(&self, command: &str) {
        output::line(format!("\n  {COMMAND}$ {command}{COMMAND:#}"));
    }
}

impl Drop for Stage {
    fn drop(&mut self) {
        if self.throw_away {
            // What cannot be removed lies in the system's folder for such things.
            fs::remove_dir_all(&self.dir).ok();
        }
    }
}

fn indent(text: &str) -> String {
    text.trim_end()
        .lines()
        .map(|line| {
            if line.is_empty() {
                String::new()
            } else {
                format!("    {line}")
            }
        })
        .collect::<Vec<_>>()
        .join("\n")
}
