//! Moves the file of a closed issue to the archive.

use std::path::{Path, PathBuf};

use super::story::Story;
use crate::oracle::HookContext;

/// The folder that `monoco` keeps archived issues in, beside `open`, `backlog` and `closed`.
const ARCHIVED: &str = "archived";

/// Moves the issue's file; returns where it is now, or why it was left where it is.
pub(super) fn archive(story: &Story, context: &HookContext) -> Result<String, String> {
    let issue = story.issue.as_ref().ok_or("its file was not found")?;
    if !issue.is_finished() {
        let status = issue.status.as_deref().unwrap_or("not known");
        return Err(format!("its status is {status}, not closed"));
    }
    let to = target(Path::new(&issue.path), context.workspace().issues_dir());
    let shown = to.to_string_lossy().into_owned();
    if to == Path::new(&issue.path) {
        return Err("it is there already".to_owned());
    }
    if !context.workspace().is_on_disk() {
        return Err("the project does not lie on the disk".to_owned());
    }
    let (from, target) = (context.root().join(&issue.path), context.root().join(&to));
    if target.exists() {
        return Err(format!("there is a file {shown} already"));
    }
    let moved = target
        .parent()
        .map_or(Ok(()), std::fs::create_dir_all)
        .and_then(|()| std::fs::rename(from, &target));
    moved.map(|()| shown).map_err(|error| error.to_string())
}

/// Returns where an issue's file belongs in the archive: its status folder is replaced, else one is put below the issues.
fn target(path: &Path, issues_dir: &Path) -> PathBuf {
    let is_status = |part: &str| matches!(part, "open" | "backlog" | "closed" | ARCHIVED);
    let parts: Vec<String> = path
        .components()
        .map(|part| part.as_os_str().to_string_lossy().into_owned())
        .collect();
    let folders = parts.len().saturating_sub(1);
    match parts.iter().take(folders).rposition(|part| is_status(part)) {
        Some(at) => (0..)
            .zip(&parts)
            .map(|(place, part)| if place == at { ARCHIVED } else { part })
            .collect(),
        None => match path.strip_prefix(issues_dir) {
            Ok(below) => issues_dir.join(ARCHIVED).join(below),
            Err(_) => path.to_owned(),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_status_folder_is_replaced() {
        let to = |path: &str| {
            target(Path::new(path), Path::new("Issues"))
                .display()
                .to_string()
        };
        assert_eq!(
            to("Issues/Features/closed/a/F-1.md"),
            "Issues/Features/archived/a/F-1.md"
        );
        assert_eq!(to("Issues/F-1.md"), "Issues/archived/F-1.md");
        assert_eq!(to("Issues/archived/F-1.md"), "Issues/archived/F-1.md");
        assert_eq!(to("Issues/x/open.md"), "Issues/archived/x/open.md");
    }
}
