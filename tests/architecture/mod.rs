//! The shape of the source: which module may use which, no circles, and nothing outside its registry.
//!
//! The table of modules stands in `docs/architecture.md`, in the column "uses", and is read from there.

mod registries;
mod sources;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;
use std::sync::LazyLock;

use self::sources::{Module, Sources, Use};

/// Names that say nothing of what is inside.
const NAMELESS: &[&str] = &[
    "common", "helper", "helpers", "misc", "shared", "util", "utils",
];

/// Circles that are still there: the directory, and those of its entries that use each other. Entries only go.
const CIRCLES: &[(&str, &[&str])] = &[
    ("engine", &["builder", "state"]),
    ("host", &["decode", "git", "native"]),
    ("oracle/toolchain/test_run", &["console", "go"]),
    ("shell", &["analysis", "guard", "issue_command", "walk"]),
    (
        "signal_log",
        &["chain", "compose", "group", "history", "index", "writer"],
    ),
];

/// A row of the table: a module, and what it may use.
type Row = (String, BTreeSet<String>);

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn library() -> &'static Sources {
    static LIBRARY: LazyLock<Sources> =
        LazyLock::new(|| Sources::read(&root().join("src"), &["bin"]));
    &LIBRARY
}

fn program() -> &'static Sources {
    static PROGRAM: LazyLock<Sources> =
        LazyLock::new(|| Sources::read(&root().join("src/bin/ahp"), &[]));
    &PROGRAM
}

/// Reads the table of a page: `| module | what it is | uses |`, its names in backticks.
fn table(page: &str) -> Vec<Row> {
    let rows = page
        .lines()
        .skip_while(|line| !line.starts_with("| module |"))
        .skip(2);
    rows.take_while(|line| line.starts_with('|'))
        .map(|line| {
            let cells: Vec<_> = line.trim_matches('|').split('|').collect();
            let [module, _, uses] = cells[..] else {
                panic!("expected three cells in `{line}`");
            };
            let names = |cell: &str| {
                cell.split('`')
                    .skip(1)
                    .step_by(2)
                    .map(str::to_owned)
                    .collect()
            };
            let module: Vec<String> = names(module);
            (module.concat(), names(uses).into_iter().collect())
        })
        .collect()
}

/// What breaks the table: an import that no row allows, and a row's name that no import needs.
fn against_the_table(sources: &Sources, table: &[Row]) -> Vec<String> {
    let mut faults = Vec::new();
    let mut needed = BTreeSet::new();
    for Use { from, to, written } in sources.uses() {
        let (Some(from_module), to_module) = (from.first(), &to[0]) else {
            continue;
        };
        if from_module == to_module {
            continue;
        }
        needed.insert((from_module.clone(), to_module.clone()));
        let allowed = table
            .iter()
            .any(|(name, uses)| name == from_module && uses.contains(to_module));
        if !allowed {
            let file = &sources.file(&from).path;
            faults.push(format!(
                "{file} uses `{written}`, but `{from_module}` may not use `{to_module}`"
            ));
        }
    }
    for (name, uses) in table {
        for unneeded in uses
            .iter()
            .filter(|to| !needed.contains(&(name.clone(), (*to).clone())))
        {
            faults.push(format!(
                "`{name}` uses nothing of `{unneeded}`: take it out of its row"
            ));
        }
    }
    faults
}

/// Names in a row that stand in no row above it: with none, no module can use itself, not even by way of others.
fn out_of_order(table: &[Row]) -> Vec<String> {
    let mut above = BTreeSet::new();
    let mut faults = Vec::new();
    for (name, uses) in table {
        let early = uses.iter().filter(|to| !above.contains(to));
        faults.extend(
            early.map(|to| format!("`{name}` uses `{to}`, which stands in no row above it")),
        );
        above.insert(name);
    }
    faults
}

