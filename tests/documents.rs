//! Everything that is printed in the documents is run: policies, tests, scripts and command lines.

use std::fs;
use std::path::{Path, PathBuf};

use ahp::engine::Engine;
use ahp::oracle::rhai::Script;
use ahp::oracle::rhai::api::GROUPS;
use ahp::policy_test;
use ahp::policy_test::Runner;

use crate::world::{Ran, World};

/// A fenced block of a document.
pub(crate) struct Block {
    file: String,
    /// Its first line, from 1.
    line: usize,
    pub(crate) language: String,
    pub(crate) text: String,
    /// The line of text before it.
    before: String,
}

/// What is printed and not run here: the file, how the block or the command begins, and why.
const NOT_RUN: &[(&str, &str, &str)] = &[
    ("README.md", " agent host ──event──►", "a picture"),
    (
        "README.md",
        "ahp init",
        "a newcomer's; `a_newcomer_comes_to_the_first_block` runs it where nothing is",
    ),
    ("docs/architecture.md", " host bytes", "a picture"),
    (
        "README.md",
        "pipx install",
        "packages; `.ci/packaging` installs each",
    ),
    ("docs/how-to/ci.md", "name: policy", "a workflow of GitHub"),
    ("docs/how-to/ci.md", "ahp:", "a job of GitLab"),
    (
        "docs/how-to/ci.md",
        "repos:",
        "`.ci/pre-commit` runs these hooks",
    ),
    (
        "docs/how-to/host-sdk.md",
        "from ",
        "Python; `.ci/sdk` runs it",
    ),
    (
        "docs/how-to/host-sdk.md",
        "import ",
        "TypeScript; `.ci/sdk` runs it",
    ),
    (
        "docs/how-to/ci.md",
        "    steps:",
        "a part of a workflow of GitHub",
    ),
    (
        "docs/hosts.md",
        "ahp install",
        "needs hosts; `tests/install` wires each",
    ),
    (
        "docs/hosts.md",
        "claude plugin",
        "needs the clients; `.ci/hosts` runs them",
    ),
    (
        "docs/hosts.md",
        "#!/bin/sh",
        "a hook of git; `tests/gates` commit through some",
    ),
    (
        "docs/hosts.md",
        "ahp mcp",
        "needs a server; `tests/command/mcp.rs` has one",
    ),
    (
        "docs/how-to/install.md",
        "pipx install",
        "a package; `.ci/packaging` installs each",
    ),
    (
        "docs/how-to/install.md",
        "npm install",
        "a package; `.ci/packaging` installs each",
    ),
    (
        "docs/how-to/install.md",
        "curl -fsSLO",
        "a release that is not there yet; `.ci/packaging` runs the script",
    ),
    (
        "docs/how-to/install.md",
        "sudo apt install",
        "a package; `.ci/packaging` unpacks it",
    ),
    (
        "docs/how-to/install.md",
        "docker run",
        "an image that is not published yet",
    ),
    (
        "docs/how-to/install.md",
        "COPY --from",
        "a line of a container's file",
    ),
    (
        "docs/how-to/install.md",
        "cargo install",
        "a build of minutes",
    ),
    (
        "docs/how-to/install.md",
        "gh attestation",
        "a release that is not there yet",
    ),
    (
        "docs/how-to/install.md",
        "packaging/build",
        "a build of minutes; `.ci/packaging` runs it",
    ),
    (
        "docs/how-to/install.md",
        "sha256sum",
        "packages; `.ci/packaging` installs each",
    ),
    ("docs/reference/platforms.md", ".ci/run", "takes an hour"),
    (
        "docs/how-to/monoco.md",
        "✗ blocked",
        "what a project of Monoco gets; `tests/monoco.rs` plays it",
    ),
    (
        "docs/how-to/rust-host.md",
        "[dependencies]",
        "a part of a manifest",
    ),
    (
        "docs/how-to/rust-host.md",
        "use ",
        "a doc test of the library",
    ),
    (
        "docs/performance.md",
        "cargo bench",
        "a measurement of minutes",
    ),
    (
        "docs/performance.md",
        "benches/",
        "a measurement of minutes",
    ),
    (
        "docs/performance.md",
        ".ci/instructions",
        "needs a release build; `.ci/run` runs it",
    ),
    (
        "docs/how-to/gather-logs.md",
        "ahp fleet",
        "done by a program of its own; `.ci/fleet` runs it",
    ),
    (
        "docs/how-to/gather-logs.md",
        "pip install",
        "needs an engine; `.ci/fleet` runs it",
    ),
    (
        "docs/how-to/gather-logs.md",
        "fleet/sums.py",
        "needs an engine; `.ci/fleet` runs it",
    ),
    (
        "docs/how-to/gather-logs.md",
        "settings:\n  labels",
        "only the system layer may say so",
    ),
    (
        "docs/how-to/organisation.md",
        "ahp bundle",
        "done by a program of its own; `fleet/tests` run it",
    ),
    (
        "docs/how-to/organisation.md",
        "fleet/sums.py",
        "needs an engine; `.ci/fleet` runs it",
    ),
    (
        "docs/how-to/organisation.md",
        "minisign",
        "needs minisign; `.ci/fleet` runs it",
    ),
    (
        "docs/how-to/organisation.md",
        "settings:\n  fleet",
        "only the system layer may say so",
    ),
    (
        "docs/how-to/organisation.md",
        "extends: [ahp:standard]\nsettings:\n  forbid",
        "only a bundle and the system layer may say so",
    ),
    (
        "docs/how-to/serve.md",
        "ahp serve",
        "listens until it is ended; `tests/serve` starts it",
    ),
    (
        "docs/how-to/serve.md",
        "curl -H",
        "needs a server; `tests/serve` asks it",
    ),
    (
        "docs/how-to/serve.md",
        "{\"type\": \"http\"",
        "settings of a client",
    ),
    (
        "docs/how-to/shield.md",
        "ahp shield -- claude",
        "needs the client; `tests/hosts/suite.py --shield` starts it",
    ),
    (
        "docs/writing-oracles.md",
        "use ahp::oracle::",
        "a doc test of the library",
    ),
];

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// Returns every document for readers, relative to the root.
fn documents() -> Vec<String> {
    let mut found = vec!["README.md".to_owned()];
    let mut open = vec![PathBuf::from("docs")];
    while let Some(dir) = open.pop() {
        for entry in fs::read_dir(root().join(&dir)).unwrap() {
            let path = dir.join(entry.unwrap().file_name());
            if root().join(&path).is_dir() {
                open.push(path);
            } else if path.extension().is_some_and(|e| e == "md") {
                found.push(path.to_str().unwrap().to_owned());
            }
        }
    }
    found.sort();
    found
}

