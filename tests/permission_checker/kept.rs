//! What git has as it is, what is empty and what is not there is not lost by emptying, deleting or overwriting it.

use super::known::{free, repository, stopped};

#[test]
fn what_comes_back_may_be_emptied_and_deleted() {
    let world = repository();
    world.write("lib/a.js", "a");
    world.commit("lib");
    world.write("empty.txt", "");
    free(
        &world,
        &[
            "> newfile.txt",
            "true > new.txt",
            ": > output.txt",
            ": > empty.txt",
            "truncate -s0 src/a.rs",
            "truncate -s 0 src/a.rs lib/a.js",
            "truncate -s 0 src/*.rs",
            ": > src/a.rs",
            "find lib -delete",
            "find lib src -name '*.js' -delete",
            "rm -rf lib/*",
            "rm -rf lib src",
            "rm -rf .git/index.lock",
            "rm -rf .git/rebase-merge",
            "rm -fr .git/rebase-apply",
        ],
    );
}

#[test]
fn what_does_not_come_back_may_not() {
    let world = repository();
    world.write("lib/a.js", "a");
    world.commit("lib");
    world.write("lib/new.js", "n");
    world.write("src/a.rs", "changed");
    world.write("data/set.csv", "1");
    world.write("notes.txt", "n");
    stopped(
        &world,
        &[
            (": > notes.txt", "filesystem:overwrite-vital"),
            (": > src/a.rs", "(git cannot bring it back)"),
            ("truncate -s0 src/a.rs", "filesystem:truncate"),
            ("truncate -s0 src/*.rs", "filesystem:truncate"),
            ("truncate -s0 data/set.csv", "filesystem:truncate"),
            (
                "echo x > made.txt && : > made.txt",
                "filesystem:overwrite-vital",
            ),
            ("find lib -delete", "(git cannot bring back 1 file in it)"),
            ("find data -delete", "filesystem:find-delete"),
            ("find . -name '*.rs' -delete", "filesystem:find-delete"),
            ("find src lib -name '*.x' -delete", "filesystem:find-delete"),
            ("rm -rf lib/*", "filesystem:rm-recursive-force"),
            ("rm -rf *", "filesystem:rm-vital"),
            ("rm -rf .git", "filesystem:rm-vital"),
            ("rm -rf .git/refs", "filesystem:rm-vital"),
            ("rm -rf .git/objects/x.lock/..", "filesystem:rm-vital"),
        ],
    );
}

/// The same loss is as grave in each spelling, where git tells that it is one.
#[test]
fn changes_are_as_grave_without_dashes() {
    let world = repository();
    world.write("src/b.rs", "changed");
    let rule = "git:checkout-discards";
    stopped(
        &world,
        &[
            ("git checkout src/b.rs", rule),
            ("git checkout HEAD src/b.rs", rule),
            ("git checkout src", rule),
            ("git checkout HEAD~1 -- src/b.rs", rule),
        ],
    );
    free(
        &world,
        &[
            "git checkout src/a.rs",
            "git checkout main",
            "git checkout open",
            "git checkout -b src",
        ],
    );
}
