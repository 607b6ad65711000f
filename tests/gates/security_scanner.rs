//! SecurityScanner on changes and tool calls.

use ahp::signal::Intensity;
use serde_json::json;

use super::project::{Project, only, refused, script, tool};

/// A token of GitHub's form, made here so that no scanner finds it in this file.
fn token() -> String {
    format!("ghp_{NOISE}")
}

const NOISE: &str = "k3Jx9QmZ2vLpR8tWyB5cN7dF4gH6sA1eU0iO";

#[test]
fn only_added_lines_count_and_the_secret_is_never_shown() {
    let secret = token();
    let project = Project::new(&[("old.py", &format!("a = 1\nkey = '{secret}'\n"))]).in_git();
    project.write("old.py", format!("a = 2\nkey = '{secret}'\n"));
    assert!(project.judge("SecurityScanner", "").is_empty());
    project.write("src/new.py", format!("x = 1\ny = 2\nkey = '{secret}'\n"));
    let signals = project.judge("SecurityScanner", "");
    let (kind, intensity, reason) = only(&signals);
    assert_eq!((kind, intensity), ("security-finding", Intensity::Block));
    assert!(
        reason.contains("src/new.py:3") && reason.contains("github-token"),
        "{reason}"
    );
    let everything = format!("{} {signals:?}", serde_json::to_string(&signals).unwrap());
    assert!(!everything.contains(&secret) && !everything.contains(NOISE));

    // Committed on the branch, it is still added by the branch.
    project.git(&["add", "-A"]);
    project.git(&["commit", "-q", "-m", "oops"]);
    let reason = only(&project.judge("SecurityScanner", "")).2.to_owned();
    let fingerprint = reason
        .rsplit_once(", ")
        .unwrap()
        .1
        .trim_end_matches(')')
        .to_owned();
    for allow in [
        format!("{{allow: {{fingerprints: ['{fingerprint}']}}}}"),
        format!("{{allow: ['{fingerprint}']}}"),
        "{allow: ['src/new.py:github-token:3']}".to_owned(),
        "{allow: {paths: ['src/**']}}".to_owned(),
        "{allow: ['src/*.py']}".to_owned(),
        "{rules: [no-sql-injection]}".to_owned(),
    ] {
        assert!(
            project.judge("SecurityScanner", &allow).is_empty(),
            "{allow}"
        );
    }
}

#[test]
fn what_a_tool_is_about_to_write_is_scanned() {
    let project = Project::new(&[]).in_git();
    let secret = token();
    let judge = |event| {
        project
            .judge_event("SecurityScanner", "", event, 10.0)
            .unwrap()
    };
    let signals = judge(tool(
        "Write",
        json!({"file_path": project.root().join("a/.env"), "content": format!("A=1\nTOKEN={secret}\n")}),
    ));
    assert!(
        only(&signals).2.contains("a/.env:2"),
        "{}",
        only(&signals).2
    );
    assert_eq!(
        judge(tool(
            "Bash",
            json!({"command": format!("cat > .env <<EOF\nTOKEN={secret}\nEOF")})
        ))
        .len(),
        1
    );
    let injection =
        "def f(cur, name):\n    cur.execute(f\"SELECT * FROM users WHERE name = '{name}'\")\n";
    let signals = judge(tool(
        "Write",
        json!({"file_path": "a.py", "content": injection}),
    ));
    assert!(only(&signals).2.contains("a.py:2"), "{}", only(&signals).2);
    assert!(
        judge(tool(
            "Write",
            json!({"file_path": "a.py", "content": "print('hello')\n"})
        ))
        .is_empty()
    );
    assert!(judge(tool("Bash", json!({"command": "ls -la"}))).is_empty());
}

#[test]
fn gravity_decides_between_block_and_prompt() {
    let project = Project::new(&[]).in_git();
    project.write("a.js", format!("const key = 'sk_test_{NOISE}'\n"));
    assert_eq!(
        only(&project.judge("SecurityScanner", "")).1,
        Intensity::Prompt
    );
    assert_eq!(
        only(&project.judge("SecurityScanner", "{severity_threshold: low}")).1,
        Intensity::Block
    );
}

