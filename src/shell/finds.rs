//! The words of `find`: where it looks, and what stands for what it finds.

use super::{Invocation, Word, file_name};

/// How many folders of a search are followed, and how many patterns; past it all may be found.
const MAX_ROOTS: usize = 4096;
const MAX_PATTERNS: usize = 64;

/// What `find` does with what it has found; a test behind it narrows nothing.
fn is_action(word: &str) -> bool {
    matches!(word, "-delete" | "-exec" | "-execdir" | "-ok" | "-okdir")
}

/// Returns the arguments of `find` that stand before what it does.
pub(crate) fn before_action(find: &Invocation) -> impl Iterator<Item = &Word> {
    let arguments = find.arguments.iter();
    arguments.take_while(|word| !is_action(&word.text))
}

/// Returns the folders in which a `find` looks, and the words of its expression behind them.
pub(crate) fn roots(find: &Invocation) -> (Vec<Word>, &[Word]) {
    let mut roots = Vec::new();
    let mut words = find.arguments.as_slice();
    loop {
        words = match words {
            [dashes, rest @ ..] if dashes.text == "--" => rest,
            [option, rest @ ..] if option.text.starts_with("-O") => rest,
            [option, _, rest @ ..] if option.text == "-D" => rest,
            [option, rest @ ..] if is_cluster(&option.text) => match rest {
                // Behind its last letter, `-f`, a folder stands.
                [root, rest @ ..] if option.text.ends_with('f') => {
                    roots.push(root.clone());
                    rest
                }
                _ => rest,
            },
            _ => break,
        };
    }
    let begins = |word: &Word| {
        word.text.starts_with('-') || matches!(word.text.as_str(), "(" | "!" | ")" | ",")
    };
    let own = words.iter().take_while(|word| !begins(word)).count();
    let (named, expression) = words.split_at(own);
    roots.extend(named.iter().cloned());
    if roots.is_empty() {
        roots.push(Word::plain("."));
    }
    (roots, expression)
}

/// Whether a word before the folders is a cluster of options of one letter: `-H`, `-xs`, `-f`.
fn is_cluster(text: &str) -> bool {
    let cluster = text.strip_prefix('-').filter(|cluster| !cluster.is_empty());
    cluster.is_some_and(|cluster| {
        let letters = cluster.strip_suffix('f').unwrap_or(cluster);
        letters.bytes().all(|letter| b"EHLPXdsx".contains(&letter))
    })
}

/// Whether a `find` comes to what lies in a folder before the folder, so that nothing is left out on the way.
pub(crate) fn is_depth_first(find: &Invocation) -> bool {
    find.arguments.iter().any(|word| {
        let text = word.text.as_str();
        matches!(text, "-delete" | "-depth") || is_cluster(text) && text.contains('d')
    })
}

/// Returns what stands for the files that a `find` finds: its folders with its name patterns.
pub(crate) fn found_by_find(find: &Invocation) -> Vec<Word> {
    let (roots, _) = roots(find);
    let mut patterns: Vec<String> = Vec::new();
    // What the last pattern is that must hold together with the next one: a name, or the folder that it lies in.
    let mut before = None;
    let mut negated = false;
    let mut words = find.arguments.as_slice();
    while let [word, rest @ ..] = words {
        words = rest;
        match word.text.as_str() {
            "!" | "-not" => {
                negated = true;
                continue;
            }
            "-o" | "-or" | "," | ")" => before = None,
            "(" => {
                before = None;
                let group = group(rest);
                let behind = rest.get(group..).unwrap_or_default();
                if negated || is_left_out(behind) {
                    words = behind;
                }
            }
            "-name" | "-iname" | "-path" | "-wholename" | "-ipath" => {
                let Some((pattern, behind)) = rest.split_first() else {
                    break;
                };
                words = behind;
                if negated || is_left_out(behind) {
                    negated = false;
                    continue;
                }
                let bare = pattern.text.trim_end_matches("/*");
                let name = file_name(bare);
                // Both tests hold for what is found: a name below a folder.
                let is_folder = bare.len() < pattern.text.len() && word.text.contains("path");
                let kind = if is_folder { Kind::Folder } else { Kind::Name };
                match (patterns.last_mut(), before, kind) {
                    (Some(last), Some(Kind::Name), Kind::Folder) => {
                        *last = format!("{name}/{last}");
                    }
                    (Some(last), Some(Kind::Folder), Kind::Name) => {
                        *last = format!("{last}/{name}");
                    }
                    _ => patterns.push(name.to_owned()),
                }
                before = Some(kind);
            }
            action if is_action(action) && patterns.is_empty() => patterns.push("*".to_owned()),
            _ => {}
        }
        negated = false;
    }
    if patterns.is_empty() || patterns.len() > MAX_PATTERNS || roots.len() > MAX_ROOTS {
        patterns = vec!["*".to_owned()];
    }
    roots
        .iter()
        .flat_map(|root| {
            patterns.iter().map(|pattern| Word {
                text: format!("{}/{pattern}", root.text.trim_end_matches('/')),
                dynamic: root.dynamic,
                glob: true,
                each: true,
                made_by: 0..0,
            })
        })
        .collect()
}

/// What a pattern of a `find` says of what is found.
#[derive(Clone, Copy)]
enum Kind {
    Folder,
    Name,
}

/// Whether what meets the tests before these words is left out: `-prune -o`.
fn is_left_out(words: &[Word]) -> bool {
    matches!(words, [prune, or, ..]
        if prune.text == "-prune" && matches!(or.text.as_str(), "-o" | "-or"))
}

/// Returns how many words belong to a group behind its `(`, its `)` among them.
fn group(words: &[Word]) -> usize {
    let mut open = 1;
    let ends = |word: &Word| {
        match word.text.as_str() {
            "(" => open += 1,
            ")" => open -= 1,
            _ => {}
        }
        open == 0
    };
    words.iter().position(ends).map_or(words.len(), |at| at + 1)
}

/// Returns what stands for the finds of a search at any depth.
pub(crate) fn anywhere_below(word: Word) -> Word {
    let text = match word.text.rsplit_once('/') {
        Some((root, "*")) => root.to_owned(),
        Some((root, name)) => format!("{root}/**/{name}"),
        None => word.text.clone(),
    };
    Word { text, ..word }
}
