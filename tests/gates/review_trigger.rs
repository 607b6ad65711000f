//! ReviewTrigger: who is asked, by what, and what is said of it.

use std::io::{Read as _, Write as _};
use std::net::TcpListener;
use std::time::{Duration, Instant};

use ahp::signal::Intensity;

use super::project::{Project, only, path_before, refused, script};
use crate::world::{World, is_here, steps};

fn project() -> Project {
    let project = Project::new(&[(
        ".github/CODEOWNERS",
        "* @all\n*.rs @rust\n/docs/ @org/docs\n",
    )])
    .in_git();
    project.write("src/a.rs", "fn a() {}\n");
    project.write("docs/a.md", "x\n");
    project
}

/// Answers as many requests as there are answers; gives the requests back.
fn server(answers: &'static [&'static str]) -> (String, std::thread::JoinHandle<Vec<String>>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("http://{}/hook/secret-part", listener.local_addr().unwrap());
    let served = std::thread::spawn(move || {
        answers
            .iter()
            .map(|answer| {
                let (mut stream, _) = listener.accept().unwrap();
                let mut request = Vec::new();
                let mut buffer = [0; 4096];
                loop {
                    let n = stream.read(&mut buffer).unwrap();
                    request.extend_from_slice(&buffer[..n]);
                    let text = String::from_utf8_lossy(&request).into_owned();
                    let whole = text.split_once("\r\n\r\n").is_some_and(|(head, body)| {
                        let length = head.lines().find_map(|l| {
                            l.to_lowercase()
                                .strip_prefix("content-length: ")?
                                .parse::<usize>()
                                .ok()
                        });
                        length.is_some_and(|length| body.len() >= length)
                    });
                    if whole || n == 0 {
                        break;
                    }
                }
                write!(
                    stream,
                    "HTTP/1.1 {answer}\r\ncontent-length: 0\r\nconnection: close\r\n\r\n"
                )
                .unwrap();
                String::from_utf8_lossy(&request).into_owned()
            })
            .collect()
    });
    (address, served)
}

#[test]
fn the_owners_of_the_changed_files_are_named() {
    let signals = project().judge("ReviewTrigger", "{reviewers: ['@me']}");
    let (kind, intensity, said) = only(&signals);
    assert_eq!((kind, intensity), ("review-requested", Intensity::Aid));
    assert!(said.contains("reviewers: @me, @org/docs, @rust"), "{said}");
    assert_eq!(
        steps(&signals[0])[2],
        "ask @rust for a review of `src/a.rs`"
    );
}

#[test]
fn an_issue_that_is_not_there_is_told() {
    let signals = project().judge("ReviewTrigger", "");
    let (_, _, text) = only(&signals);
    assert!(
        text.contains("no file was found for issue FEAT-0001"),
        "{text}"
    );
}

#[test]
fn a_command_gets_the_document_and_its_failure_is_told() {
    let project = project();
    script(
        &project,
        ".ahp/notify",
        "cat > .ahp/got; echo $AHP_REVIEWERS >> .ahp/got; echo $AHP_ISSUE_ID >> .ahp/got",
    );
    project.judge("ReviewTrigger", "{command: .ahp/notify}");
    let got = project.read(".ahp/got");
    assert!(
        got.contains("\"issue_id\":\"FEAT-0001\"") && got.contains("@org/docs,@rust\nFEAT-0001"),
        "{got}"
    );
    let signals = project.judge(
        "ReviewTrigger",
        "{command: 'echo no mail server >&2; exit 4'}",
    );
    assert!(only(&signals).2.contains("code 4: no mail server"));
    // No remote, or no program of the forge: said, not passed over.
    let signals = project.judge("ReviewTrigger", "{create_pr: true}");
    assert!(
        only(&signals).2.contains("no pull request was opened"),
        "{}",
        only(&signals).2
    );
}

#[test]
fn a_webhook_is_posted_to_again_where_it_fails_and_its_address_is_kept() {
    if !is_here("curl") {
        return;
    }
    let project = project();
    let (address, served) = server(&["503 Busy", "200 OK"]);
    let signals = project.judge("ReviewTrigger", &format!("{{webhook: '{address}'}}"));
    let said = only(&signals).2;
    assert!(
        said.contains("answered 200") && !said.contains("secret-part"),
        "{said}"
    );
    let requests = served.join().unwrap();
    assert!(
        requests[1].contains("POST /hook/secret-part")
            && requests[1].contains("\"files\":[\"docs/a.md\",\"src/a.rs\"]"),
        "{requests:?}"
    );
    let (address, served) = server(&["403 No"]);
    let signals = project.judge("ReviewTrigger", &format!("{{webhook: '{address}'}}"));
    served.join().unwrap();
    assert!(
        only(&signals).2.contains("failed") && only(&signals).2.contains("403"),
        "{}",
        only(&signals).2
    );
    let signals = project.judge("ReviewTrigger", "{webhook: $AHP_NO_SUCH_VARIABLE}");
    assert!(only(&signals).2.contains("failed"), "{}", only(&signals).2);
    let error = refused(project.oracle("ReviewTrigger", "{webhook: 'ftp://secret'}"));
    assert!(
        error.contains("https://") && !error.contains("secret"),
        "{error}"
    );
}

