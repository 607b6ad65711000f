//! Each case: a command line, and the inner commands that must be found in it, or with ` </- ` must not.

use std::path::{Path, PathBuf};

use ahp::shell::{Analysis, Surroundings, analyse};

fn look(command: &str) -> Analysis {
    analyse(
        command,
        Surroundings {
            work_dir: PathBuf::from("/home/u/p"),
            home: Some(PathBuf::from("/home/u")),
            project_root: PathBuf::from("/home/u/p"),
        },
    )
}

fn displayed(command: &str) -> Vec<String> {
    look(command)
        .invocations
        .iter()
        .map(|invocation| invocation.display())
        .collect()
}

#[test]
fn every_way_to_run_a_program_is_seen_through() {
    let mut wrong = Vec::new();
    for line in include_str!("finds.txt").lines() {
        let (wanted, command, is_wanted) = match (line.split_once(" <- "), line.split_once(" </- "))
        {
            (Some((wanted, command)), _) => (wanted, command, true),
            (_, Some((unwanted, command))) => (unwanted, command, false),
            _ => continue,
        };
        let command = command.replace("\\n", "\n");
        let found = displayed(&command);
        if found.iter().any(|one| one == wanted) != is_wanted {
            let wish = if is_wanted { "wanted" } else { "not wanted" };
            wrong.push(format!(
                "{command:?}\n   {wish} {wanted:?}\n   found  {found:?}"
            ));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn text_that_only_mentions_a_command_runs_nothing() {
    let mut wrong = Vec::new();
    for line in include_str!("mentions.txt").lines() {
        let command = line.replace("\\n", "\n");
        let found = look(&command).programs();
        if found.iter().any(|p| p == "rm") {
            wrong.push(format!("{command:?} {found:?}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn issue_commands_are_found_with_their_bypass() {
    let found =
        look("cd x && MONOCO=1 uv run monoco issue submit FEAT-0123 --force").issue_commands();
    assert_eq!(found.len(), 1);
    assert_eq!(found[0].verb, "submit");
    assert_eq!(found[0].issue_id.as_deref(), Some("FEAT-0123"));
    assert_eq!(found[0].bypass.as_deref(), Some("--force"));
    for command in [
        "bash -c 'monoco issue close --no-hooks FIX-1'",
        "python3 -m monoco issue close FIX-1 --no-hooks",
        "sudo -u me env A=1 timeout 5 monoco --root . issue close FIX-1 --no-hooks",
    ] {
        let found = look(command).issue_commands();
        assert_eq!(found.len(), 1, "{command}");
        assert_eq!(found[0].verb, "close");
        assert_eq!(found[0].issue_id.as_deref(), Some("FIX-1"));
        assert_eq!(found[0].bypass.as_deref(), Some("--no-hooks"));
    }
    let created = look("monoco issue create feature -t 'A title' --parent EPIC-1").issue_commands();
    assert_eq!(created[0].verb, "create");
    assert_eq!(created[0].issue_id, None);
    assert!(
        look("echo monoco issue submit X")
            .issue_commands()
            .is_empty()
    );
    assert!(
        look("git commit -m 'monoco issue submit X'")
            .issue_commands()
            .is_empty()
    );
    assert!(look("monoco issue list").issue_commands().is_empty());
}

#[test]
fn commit_messages_are_read() {
    assert_eq!(
        look("git add -A && git -C x commit -am 'feat: a' -m body").git_commit_messages(),
        ["feat: a\n\nbody"]
    );
    assert_eq!(
        look("git commit -m \"$(cat <<'EOF'\nfix: it's `x`\n\nwhy\nEOF\n)\"").git_commit_messages(),
        ["fix: it's `x`\n\nwhy"]
    );
    assert_eq!(
        look("git commit -F - <<EOF\nfeat: b\nEOF").git_commit_messages(),
        ["feat: b"]
    );
}

#[test]
fn paths_are_resolved() {
    let writes = |command: &str| -> Vec<PathBuf> {
        look(command).writes().into_iter().map(|e| e.path).collect()
    };
    for command in [
        "echo x > .ahp/hooks.yaml",
        "cd src && echo x > ../.ahp/hooks.yaml",
        "tee ~/p/.ahp/hooks.yaml < y",
        "sed -i s/a/b/ $HOME/p/./.ahp/hooks.yaml",
        "cp x .ahp/hooks.yaml",
        "python3 -c \"open('.ahp/hooks.yaml','w').write('')\"",
        "node -e \"require('fs').writeFileSync('.ahp/hooks.yaml','')\"",
        "dd if=/dev/null of=.ahp/hooks.yaml",
        "git checkout -- .ahp/hooks.yaml",
        "F=.ahp/hooks.yaml; : > $F",
        "mv .ahp/hooks.yaml /tmp/x",
        "python3 - <<'E'\nfrom pathlib import Path\np = Path('.ahp/hooks.yaml')\np.write_text('')\nE",
    ] {
        assert!(
            writes(command).contains(&Path::new("/home/u/p/.ahp/hooks.yaml").to_owned()),
            "{command}: {:?}",
            writes(command)
        );
    }
    assert!(writes("cat .ahp/hooks.yaml | grep x 2>&1").is_empty());
}
