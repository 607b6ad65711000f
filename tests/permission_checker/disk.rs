//! What lies on the disk decides: files of secrets that a search comes upon, and scripts that a command line runs.

use serde_json::json;

use super::oracle::evaluate;
use crate::world::{World, executable};

/// A project with secrets that git ignores, with scripts, and with one that a commit holds.
fn project() -> World {
    let world = World::new("");
    world.write(".gitignore", ".env\nkeys/\n.ahp/\n");
    world.write(
        ".env",
        "# settings\nPORT=3000\nSTRIPE_SECRET_KEY=sk_live_0123456789abcdefghij\nDB_PASSWORD=hunter22x\n",
    );
    world.write(
        "keys/server.pem",
        "-----BEGIN PRIVATE KEY-----\nMIIEvQIBADANBgkqhkiG9w0BAQEFAASC\n-----END PRIVATE KEY-----\n",
    );
    world.write(
        "compose.yml",
        "services: {a: {environment: {P: '${DB_PASSWORD}'}}}\n",
    );
    world.write(
        "other.yml",
        "services: {a: {environment: {P: '${PORT}'}}}\n",
    );
    world.write("README.md", "Set KEY first.\n");
    world.write("VERSION", "1.2.3\n");
    world.write("src/a.ts", "export const KEY = 'name';\n");
    world.write("vendor/lib.c", "int a;\n");
    world.write("site/index.html", "<p>\n");
    world.write("node_modules/x/.env", "API_KEY=0123456789abcdef0123\n");
    world.write("committed.sh", "#!/bin/sh\nrm -rf data\n");
    world.git_init();
    let script = |name: &str, text: &str| executable(&world.path(name), text);
    script(
        "scripts/build.sh",
        "#!/usr/bin/env bash\nset -euo pipefail\ncd \"$(dirname \"$0\")/..\"\n\
         ROOT=\"$(cd \"$(dirname \"${BASH_SOURCE[0]}\")/..\" && pwd)\"\n\
         rm -rf dist build \"$ROOT/out\"\nmkdir -p dist\nTMP=$(mktemp -d)\ntrap 'rm -rf \"$TMP\"' EXIT\n\
         for os in linux darwin; do GOOS=$os go build -o \"dist/app-$os\" ./...; done\nnpm ci\n",
    );
    // Names that say nothing for certain: what a commit holds and somebody has changed is no product.
    world.write("vendor/lib.c", "int b;\n");
    script("bad.sh", "rm -rf ~\n");
    script("given.sh", "#!/bin/sh\nrm -rf \"$1\"\n");
    script("outer.sh", "bash bad.sh\n");
    script("loop.sh", "bash loop.sh\n");
    script("fine.sh", "export NAME=value\n");
    executable(&world.path("committed.sh"), "#!/bin/sh\nrm -rf data\n");
    world.write(
        "bad.py",
        "import os, shutil\nshutil.rmtree(os.path.expanduser('~'))\n",
    );
    world.write(
        "fine.py",
        "import shutil, sys, tempfile\nshutil.rmtree(tempfile.mkdtemp())\nshutil.rmtree(sys.argv[1])\n",
    );
    world
}

#[test]
fn the_disk_decides() {
    let world = project();
    let mut rule = "";
    let mut wrong = Vec::new();
    for line in include_str!("disk.txt").lines() {
        if let Some(heading) = line.strip_prefix("## ") {
            rule = heading;
        } else if !line.is_empty() && !line.starts_with("# ") && !rule.is_empty() {
            let command = line.replace("\\n", "\n");
            let input = json!({"command": command});
            let signals = evaluate(&world, "PermissionChecker", "{}", "Bash", input).unwrap();
            let told: Vec<String> = signals
                .iter()
                .map(|signal| signal.payload.text().to_owned())
                .collect();
            let is_right = match rule {
                "free" => told.is_empty(),
                rule => told.iter().any(|text| text.contains(&format!("[{rule}]"))),
            };
            if !is_right {
                wrong.push(format!("{line}   ({rule})   {told:?}"));
            }
        }
    }
    assert!(
        wrong.is_empty(),
        "{} wrong:\n{}",
        wrong.len(),
        wrong.join("\n")
    );
}

