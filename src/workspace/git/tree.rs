//! Tree: the files of a project as a commit has them.

use std::collections::BTreeMap;

use super::Repository;
use crate::workspace::GitError;

/// A file as a commit has it; of a link, the content is where it leads.
#[derive(Debug)]
pub(crate) struct BaseFile {
    pub(crate) content: Vec<u8>,
    pub(crate) executable: bool,
}

impl Repository {
    /// Returns the content of those files of a commit that are wanted, by their paths in the project.
    pub(in crate::workspace) fn files_at(
        &self,
        commit: &str,
        wanted: &dyn Fn(&str) -> bool,
    ) -> Result<BTreeMap<String, BaseFile>, GitError> {
        let listed = self.git().run(&["ls-tree", "-r", "-z", commit])?;
        let listed = String::from_utf8_lossy(&listed);
        let blobs: Vec<(&str, &str, bool)> = listed
            .split('\0')
            .filter_map(|entry| {
                let (head, path) = entry.split_once('\t')?;
                let mut head = head.split(' ');
                let executable = head.next()? == "100755";
                let is_wanted = head.next()? == "blob" && wanted(path);
                is_wanted.then_some((head.next()?, path, executable))
            })
            .collect();
        if blobs.is_empty() {
            return Ok(BTreeMap::new());
        }
        let asked: Vec<&str> = blobs.iter().map(|(blob, ..)| *blob).collect();
        let arguments = ["cat-file", "--batch"];
        let asked = format!("{}\n", asked.join("\n")).into_bytes();
        let answer = self.git().run_with_input(&arguments, asked)?;
        let mut rest = answer.as_slice();
        let mut files = BTreeMap::new();
        for (blob, path, executable) in blobs {
            let content = content(blob, &mut rest).ok_or_else(|| GitError::Failed {
                command: arguments.join(" "),
                message: format!("no content of `{path}`"),
            })?;
            let content = content.to_vec();
            files.insert(
                path.to_owned(),
                BaseFile {
                    content,
                    executable,
                },
            );
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
