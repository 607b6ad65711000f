//! What a tool call would do to what is guarded.

use std::fs;
use std::io::Read as _;
use std::path::Path;
use std::path::PathBuf;

use super::guarded::Guarded;
use crate::event::ToolKind;
use crate::event::ToolView;
use crate::fact::Facts;
use crate::shell::Analysis;
use crate::shell::Effect;
use crate::shell::Invocation;
use crate::shell::Stdin;
use crate::shell::Surroundings;
use crate::shell::Word;
use crate::shell::analyse;
use crate::shell::lexical;

/// How deep scripts that run scripts are followed.
const MAX_SCRIPTS: usize = 3;
/// The longest script or patch that is read, in bytes.
const MAX_FILE: u64 = 512 * 1024;

/// What would be changed, and by what.
#[derive(Debug)]
pub(super) struct Attempt {
    /// The tool or command.
    pub(super) by: String,
    /// What it would do, as the end of "would …".
    pub(super) what: String,
    /// The file that it is about.
    pub(super) path: Option<PathBuf>,
}

/// Words in the names of tools that change files.
const CHANGING: &[&str] = &[
    "write", "edit", "create", "delete", "remove", "move", "rename", "copy", "patch", "append",
    "replace", "save", "update", "insert", "put", "apply", "mkdir", "unlink", "truncate",
];

/// Judges a tool that says which files it changes.
pub(super) fn by_tool(guarded: &Guarded, facts: &Facts, tool: &ToolView) -> Option<Attempt> {
    let name = facts.event().tool.as_ref().map_or("", |t| t.name.as_str());
    let lower = name.to_lowercase();
    let changes = match tool.kind {
        ToolKind::Write | ToolKind::Edit | ToolKind::Delete => true,
        ToolKind::Read | ToolKind::Search | ToolKind::Fetch | ToolKind::Shell | ToolKind::Agent => {
            false
        }
        ToolKind::Mcp | ToolKind::Other => CHANGING.iter().any(|word| lower.contains(word)),
    };
    if !changes {
        return None;
    }
    tool.paths.iter().find_map(|path| {
        let path = lexical(path, &guarded.root, guarded.home.as_deref());
        let hit = guarded.covers(&path)?;
        Some(Attempt {
            by: name.to_owned(),
            what: format!("change `{}`", hit.display()),
            path: Some(hit),
        })
    })
}

/// Judges what a command line would run.
pub(super) fn by_shell(guarded: &Guarded, analysis: &Analysis, depth: usize) -> Option<Attempt> {
    for effect in analysis.writes() {
        if let Some(hit) = guarded.hit(&effect) {
            let verb = match effect.effect {
                Effect::Write => "write",
                Effect::Delete => "delete",
                Effect::Move => "move",
                Effect::Rights => "change the rights of",
                Effect::Restore => "replace",
            };
            return Some(Attempt {
                by: if effect.program.is_empty() {
                    "the command".to_owned()
                } else {
                    effect.program.clone()
                },
                what: format!("{verb} `{}`", hit.display()),
                path: Some(hit),
            });
        }
    }
    analysis
        .invocations
        .iter()
        .find_map(|invocation| {
            disarms(guarded, analysis, invocation)
                .or_else(|| links(guarded, invocation))
                .or_else(|| by_file(guarded, analysis, invocation, depth))
                .map(|(what, path)| Attempt {
                    by: invocation.display(),
                    what,
                    path,
                })
        })
        .or_else(|| by_doubt(analysis))
}

type Found = (String, Option<PathBuf>);

/// Makes the finding of a command that names no file.
fn act(what: &str) -> Found {
    (what.to_owned(), None)
}

/// Variables that change what guards an agent.
const DISARMING: &[&str] = &[
    "AHP_ON_CONFIG_ERROR",
    "AHP_TRUST",
    "AHP_HOME",
    "AHP_ENV",
    "AHP_STATE_DIR",
    "AHP_CONFIG",
    "GIT_CONFIG_GLOBAL",
];

