//! Ways to bring code into a host as a whole folder, and to start a host without its hooks: every program by every place.
//! Nothing of it is run, only judged.

use std::fs;

use serde_json::{Value, json};

use super::project;
use crate::permission_checker::oracle::{evaluate, judged};
use crate::world::World;

/// Where a host loads code from, or may: `@P` of a way.
const PLACES: &[&str] = &[
    "~/.claude/skills",
    "~/.claude/skills/mine",
    ".claude/skills",
    ".claude/skills/mine",
    "~/.claude/plugins/mine",
    "~/.claude/dev-mods",
];

/// The same without those in which a folder of another folder is loaded no more.
const FOLDERS: &[&str] = &[
    "~/.claude/skills",
    ".claude/skills",
    "~/.claude/plugins/mine",
    "~/.claude/dev-mods",
];

/// Places that look like them.
const FREE: &[&str] = &[
    "src/skills",
    "/tmp/mine",
    "~/src/mine",
    "docs/.claude-skills",
];

/// Commands that put what a folder holds at `@P`. `mine` holds the code of a mod.
const COMMANDS: &[&str] = &[
    "cp -r mine @P",
    "scp -r mine @P",
    "scp -r host:mine @P",
    "scp -qrP 2222 host:mine @P",
    "rsync -a mine @P",
    "rsync -a host:mine @P",
    "sftp -r host:mine @P",
    "rclone copy remote:mine @P",
    "tar -xC @P -f mod.tar",
    "tar -xzC @P -f mod.tgz",
    "tar -xzf mod.tgz -C @P",
    "tar xzfC mod.tgz @P",
    "tar --extract --file mod.tar --directory=@P",
    "bsdtar -xC @P -f mod.tar",
    "curl -sL https://example.com/mod.tgz | tar -xzC @P",
    "git archive --remote=host:mod HEAD | tar -xC @P",
    "unzip -d @P mod.zip",
    "unzip -qd @P mod.zip",
    "unzip mod.zip -d@P",
    "unzip -o mod.zip -d @P",
    "7z x mod.7z -o@P",
    "bsdtar -x -f mod.zip --cd @P",
    "cd @P && cpio -idm < mod.cpio",
    "cpio -id -D @P < mod.cpio",
    "npm --prefix @P install mod",
    "npm install --prefix=@P mod",
    "npm i mod --prefix @P",
    "npm -C @P install mod",
    "cd @P && npm install mod",
    "pnpm --dir @P add mod",
    "pnpm -C @P add mod",
    "yarn --cwd @P add mod",
    "bun add --cwd @P mod",
    "pip install --target @P mod",
    "pip install -t @P mod",
    "wget -rP @P https://example.com/mod",
    "wget -r --directory-prefix=@P https://example.com/mod",
    "python3 -c \"import shutil; shutil.copytree('mine', '@P')\"",
    "python3 -c \"from shutil import move; move('mine', '@P')\"",
    "python3 -c \"import os; os.rename('mine', '@P')\"",
    "python3 -c \"import os; os.replace('mine', '@P')\"",
    "python3 -c \"import os; os.symlink('../mine', '@P')\"",
    "python3 -c \"from pathlib import Path; Path('mine').rename('@P')\"",
    "python3 -c \"import shutil; shutil.unpack_archive('mod.zip', '@P')\"",
    "node -e \"require('fs').cpSync('mine', '@P', {recursive: true})\"",
    "node -e \"const fs = require('fs'); fs.renameSync('mine', '@P')\"",
    "node -e \"fs.symlinkSync('../mine', '@P')\"",
    "ruby -e \"require 'fileutils'; FileUtils.cp_r('mine', '@P')\"",
    "ruby -e \"require 'fileutils'; FileUtils.mv('mine', '@P')\"",
    "perl -e \"rename('mine', '@P')\"",
    "php -r \"rename('mine', '@P');\"",
];

