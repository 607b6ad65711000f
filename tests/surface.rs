//! The public surface: all that the crate's page documents, as `docs/public-api.txt` lists it.
//!
//! A change of what other programs may name is then seen in review. Modules that are hidden in the documentation are no part
//! of it. Implementations of traits are not listed, and of what a macro defines only the name is.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use quote::ToTokens;
use syn::{Fields, ImplItem, Item, TraitItem, UseTree, Visibility};

use crate::world::accepts_new_output;

/// A path of modules from the root of the crate.
type Module = Vec<String>;

/// The files of the library, by their modules.
type Files = BTreeMap<Module, syn::File>;

/// What is found of the surface.
#[derive(Default)]
struct Surface {
    lines: BTreeSet<String>,
    /// The types that are named, each by the module that defines it, with the path that it is named by.
    types: BTreeMap<(Module, String), String>,
}

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn files() -> Files {
    let mut files = Files::new();
    let src = root().join("src");
    let mut left = vec![src.clone()];
    while let Some(path) = left.pop() {
        if path.is_dir() {
            let entries = fs::read_dir(&path).unwrap();
            left.extend(entries.map(|entry| entry.unwrap().path()));
        } else if path.extension().is_some_and(|e| e == "rs") {
            let name = path.strip_prefix(&src).unwrap().with_extension("");
            let parts = name.iter().map(|part| part.to_str().unwrap().to_owned());
            let mut module: Module = parts.collect();
            if module[0] == "bin" {
                continue;
            }
            module.retain(|part| !matches!(part.as_str(), "lib" | "mod"));
            let text = fs::read_to_string(&path).unwrap();
            files.insert(module, syn::parse_file(&text).unwrap());
        }
    }
    files
}

/// Writes tokens as they are usually written.
fn shown(tokens: &impl ToTokens) -> String {
    let mut text = tokens.to_token_stream().to_string();
    for (spaced, tight) in [
        (" :: ", "::"),
        ("& '", "&'"),
        ("& ", "&"),
        (" < ", "<"),
        (" >", ">"),
        ("< ", "<"),
        (" ,", ","),
        (" :", ":"),
        (" (", "("),
        ("( ", "("),
        (" )", ")"),
        (":: ", "::"),
        ("-> (", "->("),
        ("->", " -> "),
        ("  ", " "),
    ] {
        text = text.replace(spaced, tight);
    }
    text.trim().to_owned()
}

fn is_shown(visibility: &Visibility, attributes: &[syn::Attribute]) -> bool {
    let is_hidden = attributes.iter().any(|attribute| {
        let text = shown(&attribute.meta);
        text.starts_with("doc(hidden") || text.starts_with("cfg(test") || text == "cfg(doctest)"
    });
    matches!(visibility, Visibility::Public(_)) && !is_hidden
}

/// The name, visibility and attributes of an item that has a name.
fn head(item: &Item) -> Option<(&syn::Ident, &Visibility, &[syn::Attribute])> {
    Some(match item {
        Item::Const(i) => (&i.ident, &i.vis, &i.attrs),
        Item::Enum(i) => (&i.ident, &i.vis, &i.attrs),
        Item::Fn(i) => (&i.sig.ident, &i.vis, &i.attrs),
        Item::Mod(i) => (&i.ident, &i.vis, &i.attrs),
        Item::Static(i) => (&i.ident, &i.vis, &i.attrs),
        Item::Struct(i) => (&i.ident, &i.vis, &i.attrs),
        Item::Trait(i) => (&i.ident, &i.vis, &i.attrs),
        Item::Type(i) => (&i.ident, &i.vis, &i.attrs),
        _ => return None,
    })
}

/// Every name that a `use` brings, with its path.
fn leaves(tree: &UseTree, path: &Module, found: &mut Vec<Module>) {
    match tree {
        UseTree::Path(part) => {
            leaves(
                &part.tree,
                &[path.clone(), vec![part.ident.to_string()]].concat(),
                found,
            );
        }
        UseTree::Name(name) => found.push([path.clone(), vec![name.ident.to_string()]].concat()),
        UseTree::Group(group) => group
            .items
            .iter()
            .for_each(|tree| leaves(tree, path, found)),
        UseTree::Rename(_) | UseTree::Glob(_) => {
            panic!("a public name is given once, by its own name")
        }
    }
}

impl Surface {
    fn module(&mut self, files: &Files, module: &Module) {
        for item in &files[module].items {
            if let Item::Use(item) = item {
                if !is_shown(&item.vis, &item.attrs) {
                    continue;
                }
                let mut named = Vec::new();
                leaves(&item.tree, &Vec::new(), &mut named);
                for mut path in named {
                    let name = path.pop().unwrap();
                    let named_by = [module.clone(), vec![name.clone()]].concat().join("::");
                    let home = match path.first().map(String::as_str) {
                        Some("self") => [module, &path[1..]].concat(),
                        Some("crate") => path[1..].to_vec(),
                        _ => {
                            self.lines.insert(format!("{named_by}: of another crate"));
                            continue;
                        }
                    };
                    self.named(files, &home, &name, &named_by);
                }
            } else if let Some((name, visibility, attributes)) = head(item)
                && is_shown(visibility, attributes)
            {
                let named_by = [module.clone(), vec![name.to_string()]].concat();
                match item {
                    Item::Mod(_) => self.module(files, &named_by),
                    _ => self.item(module, item, &named_by.join("::")),
                }
            }
        }
    }