/// Commands that disarm without touching a file that they name.
fn disarms(guarded: &Guarded, analysis: &Analysis, invocation: &Invocation) -> Option<Found> {
    let program = invocation.program.as_str();
    let operands: Vec<&str> = invocation.operands().map(|w| w.text.as_str()).collect();
    let has = |text: &str| invocation.arguments.iter().any(|w| w.text == text);
    if invocation
        .environment
        .iter()
        .any(|(name, _)| DISARMING.contains(&name.as_str()))
    {
        return Some(act("set a variable that disarms the policy"));
    }
    match program {
        "export" | "declare" | "typeset" | "readonly" | "unset" | "setx" | "launchctl" => {
            let is_ours = |text: &str| {
                let name = text.split('=').next().unwrap_or(text);
                DISARMING.contains(&name)
            };
            if operands.iter().any(|text| is_ours(text)) {
                return Some(act("set a variable that disarms the policy"));
            }
        }
        "ahp" | "ahp-hooks" => {
            let command = operands.first().copied().unwrap_or_default();
            if matches!(command, "trust") && !has("--show") && !has("--diff") {
                return Some(act("trust programs that no person has read"));
            }
            if matches!(command, "uninstall") {
                return Some(act("take the policy's wires out"));
            }
            if matches!(command, "edit") || (command == "log" && has("--apply")) {
                return Some(act("change the policy"));
            }
            let by_human = invocation
                .value_of(&["--by"])
                .is_some_and(|by| by.text == "human");
            if command == "respond" && by_human {
                return Some(act("answer in a person's name"));
            }
            if command == "init" && (has("--force") || has("-f")) {
                return Some(act("write the policy anew"));
            }
        }
        "pkill" | "killall" | "taskkill" | "skill" if operands.iter().any(|text| is_ahp(text)) => {
            return Some(act("end `ahp`"));
        }
        "kill" => {
            let picks_ahp = invocation.arguments.iter().any(|word| {
                analysis
                    .invocations
                    .get(word.made_by.clone())
                    .unwrap_or_default()
                    .iter()
                    .any(|i| i.arguments.iter().any(|w| is_ahp(&w.text)))
            }) || analysis
                .invocations
                .get(invocation.fed_by.clone())
                .unwrap_or_default()
                .iter()
                .any(|i| {
                    matches!(i.program.as_str(), "pgrep" | "pidof" | "grep")
                        && i.arguments.iter().any(|w| is_ahp(&w.text))
                });
            if picks_ahp {
                return Some(act("end `ahp`"));
            }
        }
        "systemctl" | "service"
            if !operands.contains(&"status")
                && operands
                    .iter()
                    .any(|text| is_ahp(text.trim_end_matches(".service"))) =>
        {
            return Some(act("stop `ahp`"));
        }
        "cargo" | "npm" | "pip" | "pip3" | "pipx" | "brew" | "uv" => {
            let removes = operands
                .iter()
                .any(|o| matches!(*o, "uninstall" | "remove" | "rm"));
            if removes && operands.iter().any(|o| matches!(*o, "ahp" | "ahp-hooks")) {
                return Some(act("remove `ahp`"));
            }
        }
        "git" => return by_git(guarded, invocation, &operands),
        "claude" | "codex" | "gemini" | "copilot" | "qwen" | "opencode" | "kimi"
        | "cursor-agent" | "cline" => {
            let text = invocation.display().to_lowercase();
            let skips = [
                "disableallhooks",
                "--bare",
                "--no-hooks",
                "--setting-sources",
                "dangerously-bypass-hook",
                "hooks.enabled=false",
                "features.hooks=false",
            ]
            .iter()
            .any(|w| text.contains(w));
            let inline = text.contains("--settings") && text.contains("hooks");
            if skips || inline {
                return Some(act("start an agent without its hooks"));
            }
            if operands.first() == Some(&"config")
                && operands.iter().any(|o| o.to_lowercase().contains("hook"))
            {
                return Some(act("change the host's hooks"));
            }
        }
        "mount" | "umount" => {
            for word in invocation.operands() {
                if covers(guarded, invocation, word).is_some() {
                    return Some(act("hide a guarded directory"));
                }
            }
        }
        _ => {}
    }
    by_code(guarded, invocation)
}

fn is_ahp(text: &str) -> bool {
    matches!(text, "ahp" | "ahp-hooks" | "ahp.exe" | "[a]hp")
        || text.starts_with("ahp ")
        || text.ends_with("/ahp")
        || text == "^ahp$"
}

fn by_git(guarded: &Guarded, invocation: &Invocation, operands: &[&str]) -> Option<Found> {
    let has = |text: &str| invocation.arguments.iter().any(|w| w.text == text);
    let sets_hooks = invocation.arguments.iter().any(|w| {
        let lower = w.text.to_lowercase();
        lower.starts_with("core.hookspath=") || lower.starts_with("--config-env=core.hookspath")
    });
    if sets_hooks {
        return Some(act("run git without its hooks"));
    }
    let skips = has("--no-verify")
        || (operands.contains(&"commit")
            && invocation.before_dashes().any(|w| {
                w.text.starts_with('-')
                    && !w.text.starts_with("--")
                    && w.text.len() <= 5
                    && w.text.contains('n')
            }));
    if skips
        && operands
            .iter()
            .any(|o| matches!(*o, "commit" | "push" | "merge" | "rebase" | "am"))
    {
        let ours = ["pre-commit", "pre-push", "commit-msg", "pre-merge-commit"]
            .iter()
            .any(|name| {
                read(&guarded.root.join(".git/hooks").join(name)).is_some_and(|t| t.contains("ahp"))
            });
        if ours {
            return Some(act("skip the hooks that `ahp` has put into git"));
        }
    }
    if operands.first() == Some(&"stash")
        && operands
            .get(1)
            .is_none_or(|o| matches!(*o, "push" | "save"))
    {
        let everything = has("-a") || has("--all");
        let untracked = has("-u") || has("--include-untracked");
        let policy = guarded.root.join(".ahp");
        // What git does not track would go away until the stash is taken back.
        let tracked = || {
            fs::read(guarded.root.join(".git/index"))
                .is_ok_and(|index| memchr::memmem::find(&index, b".ahp/hooks.yaml").is_some())
        };
        if policy.exists() && (everything || (untracked && !tracked())) {
            return Some(("put the policy aside".to_owned(), Some(policy)));
        }
    }
    None
}