#[test]
fn large_binary_and_lock_files_and_many_files_are_handled() {
    let project = Project::new(&[]).in_git();
    let line = "let x = compute(1, 2, 3); // nothing to see here, only text that is long enough to matter\n";
    let mut large = line.repeat((50 << 20) / line.len());
    large.push_str(&format!("key = \"{}\"\n", token()));
    project.write("large.txt", &large);
    project.write(
        "image.bin",
        [b"\0\x01\x02".as_slice(), token().as_bytes()].concat(),
    );
    project.write("package-lock.json", format!("{{\"token\": \"{NOISE}\"}}\n"));
    let signals = project.judge("SecurityScanner", "");
    assert_eq!(signals[0].context.files, ["image.bin", "large.txt"]);

    let many = Project::new(&[]).in_git();
    for n in 0..10_000 {
        many.write(&format!("d{}/f{n}.txt", n % 100), "nothing\n");
    }
    assert!(many.judge("SecurityScanner", "").is_empty());
}

#[test]
fn nothing_hides_what_a_change_adds() {
    let utf_16: Vec<u8> = format!("key = '{}'\n", token())
        .encode_utf16()
        .flat_map(u16::to_le_bytes)
        .collect();
    let project = Project::new(&[
        (".gitattributes", "*.dat -diff\n*.raw binary\n"),
        ("a.dat", "a\n"),
        ("b.raw", "b\n"),
        ("c.txt", "c\n"),
        ("d.txt", "d\n"),
    ])
    .in_git();
    for path in ["a.dat", "b.raw"] {
        project.write(path, format!("x\nkey = '{}'\n", token()));
    }
    project.write("c.txt", format!("c\0\nkey = '{}'\n", token()));
    project.write("d.txt", &utf_16);
    project.write("new.txt", &utf_16);
    let signals = project.judge("SecurityScanner", "");
    assert_eq!(
        signals[0].context.files,
        ["a.dat", "b.raw", "c.txt", "d.txt", "new.txt"]
    );
}

fn commit(project: &Project, message: &str) {
    project.git(&["add", "-A"]);
    project.git(&["commit", "-q", "-m", message]);
}

/// A secret that a commit adds is pushed with it, whether or not a later commit takes it away.
#[test]
fn what_was_committed_and_removed_is_found() {
    let project = Project::new(&[("a.txt", "a\n")]).in_git();
    project.write("a.txt", format!("a\nkey = '{}'\n", token()));
    commit(&project, "Add a key");
    project.write("a.txt", "a\n");
    project.write("b.txt", "b\n");
    commit(&project, "Take it away");
    let signals = project.judge("SecurityScanner", "");
    assert_eq!(signals[0].context.files, ["a.txt"]);
    let text = signals[0].payload.text();
    assert!(text.contains("a.txt:2 of commit "), "{text}");
    // What stands there still is told once.
    project.write("c.txt", format!("key = '{}'\n", token()));
    commit(&project, "Add it elsewhere");
    let signals = project.judge("SecurityScanner", "");
    assert_eq!(signals[0].context.files, ["a.txt", "c.txt"]);
    assert!(signals[0].payload.text().starts_with("2 security findings"));
}

/// The message of a commit is pushed as its files are.
#[test]
fn the_message_of_a_commit_is_looked_into() {
    let project = Project::new(&[("a.txt", "a\n")]).in_git();
    let message = format!("Add b\n\n+++ b/x\n@@ -1 +1 @@\nwith {}", token());
    project.write("b.txt", "b\n");
    commit(&project, &message);
    project.write("c.txt", "c\n");
    commit(&project, "Add c, with the password from the store");
    let signals = project.judge("SecurityScanner", "");
    let text = signals[0].payload.text();
    assert!(text.starts_with("1 security finding"), "{text}");
    assert!(text.contains("in the message of commit "), "{text}");
}

/// A clone can show other commits than those that it pushes.
#[test]
fn replacements_and_grafts_hide_no_commit() {
    let project = Project::new(&[("a.txt", "a\n")]).in_git();
    project.write("b.txt", format!("key = '{}'\n", token()));
    commit(&project, "Add a key");
    project.git(&["tag", "with-key"]);
    project.write("b.txt", "b\n");
    commit(&project, "Take it away");
    let is_found = || {
        let signals = project.judge("SecurityScanner", "");
        signals[0].payload.text().contains("b.txt:1 of commit ")
    };
    project.git(&["replace", "with-key", "with-key~1"]);
    assert!(is_found());
    project.git(&["replace", "-d", "with-key"]);
    for (name, revision) in [("last", "HEAD"), ("first", "with-key~1")] {
        project.git(&["tag", name, revision]);
    }
    let id = |tag: &str| project.read(&format!(".git/refs/tags/{tag}"));
    let graft = format!("{} {}", id("last").trim(), id("first"));
    project.write(".git/info/grafts", graft);
    assert!(is_found());
}

