//! Each file in `issues/` is read as an issue, and what was read is compared with the `.expected` beside it.
//!
//! The files `monoco-*.md` were written by `monoco` 0.4.2 itself. `INSTA_UPDATE=always cargo test` writes the expectations anew.

use std::fmt::Write as _;
use std::path::Path;

use ahp::workspace::{Issue, IssueError, MemoryWorkspace, Workspace as _};

use crate::world::accepts_new_output;

#[test]
fn every_issue_is_read_as_expected() {
    let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/workspace/issues");
    let mut wrong = Vec::new();
    let mut count = 0;
    for entry in std::fs::read_dir(&dir).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_none_or(|extension| extension != "md") {
            continue;
        }
        count += 1;
        let read = show(&read(&std::fs::read(&path).unwrap()));
        let expected = path.with_extension("expected");
        if accepts_new_output() {
            std::fs::write(&expected, &read).unwrap();
        }
        let expected = std::fs::read_to_string(&expected).unwrap_or_default();
        if read != expected {
            wrong.push(format!(
                "{}\nexpected:\n{expected}\nread:\n{read}",
                path.display()
            ));
        }
    }
    assert!(count > 30, "only {count} issues were found");
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
}

/// Reads an issue from a file that is named after the id, so that it is found whatever is in it.
fn read(bytes: &[u8]) -> Result<Issue, IssueError> {
    let text = String::from_utf8_lossy(bytes);
    let id = text
        .lines()
        .find_map(|line| line.strip_prefix("id: "))
        .unwrap_or("FEAT-0100");
    let workspace = MemoryWorkspace::new("/p").with_file(format!("Issues/{id}-x.md"), bytes);
    let issue = workspace.issue(id)?.unwrap();
    Ok((*issue).clone())
}

fn show(issue: &Result<Issue, IssueError>) -> String {
    let issue = match issue {
        Ok(issue) => issue,
        Err(error) => return format!("error: {error}\n"),
    };
    let mut out = String::new();
    let fields = [
        ("id", Some(&issue.id)),
        ("uid", issue.uid.as_ref()),
        ("type", issue.kind.as_ref()),
        ("status", issue.status.as_ref()),
        ("stage", issue.stage.as_ref()),
        ("title", issue.title.as_ref()),
        ("parent", issue.parent.as_ref()),
        ("criticality", issue.criticality.as_ref()),
        ("solution", issue.solution.as_ref()),
        ("opened_at", issue.opened_at.as_ref()),
        ("closed_at", issue.closed_at.as_ref()),
    ];
    for (name, value) in fields {
        if let Some(value) = value {
            writeln!(out, "{name}: {value}").unwrap();
        }
    }
    let lists = [
        ("tags", &issue.tags),
        ("dependencies", &issue.dependencies),
        ("related", &issue.related),
        ("files", &issue.files),
    ];
    for (name, list) in lists {
        if !list.is_empty() {
            writeln!(out, "{name}: {}", list.join(" | ")).unwrap();
        }
    }
    let (total, done) = issue.progress();
    writeln!(out, "{done} of {total} done").unwrap();
    for item in &issue.checklist {
        write!(
            out,
            "{}: {} {:?} {:?}",
            item.line, item.id, item.state, item.text
        )
        .unwrap();
        if !item.headings.is_empty() {
            write!(out, " < {}", item.headings.join(" > ")).unwrap();
        }
        if let Some(verification) = &item.verification {
            write!(out, " ({verification})").unwrap();
        }
        if !item.depends_on.is_empty() {
            write!(out, " after {}", item.depends_on.join(" ")).unwrap();
        }
        out.push('\n');
    }
    out
}
