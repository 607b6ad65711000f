//! CommitMessageValidator.

use ahp::event::Trigger;
use ahp::oracle::OracleError;
use ahp::signal::Intensity;
use ahp::workspace::{Commit, GitError, MemoryWorkspace};
use serde_json::json;

use super::bench::{Bench, config_error};
use crate::workspace::repository::Repository;
use crate::world::steps;

const NAME: &str = "CommitMessageValidator";

/// Returns what is wrong with one message.
fn faults(message: &str, config: &str) -> String {
    let commit = Commit {
        id: "0123456789abcdef".to_owned(),
        message: message.to_owned(),
        ..Commit::default()
    };
    let workspace = MemoryWorkspace::new("/project").with_commits([commit]);
    let bench = Bench::new(Trigger::PreIssueSubmit, workspace).issue("FEAT-0123");
    let signals = bench.judge(NAME, config);
    let texts = signals.iter().map(|signal| {
        assert_eq!(signal.intensity(), Intensity::Prompt);
        let text = signal.payload.text();
        text.rsplit_once("`: ")
            .map_or(text, |(_, faults)| faults)
            .to_owned()
    });
    texts.collect::<Vec<_>>().join("\n")
}

#[test]
fn a_good_message_is_accepted() {
    assert_eq!(faults("Fix the parser", ""), "");
    let all = "required_fields: [type, scope, issue, body, signed-off-by]";
    let message = "fix(parser)!: end at the end (feat-0123)\n\nIt went on.\n\nSigned-off-by: Tess <t@example.org>\n";
    assert_eq!(faults(message, all), "");
    assert_eq!(faults("feat: x", "pattern: '^(feat|fix): '"), "");
    assert!(
        Bench::new(Trigger::PreIssueSubmit, MemoryWorkspace::new("/p"))
            .judge(NAME, "")
            .is_empty()
    );
}

#[test]
fn each_rule_is_told() {
    let long = "a".repeat(73);
    assert_eq!(
        faults(&long, ""),
        "the subject has 73 characters, at most 72 are accepted"
    );
    assert_eq!(faults(&"长".repeat(72), ""), "");
    assert_eq!(
        faults("Fix it", "max_subject_length: 5"),
        "the subject has 6 characters, at most 5 are accepted"
    );
    assert_eq!(
        faults("oops", "pattern: '^fix: '"),
        "the subject does not match `^fix: `"
    );
    assert_eq!(faults("", ""), "it is empty");
    let missing = [
        ("type", "Fix: the parser bug", ""),
        (
            "type",
            "Fix the parser",
            "it has no type: begin the subject with one, as in `fix: …`",
        ),
        (
            "scope",
            "fix: x",
            "it has no scope: name one, as in `fix(parser): …`",
        ),
        (
            "scope",
            "fix(): x",
            "it has no scope: name one, as in `fix(parser): …`",
        ),
        (
            "issue",
            "fix: FEAT-01234",
            "it does not name the issue `FEAT-0123`",
        ),
        ("issue", "fix: x (FEAT-0123)", ""),
        (
            "body",
            "fix: x\n\nSigned-off-by: Tess",
            "it has no body that says why",
        ),
        ("body", "fix: x\n\nWhy: because.\nand more", ""),
        (
            "Signed-Off-By",
            "fix: x\n\nBody.",
            "it has no trailer `signed-off-by: …` at its end",
        ),
        (
            "reviewed-by",
            "fix: x\n\nReviewed-by: Tess\n  and others\nCo-authored-by: A",
            "",
        ),
        (
            "reviewed-by",
            "fix: x\n\nReviewed-by: Tess\n\nAnd then text.",
            "it has no trailer `reviewed-by: …` at its end",
        ),
    ];
    for (field, message, expected) in missing {
        assert_eq!(
            faults(message, &format!("required_fields: {field}")),
            expected,
            "{message}"
        );
    }
}