/// The entries of each directory that use each other, directly or by way of others of that directory.
///
/// An entry is a file, or a directory with all that is in it. A file may use what its own `mod.rs` defines.
fn circles(sources: &Sources) -> BTreeMap<String, BTreeSet<String>> {
    let mut directories: BTreeMap<Module, BTreeMap<String, BTreeSet<String>>> = BTreeMap::new();
    for Use { from, to, .. } in sources.uses() {
        let depth = from.iter().zip(&to).take_while(|(a, b)| a == b).count();
        if let (Some(from_entry), Some(to_entry)) = (from.get(depth), to.get(depth)) {
            let directory = directories.entry(from[..depth].to_vec()).or_default();
            directory
                .entry(from_entry.clone())
                .or_default()
                .insert(to_entry.clone());
        }
    }
    let in_circles = |uses: &BTreeMap<String, BTreeSet<String>>| -> BTreeSet<String> {
        uses.keys()
            .filter(|entry| reached(uses, entry).contains(*entry))
            .cloned()
            .collect()
    };
    let named = directories
        .iter()
        .map(|(directory, uses)| (directory.join("/"), in_circles(uses)));
    named.filter(|(_, entries)| !entries.is_empty()).collect()
}

fn reached(uses: &BTreeMap<String, BTreeSet<String>>, from: &str) -> BTreeSet<String> {
    let mut reached = BTreeSet::new();
    let mut left = vec![from];
    while let Some(entry) = left.pop() {
        for next in uses.get(entry).into_iter().flatten() {
            if reached.insert(next.clone()) {
                left.push(next);
            }
        }
    }
    reached
}

#[test]
fn every_module_has_a_row_and_uses_what_it_allows() {
    let page = fs::read_to_string(root().join("docs/architecture.md")).unwrap();
    let table = table(&page);
    let library = library();
    let modules = &library.file(&[]).children;
    let rows: BTreeSet<String> = table.iter().map(|(name, _)| name.clone()).collect();
    assert_eq!(
        &rows, modules,
        "the table of docs/architecture.md against the modules of src/lib.rs"
    );
    assert_eq!(out_of_order(&table), [""; 0]);
    let faults = against_the_table(library, &table);
    assert!(
        faults.is_empty(),
        "the table of docs/architecture.md:\n{}",
        faults.join("\n")
    );
}

/// The fuzz targets are built by no short gate, so what they take of the program must not come to need the rest of it.
#[test]
fn what_a_fuzz_target_includes_stands_alone() {
    let targets = root().join("fuzz/fuzz_targets");
    let mut included = 0;
    for target in fs::read_dir(&targets).unwrap() {
        let text = fs::read_to_string(target.unwrap().path()).unwrap();
        for path in text.lines().filter_map(|l| l.strip_prefix("#[path = \"")) {
            let path = path.trim_end_matches("\"]");
            let file = fs::read_to_string(targets.join(path)).unwrap();
            let needs = file.lines().find(|l| l.contains("crate::"));
            assert_eq!(needs, None, "{path} is included by a fuzz target");
            included += 1;
        }
    }
    assert!(included > 0, "no target includes a file");
}

#[test]
fn no_circle_but_the_known_ones() {
    let mut found = circles(library());
    found.extend(
        circles(program())
            .into_iter()
            .map(|(dir, entries)| (format!("bin/ahp/{dir}"), entries)),
    );
    for (directory, entries) in &found {
        let known = CIRCLES.iter().find(|(known, _)| known == directory);
        let known: BTreeSet<String> = known
            .iter()
            .flat_map(|(_, e)| e.iter())
            .map(|e| (*e).to_owned())
            .collect();
        let new: Vec<_> = entries.difference(&known).collect();
        assert!(
            new.is_empty(),
            "in src/{directory} these use each other: {entries:?}; new are {new:?}"
        );
    }
    for (directory, entries) in CIRCLES {
        let gone: Vec<_> = entries
            .iter()
            .filter(|e| {
                !found
                    .get(*directory)
                    .is_some_and(|found| found.contains(**e))
            })
            .collect();
        assert!(
            gone.is_empty(),
            "in no circle of src/{directory} any more, so take them out of CIRCLES: {gone:?}"
        );
    }
}

#[test]
fn files_open_with_what_they_are_for_and_have_names() {
    for sources in [library(), program()] {
        for (module, file) in sources.files() {
            let path = &file.path;
            assert!(
                file.text.starts_with("//! "),
                "{path}: the first line says what the file is for, after `//! `"
            );
            assert!(
                file.grouped.is_empty(),
                "{path}: one module a `use`, in place of {:?}",
                file.grouped
            );
            let nameless = module.iter().find(|part| NAMELESS.contains(&part.as_str()));
            assert_eq!(nameless, None, "{path}: name it by what is inside");
        }
    }
}