/// Without a remote nothing says what was pushed: all of it will be.
#[test]
fn what_was_committed_on_the_only_branch_is_found() {
    let project = Project::new(&[("a.txt", "a\n")]).in_git();
    project.git(&["checkout", "-q", "main"]);
    project.git(&["branch", "-q", "-D", "work"]);
    assert!(project.judge("SecurityScanner", "").is_empty());
    project.write("a.txt", format!("a\nkey = '{}'\n", token()));
    commit(&project, "Add a key");
    let signals = project.judge("SecurityScanner", "");
    assert_eq!(signals[0].context.files, ["a.txt"]);
    project.write("a.txt", "a\n");
    commit(&project, "Take it away");
    let signals = project.judge("SecurityScanner", "");
    assert!(signals[0].payload.text().contains("a.txt:2 of commit "));
    // What the remote has is no change any more.
    project.git(&["update-ref", "refs/remotes/origin/main", "HEAD"]);
    assert!(project.judge("SecurityScanner", "").is_empty());
}

/// The settings of a repository can have git look at another folder.
#[test]
fn another_working_tree_in_the_settings_hides_nothing() {
    let project = Project::new(&[("a.txt", "a\n")]).in_git();
    let elsewhere = project.root().join(".git/elsewhere");
    std::fs::create_dir(&elsewhere).unwrap();
    std::fs::copy(project.root().join("a.txt"), elsewhere.join("a.txt")).unwrap();
    project.git(&["config", "core.worktree", elsewhere.to_str().unwrap()]);
    for path in ["a.txt", "new.txt"] {
        project.write(path, format!("key = '{}'\n", token()));
    }
    let signals = project.judge("SecurityScanner", "");
    assert_eq!(signals[0].context.files, ["a.txt", "new.txt"]);
}

/// Git can be told not to look whether a file has changed.
#[test]
fn flags_of_the_index_hide_nothing() {
    let project = Project::new(&[("a.txt", "a\n"), ("b.txt", "b\n"), ("c.txt", "c\n")]).in_git();
    project.git(&["update-index", "--assume-unchanged", "a.txt", "c.txt"]);
    project.git(&["update-index", "--skip-worktree", "b.txt"]);
    assert!(project.judge("SecurityScanner", "").is_empty());
    for path in ["a.txt", "b.txt"] {
        project.write(path, format!("key = '{}'\n", token()));
    }
    let signals = project.judge("SecurityScanner", "");
    assert_eq!(signals[0].context.files, ["a.txt", "b.txt"]);
    let signals = project.judge("FileChangeLimiter", "{max_files: 1, action: block}");
    assert_eq!(signals[0].context.files, ["a.txt", "b.txt"]);
}

/// What the commits of a submodule add is part of the change.
#[test]
fn a_submodule_hides_nothing() {
    let inner = Project::new(&[("x.txt", "x\n")]).in_git();
    let project = Project::new(&[("a.txt", "a\n")]).in_git();
    let from = inner.root().display().to_string();
    project.git(&[
        "-c",
        "protocol.file.allow=always",
        "submodule",
        "add",
        "-q",
        &from,
        "lib",
    ]);
    commit(&project, "Add a library");
    project.write("lib/x.txt", format!("key = '{}'\n", token()));
    let commit = [
        "-c",
        "user.name=a",
        "-c",
        "user.email=a@b.c",
        "commit",
        "-qam",
        "Add a key",
    ];
    project.git(&[&["-C", "lib"], &commit[..]].concat());
    let signals = project.judge("SecurityScanner", "");
    assert_eq!(signals[0].context.files, ["lib/x.txt"]);
    // Nor does a setting that says not to look at it.
    project.git(&["config", "-f", ".gitmodules", "submodule.lib.ignore", "all"]);
    project.git(&["config", "diff.ignoreSubmodules", "all"]);
    let signals = project.judge("SecurityScanner", "");
    assert_eq!(signals[0].context.files, ["lib/x.txt"]);
}

#[test]
fn connection_strings_are_found_and_names_of_models_are_not() {
    let project = Project::new(&[]).in_git();
    project.write(
        "app.config",
        "<add name=\"db\" connectionString=\"Server=db;User=a;Password=k3Jx9QmZ2v;Pooling=true\"/>\n",
    );
    project.write("a.xml", "<Password>k3Jx9QmZ2v</Password>\n");
    project.write(
        "model.py",
        "tokenizer = \"meta-llama/Llama-3.1-8B-Instruct\"\ntoken_model = \"meta-llama/Llama-3.1-8B-Instruct\"\n",
    );
    let signals = project.judge("SecurityScanner", "");
    assert_eq!(signals[0].context.files, ["a.xml", "app.config"]);
}