fn blocks(file: &str) -> Vec<Block> {
    blocks_of(file, &fs::read_to_string(root().join(file)).unwrap())
}

/// Returns the fenced blocks of a text.
pub(crate) fn blocks_of(file: &str, text: &str) -> Vec<Block> {
    let mut blocks = Vec::new();
    let mut open: Option<Block> = None;
    let mut before = String::new();
    for (n, line) in text.lines().enumerate() {
        match (&mut open, line.trim_start().strip_prefix("```")) {
            (None, Some(language)) => {
                open = Some(Block {
                    file: file.to_owned(),
                    line: n + 2,
                    language: language.to_owned(),
                    text: String::new(),
                    before: before.clone(),
                });
            }
            (None, None) if !line.is_empty() => line.clone_into(&mut before),
            (None, None) => {}
            (Some(_), Some(_)) => blocks.extend(open.take()),
            (Some(block), None) => {
                block.text.push_str(line);
                block.text.push('\n');
            }
        }
    }
    assert!(open.is_none(), "{file}: a block has no end");
    blocks
}

fn all_blocks() -> Vec<Block> {
    let documents = documents();
    documents.iter().flat_map(|file| blocks(file)).collect()
}

/// Whether something is in the list of what is not run.
fn is_excused(file: &str, text: &str) -> bool {
    NOT_RUN
        .iter()
        .any(|(of, begins, _)| *of == file && text.starts_with(begins))
}