fn covers(guarded: &Guarded, invocation: &Invocation, word: &Word) -> Option<PathBuf> {
    let dir = invocation
        .work_dir
        .as_deref()
        .unwrap_or_else(|| Path::new(""));
    guarded.covers(&lexical(&word.text, dir, guarded.home.as_deref()))
}

/// A second name for a guarded file would be a way round.
fn links(guarded: &Guarded, invocation: &Invocation) -> Option<Found> {
    let makes_names = match invocation.program.as_str() {
        "ln" | "link" | "symlink" | "mklink" => true,
        "cp" => {
            invocation.has_short('l')
                || invocation.has_short('s')
                || invocation.has_long("--link")
                || invocation.has_long("--symbolic-link")
        }
        _ => false,
    };
    if !makes_names || invocation.remote {
        return None;
    }
    let hit = invocation
        .operands()
        .find_map(|word| covers(guarded, invocation, word))?;
    Some((
        format!("make another name for `{}`", hit.display()),
        Some(hit),
    ))
}

/// Words of guarded paths that inline code would have to name.
const NAMED: &[&str] = &[
    ".ahp",
    ".agents/hooks",
    "agents/hooks",
    ".claude/settings",
    ".codex/hooks",
    ".codex/config",
    ".cursor/hooks",
    ".gemini/settings",
    ".github/hooks",
    ".windsurf/hooks",
    ".qwen/settings",
    ".git/hooks",
    "signals.jsonl",
    ".opencode/plugin",
    ".copilot/hooks",
    "core.hookspath",
];

/// Words of code that changes files.
const WRITES: &[&str] = &[
    "write",
    "unlink",
    "remove",
    "rmtree",
    "rename",
    "rmsync",
    "rm(",
    "rm_",
    "truncate",
    "chmod",
    "replace(",
    "delete",
    "symlink",
    "copy",
    "move",
    "open(",
    "'w'",
    "\"w\"",
    "mkdir",
    "append",
    "dump(",
    "save",
    "system",
    "subprocess",
    "exec",
    "spawn",
    "shutil",
    "touch",
    "link(",
    "rmdir",
];

/// Code of an interpreter that names what is guarded together with anything that changes files.
fn by_code(guarded: &Guarded, invocation: &Invocation) -> Option<Found> {
    if invocation.remote || !is_interpreter(&invocation.program) {
        return None;
    }
    let stdin = match &invocation.stdin {
        Stdin::Text(text) => Some(text.as_str()),
        _ => None,
    };
    let reads_only = |code: &str| {
        // `open(path)` without a mode and nothing else that changes.
        let others = WRITES.iter().filter(|w| **w != "open(" && **w != "exec");
        !others.into_iter().any(|w| code.contains(w))
    };
    let names = invocation
        .arguments
        .iter()
        .filter(|w| w.text.contains(['(', ';', '\n', '=', '>']))
        .map(|w| w.text.as_str())
        .chain(stdin)
        .map(str::to_lowercase)
        .find_map(|code| {
            let named = NAMED.iter().find(|name| code.contains(**name))?;
            (WRITES.iter().any(|w| code.contains(w)) && !reads_only(&code)).then_some(*named)
        })?;
    Some((
        format!("run code that may change `{names}`"),
        Some(guarded.root.join(names)),
    ))
}

fn is_interpreter(program: &str) -> bool {
    let bare = program.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.');
    matches!(
        bare,
        "python"
            | "pypy"
            | "node"
            | "nodejs"
            | "deno"
            | "bun"
            | "tsx"
            | "perl"
            | "ruby"
            | "php"
            | "lua"
            | "osascript"
            | "pwsh"
            | "powershell"
            | "expect"
            | "tclsh"
            | "awk"
            | "gawk"
            | "ed"
            | "ex"
            | "vim"
            | "vi"
            | "nvim"
            | "emacs"
            | "sqlite"
            | "gdb"
            | "R"
            | "Rscript"
            | "julia"
            | "groovy"
            | "jshell"
            | "scala"
            | "elixir"
            | "erl"
            | "ghc"
            | "guile"
            | "jq"
    )
}