#[test]
fn own_rules_and_scanners_are_used() {
    let project = Project::new(&[(".ahp/rules.yaml", "rules:\n  - id: internal-id\n    regex: 'INT-[0-9]{6}'\n    keywords: [int-]\n    severity: medium\n")]).in_git();
    project.write("a.txt", "see INT-123456\n");
    let signals = project.judge("SecurityScanner", "{rules: [.ahp/rules.yaml]}");
    assert!(
        only(&signals).2.contains("internal-id"),
        "{}",
        only(&signals).2
    );
    assert!(
        refused(project.oracle("SecurityScanner", "{rules: [no-secret]}"))
            .contains("did you mean `no-secrets`")
    );
    assert!(
        refused(project.oracle("SecurityScanner", "{rules: [none.yaml]}")).contains("none.yaml")
    );
    assert!(
        refused(project.oracle("SecurityScanner", "{severity_treshold: low}"))
            .contains("severity_treshold")
    );

    let sarif = json!({"version": "2.1.0", "runs": [{"tool": {"driver": {"name": "lint", "rules": [{"id": "R1", "properties": {"security-severity": "8.1"}}]}}, "results": [
        {"ruleId": "R1", "message": {"text": "bad thing"}, "locations": [{"physicalLocation": {"artifactLocation": {"uri": "a.txt"}, "region": {"startLine": 1}}}]},
        {"ruleId": "R1", "message": {"text": "not changed"}, "locations": [{"physicalLocation": {"artifactLocation": {"uri": "b.txt"}, "region": {"startLine": 1}}}]}]}]});
    project.write(".ahp/out.sarif", sarif.to_string());
    script(&project, ".ahp/scan", "cat .ahp/out.sarif; exit 1");
    let signals = project.judge(
        "SecurityScanner",
        "{rules: [no-secrets], scanners: .ahp/scan}",
    );
    let (_, intensity, reason) = only(&signals);
    assert_eq!(intensity, Intensity::Block);
    assert!(
        reason.contains("bad thing in a.txt:1 (lint/R1") && !reason.contains("not changed"),
        "{reason}"
    );
    let said = r#"echo '{"version":"2.1.0","runs":[]}'"#;
    for (scanner, told) in [
        ("echo oops >&2", "oops"),
        ("echo {}", "printed no SARIF"),
        (&format!("{said}; kill -9 $$"), "ended by signal 9"),
    ] {
        script(&project, ".ahp/scan", scanner);
        let failed = project.judge_event(
            "SecurityScanner",
            "{scanners: .ahp/scan}",
            super::project::submission(),
            10.0,
        );
        let failure = failed.unwrap_err().to_string();
        assert!(failure.contains(told), "{scanner}: {failure}");
    }
    // Beside a finding, and each of them.
    project.write(
        "q.py",
        "def f(c, u):\n    c.execute(\"SELECT * FROM t WHERE u = '\" + u + \"'\")\n",
    );
    let config = "{severity_threshold: critical, scanners: ['echo one >&2', 'echo two >&2']}";
    let signals = project.judge("SecurityScanner", config);
    let kinds: Vec<_> = signals
        .iter()
        .map(|s| (s.header.kind.as_str(), s.intensity()))
        .collect();
    assert_eq!(kinds.len(), 3, "{signals:#?}");
    assert_eq!(kinds[0].1, Intensity::Prompt);
    assert_eq!(kinds[1..], [("scanner-failed", Intensity::Block); 2]);
}

/// Makes a project on a branch, does something to it, and returns what is found there, or why it cannot be told.
fn found_after(change: impl Fn(&Project)) -> String {
    let project = Project::new(&[("a.txt", "a\n"), ("dir/b.txt", "b\n")]).in_git();
    change(&project);
    let event = super::project::submission();
    match project.judge_event("SecurityScanner", "", event, 60.0) {
        Ok(signals) => signals
            .iter()
            .map(|signal| signal.payload.text().to_owned())
            .collect(),
        Err(error) => error.to_string(),
    }
}

fn key() -> String {
    format!("key = '{}'\n", token())
}

