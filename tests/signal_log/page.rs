//! The page `docs/signal-log.md`: what it tells people to type works, and the files that it names are the files there are.

use std::fs;
use std::path::Path;

use ahp::process::Program;

use super::command::project;

fn page() -> String {
    fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/signal-log.md")).unwrap()
}

#[test]
fn its_commands_run() {
    let dir = project();
    let bin = Path::new(env!("CARGO_BIN_EXE_ahp")).parent().unwrap();
    let path = format!("{}:/usr/local/bin:/usr/bin:/bin", bin.display());
    let page = page();
    let commands: Vec<&str> = page
        .lines()
        .filter_map(|line| line.strip_prefix("$ "))
        .collect();
    assert!(commands.len() > 10, "{commands:?}");
    for command in commands {
        let done = Program::shell(command)
            .dir(dir.path())
            .env("PATH", &path)
            .env("HOME", dir.path())
            .run()
            .unwrap();
        assert!(
            done.exit.is_success(),
            "{command}: {}{}",
            done.stdout_text(),
            done.stderr_text()
        );
    }
}

#[test]
fn its_columns_are_those_of_the_table() {
    let dir = project();
    let done = Program::new(vec![
        env!("CARGO_BIN_EXE_ahp").to_owned(),
        "log".to_owned(),
        "stats".to_owned(),
    ])
    .dir(dir.path())
    .env("HOME", dir.path())
    .run()
    .unwrap();
    let table = done.stdout_text();
    for line in page()
        .lines()
        .filter(|line| line.starts_with("| `") && line.contains("` | "))
    {
        for name in line.split('|').nth(1).unwrap().split(", ") {
            let name = name.trim().trim_matches('`');
            if name
                .chars()
                .all(|c| c.is_ascii_uppercase() || c.is_ascii_digit())
            {
                assert!(table.contains(name), "{name}: {table}");
            }
        }
    }
}