/// A script or a patch that lies on the disk, read and judged.
fn by_file(
    guarded: &Guarded,
    analysis: &Analysis,
    invocation: &Invocation,
    depth: usize,
) -> Option<Found> {
    if invocation.remote || depth >= MAX_SCRIPTS {
        return None;
    }
    let dir = invocation.work_dir.as_deref()?;
    let home = guarded.home.as_deref();
    let file = |word: &Word| read(&lexical(&word.text, dir, home));
    let program = invocation.program.as_str();
    let is_shell = matches!(
        program,
        "sh" | "bash" | "zsh" | "dash" | "ksh" | "source" | "."
    );
    let patches = program == "patch"
        || (program == "git"
            && invocation
                .operands()
                .next()
                .is_some_and(|w| matches!(w.text.as_str(), "apply" | "am")));
    if patches {
        let from_stdin = match &invocation.stdin {
            Stdin::File(word) => file(word),
            Stdin::Text(text) => Some(text.clone()),
            _ => None,
        };
        let named = invocation
            .operands()
            .filter_map(file)
            .chain(from_stdin)
            .find_map(|patch| {
                patch
                    .lines()
                    .filter(|l| {
                        l.starts_with("+++ ")
                            || l.starts_with("--- ")
                            || l.starts_with("rename ")
                            || l.starts_with("diff --git")
                    })
                    .find_map(|line| {
                        NAMED
                            .iter()
                            .find(|name| line.to_lowercase().contains(**name))
                    })
            })?;
        return Some((format!("apply a patch to `{named}`"), None));
    }
    if is_shell || is_interpreter(program) {
        let takes_code = ["-c", "-e"]
            .iter()
            .any(|o| invocation.arguments.iter().any(|w| w.text == *o));
        let script = invocation.operands().next().filter(|_| !takes_code);
        let text = match (script, &invocation.stdin) {
            (Some(word), _) => file(word)?,
            (None, Stdin::File(word)) => file(word)?,
            _ => return None,
        };
        return run_script(guarded, analysis, dir, program, &text, depth);
    }
    if invocation.path.text.contains('/') {
        let path = lexical(&invocation.path.text, dir, home);
        let text = read(&path)?;
        let first = text.lines().next().filter(|l| l.starts_with("#!"))?;
        let interpreter = first
            .split(['/', ' '])
            .rfind(|w| !w.is_empty() && !w.starts_with('-'))?;
        return run_script(guarded, analysis, dir, interpreter, &text, depth);
    }
    None
}

fn run_script(
    guarded: &Guarded,
    analysis: &Analysis,
    dir: &Path,
    interpreter: &str,
    text: &str,
    depth: usize,
) -> Option<Found> {
    // Most scripts name nothing of ours; those are not worth a walk.
    let lower = text.to_lowercase();
    if !NAMED.iter().any(|name| lower.contains(name)) && !lower.contains("ahp") {
        return None;
    }
    let surroundings = Surroundings {
        work_dir: dir.to_owned(),
        ..analysis.surroundings.clone()
    };
    let inner = if interpreter.ends_with("sh") || matches!(interpreter, "source" | ".") {
        analyse(text, &surroundings)
    } else {
        analyse(
            &format!("{interpreter} - <<'AHP_END_OF_SCRIPT'\n{text}\nAHP_END_OF_SCRIPT"),
            &surroundings,
        )
    };
    let attempt = by_shell(guarded, &inner, depth + 1)?;
    Some((
        format!("run a script that would {}", attempt.what),
        attempt.path,
    ))
}

/// A part that could not be understood and names what is guarded.
fn by_doubt(analysis: &Analysis) -> Option<Attempt> {
    analysis.doubts.iter().find_map(|doubt| {
        let lower = doubt.text.to_lowercase();
        let named = NAMED.iter().find(|name| lower.contains(**name))?;
        let changes = [
            ">", "rm ", "mv ", "cp ", "tee ", "sed -i", "unlink", "ln ", "truncate", "dd ", "git ",
        ]
        .iter()
        .any(|w| lower.contains(w));
        changes.then(|| Attempt {
            by: "the command".to_owned(),
            what: format!("perhaps change `{named}`: it could not be understood"),
            path: None,
        })
    })
}

/// Reads a file that is no larger than a script would be.
fn read(path: &Path) -> Option<String> {
    let file = fs::File::open(path).ok()?;
    let meta = file.metadata().ok()?;
    if !meta.is_file() || meta.len() > MAX_FILE {
        return None;
    }
    let mut bytes = Vec::new();
    file.take(MAX_FILE).read_to_end(&mut bytes).ok()?;
    String::from_utf8(bytes).ok()
}