fn merged(project: &Project, others: &[&str]) {
    for name in others {
        project.git(&["checkout", "-q", "-b", name, "main"]);
        project.write(name, "x\n");
        commit(project, name);
    }
    project.git(&["checkout", "-q", "work"]);
    project.write("own.txt", "x\n");
    commit(project, "Add a file");
    project.git(&[&["merge", "-q", "-m", "Merge"], others].concat());
}

#[test]
fn what_is_staged_is_found_whatever_the_file_holds_now() {
    let staged_then = |then: &dyn Fn(&Project)| {
        found_after(|project| {
            project.write("n.txt", key());
            project.git(&["add", "n.txt"]);
            then(project);
        })
    };
    for found in [
        staged_then(&|p| std::fs::remove_file(p.root().join("n.txt")).unwrap()),
        staged_then(&|p| p.write("n.txt", "x\n")),
        staged_then(&|p| {
            p.git(&["update-index", "--assume-unchanged", "n.txt"]);
            p.write("n.txt", "x\n");
        }),
        // The filter puts in what the file does not hold.
        found_after(|p| {
            p.git(&[
                "config",
                "filter.x.clean",
                &format!("sed s/PLACE/{}/", token()),
            ]);
            p.write(".gitattributes", "*.q filter=x\n");
            p.write("n.q", "PLACE\n");
            p.git(&["add", "-A"]);
        }),
    ] {
        assert!(found.starts_with("1 security finding: "), "{found}");
    }
    let taken_back = staged_then(&|p| p.git(&["reset", "-q", "--hard"]));
    assert_eq!(taken_back, "");
}

#[test]
fn what_git_does_not_compare_is_found() {
    let found = found_after(|p| {
        p.git(&["rm", "-q", "--cached", "a.txt"]);
        p.write("a.txt", key());
    });
    assert!(found.contains("a.txt:1"), "{found}");
    // The index holds one change, and the file another one.
    let found = found_after(|p| {
        p.write("a.txt", "b\n");
        p.git(&["add", "a.txt"]);
        p.git(&["update-index", "--assume-unchanged", "a.txt"]);
        p.write("a.txt", format!("b\n{}", key()));
    });
    assert!(found.contains("a.txt:2"), "{found}");
    // What was there before is not added, although the file differs.
    let old = Project::new(&[("a.txt", &key())]).in_git();
    old.git(&["update-index", "--assume-unchanged", "a.txt"]);
    old.write("a.txt", format!("new\n{}", key()));
    assert!(old.judge("SecurityScanner", "").is_empty());
}

#[test]
fn names_and_links_are_looked_into() {
    let hidden: &[&dyn Fn(&Project)] = &[
        &|p| p.write(&format!("{}.txt", token()), "x\n"),
        &|p| {
            p.write(&token(), "");
            commit(p, "Add an empty file");
            p.git(&["rm", "-q", &token()]);
            p.git(&["commit", "-q", "-m", "Take it away"]);
        },
        &|p| p.git(&["mv", "a.txt", &token()]),
        &|p| p.write(&format!("{}/x.txt", token()), "x\n"),
        #[cfg(unix)]
        &|p| std::os::unix::fs::symlink(token(), p.root().join("link")).unwrap(),
    ];
    for (nth, change) in hidden.iter().enumerate() {
        let found = found_after(change);
        assert!(found.contains("github-token"), "{nth}: {found}");
    }
    // What a link leads to is not added by it.
    #[cfg(unix)]
    {
        let found = found_after(|p| {
            p.write(".git/info/exclude", ".env\n");
            p.write(".env", key());
            std::os::unix::fs::symlink(".env", p.root().join("link")).unwrap();
        });
        assert_eq!(found, "");
    }
}

#[test]
fn what_cannot_be_read_is_not_held_for_clean() {
    let found = found_after(|p| {
        p.write(".gitattributes", "*.u text working-tree-encoding=IBM037\n");
        p.write("x.u", b"\x92\x85\xa8");
    });
    assert!(
        found.contains("`x.u` is kept in the encoding `ibm037`"),
        "{found}"
    );
    #[cfg(target_os = "linux")]
    {
        use std::os::unix::ffi::OsStrExt as _;
        let found = found_after(|p| {
            let name = std::ffi::OsStr::from_bytes(b"a\xff.txt");
            std::fs::write(p.root().join(name), key()).unwrap();
        });
        assert!(found.contains("cannot be read"), "{found}");
    }
}

