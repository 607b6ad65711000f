//! Every function that is offered to scripts. `manual.txt` tells how each is called, what it does, and an example that is
//! run; a group begins with `#`.

mod change;
mod files;
mod results;
mod surroundings;
mod text;

use std::sync::LazyLock;

use rhai::Engine;

pub(super) use self::results::Answer;

/// One function that is offered to scripts.
#[derive(Clone, Copy, Debug)]
pub struct Function {
    /// How it is called: `matches(text, regex) -> bool`.
    pub signature: &'static str,
    /// What it does.
    pub doc: &'static str,
    /// An expression or a few statements that are true in the project that the manual shows.
    pub example: &'static str,
}

/// Functions that belong together.
#[derive(Clone, Debug)]
pub struct Group {
    /// The heading.
    pub title: &'static str,
    /// What is true of all of them.
    pub doc: &'static str,
    /// The functions.
    pub functions: Vec<Function>,
}

/// Every function that is offered beside those of the language itself.
pub static GROUPS: LazyLock<Vec<Group>> = LazyLock::new(|| {
    let mut groups = Vec::<Group>::new();
    for part in include_str!("manual.txt").split("\n\n") {
        let mut lines = part.lines();
        let mut line = || lines.next().unwrap_or_default();
        let (first, doc) = (line(), line());
        if let Some(title) = first.strip_prefix("# ") {
            let functions = Vec::new();
            groups.push(Group {
                title,
                doc,
                functions,
            });
        } else if let Some(group) = groups.last_mut() {
            group.functions.push(Function {
                signature: first,
                doc,
                example: line(),
            });
        }
    }
    groups
});

/// The functions that read files of the project, or look at the change of it.
const OF_PROJECT: &[&str] = &[
    "added_lines",
    "file_exists",
    "list_files",
    "read_before",
    "read_file",
];

impl Function {
    /// Returns the name.
    pub fn name(&self) -> &'static str {
        let head = self.signature.split('(').next().unwrap_or_default();
        head.rsplit('.').next().unwrap_or(head)
    }
}

/// Makes every function known to the interpreter; those of lists are registered with their type.
pub(super) fn register(engine: &mut Engine) {
    for register in [
        results::register,
        text::register,
        files::register,
        change::register,
        surroundings::register,
    ] {
        register(engine);
    }
}

/// Whether the functions of a name read files of the project, or look at the change of it.
pub(super) fn reads_project(name: &str) -> bool {
    OF_PROJECT.contains(&name)
}

fn functions() -> impl Iterator<Item = &'static Function> {
    GROUPS.iter().flat_map(|group| &group.functions)
}

/// Returns the names of all functions.
pub(super) fn names() -> impl Iterator<Item = &'static str> {
    functions().map(Function::name)
}

/// Returns how the functions of a name are called.
pub(super) fn signatures_of(name: &str) -> impl Iterator<Item = &'static str> {
    functions()
        .filter(move |function| function.name() == name)
        .map(|function| function.signature)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_reads_the_project_is_told_below_its_headings() {
        let titles = ["Files of the project", "The change"];
        let groups = GROUPS.iter().filter(|group| titles.contains(&group.title));
        let functions = groups.flat_map(|group| &group.functions);
        let mut names: Vec<_> = functions.map(Function::name).collect();
        names.sort_unstable();
        assert_eq!(names, OF_PROJECT);
    }
}