#[test]
fn every_block_is_of_a_kind_that_is_run_or_is_excused() {
    for block in all_blocks() {
        let known = match block.language.as_str() {
            "yaml" => {
                let is_policy = [
                    "hooks:",
                    "extends:",
                    "settings:",
                    "policy:",
                    "oracle:",
                    "pack:",
                    "#",
                ];
                is_policy.iter().any(|key| block.text.starts_with(key))
            }
            "rhai" | "rules" | "console" => true,
            _ if is_followed(&block.file) => block.path().is_some(),
            _ => is_excused(&block.file, &block.text),
        };
        assert!(known, "{}:{}: nothing runs this", block.file, block.line);
    }
    for (file, begins, _) in NOT_RUN {
        let text = fs::read_to_string(root().join(file)).unwrap();
        assert!(text.contains(begins), "{file} has no `{begins}` any more");
    }
}

/// A block by its indent alone is none that anything runs.
#[test]
fn every_block_has_fences() {
    // The page of the command line is what the program prints, as `reference` proves.
    for file in documents().iter().filter(|file| !file.ends_with("/cli.md")) {
        let mut is_list = false;
        let lines = prose(file);
        for (line, next) in lines.iter().zip(lines.iter().skip(1)) {
            let begins = |line: &str| {
                let text = line.trim_start();
                text.starts_with(['-', '*']) || text.starts_with(|c: char| c.is_ascii_digit())
            };
            is_list = begins(line) || is_list && (line.is_empty() || line.starts_with(' '));
            let is_block = line.is_empty() && next.starts_with("    ") && !is_list;
            assert!(!is_block, "{file}: nothing runs `{next}`");
        }
    }
}

impl Block {
    /// The file that a block is the text of, where the line before it says so.
    fn path(&self) -> Option<&str> {
        self.before.strip_prefix('`')?.strip_suffix("`:")
    }
}

/// Reference pages whose examples are files and commands that build on each other.
const WITH_WHOLE_EXAMPLES: &[&str] = &["docs/reference/hook-md.md", "docs/reference/issues.md"];

/// Whether a page is followed from its beginning to its end, in a folder of its own.
fn is_followed(file: &str) -> bool {
    file.starts_with("docs/tutorial/") || WITH_WHOLE_EXAMPLES.contains(&file)
}

/// Lays the scripts and files of rules that a document shows where it says that they are.
fn lay_scripts(blocks: &[Block], place: &Path) {
    for block in blocks
        .iter()
        .filter(|block| matches!(block.language.as_str(), "rhai" | "rules"))
    {
        let Some(file) = block.path() else {
            continue;
        };
        let path = place.join(file);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, &block.text).unwrap();
    }
}

#[test]
fn every_policy_is_sound() {
    let mut count = 0;
    for file in documents() {
        let place = tempfile::tempdir().unwrap();
        let blocks = blocks(&file);
        lay_scripts(&blocks, place.path());
        // Files that examples name.
        fs::write(place.path().join("team.yaml"), "hooks: {}\n").unwrap();
        fs::create_dir_all(place.path().join(".github/hooks")).unwrap();
        fs::copy(
            root().join("tests/cases/oracle/command-hooks.json"),
            place.path().join(".github/hooks/security.json"),
        )
        .unwrap();
        for block in blocks.iter().filter(|block| block.language == "yaml") {
            let is_test = block.text.lines().any(|line| line == "tests:");
            if is_test || is_excused(&file, &block.text) {
                continue;
            }
            count += 1;
            let engine = Engine::builder()
                .policy_text(&block.text)
                .root(place.path())
                .without_log()
                .build()
                .unwrap();
            let state = engine.state();
            let faults: Vec<_> = state
                .faults()
                .iter()
                .map(|fault| fault.one_line(state.sources()))
                .collect();
            assert!(faults.is_empty(), "{file}:{}: {faults:#?}", block.line);
        }
    }
    assert!(count > 30, "{count}");
}