#[test]
fn every_commit_of_a_real_branch_is_judged_and_told_how_to_mend() {
    let repository = Repository::new();
    repository.write("a", "a").commit("anything goes on main");
    repository.git("checkout -q -b FEAT-0123-x");
    repository
        .commit("feat: one (FEAT-0123)")
        .commit("two")
        .commit("three");
    repository.git("checkout -q main");
    repository
        .commit("elsewhere")
        .git("checkout -q FEAT-0123-x");
    let merge_and_judge = || {
        repository.git("merge -q --no-edit main");
        Bench::new(Trigger::PreIssueSubmit, repository.workspace())
            .issue("FEAT-0123")
            .judge(NAME, "required_fields: [type, issue]")
    };
    let bench = Bench::new(Trigger::PreIssueSubmit, repository.workspace()).issue("FEAT-0123");
    let signals = bench.judge(NAME, "required_fields: [type, issue]");
    let subjects: Vec<_> = signals
        .iter()
        .map(|s| s.payload.text().split('`').nth(1).unwrap())
        .collect();
    assert_eq!(subjects, ["three", "two"]);
    let three = repository.git("rev-parse --short=7 HEAD");
    let text = signals[0].payload.text();
    assert!(
        text.starts_with(&format!("commit {three} `three`: it has no type")),
        "{text}"
    );
    assert_eq!(steps(&signals[0]), ["Reword it: `git commit --amend`"]);
    let two = repository.git("rev-parse --short=7 HEAD~1");
    assert_eq!(
        steps(&signals[1]),
        [format!("Reword it: `git rebase -i {two}~1`")]
    );
    assert_ne!(signals[0].finding(), signals[1].finding());
    // Behind a merge, what was the last commit cannot be amended any more.
    assert_eq!(
        steps(&merge_and_judge()[0]),
        [format!("Reword it: `git rebase -i {three}~1`")]
    );
}

#[test]
fn the_message_about_to_be_committed_is_read_from_the_command() {
    let judge = |command: &str, config: &str| {
        let bench = Bench::new(Trigger::PreToolUse, MemoryWorkspace::new("/project"))
            .tool("Bash", json!({"command": command}));
        bench.judge(NAME, config)
    };
    let pattern = "pattern: '^(feat|fix): '";
    let signals = judge("cd x && git add -A && git commit -m 'oops'", pattern);
    assert_eq!(
        signals[0].payload.text(),
        "the commit that is about to be made `oops`: the subject does not match `^(feat|fix): `"
    );
    assert!(judge("git commit -m 'fix: it'", pattern).is_empty());
    assert!(judge("echo git commit -m oops", pattern).is_empty());
    assert!(judge("ls", pattern).is_empty());
    let body = judge(
        "git commit -m 'fix: it' -m 'Because.'",
        "required_fields: body",
    );
    assert!(body.is_empty(), "{body:?}");
    assert_eq!(
        judge("git commit -m 'fix: x'", "required_fields: issue").len(),
        1
    );
    assert!(judge("git commit -m 'fix: x, see #12'", "required_fields: issue").is_empty());
    assert!(judge("git commit -m 'fix: x, ABC-7'", "required_fields: issue").is_empty());
}

#[test]
fn the_message_about_to_be_committed_is_read_from_its_file() {
    let workspace =
        || MemoryWorkspace::new("/project").with_file("sub/notes.txt", "oops\n\nbody\n");
    let judge = |command: &str| {
        let bench =
            Bench::new(Trigger::PreToolUse, workspace()).tool("Bash", json!({"command": command}));
        bench.judge(NAME, "pattern: '^(feat|fix): '")
    };
    for command in [
        "git commit -F sub/notes.txt",
        "git commit -aF sub/notes.txt",
        "cd sub && git commit --file=notes.txt",
        "git -C sub commit --file notes.txt",
        "git commit -Fsub/notes.txt",
        "git commit --fil=sub/notes.txt",
        "git commit --mess oops",
        "git commit --me=oops",
    ] {
        let signals = judge(command);
        assert_eq!(signals.len(), 1, "{command}");
        assert!(signals[0].payload.text().contains("`oops`"), "{command}");
    }
}