#[test]
fn all_of_a_commit_is_looked_into() {
    let hidden: &[&dyn Fn(&Project)] = &[
        &|p| {
            p.git(&[
                "commit",
                "-q",
                "--allow-empty",
                "-m",
                "x",
                "--author",
                &format!("{} <a@b.c>", token()),
            ]);
        },
        &|p| {
            p.git(&["config", "i18n.logOutputEncoding", "UTF-16"]);
            p.git(&[
                "commit",
                "-q",
                "--allow-empty",
                "-m",
                &format!("Use {}", token()),
            ]);
        },
        &|p| {
            p.git(&["commit", "-q", "--allow-empty", "-m", "x"]);
            p.git(&["notes", "add", "-m", &token()]);
        },
        &|p| {
            p.git(&["commit", "-q", "--allow-empty", "-m", "x"]);
            p.git(&["tag", "-a", "v1", "-m", &token()]);
        },
        &|p| {
            p.git(&["commit", "-q", "--allow-empty", "-m", "x"]);
            p.git(&["branch", &format!("feature/{}", token())]);
        },
        // A first commit of its own.
        &|p| {
            p.git(&["config", "log.showRoot", "false"]);
            p.git(&["checkout", "-q", "--orphan", "new"]);
            p.write("a.txt", key());
            commit(p, "Begin");
            p.write("a.txt", "a\n");
            commit(p, "Take it away");
            p.git(&["branch", "-q", "-D", "main", "work"]);
        },
        &|p| {
            merged(p, &["one", "two"]);
            p.write("m.txt", key());
            p.git(&["add", "-A"]);
            p.git(&["commit", "-q", "--amend", "--no-edit"]);
            p.git(&["rm", "-q", "m.txt"]);
            p.git(&["commit", "-q", "-m", "Take it away"]);
        },
    ];
    for (nth, change) in hidden.iter().enumerate() {
        let found = found_after(change);
        assert!(found.contains("github-token"), "{nth}: {found}");
    }
    let plain = found_after(|p| {
        merged(p, &["one", "two"]);
        p.git(&["tag", "-a", "v1", "-m", "Read the token from the store"]);
        p.git(&["notes", "add", "-m", "No password is needed"]);
    });
    assert_eq!(plain, "");
}

/// Whoever moves the branch that a change is compared with makes the change smaller, and not what is pushed.
#[test]
fn a_moved_base_hides_no_commit() {
    let found = found_after(|p| {
        p.git(&["update-ref", "refs/remotes/origin/main", "main"]);
        p.write("n.txt", key());
        commit(p, "Add a key");
        p.write("n.txt", "x\n");
        commit(p, "Take it away");
        p.git(&["branch", "-q", "-f", "main", "HEAD"]);
        p.write("z.txt", "z\n");
        commit(p, "Add a file");
    });
    assert!(found.contains("n.txt:1 of commit "), "{found}");
}

/// Each commit of a submodule is pushed with it.
#[test]
fn what_a_submodule_has_added_and_removed_is_found() {
    let found = found_after(|p| {
        p.git(&["init", "-q", "s b"]);
        let inside = |arguments: &[&str]| {
            let who = ["-C", "s b", "-c", "user.name=a", "-c", "user.email=a@b.c"];
            p.git(&[&who, arguments].concat());
        };
        p.write("s b/x.txt", key());
        inside(&["add", "-A"]);
        inside(&["commit", "-q", "-m", "Add a key"]);
        p.write("s b/x.txt", "x\n");
        inside(&["commit", "-q", "-a", "-m", "Take it away"]);
        p.git(&["add", "s b"]);
        p.git(&["commit", "-q", "-m", "Add a library"]);
    });
    assert!(found.contains("s b/x.txt:1 of commit "), "{found}");
}

/// The settings of a clone must not make us run its programs.
#[test]
fn a_program_that_the_repository_merges_by_is_not_run() {
    let project =
        Project::new(&[(".gitattributes", "a.txt merge=own\n"), ("a.txt", "a\n")]).in_git();
    project.git(&["checkout", "-q", "-b", "other"]);
    project.write("a.txt", "b\n");
    commit(&project, "Change it");
    project.git(&["checkout", "-q", "work"]);
    project.write("a.txt", "c\n");
    commit(&project, "Change it too");
    project.git(&["merge", "-q", "-s", "ours", "-m", "Merge", "other"]);
    project.git(&["config", "merge.own.driver", "touch was-run"]);
    assert!(project.judge("SecurityScanner", "").is_empty());
    assert!(!project.exists("was-run"));
}
