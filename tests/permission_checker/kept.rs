//! What git has as it is, what is empty and what is not there is not lost by emptying, deleting or overwriting it.

use super::known::{free, repository, stopped};
#[cfg(unix)]
use crate::world::World;

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
            "echo done >> log.txt; rm -rf missing",
            "mkdir made && rm -rf missing",
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
            (
                "echo x > missing/log.txt; rm -rf missing",
                "filesystem:rm-recursive-force",
            ),
            (
                "echo x > \"$LOG\"; rm -rf missing",
                "filesystem:rm-recursive-force",
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

/// What git has of a link is where it leads, and nothing of what lies there.
#[cfg(unix)]
#[test]
fn what_lies_behind_a_link_does_not_come_back() {
    let world = repository();
    let outside = World::new("");
    outside.write("sub/a.txt", "a");
    let link = |to: &std::path::Path, at: &str| {
        std::os::unix::fs::symlink(to, world.path(at)).unwrap();
    };
    link(&outside.root(), "extlink");
    link(&outside.path("sub/a.txt"), "src/linked.rs");
    world.write("lib/deep/a.js", "a");
    world.commit("links");
    world.write("data/set.csv", "1");
    link(&world.path("data"), "datalink");
    link(&world.path("src"), "srclink");
    let (rm, find, truncate) = (
        "filesystem:rm-recursive-force",
        "filesystem:find-delete",
        "filesystem:truncate",
    );
    stopped(
        &world,
        &[
            ("rm -rf extlink/*", rm),
            ("rm -rf extlink/sub/*", rm),
            ("rm -rf extlink/../src", rm),
            ("rm -rf datalink/*", rm),
            ("rm -rf */sub", rm),
            ("cd extlink && rm -rf sub/*", rm),
            ("find datalink/ -delete", find),
            ("find -L datalink -delete", find),
            ("find -L src -delete", find),
            ("find src -follow -delete", find),
            ("truncate -s0 extlink/*", truncate),
            ("truncate -s0 src/*", truncate),
            ("truncate -s0 src/linked.rs", truncate),
        ],
    );
    free(
        &world,
        &[
            "rm -r datalink",
            "rm -rf extlink",
            "rm -rf srclink/*",
            "rm -rf src/*",
            "rm -rf lib/*/*",
            "cd src && rm -rf ../lib",
            "find src -delete",
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