/// What the checks find in sources that break each rule.
mod seen_to_fail {
    use super::*;

    fn sources(files: &[(&str, &str)]) -> Sources {
        Sources::of(
            files
                .iter()
                .map(|(path, text)| ((*path).to_owned(), (*text).to_owned())),
        )
    }

    const PAGE: &str = "\n| module | what it is | uses |\n|---|---|---|\n| `low` | first | |\n| `high` | last | `low` |\n\nMore.\n";

    fn faults(low: &str) -> Vec<String> {
        let high = "//! High.\npub use self::part::Part;\nmod part;\nuse crate::low::Low;\n";
        let files = [
            ("lib.rs", "mod high;\nmod low;\n"),
            ("high/mod.rs", high),
            ("high/part.rs", "pub struct Part;"),
            ("low.rs", low),
        ];
        against_the_table(&sources(&files), &table(PAGE))
    }

    #[test]
    fn a_wrong_way_import() {
        assert_eq!(faults("pub struct Low;"), [""; 0]);
        let told = ["low.rs uses `crate::high::Part`, but `low` may not use `high`"];
        assert_eq!(faults("use crate::high::Part;"), told);
        assert_eq!(faults("fn f() { crate::high::Part; }"), told);
        assert_eq!(faults("fn f() { assert!(crate::high::Part); }"), told);
        let told = ["low.rs uses `super::high`, but `low` may not use `high`"];
        assert_eq!(faults("use super::high as h;"), told);
    }

    #[test]
    fn neither_comments_nor_texts_nor_unit_tests() {
        assert_eq!(
            faults(
                "// crate::high::Part\n/// [`crate::high::Part`]\nfn f() { \"crate::high::Part\"; }"
            ),
            [""; 0]
        );
        assert_eq!(
            faults("#[cfg(test)]\nmod tests { use crate::high::Part; }"),
            [""; 0]
        );
        assert_eq!(
            faults("#[cfg(test)]\nuse crate::high::Part;\nstruct Low;"),
            [""; 0]
        );
        assert_eq!(
            faults("#[cfg(test)]\nmod tests {}\nuse crate::high::Part;").len(),
            1
        );
    }

    #[test]
    fn a_row_that_allows_what_nothing_needs_or_what_stands_below_it() {
        let page = PAGE.replace("first | |", "first | `high` |");
        let files = sources(&[
            ("lib.rs", ""),
            ("low.rs", ""),
            ("high.rs", "use crate::low::Low;"),
        ]);
        let told = ["`low` uses nothing of `high`: take it out of its row"];
        assert_eq!(against_the_table(&files, &table(&page)), told);
        assert_eq!(
            out_of_order(&table(&page)),
            ["`low` uses `high`, which stands in no row above it"]
        );
    }

    #[test]
    fn a_circle_of_files_also_by_way_of_others_and_of_names_handed_on() {
        let root = ("lib.rs", "mod room;");
        let owner = (
            "room/mod.rs",
            "mod a; mod b; mod c; pub use self::c::C; pub struct Own; fn f() { a::f() }",
        );
        let two = [
            ("room/a.rs", "use super::b::B;"),
            ("room/b.rs", "use super::Own; use super::C;"),
        ];
        let open = sources(&[
            root,
            owner,
            two[0],
            two[1],
            ("room/c.rs", "use super::Own;"),
        ]);
        assert_eq!(circles(&open), BTreeMap::new());
        let closed = sources(&[
            root,
            owner,
            two[0],
            two[1],
            ("room/c.rs", "fn f() { super::a::f() }"),
        ]);
        let told = ["a", "b", "c"].map(str::to_owned).into();
        assert_eq!(
            circles(&closed),
            BTreeMap::from([("room".to_owned(), told)])
        );
    }

    #[test]
    fn several_names_in_one_use() {
        let files = sources(&[("lib.rs", "use crate::{a, b};\nuse std::{fs, io};")]);
        assert_eq!(files.file(&[]).grouped, ["crate"]);
    }
}
