//! ReviewTrigger: who is asked, by what, and what is said of it.

use std::io::Read as _;
use std::io::Write as _;
use std::net::TcpListener;

use ahp::signal::Intensity;

use super::project::Project;
use super::project::has;
use super::project::only;
use super::project::refused;
use super::project::script;
use super::project::steps;

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
    if !has("curl") {
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
