//! Which branches lose commits: git tells, for all branches of a line at once, wherever git is told to work in the project.

use super::known::{free, repository, stopped};

#[test]
fn a_merged_branch_may_go_in_every_spelling() {
    let world = repository();
    world.git(&["branch", "merged2"]);
    free(
        &world,
        &[
            "git branch -D merged merged2",
            "git branch -D merged && git branch -D merged2",
            "git branch -d --force merged",
            "git branch -f merged main",
            "git branch -f merged",
            "git branch -M merged2 merged",
            "git branch -C merged2 merged",
            "git branch -M new-name",
            "git switch -C merged main",
            "git switch -Cmerged main",
            "git checkout -B merged main",
            "git switch -c fresh main",
            "git fetch origin +main:merged",
            "git fetch origin +pull/7/head:pr-7",
            "git fetch origin '+refs/heads/*:refs/remotes/origin/*'",
            "git update-ref refs/heads/merged HEAD",
            "git worktree add -B merged ../there",
        ],
    );
}

#[test]
fn a_branch_with_commits_of_its_own_may_not() {
    let world = repository();
    let held = "no other branch or tag holds all of `open`";
    for command in [
        "git branch -D open",
        "git branch -D merged open",
        "git branch -d --force open",
        "git branch -f open main",
        "git branch -f open",
        "git branch -M merged open",
        "git branch -C merged open",
        "git branch --copy --force merged open",
        "git switch -C open",
        "git switch -Copen",
        "git switch --force-create open",
        "git switch --force-create=open main",
        "git checkout -B open main",
        "git checkout -B open",
        "git fetch origin +main:open",
        "git fetch -f origin main:open",
        "git fetch origin +main:refs/heads/open",
        "git update-ref refs/heads/open HEAD",
        "git update-ref -m msg refs/heads/open HEAD",
        "git switch --force-c=open main",
        "git worktree add -B open ../there",
        "git -C . branch -D open",
        "git -C src switch -C open",
    ] {
        stopped(&world, &[(command, held)]);
    }
}

#[test]
fn branches_that_hold_each_other_are_lost_together() {
    let world = repository();
    world.git(&["branch", "twin", "open"]);
    free(&world, &["git branch -D twin", "git branch -D open"]);
    stopped(
        &world,
        &[
            ("git branch -D open twin", "git:branch-delete"),
            (
                "git branch -D open && git branch -D twin",
                "git:branch-delete",
            ),
            (
                "git branch -D twin && git switch -C open main",
                "git:branch-over",
            ),
        ],
    );
}

#[test]
fn what_was_not_asked_is_not_said_for_certain() {
    let world = repository();
    stopped(
        &world,
        &[
            (
                "git restore src/a.rs && git branch -D merged",
                "that may hold commits which are nowhere else",
            ),
            (
                "git restore src/a.rs && git switch -C open",
                "that may be nowhere else",
            ),
        ],
    );
}

#[test]
fn a_name_that_is_new_has_nothing_to_lose() {
    let world = repository();
    free(
        &world,
        &[
            "git add . && git checkout -B fresh",
            "git commit -am x && git checkout -B fresh",
            "git checkout main && git pull --ff-only && git checkout -B fresh",
            "git tag v1 && git switch -C fresh",
            "git checkout fresh || git checkout -B fresh",
            "git fetch origin fresh && git checkout -B fresh FETCH_HEAD",
        ],
    );
    let made = "git checkout -b fresh && git commit -am x && git checkout main";
    stopped(
        &world,
        &[(
            &format!("{made} && git checkout -B fresh"),
            "git:branch-over",
        )],
    );
}

#[test]
fn the_branch_that_the_line_checks_out_is_the_one_that_is_pushed() {
    let world = repository();
    free(
        &world,
        &[
            "git checkout open && git rebase main && git push --force-with-lease",
            "git switch -c topic && git push --force-with-lease -u origin HEAD",
            "git checkout -b topic origin/main && git push --force-with-lease",
            "gh pr checkout 5 && git push --force-with-lease",
        ],
    );
    let rule = "git:push-force-shared";
    let shared = [
        ("git push --force-with-lease", rule),
        ("git checkout src && git push --force-with-lease", rule),
        (
            "git checkout -- src/a.rs && git push --force-with-lease",
            rule,
        ),
        (
            "git -C ../other checkout open; git push --force-with-lease",
            rule,
        ),
    ];
    stopped(&world, &shared);
    world.git(&["checkout", "-q", "open"]);
    free(&world, &["git push --force-with-lease"]);
    stopped(
        &world,
        &[
            ("git checkout main && git push --force-with-lease", rule),
            (
                "git switch -t origin/main && git push --force-with-lease",
                rule,
            ),
        ],
    );
}

#[test]
fn the_main_branch_is_moved_only_where_it_is_named_as_the_one_to_move() {
    let world = repository();
    free(&world, &["git switch -C merged main"]);
    for command in [
        "git switch -C main origin/main",
        "git switch --force-c main origin/main",
        "git checkout -B main v1",
        "git worktree add -B main ../there",
        "git fetch origin +main:main",
        "git fetch --force origin main:main",
        "git fetch -f origin 'refs/heads/*:refs/heads/*'",
        "git fetch origin '+refs/heads/*:refs/heads/*'",
        "git update-ref refs/heads/main HEAD~1",
        "git update-ref -m msg refs/heads/main HEAD~1",
    ] {
        stopped(&world, &[(command, "git:fetch-over")]);
    }
}

#[test]
fn git_may_be_told_where_to_work() {
    let world = repository();
    let root = world.root();
    let root = root.display();
    for dir in [".", "src/..", &root.to_string()] {
        for command in [
            "restore src/a.rs",
            "checkout -- src/a.rs",
            "reset --hard",
            "branch -D merged",
        ] {
            free(&world, &[&format!("git -C {dir} {command}")]);
        }
    }
    free(
        &world,
        &[
            "git -C src restore a.rs",
            "git -C src -C .. restore src/a.rs",
            &format!("cd / && git -C {root} restore src/a.rs"),
        ],
    );
    world.write("src/a.rs", "changed");
    world.write("libs/x/a.rs", "a");
    world.git(&["init", "-q", "libs/x"]);
    stopped(
        &world,
        &[
            ("git -C . restore src/a.rs", "1 file"),
            ("git -C src restore a.rs", "1 file"),
            ("git -C ../other restore src/b.rs", "git:restore-discards"),
            ("git -C \"$DIR\" restore src/b.rs", "git:restore-discards"),
            ("git -C libs/x reset --hard", "git:reset-hard"),
            ("cd libs/x && git reset --hard", "git:reset-hard"),
            (
                "git --work-tree=/elsewhere restore src/b.rs",
                "git:restore-discards",
            ),
            (
                "git -c core.worktree=/elsewhere restore src/b.rs",
                "git:restore-discards",
            ),
        ],
    );
}
