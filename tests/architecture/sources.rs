//! Which file of a crate uses which other one, read from its tokens: neither comments, texts nor unit tests count.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use proc_macro2::{Delimiter, TokenStream, TokenTree};

/// A path of modules from the root of the crate: `src/danger/rules.rs` is `["danger", "rules"]`.
pub(super) type Module = Vec<String>;

/// The files of one crate, by their modules.
pub(super) struct Sources {
    files: BTreeMap<Module, File>,
}

/// One source file.
pub(super) struct File {
    pub(super) path: String,
    pub(super) text: String,
    /// The modules that it declares, with `mod name;`.
    pub(super) children: BTreeSet<String>,
    /// Names that it only hands on, with `pub use`, and what they stand for.
    handed_on: BTreeMap<String, Module>,
    /// Every path into its own crate that it names, as written.
    paths: BTreeSet<Vec<String>>,
    /// `use` declarations that name things of several modules of the crate at once.
    pub(super) grouped: Vec<String>,
}

/// One file naming another.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Use {
    pub(super) from: Module,
    pub(super) to: Module,
    /// The path as written.
    pub(super) written: String,
}

impl Sources {
    /// Reads every `.rs` file below a directory, but for the directories `without`.
    pub(super) fn read(root: &Path, without: &[&str]) -> Self {
        let mut found = Vec::new();
        let mut left = vec![root.to_owned()];
        while let Some(dir) = left.pop() {
            for entry in fs::read_dir(&dir).unwrap() {
                let path = entry.unwrap().path();
                let name = path.strip_prefix(root).unwrap().to_str().unwrap();
                if path.is_dir() && !without.contains(&name) {
                    left.push(path);
                } else if path.extension().is_some_and(|e| e == "rs") {
                    found.push((name.to_owned(), fs::read_to_string(&path).unwrap()));
                }
            }
        }
        Self::of(found)
    }

    /// Takes files by their paths below the root of the crate.
    pub(super) fn of(files: impl IntoIterator<Item = (String, String)>) -> Self {
        let files = files.into_iter().map(|(path, text)| {
            let mut module: Module = path
                .trim_end_matches(".rs")
                .split('/')
                .map(str::to_owned)
                .collect();
            if matches!(
                module.last().map(String::as_str),
                Some("mod" | "lib" | "main")
            ) {
                module.pop();
            }
            let file = File::parse(path, text, &module);
            (module, file)
        });
        Self {
            files: files.collect(),
        }
    }

    /// Every file with its module.
    pub(super) fn files(&self) -> impl Iterator<Item = (&Module, &File)> {
        self.files.iter()
    }

    /// The file of a module.
    pub(super) fn file(&self, module: &[String]) -> &File {
        &self.files[module]
    }

    /// Every use of one file by another; a name that is only handed on leads to where it is defined.
    pub(super) fn uses(&self) -> Vec<Use> {
        let mut uses = Vec::new();
        for (from, file) in &self.files {
            for path in &file.paths {
                let Some(to) = absolute(path, from, &file.children).and_then(|to| self.home(to))
                else {
                    continue;
                };
                if to != *from && !to.is_empty() {
                    uses.push(Use {
                        from: from.clone(),
                        to,
                        written: path.join("::"),
                    });
                }
            }
        }
        uses
    }

    /// The file in which a path ends.
    fn home(&self, mut path: Module) -> Option<Module> {
        // Names are handed on over a few files at the most; more would be a circle.
        for _ in 0..8 {
            let length = (0..=path.len())
                .rev()
                .find(|n| self.files.contains_key(&path[..*n]))?;
            let handed_on = path
                .get(length)
                .and_then(|name| self.files[&path[..length]].handed_on.get(name));
            let Some(target) = handed_on else {
                path.truncate(length);
                return Some(path);
            };
            path = target.iter().chain(&path[length + 1..]).cloned().collect();
        }
        None
    }
}

impl File {
    fn parse(path: String, text: String, module: &[String]) -> Self {
        let tokens: TokenStream = text.parse().unwrap_or_else(|e| panic!("{path}: {e}"));
        let mut reading = Reading::default();
        reading.read(tokens);
        let Reading {
            children,
            handed_on,
            paths,
            grouped,
        } = reading;
        let handed_on = handed_on
            .iter()
            .filter_map(|path| absolute(path, module, &children))
            .filter_map(|to| Some((to.last()?.clone(), to)))
            .collect();
        Self {
            path,
            text,
            children,
            handed_on,
            paths,
            grouped,
        }
    }
}