#[test]
fn where_nothing_is_configured_nothing_is_said() {
    assert!(
        project()
            .judge("ReviewTrigger", "{notify_reviewers: false}")
            .is_empty()
    );
    let signals = project().judge(
        "ReviewTrigger",
        "{notify_reviewers: false, command: 'true'}",
    );
    let said = only(&signals).2;
    assert!(
        said.starts_with("review of FEAT-0001: ran `true`"),
        "{said}"
    );
}

/// A change in a repository with a remote, and a forge's program that notes what it is asked.
fn at_forge(remote: &str, program: &str, answers: &str) -> (World, String) {
    let world = World::new(
        "hooks: {post-issue-submit: [{oracle: ReviewTrigger, config: {create_pr: true, reviewers: ['@org/all', dev@example.org]}}]}\n",
    );
    world.write(
        "Issues/FEAT-1.md",
        "---\nid: FEAT-1\ntitle: It\'s new\n---\n",
    );
    world.git_init();
    world.git(&["remote", "add", "origin", remote]);
    world.git(&["checkout", "-q", "-b", "work"]);
    let tools = Project::new(&[]);
    script(
        &tools,
        program,
        &format!("printf '<%s>' \"$@\" >> \"$HOME/asked\"; echo >> \"$HOME/asked\"\n{answers}"),
    );
    let ran = world
        .ahp_command()
        .args(["run", "post-issue-submit", "--issue", "FEAT-1"])
        .env("PATH", path_before(&tools))
        .env("AHP_TRUST", "all")
        .output()
        .unwrap();
    let said = format!(
        "{}{}",
        String::from_utf8_lossy(&ran.stdout),
        String::from_utf8_lossy(&ran.stderr)
    );
    let asked = std::fs::read_to_string(world.home().join("asked")).unwrap_or_default();
    (world, format!("{said}\n{asked}"))
}

#[test]
fn a_pull_request_is_opened_with_the_forges_own_program() {
    let none_open = "[ \"$2\" = view ] && { echo 'no pull requests found' >&2; exit 1; }\necho https://github.com/o/r/pull/7";
    let (_world, said) = at_forge("git@github.com:o/r.git", "gh", none_open);
    assert!(
        said.contains("opened a pull request: https://github.com/o/r/pull/7"),
        "{said}"
    );
    // An address is nobody whom the forge knows.
    assert!(
        said.contains(
            "<pr><create><--title><FEAT-1: It's new><--body><Issue FEAT-1><--reviewer><org/all>\n"
        ),
        "{said}"
    );

    let one_open = "[ \"$2\" = view ] && echo https://github.com/o/r/pull/3; exit 0";
    let (_world, said) = at_forge("https://github.com/o/r", "gh", one_open);
    assert!(
        said.contains("the open pull request https://github.com/o/r/pull/3"),
        "{said}"
    );
    assert!(
        said.contains("<pr><edit><--add-reviewer><org/all>\n") && !said.contains("<create>"),
        "{said}"
    );

    let opens = "echo '!5 It is new'; echo https://gitlab.com/o/r/-/merge_requests/5";
    let (_world, said) = at_forge("git@gitlab.com:o/r.git", "glab", opens);
    assert!(
        said.contains("opened a merge request: https://gitlab.com/o/r/-/merge_requests/5"),
        "{said}"
    );
    assert!(said.contains("<mr><create><--yes><--push>"), "{said}");

    let refuses = "[ \"$2\" = view ] && exit 1; echo 'HTTP 401: log in first' >&2; exit 4";
    let (_world, said) = at_forge("git@github.com:o/r.git", "gh", refuses);
    assert!(
        said.contains("no pull request was opened") && said.contains("log in first"),
        "{said}"
    );
}

#[test]
fn a_webhook_that_never_answers_is_given_up() {
    if !is_here("curl") {
        return;
    }
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("http://{}/secret-part", listener.local_addr().unwrap());
    let started = Instant::now();
    let signals = project()
        .judge_event(
            "ReviewTrigger",
            &format!("{{webhook: '{address}'}}"),
            super::project::submission(),
            2.0,
        )
        .unwrap();
    let said = only(&signals).2;
    assert!(
        said.contains("failed: ") && !said.contains("secret-part"),
        "{said}"
    );
    assert!(
        started.elapsed() < Duration::from_secs(8),
        "{:?}",
        started.elapsed()
    );
    drop(listener);
}

#[test]
fn the_address_of_a_webhook_is_in_no_log() {
    if !is_here("curl") {
        return;
    }
    let (address, served) = server(&["200 OK"]);
    let world = World::new(
        "hooks: {post-issue-submit: [{oracle: ReviewTrigger, config: {webhook: $REVIEW_HOOK}}]}\n",
    );
    world.git_init();
    let ran = world
        .ahp_command()
        .args(["run", "post-issue-submit", "--issue", "FEAT-1"])
        .env("REVIEW_HOOK", &address)
        .env("AHP_TRUST", "all")
        .output()
        .unwrap();
    assert!(served.join().unwrap()[0].contains("POST /hook/secret-part"));
    let log = world.read(".ahp/signals.jsonl");
    assert!(
        log.contains("posted to $REVIEW_HOOK, which answered 200"),
        "{log}"
    );
    for text in [log.as_bytes(), &ran.stdout, &ran.stderr] {
        assert!(!String::from_utf8_lossy(text).contains("secret-part"));
    }
}