#[test]
fn every_test_of_a_policy_passes() {
    let mut count = 0;
    for file in documents() {
        let place = tempfile::tempdir().unwrap();
        let blocks = blocks(&file);
        lay_scripts(&blocks, place.path());
        // A page of an oracle shows a test of this project, with the files beside it.
        let beside = root().join("tests/cases/oracle/command-hooks.json");
        fs::copy(beside, place.path().join("command-hooks.json")).unwrap();
        let copy = place.path().join("document.md");
        fs::copy(root().join(&file), &copy).unwrap();
        let tests = policy_test::read(&copy, &file).unwrap();
        let faults: Vec<_> = tests
            .faults
            .iter()
            .map(|fault| fault.one_line(&tests.sources))
            .collect();
        assert!(faults.is_empty(), "{faults:#?}");
        let scripts = file == "docs/writing-oracles.md" || is_followed(&file);
        let mut runner = Runner::new(if scripts { place.path() } else { root() });
        for case in &tests.cases {
            count += 1;
            let outcome = runner.run(&tests, case);
            let told: Vec<_> = outcome
                .differences
                .iter()
                .map(ToString::to_string)
                .collect();
            let told = told.join("\n");
            assert!(
                told.is_empty(),
                "{file}:{}: {}\n{told}",
                case.line,
                case.name
            );
        }
    }
    assert!(count > 40, "{count}");
}

#[test]
fn every_script_is_one_that_is_run_elsewhere_or_compiles() {
    let examples: Vec<_> = GROUPS
        .iter()
        .flat_map(|group| &group.functions)
        .map(|function| function.example)
        .collect();
    for block in all_blocks().iter().filter(|block| block.language == "rhai") {
        let text = block.text.trim();
        // The examples of functions are run one by one, in `script::functions`.
        if examples.contains(&text) {
            continue;
        }
        // The library shows the constants of scripts.
        let source = if text.contains("fn evaluate(") {
            text.to_owned()
        } else {
            format!("{text}\nfn evaluate(ctx) {{ accept() }}")
        };
        let script = Script::compile("shown", &block.file, &source);
        let script = script.unwrap_or_else(|e| panic!("{}:{}: {e}", block.file, block.line));
        assert_eq!(script.misspelt_facts(), [], "{}:{}", block.file, block.line);
    }
}

/// Splits a block of commands into each command without its comment, and the lines that it prints.
fn commands(block: &Block) -> Vec<(String, Vec<&str>)> {
    let mut found: Vec<(String, Vec<&str>)> = Vec::new();
    for line in block.text.lines() {
        if let Some(command) = line.strip_prefix("$ ") {
            let command = command.split("  #").next().unwrap_or(command);
            found.push((command.trim().to_owned(), Vec::new()));
        } else if let Some((_, printed)) = found.last_mut() {
            printed.push(line);
        }
    }
    found
}

/// Whether a printed line is as shown; `…` stands for what differs from run to run.
fn is_as_shown(shown: &str, printed: &str) -> bool {
    let mut rest = printed;
    for (n, part) in shown.split('…').enumerate() {
        match rest.split_once(part) {
            _ if part.is_empty() => {}
            Some((skipped, behind)) if n > 0 || skipped.is_empty() => rest = behind,
            _ => return false,
        }
    }
    rest.is_empty() || shown.ends_with('…')
}

/// Whether what was printed is as shown, line by line.
fn is_all_as_shown(shown: &[&str], printed: &str) -> bool {
    let printed: Vec<_> = printed.lines().map(str::trim_end).collect();
    shown.len() == printed.len() && shown.iter().zip(&printed).all(|(s, p)| is_as_shown(s, p))
}

/// Runs a command line with `ahp` on the search path.
fn play(world: &World, command: &str) -> Ran {
    let program = Path::new(env!("CARGO_BIN_EXE_ahp")).parent().unwrap();
    let line = format!("PATH=\"{}:$PATH\"; {command}", program.display());
    Ran::of(&world.command("sh").args(["-c", &line]).output().unwrap())
}

const ISSUE: &str = "---\nid: FEAT-0001\ntype: feature\nstatus: open\nstage: doing\ntitle: Users\n---\n\n## Tasks\n\n- [ ] API docs\n";