#[test]
fn a_message_that_cannot_be_told_is_not_passed_over() {
    let repository = Repository::new();
    let signed = "feat: x\n\nSigned-off-by: a <a@b.c>";
    repository.commit("bad").git("tag bad");
    repository
        .commit("feat: good")
        .git("commit -q --amend --allow-empty --no-edit --signoff");
    repository.git("tag good");
    repository
        .write("good.txt", signed)
        .write("bad.txt", "oops\n");
    repository.write("sharp.txt", format!("#oops\n{signed}"));
    let judge = |command: &str| {
        let bench = Bench::new(Trigger::PreToolUse, repository.workspace())
            .tool("Bash", json!({"command": command}));
        match bench.try_judge(
            NAME,
            "{pattern: '^(feat|fix): ', required_fields: signed-off-by}",
        ) {
            Ok(signals) if signals.is_empty() => "good",
            Ok(_) => "bad",
            Err(OracleError::CannotTell(_)) => "?",
            Err(error) => panic!("{command}: {error}"),
        }
    };
    for (expected, commands) in [
        (
            "good",
            "git commit -s -m 'feat: x'
git commit -m 'feat: x' --trailer 'Signed-off-by: a'
git commit -m 'feat: x' -m 'Signed-off-by: a'
git commit -F good.txt
printf 'feat: x\\n\\nSigned-off-by: a\\n' > m && git commit -F m && rm m
printf 'feat: x\\n\\nSigned-off-by: a\\n' | git commit -F -
git commit --amend --no-edit
git commit -C good
git commit --fixup=good
GIT_EDITOR=true git commit --amend
git commit --dry-run
git log --oneline
git commit --no-edit",
        ),
        (
            "bad",
            "echo x > msg && git commit -F msg
git commit -F bad.txt
git commit -F sharp.txt
git commit -F - < bad.txt
git commit -C bad
git commit --reuse-message=bad
git commit --fixup bad
git commit --squash=bad -m x
echo oops | git commit -F -
git commit --amend -m bad
echo bad > m; git commit -F m; printf 'feat: x\\n\\nSigned-off-by: a\\n' > m",
        ),
        (
            "?",
            "git commit
git commit -t good.txt
git commit -e -m 'feat: x'
git commit --amend
git commit -c good
git commit --fixup=reword:good
GIT_EDITOR='cp bad.txt' git commit
git -c core.editor='cp bad.txt' commit
python3 gen.py | git commit -F -
python3 gen.py > m && git commit -F m
cp bad.txt good.txt && git commit -F good.txt
git commit -F -
git commit -F nosuch
git commit -F <(echo bad)
git commit -m \"$MSG\"
git commit -C nosuch",
        ),
    ] {
        for command in commands.lines() {
            assert_eq!(judge(command), expected, "{command}");
        }
    }
}

#[test]
fn many_bad_commits_are_counted() {
    let commits = (0..1000).map(|n| Commit {
        id: format!("{n:04}{:036}", 0),
        message: format!("bad {n}"),
        ..Commit::default()
    });
    let workspace = MemoryWorkspace::new("/project").with_commits(commits);
    let signals =
        Bench::new(Trigger::PreIssueSubmit, workspace).judge(NAME, "required_fields: type");
    assert_eq!(signals.len(), 21);
    assert_eq!(
        signals[20].payload.text(),
        "980 more commit messages of this branch are not as they should be either"
    );
    // The newest come first, and one rebase from the oldest on reaches all of them.
    let steps = signals[20].payload.steps().join("\n");
    let oldest = Commit {
        id: format!("0999{:036}", 0),
        ..Commit::default()
    };
    assert!(
        steps.contains(&format!("git rebase -i {}~1", oldest.short_id())),
        "{steps}"
    );
}

#[test]
fn without_git_the_oracle_fails() {
    let broken = MemoryWorkspace::new("/p").with_git_error(GitError::NoProgram("x".to_owned()));
    let error = Bench::new(Trigger::PreIssueSubmit, broken)
        .try_judge(NAME, "")
        .unwrap_err();
    assert!(matches!(error, OracleError::Failed(_)));
}

#[test]
fn a_wrong_configuration_is_told_at_its_place() {
    let error = config_error(NAME, "pattern: '(fix'");
    assert!(error.starts_with("hooks.yaml:1:10 "), "{error}");
    assert_eq!(
        config_error(NAME, "required_fields: [type, 'two words']"),
        "hooks.yaml:1:18 `two words` is neither `type`, `scope`, `issue`, `body` nor a trailer such as `signed-off-by`"
    );
    assert_eq!(
        config_error(NAME, "max_subject_length: 0"),
        "hooks.yaml:1:21 `0` would accept no message; expected a whole number of at least 1"
    );
    assert_eq!(
        config_error(NAME, "patern: x"),
        "hooks.yaml:1:1 unknown key `patern`"
    );
}