    /// Adds what a module calls by a name, or hands on by it.
    fn named(&mut self, files: &Files, home: &Module, name: &str, named_by: &str) {
        for item in &files[home].items {
            match item {
                Item::Use(item) if matches!(item.vis, Visibility::Public(_)) => {
                    let mut handed_on = Vec::new();
                    leaves(&item.tree, &Vec::new(), &mut handed_on);
                    for mut path in handed_on {
                        if path.pop().as_deref() == Some(name) && path[0] == "self" {
                            let home = [home, &path[1..]].concat();
                            return self.named(files, &home, name, named_by);
                        }
                    }
                }
                item if head(item).is_some_and(|(own, ..)| own == name) => {
                    return self.item(home, item, named_by);
                }
                _ => {}
            }
        }
        // What a macro defines has no tokens to show.
        self.lines.insert(format!("{named_by}: by a macro"));
        self.types
            .insert((home.clone(), name.to_owned()), named_by.to_owned());
    }

    fn item(&mut self, home: &Module, item: &Item, named_by: &str) {
        let mut lines = Vec::new();
        let fields = |owner: &str, fields: &Fields, only_public: bool| {
            let own = fields
                .iter()
                .enumerate()
                .filter(|(_, field)| !only_public || matches!(field.vis, Visibility::Public(_)));
            let listed = own.map(|(n, field)| {
                let name = field
                    .ident
                    .as_ref()
                    .map_or(n.to_string(), ToString::to_string);
                format!("{owner}.{name}: {}", shown(&field.ty))
            });
            listed.collect::<Vec<_>>()
        };
        match item {
            Item::Const(i) => lines.push(format!("const {named_by}: {}", shown(&i.ty))),
            Item::Static(i) => lines.push(format!("static {named_by}: {}", shown(&i.ty))),
            Item::Type(i) => lines.push(format!("type {named_by} = {}", shown(&i.ty))),
            Item::Fn(i) => lines.push(format!("{named_by}: {}", shown(&i.sig))),
            Item::Struct(i) => {
                lines.push(format!(
                    "struct {named_by}{}{}",
                    shown(&i.generics),
                    growth(&i.attrs)
                ));
                lines.extend(fields(named_by, &i.fields, true));
            }
            Item::Enum(i) => {
                lines.push(format!(
                    "enum {named_by}{}{}",
                    shown(&i.generics),
                    growth(&i.attrs)
                ));
                for variant in &i.variants {
                    let owner = format!("{named_by}::{}", variant.ident);
                    lines.extend(fields(&owner, &variant.fields, false));
                    lines.push(owner);
                }
            }
            Item::Trait(i) => {
                lines.push(format!("trait {named_by}: {}", shown(&i.supertraits)));
                for part in &i.items {
                    if let TraitItem::Fn(method) = part {
                        let given = if method.default.is_some() {
                            ", given"
                        } else {
                            ""
                        };
                        lines.push(format!("{named_by}: {}{given}", shown(&method.sig)));
                    }
                }
            }
            _ => {}
        }
        self.lines.extend(lines);
        if let Some((name, ..)) = head(item) {
            self.types
                .insert((home.clone(), name.to_string()), named_by.to_owned());
        }
    }

    /// Adds the methods and constants of the types that were named.
    fn methods(&mut self, files: &Files) {
        for (module, file) in files {
            for item in &file.items {
                let Item::Impl(block) = item else { continue };
                let (None, syn::Type::Path(of)) = (&block.trait_, &*block.self_ty) else {
                    continue;
                };
                let name = of.path.segments.last().unwrap().ident.to_string();
                let named_by = self
                    .types
                    .iter()
                    .find(|((home, own), _)| *own == name && home.first() == module.first());
                let Some((_, named_by)) = named_by else {
                    continue;
                };
                for part in &block.items {
                    let line = match part {
                        ImplItem::Fn(i) if is_shown(&i.vis, &i.attrs) => shown(&i.sig),
                        ImplItem::Const(i) if is_shown(&i.vis, &i.attrs) => {
                            format!("const {}: {}", i.ident, shown(&i.ty))
                        }
                        _ => continue,
                    };
                    self.lines.insert(format!("{named_by}: {line}"));
                }
            }
        }
    }
}

/// Whether a type may grow without that being a break.
fn growth(attributes: &[syn::Attribute]) -> &'static str {
    let may_grow = |a: &syn::Attribute| a.path().is_ident("non_exhaustive");
    if attributes.iter().any(may_grow) {
        " (may grow)"
    } else {
        ""
    }
}

#[test]
#[ignore = "run by `.ci/api`, a part of the whole gate"]
fn it_is_what_the_list_says() {
    let files = files();
    let mut surface = Surface::default();
    surface.module(&files, &Vec::new());
    surface.methods(&files);
    let found: Vec<&str> = surface.lines.iter().map(String::as_str).collect();
    let path = root().join("docs/public-api.txt");
    if accepts_new_output() {
        fs::write(&path, found.join("\n") + "\n").unwrap();
    }
    let listed = fs::read_to_string(&path).unwrap_or_default();
    let listed: BTreeSet<&str> = listed.lines().collect();
    let found: BTreeSet<&str> = found.into_iter().collect();
    let (new, gone) = (found.difference(&listed), listed.difference(&found));
    let (new, gone): (Vec<_>, Vec<_>) = (new.collect(), gone.collect());
    assert!(
        new.is_empty() && gone.is_empty(),
        "the public surface has changed: new {new:#?}, gone {gone:#?}; where that is meant, `INSTA_UPDATE=always .ci/api` writes the list"
    );
}