#[test]
fn every_command_runs_and_prints_what_is_shown() {
    let world = World::new("");
    // The policy with gates for the work is the README's own.
    let readme = blocks("README.md");
    let policy = readme
        .iter()
        .filter(|block| block.language == "yaml")
        .nth(1)
        .unwrap();
    world.write(".ahp/hooks.yaml", &policy.text);
    world.write(
        ".ahp/hooks.local.yaml",
        "hooks: {pre-agent-turn: [{oracle: asker}]}\n",
    );
    world.write(
        ".ahp/oracles/asker.rhai",
        "fn evaluate(ctx) { prompt(`is it ${history().len()}?`) }\n",
    );
    world.write("Issues/Features/open/FEAT-0001-users.md", ISSUE);
    world.git_init();
    for block in all_blocks()
        .iter()
        .filter(|block| block.language == "console" && !is_followed(&block.file))
    {
        for (command, shown) in commands(block) {
            if is_excused(&block.file, &command) {
                continue;
            }
            let at = format!("{}:{}: `{command}`", block.file, block.line);
            if command.starts_with("ahp respond") {
                // Something that can be answered by every word that is shown.
                world.ahp(&["run", "pre-agent-turn"]);
            }
            let ran = play(&world, &command);
            assert!(matches!(ran.code, 0 | 2), "{at}: {ran:?}");
            assert!(!ran.stderr.contains("Usage:"), "{at}: {ran:?}");
            let same = shown.is_empty() || is_all_as_shown(&shown, &ran.stdout);
            assert!(same, "{at} prints\n{}", ran.stdout);
        }
    }
}

/// From nothing: the program is installed by one command, and the README's own come after it, in its order.
#[test]
fn a_newcomer_comes_to_the_first_block_in_at_most_six_commands() {
    let world = World::new("");
    fs::remove_dir_all(world.path(".ahp")).unwrap();
    world.write("src/a.rs", "");
    let blocks = blocks("README.md");
    let all = blocks.iter().filter(|block| block.language == "console");
    let all: Vec<(String, Vec<&str>)> = all.flat_map(commands).collect();
    let mut count = 1;
    let blocked = all.iter().find(|(command, shown)| {
        count += 1;
        let ran = play(&world, command);
        let same = shown.is_empty() || is_all_as_shown(shown, &ran.stdout);
        assert!(same && matches!(ran.code, 0 | 2), "{command}: {ran:?}");
        ran.code == 2
    });
    assert!(blocked.is_some() && count <= 6, "{count}");
    // The next that matters wires an agent, and what that asks is blocked too.
    let install = all
        .iter()
        .find(|(command, _)| command.starts_with("ahp install"));
    let ran = play(&world, &install.unwrap().0);
    assert_eq!(ran.code, 0, "{ran:?}");
    let settings: serde_json::Value =
        serde_json::from_str(&world.read(".claude/settings.json")).unwrap();
    let wire = settings.pointer("/hooks/PreToolUse/0/hooks/0/command");
    let wire = wire.and_then(serde_json::Value::as_str).unwrap();
    let event = serde_json::json!({
        "hook_event_name": "PreToolUse",
        "session_id": "s",
        "cwd": world.root(),
        "tool_name": "Bash",
        "tool_input": {"command": "rm -rf ~"},
        "tool_use_id": "t",
    });
    world.write("../event.json", event.to_string());
    let ran = play(&world, &format!("( {wire} ) < ../event.json"));
    assert!(ran.stdout.contains("deny") || ran.code == 2, "{ran:?}");
    assert!(count + 2 <= 6, "{count}");
}

#[test]
fn every_tutorial_can_be_followed_from_its_beginning_to_its_end() {
    let pages: Vec<_> = documents()
        .into_iter()
        .filter(|file| is_followed(file))
        .collect();
    assert!(pages.len() > WITH_WHOLE_EXAMPLES.len(), "{pages:?}");
    for file in pages {
        let world = World::new("");
        fs::remove_dir(world.path(".ahp")).unwrap();
        for block in blocks(&file) {
            if block.language != "console" {
                let path = block.path();
                let path = path.unwrap_or_else(|| panic!("{file}:{}: which file?", block.line));
                world.write(path, &block.text);
                continue;
            }
            for (command, shown) in commands(&block) {
                let ran = play(&world, &format!("( {command} ) 2>&1"));
                let same = if shown.is_empty() {
                    ran.code == 0
                } else {
                    is_all_as_shown(&shown, &ran.stdout)
                };
                let at = format!("{file}:{}: `{command}`", block.line);
                assert!(
                    same,
                    "{at} ends with {} and prints\n{}",
                    ran.code, ran.stdout
                );
            }
        }
    }
}