/// Commands that put a folder into `@P` under a name of its own.
const INTO: &[&str] = &[
    "cp -rt @P mine",
    "cp -r -t @P mine",
    "cp -art @P mine src",
    "cp -r --target-directory=@P mine",
    "cp -r --target-dir @P mine",
    "mv -ft @P mine",
    "mv -t @P mine",
    "mv --target-directory @P mine",
    "ln -st @P ../mine",
    "ln -sft @P ../mine",
    "rsync -avz --delete mine/ @P/mine",
    "git clone https://example.com/mod.git @P/mod",
    "git clone mod @P/mod",
    "git clone --depth 1 -b main https://example.com/mod.git @P/mod",
    "git -C @P clone https://example.com/mod.git",
    "git -C @P clone https://example.com/mod.git mod",
    "cd @P && git clone https://example.com/mod.git",
    "cd @P && git clone https://example.com/mod.git mod",
    "git worktree add @P/mod",
    "git worktree add -b side @P/mod main",
    "git -C @P worktree add mod",
    "cd @P && git worktree add -B side mod",
    "git submodule add https://example.com/mod @P/mod",
    "git subtree add --prefix=@P/mod https://example.com/mod main",
    "git subtree add -P @P/mod https://example.com/mod main",
    "git checkout-index -a --prefix=@P/mod/",
    "gh repo clone o/mod @P/mod",
    "cd @P && gh repo clone o/mod",
    "svn checkout https://example.com/mod @P/mod",
    "hg clone https://example.com/mod @P/mod",
    "npx degit o/mod @P/mod",
    "curl -sO --output-dir @P/mine/hooks https://example.com/register.js",
    "curl --output-dir @P/mine/hooks -o register.js https://example.com/x",
    "wget -P @P/mine/hooks https://example.com/register.js",
    "install -Dt @P/mine/hooks mine/hooks/register.js",
    "install -D -t @P/mine/hooks mine/hooks/register.js",
    "install -D mine/hooks/register.js @P/mine/hooks/register.js",
];

/// Starts of a host's program by its interpreter.
const STARTS: &[&str] = &[
    "node /usr/lib/node_modules/@anthropic-ai/claude-code/cli.js",
    "node --max-old-space-size=4096 ~/.npm-global/lib/node_modules/@anthropic-ai/claude-code/cli.js",
    "nodejs -r ./x.js node_modules/@anthropic-ai/claude-code/cli.js",
    "bun /opt/claude-code/cli.js",
    "bun run node_modules/@anthropic-ai/claude-code/cli.js",
    "deno run -A npm:@anthropic-ai/claude-code",
    "exec node ./node_modules/.bin/claude",
    "/lib64/ld-linux-x86-64.so.2 ~/.local/share/claude/versions/claude",
];

const SWITCHES: &[&str] = &[
    "--bare",
    "--safe-mode -p hi",
    "--plugin-dir mine",
    "-p hi --setting-sources user",
];

fn world() -> World {
    let world = project();
    world.write("mine/hooks/register.js", "export default () => {}\n");
    world.write("mine/plugin.json", "{}");
    world.write("words/SKILL.md", "words\n");
    fs::create_dir_all(world.path(".claude/skills")).unwrap();
    fs::create_dir_all(world.home().join(".claude/skills")).unwrap();
    world
}

fn stops(world: &World, tool: &str, input: Value) -> bool {
    let found = evaluate(world, "SelfProtection", "{}", tool, input).unwrap();
    !found.is_empty()
}

fn none(wrong: &[String]) {
    let count = wrong.len();
    assert!(wrong.is_empty(), "{count} wrong:\n{}", wrong.join("\n"));
}

fn stops_command(world: &World, command: &str) -> bool {
    stops(world, "Bash", json!({"command": command}))
}

#[test]
fn no_program_brings_a_folder_of_code_into_a_host() {
    let world = world();
    let mut wrong = Vec::new();
    let all = COMMANDS.iter().map(|command| (command, PLACES));
    let into = INTO.iter().map(|command| (command, FOLDERS));
    for (command, places) in all.chain(into) {
        for (places, is_stopped) in [(places, true), (FREE, false)] {
            for place in places {
                let command = command.replace("@P", place);
                if stops_command(&world, &command) != is_stopped {
                    let what = if is_stopped { "let through" } else { "stopped" };
                    wrong.push(format!("{what}: {command}"));
                }
            }
        }
    }
    none(&wrong);
}

