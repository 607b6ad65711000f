//! SecurityScanner on changes and tool calls.

use ahp::signal::Intensity;
use serde_json::json;

use super::project::Project;
use super::project::only;
use super::project::refused;
use super::project::script;
use super::project::tool;

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
}
