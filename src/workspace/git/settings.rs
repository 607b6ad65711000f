//! Settings: what stands in a file of git's settings, as far as it is read without git.

use std::path::Path;

use super::kept;

/// One setting.
pub(crate) struct Setting {
    /// Such as `remote "origin"`: the kind in small letters, and what stands in quotes as it is.
    pub(crate) section: String,
    /// In small letters.
    pub(crate) key: String,
    pub(crate) value: String,
}

impl Setting {
    pub(super) fn is_url(&self) -> bool {
        matches!(&*self.key, "url" | "pushurl")
    }
}

/// Reads the settings of a file; none where there is no such file.
pub(crate) fn settings(file: &Path) -> Vec<Setting> {
    let text = kept(file).unwrap_or_default();
    let mut section = String::new();
    let mut found = Vec::new();
    for line in text.lines().map(str::trim) {
        let mut line = line;
        if let Some((name, rest)) = line.strip_prefix('[').and_then(|l| l.split_once(']')) {
            // The name is of any case, what stands in quotes behind it is not.
            section = match name.split_once(' ') {
                Some((kind, name)) => format!("{} {}", kind.to_lowercase(), name.trim()),
                None => name.to_lowercase(),
            };
            line = rest;
        }
        if let Some((key, value)) = line.split_once('=') {
            found.push(Setting {
                section: section.clone(),
                key: key.trim().to_lowercase(),
                value: plain(value.trim()),
            });
        }
    }
    found
}

/// Returns a value without its quotes, and without the comment behind it.
fn plain(value: &str) -> String {
    let mut plain = String::new();
    let mut is_quoted = false;
    let mut chars = value.chars();
    while let Some(c) = chars.next() {
        match c {
            '"' => is_quoted = !is_quoted,
            '\\' => plain.extend(chars.next()),
            '#' | ';' if !is_quoted => break,
            c => plain.push(c),
        }
    }
    plain.trim_end().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_read_as_git_reads_them() {
        for (value, plain_one) in [
            ("a b ; why", "a b"),
            ("\"a;b\" # why", "a;b"),
            ("\"C:\\\\x\"", "C:\\x"),
            ("a\\\"b", "a\"b"),
            ("", ""),
        ] {
            assert_eq!(plain(value), plain_one);
        }
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("config");
        std::fs::write(&file, "[Core] hooksPath = x\n[remote \"A\"]\n\tURL = u\n").unwrap();
        let read: Vec<_> = settings(&file)
            .into_iter()
            .map(|s| format!("{}|{}|{}", s.section, s.key, s.value))
            .collect();
        assert_eq!(read, ["core|hookspath|x", "remote \"A\"|url|u"]);
    }
}
