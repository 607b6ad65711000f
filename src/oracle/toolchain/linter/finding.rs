//! Findings: how linters write them, and how that is read.

use serde::Deserialize;

use super::tool::{Form, Tool};
use crate::oracle::toolchain::relative;

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(in crate::oracle) struct Fault {
    /// The file, relative to the project.
    pub(in crate::oracle) file: String,
    /// The line, from 1.
    pub(in crate::oracle) line: Option<u32>,
    /// What is wrong.
    pub(in crate::oracle) message: String,
    /// Who says so.
    pub(in crate::oracle) linter: &'static str,
    /// Whether it kept the linter from looking at anything, also at other files.
    pub(in crate::oracle) hinders: bool,
}

/// What ESLint says of one file.
#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Linted {
    file_path: String,
    messages: Vec<Message>,
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Message {
    line: Option<u32>,
    message: String,
    rule_id: Option<String>,
}

impl Fault {
    /// Returns what it is, wherever in the file it has been moved to.
    pub(in crate::oracle) fn object(&self) -> String {
        format!("{}: {} ({})", self.file, self.message, self.linter)
    }

    /// Returns it in one line.
    pub(in crate::oracle) fn told(&self) -> String {
        match self.line {
            Some(line) => format!("{}:{line}: {} ({})", self.file, self.message, self.linter),
            None => self.object(),
        }
    }
}

impl Tool {
    /// Reads what it printed.
    pub(super) fn read(&self, output: &str, root: &std::path::Path) -> Vec<Fault> {
        self.read_as(self.form, output, root)
    }

    /// Reads what it printed on the error output: compilers tell there what they find, formatters what they cannot read.
    pub(super) fn read_errors(&self, output: &str, root: &std::path::Path) -> Vec<Fault> {
        match self.form {
            Form::Places | Form::Files => self.read_as(Form::Places, output, root),
            Form::Levels | Form::Brackets | Form::Eslint | Form::Annotations => Vec::new(),
        }
    }

    fn read_as(&self, form: Form, output: &str, root: &std::path::Path) -> Vec<Fault> {
        let fault = |file: &str, line: Option<u32>, message: &str| Fault {
            file: relative(root, file.trim()),
            line,
            message: message.trim().to_owned(),
            linter: self.name,
            hinders: false,
        };
        match form {
            Form::Files => output
                .lines()
                .filter(|line| !line.trim().is_empty())
                .map(|line| fault(line, None, "it is not formatted"))
                .collect(),
            Form::Places | Form::Levels => output
                .lines()
                .filter_map(|line| {
                    // What go could not build: of its package nothing was looked at.
                    let unbuilt = line.strip_prefix("vet: ");
                    let mut parts = unbuilt.unwrap_or(line).splitn(4, ':');
                    let file = parts.next()?;
                    let number = parts.next()?.trim().parse().ok()?;
                    let next = parts.next()?;
                    // The column may be missing.
                    let message = match next.trim().parse::<u32>() {
                        Ok(_) => parts.next()?.to_owned(),
                        Err(_) => format!("{next}:{}", parts.next().unwrap_or_default()),
                    };
                    let is_note =
                        matches!(form, Form::Places) && message.trim_start().starts_with("note:");
                    (!is_note).then(|| Fault {
                        hinders: unbuilt.is_some(),
                        ..fault(file, Some(number), &message)
                    })
                })
                .collect(),
            Form::Brackets => output
                .lines()
                .filter_map(|line| {
                    let (place, message) = line.split_once("): ")?;
                    let (file, numbers) = place.rsplit_once('(')?;
                    let number = numbers.split(',').next()?.parse().ok()?;
                    Some(fault(file, Some(number), message))
                })
                .collect(),
            Form::Eslint => {
                let files: Vec<Linted> = serde_json::from_str(output.trim()).unwrap_or_default();
                let each = |file: &Linted| {
                    let told = file.messages.iter().map(|message| {
                        let rule = message.rule_id.as_deref().unwrap_or("error");
                        let text = format!("{} [{rule}]", message.message);
                        fault(&file.file_path, message.line, &text)
                    });
                    told.collect::<Vec<_>>()
                };
                files.iter().flat_map(each).collect()
            }
            Form::Annotations => output
                .lines()
                .filter_map(|line| {
                    let line = line.trim();
                    let rest = ["::error ", "::warning ", "::notice "]
                        .iter()
                        .find_map(|mark| line.strip_prefix(mark))?;
                    let (properties, message) = rest.split_once("::")?;
                    let property = |name: &str| {
                        properties
                            .split(',')
                            .find_map(|p| p.strip_prefix(name)?.strip_prefix('='))
                    };
                    let title = property("title").unwrap_or_default();
                    Some(fault(
                        property("file")?,
                        property("line").and_then(|n| n.parse().ok()),
                        &format!("{message} [{title}]"),
                    ))
                })
                .collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::tool::TOOLS;

    #[test]
    fn what_go_cannot_build_hinders_it_from_looking_at_anything_else() {
        let vet = TOOLS.iter().find(|tool| tool.name == "go-vet").unwrap();
        let printed = "# example.com/p/sub\nvet: sub/b.go:4:9: cannot use \"x\" as int value in return statement\na.go:6:14: fmt.Printf format %d has arg \"x\" of wrong type string\n";
        let read: Vec<_> = vet
            .read_errors(printed, std::path::Path::new("/p"))
            .into_iter()
            .map(|fault| (fault.told(), fault.hinders))
            .collect();
        assert_eq!(
            read,
            [
                (
                    "sub/b.go:4: cannot use \"x\" as int value in return statement (go-vet)"
                        .to_owned(),
                    true
                ),
                (
                    "a.go:6: fmt.Printf format %d has arg \"x\" of wrong type string (go-vet)"
                        .to_owned(),
                    false
                ),
            ]
        );
    }
}
