//! Every function that is offered to scripts: its signature, what it does, and an example that is run.

mod change;
mod files;
mod lists;
mod results;
mod surroundings;
mod text;

pub(super) use self::results::Answer;

use rhai::Engine;

/// One function that is offered to scripts.
#[derive(Clone, Copy, Debug)]
pub struct Function {
    /// How it is called: `matches(text, regex) -> bool`.
    pub signature: &'static str,
    /// What it does.
    pub doc: &'static str,
    /// An expression or a few statements that are true in the project that the manual shows.
    pub example: &'static str,
    register: fn(&mut Engine),
}

/// Functions that belong together.
#[derive(Clone, Copy, Debug)]
pub struct Group {
    /// The heading.
    pub title: &'static str,
    /// What is true of all of them.
    pub doc: &'static str,
    /// The functions.
    pub functions: &'static [Function],
}

/// Every function that is offered beside those of the language itself.
pub const GROUPS: &[Group] = &[
    results::GROUP,
    results::SETTERS,
    text::GROUP,
    files::PATHS,
    files::FILES,
    change::GROUP,
    lists::GROUP,
    surroundings::GROUP,
];

impl Function {
    /// Returns the name.
    pub fn name(&self) -> &'static str {
        let head = self.signature.split('(').next().unwrap_or_default();
        head.rsplit('.').next().unwrap_or(head)
    }
}

/// Makes every function known to the interpreter.
pub(super) fn register(engine: &mut Engine) {
    results::register_type(engine);
    for function in GROUPS.iter().flat_map(|group| group.functions) {
        (function.register)(engine);
    }
}

/// Whether the functions of a name read files of the project, or look at the change of it.
pub(super) fn reads_project(name: &str) -> bool {
    let groups = [&files::FILES, &change::GROUP];
    let mut functions = groups.iter().flat_map(|group| group.functions);
    functions.any(|function| function.name() == name)
}

/// Returns the names of all functions.
pub(super) fn names() -> impl Iterator<Item = &'static str> {
    GROUPS
        .iter()
        .flat_map(|group| group.functions)
        .map(Function::name)
}

/// Returns how the functions of a name are called.
pub(super) fn signatures_of(name: &str) -> impl Iterator<Item = &'static str> {
    GROUPS
        .iter()
        .flat_map(|group| group.functions)
        .filter(move |function| function.name() == name)
        .map(|function| function.signature)
}
