//! Tree: the files of a project as a commit has them.

use std::collections::BTreeMap;

use super::Repository;
use crate::workspace::GitError;

impl Repository {
    /// Returns the content of those files of a commit that are wanted, by their paths in the project; of a link, where it leads.
    pub(in crate::workspace) fn files_at(
        &self,
        commit: &str,
        wanted: &dyn Fn(&str) -> bool,
    ) -> Result<BTreeMap<String, Vec<u8>>, GitError> {
        let listed = self.git().run(&["ls-tree", "-r", "-z", commit])?;
        let listed = String::from_utf8_lossy(&listed);
        let blobs: Vec<(&str, &str)> = listed
            .split('\0')
            .filter_map(|entry| {
                let (head, path) = entry.split_once('\t')?;
                let mut head = head.split(' ').skip(1);
                (head.next() == Some("blob") && wanted(path)).then_some((head.next()?, path))
            })
            .collect();
        if blobs.is_empty() {
            return Ok(BTreeMap::new());
        }
        let asked: Vec<&str> = blobs.iter().map(|(blob, _)| *blob).collect();
        let arguments = ["cat-file", "--batch"];
        let asked = format!("{}\n", asked.join("\n")).into_bytes();
        let answer = self.git().run_with_input(&arguments, asked)?;
        let mut rest = answer.as_slice();
        let mut files = BTreeMap::new();
        for (blob, path) in blobs {
            let content = content(blob, &mut rest).ok_or_else(|| GitError::Failed {
                command: arguments.join(" "),
                message: format!("no content of `{path}`"),
            })?;
            files.insert(path.to_owned(), content.to_vec());
        }
        Ok(files)
    }
}

/// Takes the next answer: a line of the object, its type and its size, then the content and the end of a line.
fn content<'a>(blob: &str, rest: &mut &'a [u8]) -> Option<&'a [u8]> {
    let end = rest.iter().position(|byte| *byte == b'\n')?;
    let (head, after) = rest.split_at_checked(end)?;
    let mut head = std::str::from_utf8(head).ok()?.split(' ');
    if (head.next(), head.next()) != (Some(blob), Some("blob")) {
        return None;
    }
    let (content, after) = after
        .get(1..)?
        .split_at_checked(head.next()?.parse().ok()?)?;
    *rest = after.get(1..)?;
    Some(content)
}