#[test]
fn both_readmes_have_the_same_sections_and_blocks() {
    let shape = |file: &str| {
        let blocks = blocks(file).into_iter();
        blocks
            .map(|block| (block.language, block.text))
            .collect::<Vec<_>>()
    };
    assert_eq!(shape("README.md"), shape("README.zh.md"));
    // Titles differ, but what stands in a section is told by its level, its blocks and where it leads.
    let outline = |file: &str| {
        let mut sections = vec![Vec::new()];
        for line in prose(file) {
            if let Some(level) = line.split_once("# ").map(|(more, _)| more)
                && level.chars().all(|c| c == '#')
            {
                sections.push(vec![format!("{level}#")]);
            }
            let links = line.split("](").skip(1);
            let links = links.filter_map(|rest| rest.split(')').next());
            let links = links.filter(|link| link.contains(".md") && !link.starts_with("README"));
            let section = sections.last_mut().unwrap();
            section.extend(links.map(str::to_owned));
        }
        sections
    };
    assert_eq!(outline("README.md"), outline("README.zh.md"));
    let readme = fs::read_to_string(root().join("README.md")).unwrap();
    assert!(readme.lines().count() <= 120);
}

/// The lines of a document outside of its blocks.
fn prose(file: &str) -> Vec<String> {
    let text = fs::read_to_string(root().join(file)).unwrap();
    let mut is_block = false;
    text.lines()
        .filter(|line| {
            let is_fence = line.trim_start().starts_with("```");
            is_block ^= is_fence;
            !is_block && !is_fence
        })
        .map(str::to_owned)
        .collect()
}

/// The anchors of a document's headings, as forges make them.
fn headings(file: &str) -> Vec<String> {
    let lines = prose(file).into_iter();
    let headings = lines.filter(|line| line.starts_with('#'));
    headings
        .map(|line| {
            let text = line.trim_start_matches('#').trim().to_lowercase();
            let kept = text
                .chars()
                .filter(|c| c.is_alphanumeric() || " -_".contains(*c));
            kept.collect::<String>().replace(' ', "-")
        })
        .collect()
}

#[test]
fn the_map_names_every_page() {
    let map = fs::read_to_string(root().join("docs/README.md")).unwrap();
    let pages = documents().into_iter().filter(|file| {
        let page = file.strip_prefix("docs/");
        page.is_some_and(|page| page != "README.md" && !page.starts_with("oracles/"))
    });
    let missing: Vec<_> = pages
        .filter(|file| !map.contains(&format!("]({})", file.strip_prefix("docs/").unwrap())))
        .collect();
    assert!(
        missing.is_empty() && map.contains("](oracles/)"),
        "{missing:?}"
    );
}

#[test]
fn every_relative_link_leads_somewhere() {
    let mut count = 0;
    let more = ["README.zh.md", "CONTRIBUTING.md"].map(str::to_owned);
    for file in documents().into_iter().chain(more) {
        let dir = Path::new(&file).parent().unwrap().to_owned();
        for line in prose(&file) {
            for part in line.split("](").skip(1) {
                let target = part.split(')').next().unwrap();
                if target.contains("://") || target.contains(char::is_whitespace) {
                    continue;
                }
                count += 1;
                let (path, anchor) = target.split_once('#').unwrap_or((target, ""));
                let path = if path.is_empty() {
                    PathBuf::from(&file)
                } else {
                    dir.join(path)
                };
                assert!(
                    root().join(&path).exists(),
                    "{file}: `{target}` leads nowhere"
                );
                let has_anchor = || headings(path.to_str().unwrap()).iter().any(|h| h == anchor);
                assert!(
                    anchor.is_empty() || has_anchor(),
                    "{file}: `{target}` has no such heading"
                );
            }
        }
    }
    assert!(count > 60, "{count}");
}