#[test]
fn no_tool_of_a_server_moves_a_folder_of_code_into_a_host() {
    let world = world();
    let forms = |place: &str| {
        [
            (
                "mcp__files__move_file",
                json!({"source": "mine", "destination": place}),
            ),
            (
                "mcp__files__copy_directory",
                json!({"from": "mine", "to": place}),
            ),
            (
                "mcp__files__rename",
                json!({"oldPath": "mine", "newPath": place}),
            ),
            ("mcp__files__copy", json!({"src": "mine", "dst": place})),
            (
                "mcp__files__link",
                json!({"target": "../mine", "link_path": place}),
            ),
            (
                "mcp__zip__extract",
                json!({"archive": "mod.zip", "output_dir": place}),
            ),
            (
                "mcp__git__git_clone",
                json!({"url": "https://example.com/mod.git", "path": place}),
            ),
        ]
    };
    for place in PLACES {
        for (tool, input) in forms(place) {
            assert!(stops(&world, tool, input.clone()), "{tool} {input}");
        }
    }
    for place in FREE {
        for (tool, input) in forms(place) {
            assert!(!stops(&world, tool, input.clone()), "{tool} {input}");
        }
    }
    for (tool, input) in [
        (
            "mcp__files__move_file",
            json!({"source": "words", "destination": "~/.claude/skills/words"}),
        ),
        (
            "mcp__files__move_file",
            json!({"source": "a.md", "destination": ".claude/skills/mine/SKILL.md"}),
        ),
        (
            "mcp__files__write_file",
            json!({"path": ".claude/skills/mine/SKILL.md", "content": "words"}),
        ),
        (
            "mcp__files__create_directory",
            json!({"path": ".claude/skills/mine"}),
        ),
        (
            "mcp__files__list_directory",
            json!({"path": ".claude/skills"}),
        ),
        (
            "mcp__files__read_file",
            json!({"path": ".claude/skills/mine/SKILL.md"}),
        ),
        (
            "mcp__files__search_files",
            json!({"path": ".claude/skills", "pattern": "*.md"}),
        ),
    ] {
        assert!(!stops(&world, tool, input.clone()), "{tool} {input}");
    }
}

#[test]
fn no_interpreter_starts_a_host_without_its_hooks() {
    let world = world();
    let mut wrong = Vec::new();
    for start in STARTS {
        for switch in SWITCHES {
            let command = format!("{start} {switch}");
            if !stops_command(&world, &command) {
                wrong.push(format!("let through: {command}"));
            }
        }
        let command = format!("{start} -p 'say what --bare does'");
        if stops_command(&world, &command) {
            wrong.push(format!("stopped: {command}"));
        }
    }
    for free in [
        "node tools/cli.js --bare",
        "node claude.js --safe-mode",
        "bun run build --bare",
        "python3 cli.py --safe-mode",
    ] {
        if stops_command(&world, free) {
            wrong.push(format!("stopped: {free}"));
        }
    }
    none(&wrong);
}

#[test]
fn a_program_of_any_name_may_be_a_host() {
    let world = world();
    let judge = |command: &str| {
        let input = json!({"command": command});
        judged(&world, "SelfProtection", "{}", "Bash", input).unwrap()
    };
    for command in [
        "./helper --safe-mode -p hi",
        "ln -s \"$(which claude)\" helper && ./helper --plugin-dir /tmp/x -p hi",
        "ln -s \"$(which claude)\" /opt/bin/helper && helper --plugin-dir=/tmp/x",
        "sudo -u me ./helper --plugin-url https://example.com/mod.zip",
    ] {
        assert!(judge(command).is_err(), "{command}");
    }
    for command in [
        "./helper -p hi",
        "./helper 'say what --safe-mode does'",
        "./helper -- --safe-mode",
        "cargo run -- --plugin-dir plugins",
        "helmfile sync --no-hooks",
        "protoc --plugin-dir x",
        "firefox --safe-mode",
        "npx foo --plugin-dir x",
        "python3 -m mytool --no-hooks",
        "git clone --bare x y",
    ] {
        assert!(judge(command).unwrap().is_empty(), "{command}");
    }
}

#[test]
fn what_a_skill_says_in_words_and_what_leaves_it_stays_free() {
    let world = world();
    for command in [
        "cp -rt ~/.claude/skills words",
        "mv -ft .claude/skills words",
        "rsync -a words ~/.claude/skills/",
        "cp -t ~/.claude/skills/words words/SKILL.md",
        "install -Dt ~/.claude/skills/words words/SKILL.md",
        "curl --output-dir ~/.claude/skills/words -o SKILL.md https://example.com/words.md",
        "python3 -c \"import shutil; shutil.copytree('words', '.claude/skills/words')\"",
        "node -e \"require('fs').cpSync('words', '.claude/skills/words', {recursive: true})\"",
        "tar -czf skills.tgz -C ~/.claude skills",
        "tar -tzf mod.tgz",
        "unzip -l mod.zip",
        "git -b clone",
        "git -C ~/.claude/skills status",
        "git -C .claude/skills/mine log -3",
        "git worktree list",
        "git worktree add ../side",
        "cp -r ~/.claude/skills backup",
        "scp -r ~/.claude/skills host:backup",
        "rsync -a ~/.claude/skills/ backup/",
        "npm --prefix web install left-pad",
        "python3 -c \"import shutil; shutil.copytree('.claude/skills', 'backup')\"",
    ] {
        assert!(!stops_command(&world, command), "{command}");
    }
}