#[test]
fn the_reason_names_the_file_of_secrets_and_the_script() {
    let world = project();
    let told = |command: &str| {
        let input = json!({"command": command});
        let signals = evaluate(&world, "PermissionChecker", "{}", "Bash", input).unwrap();
        signals[0].payload.text().to_owned()
    };
    assert!(told("grep -rn STRIPE .").contains("`.env` is among them"));
    assert!(told("bash outer.sh").contains("(through outer.sh, bad.sh)"));
}

/// A project with secrets that no list leaves out, and one that a commit holds.
fn open_project() -> World {
    let world = World::new("");
    world.write(".gitignore", "ignored/\n.ahp/\n");
    world.write("ignored/prod.env", "DB_PASSWORD=hunter22x\n");
    world.write("shared/test.env", "DB_PASSWORD=hunter22x\n");
    world.write("src/a.ts", "export const DB_PASSWORD = 'name';\n");
    world.write("docs/a.md", "Set DB_PASSWORD first.\n");
    world.git_init();
    world.write("deploy/prod.env", "DB_PASSWORD=hunter22x\n");
    world.write("keys/deep/server.key", "MIIEvQIBADANBgkqhkiG9w0BAQEFAASC\n");
    world
}

#[test]
fn a_search_finds_secrets_that_git_neither_ignores_nor_holds() {
    let world = open_project();
    let told = |tool: &str, input: serde_json::Value| {
        let signals = evaluate(&world, "PermissionChecker", "{}", tool, input).unwrap();
        let texts = signals
            .iter()
            .map(|signal| signal.payload.text().to_owned());
        texts.collect::<String>()
    };
    let grep = |path: &str, more: serde_json::Value| {
        let mut input = json!({"pattern": "PASSWORD", "path": path, "output_mode": "content"});
        let fields = input.as_object_mut().unwrap();
        fields.extend(more.as_object().unwrap().clone());
        input
    };
    let many = "mcp__filesystem__read_multiple_files";
    for (tool, input) in [
        ("Bash", json!({"command": "rg PASSWORD deploy"})),
        ("Bash", json!({"command": "rg PASSWORD"})),
        ("Bash", json!({"command": "rg . keys"})),
        ("Bash", json!({"command": "rg PASSWORD ignored"})),
        ("Grep", grep("deploy", json!({}))),
        ("Grep", grep(".", json!({}))),
        ("Grep", grep(".", json!({"glob": "prod*"}))),
        (
            "Grep",
            json!({"pattern": ".", "path": "keys", "glob": "serv*", "output_mode": "content"}),
        ),
        ("read_many_files", json!({"include": ["keys/**"]})),
        ("read_many_files", json!({"include": ["**/serv*"]})),
        ("read_many_files", json!({"paths": ["deploy/p*"]})),
        ("read_many_files", json!({"paths": ["deploy/{prod,x}.*"]})),
        (many, json!({"paths": ["deploy/*"]})),
    ] {
        let text = told(tool, input.clone());
        assert!(text.contains("is among them"), "{tool} {input}: {text}");
    }
    for (tool, input) in [
        ("Bash", json!({"command": "rg PASSWORD src docs"})),
        ("Bash", json!({"command": "rg PASSWORD shared"})),
        ("Bash", json!({"command": "rg -l PASSWORD"})),
        ("Bash", json!({"command": "rg TODO"})),
        ("Bash", json!({"command": "git log | rg PASSWORD"})),
        ("Bash", json!({"command": "rg PASSWORD < docs/a.md"})),
        ("Grep", grep("src", json!({}))),
        ("Grep", grep("shared", json!({}))),
        ("Grep", grep(".", json!({"glob": "*.ts"}))),
        (
            "Grep",
            grep(".", json!({"output_mode": "files_with_matches"})),
        ),
        ("Grep", json!({"pattern": "TODO", "output_mode": "content"})),
        ("mcp__github__search_code", json!({"query": "DB_PASSWORD"})),
        (
            "read_many_files",
            json!({"include": ["src/**", "docs/*.md"]}),
        ),
        (many, json!({"paths": ["docs/*"]})),
    ] {
        assert_eq!(told(tool, input.clone()), "", "{tool} {input}");
    }
}