/// A path from the root of its crate; none where it leads into another crate.
fn absolute(path: &[String], module: &[String], children: &BTreeSet<String>) -> Option<Module> {
    let ups = path.iter().take_while(|part| *part == "super").count();
    let (base, rest) = match path.first()?.as_str() {
        "crate" => (&module[..0], &path[1..]),
        "self" => (module, &path[1..]),
        "super" => (&module[..module.len().checked_sub(ups)?], &path[ups..]),
        first if children.contains(first) => (module, path),
        _ => return None,
    };
    Some([base, rest].concat())
}

#[derive(Default)]
struct Reading {
    children: BTreeSet<String>,
    handed_on: Vec<Vec<String>>,
    paths: BTreeSet<Vec<String>>,
    grouped: Vec<String>,
}

impl Reading {
    fn read(&mut self, stream: TokenStream) {
        let tokens: Vec<TokenTree> = stream.into_iter().collect();
        let mut at = 0;
        while at < tokens.len() {
            if is_test_only(&tokens[at..]) {
                at = end_of_item(&tokens, at);
            } else if let TokenTree::Group(group) = &tokens[at] {
                self.read(group.stream());
                at += 1;
            } else if is_word(&tokens[at], "use") {
                let end = end_of_item(&tokens, at);
                self.read_use(&tokens[at + 1..end], is_public(&tokens[..at]));
                at = end;
            } else if is_word(&tokens[at], "mod")
                && matches!(tokens.get(at + 2), Some(TokenTree::Punct(_)))
            {
                self.children.insert(tokens[at + 1].to_string());
                at += 2;
            } else {
                let (path, next) = path_at(&tokens, at);
                if path.len() > 1 {
                    self.paths.insert(path);
                }
                at = next.max(at + 1);
            }
        }
    }

    fn read_use(&mut self, tree: &[TokenTree], public: bool) {
        let (path, next) = path_at(tree, 0);
        let mut named = Vec::new();
        if let Some(TokenTree::Group(items)) = tree.get(next) {
            let items: Vec<TokenTree> = items.stream().into_iter().collect();
            let own = matches!(
                path.first().map(String::as_str),
                Some("crate" | "super" | "self" | "ahp")
            );
            let nested = items.iter().any(|token| is_sign(Some(token), ':'));
            if own && (nested || path == ["crate"] || path == ["self"]) {
                self.grouped.push(path.join("::"));
            }
            for item in items.split(|token| is_sign(Some(token), ',')) {
                named.push([path.clone(), path_at(item, 0).0].concat());
            }
        } else {
            named.push(path);
        }
        if public {
            self.handed_on.extend(named);
        } else {
            self.paths.extend(named);
        }
    }
}

/// Reads `a::b::c`, and says where it ends.
fn path_at(tokens: &[TokenTree], mut at: usize) -> (Vec<String>, usize) {
    let mut path = Vec::new();
    while let Some(TokenTree::Ident(name)) = tokens.get(at) {
        path.push(name.to_string());
        at += 1;
        if !(is_sign(tokens.get(at), ':') && is_sign(tokens.get(at + 1), ':')) {
            break;
        }
        at += 2;
    }
    (path, at)
}

/// Whether an item that only tests have begins here: `#[cfg(test)]`.
fn is_test_only(tokens: &[TokenTree]) -> bool {
    is_sign(tokens.first(), '#')
        && matches!(tokens.get(1), Some(TokenTree::Group(attribute))
            if attribute.delimiter() == Delimiter::Bracket
                && attribute.stream().to_string().replace(' ', "") == "cfg(test)")
}

/// Just behind the `;` or the braces that end an item.
fn end_of_item(tokens: &[TokenTree], at: usize) -> usize {
    let last = tokens[at..].iter().position(|token| match token {
        TokenTree::Punct(sign) => sign.as_char() == ';',
        TokenTree::Group(group) => {
            group.delimiter() == Delimiter::Brace && !is_word(&tokens[at], "use")
        }
        _ => false,
    });
    last.map_or(tokens.len(), |n| at + n + 1)
}

/// Whether `pub` or `pub(…)` stands last.
fn is_public(tokens: &[TokenTree]) -> bool {
    match tokens {
        [.., public, TokenTree::Group(_)] | [.., public] => is_word(public, "pub"),
        [] => false,
    }
}

fn is_word(token: &TokenTree, word: &str) -> bool {
    matches!(token, TokenTree::Ident(name) if name == word)
}

fn is_sign(token: Option<&TokenTree>, sign: char) -> bool {
    matches!(token, Some(TokenTree::Punct(punct)) if punct.as_char() == sign)
}
