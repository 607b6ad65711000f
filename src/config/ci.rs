//! What CI systems tell of the change that they look at, by their variables.

use std::fs;
use std::path::Path;

use serde_json::Value;

use crate::workspace::ToldBase;

/// Larger files do not tell of an event.
const MOST_BYTES: u64 = 32 << 20;

/// Where a base stands in GitHub's event, the first that is there.
const IN_EVENT: &[&str] = &["/pull_request/base/sha", "/merge_group/base_sha", "/before"];

/// Variables that hold a commit.
const COMMITS: &[&str] = &[
    "CI_MERGE_REQUEST_DIFF_BASE_SHA",
    "BITBUCKET_PR_DESTINATION_COMMIT",
];

/// Variables that hold the branch into which the change is to go.
const BRANCHES: &[&str] = &[
    "GITHUB_BASE_REF",
    "CI_MERGE_REQUEST_TARGET_BRANCH_NAME",
    "SYSTEM_PULLREQUEST_TARGETBRANCH",
    "CHANGE_TARGET",
];

/// Where there is no request to merge: the commit before a push.
const BEFORE: &[&str] = &["CI_COMMIT_BEFORE_SHA"];

/// Variables by which CI systems tell that a run is one of theirs. Any of them is enough: no step of a run, which a change may have
/// written, takes it back by another.
const RUNS: &[&str] = &[
    "CI",
    "CONTINUOUS_INTEGRATION",
    "GITHUB_ACTIONS",
    "FORGEJO_ACTIONS",
    "GITEA_ACTIONS",
    "GITLAB_CI",
    "BITBUCKET_BUILD_NUMBER",
    "TF_BUILD",
    "JENKINS_URL",
    "BUILDKITE",
    "CIRCLECI",
    "DRONE",
    "TEAMCITY_VERSION",
    "TRAVIS",
    "WOODPECKER",
];

/// Where CI systems check out the repository that their variables speak of.
const CHECKED_OUT: &[&str] = &[
    "GITHUB_WORKSPACE",
    "CI_PROJECT_DIR",
    "BITBUCKET_CLONE_DIR",
    "BUILD_SOURCESDIRECTORY",
];

/// Returns what the environment tells of the base of a project; `get` gives a variable that is set and not empty.
pub(super) fn told_base<'a>(get: &dyn Fn(&str) -> Option<&'a str>, project: &Path) -> ToldBase {
    let own = get("AHP_BASE").map(str::to_owned);
    let is_ci = is_run(get);
    let commit = |name: &&str| Some(get(name)?.to_owned()).filter(|c| is_commit(c));
    let branch = |name: &&str| {
        let name = get(name)?;
        let name = name.strip_prefix("refs/heads/").unwrap_or(name);
        Some(format!("refs/remotes/origin/{name}"))
    };
    let of_ci = || {
        in_event(get)
            .or_else(|| COMMITS.iter().find_map(commit))
            .or_else(|| BRANCHES.iter().find_map(branch))
            .or_else(|| BEFORE.iter().find_map(commit))
    };
    // A repository that a step of a CI run has made elsewhere is not the one that the run is about.
    let mut places = CHECKED_OUT.iter().filter_map(|name| get(name));
    if places.next().is_some_and(|place| !lies_in(project, place)) {
        return ToldBase {
            elsewhere: of_ci().filter(|_| own.is_none()),
            commit: own,
            merge: None,
            is_ci,
        };
    }
    // GitHub checks out a merge of a pull request, which nobody has made by hand.
    let is_merge = get("GITHUB_REF")
        .is_some_and(|name| name.starts_with("refs/pull/") && name.ends_with("/merge"));
    let merge = get("GITHUB_SHA").filter(|_| is_merge && own.is_none());
    ToldBase {
        merge: merge.map(str::to_owned),
        commit: own.or_else(of_ci),
        elsewhere: None,
        is_ci,
    }
}

/// Whether this is a run of a CI system.
pub(super) fn is_run<'a>(get: &dyn Fn(&str) -> Option<&'a str>) -> bool {
    let is_on = |name: &&str| get(name).is_some_and(|value| !matches!(value, "0" | "false" | "no"));
    RUNS.iter().any(is_on)
}

/// Whether a project lies in a directory, by either name of both.
fn lies_in(project: &Path, place: &str) -> bool {
    let real = |path: &Path| path.canonicalize().unwrap_or_else(|_| path.to_owned());
    project.starts_with(place) || real(project).starts_with(real(Path::new(place)))
}

/// Whether it names a commit; zeros stand for none.
fn is_commit(text: &str) -> bool {
    !text.is_empty() && !text.bytes().all(|byte| byte == b'0')
}

/// Returns the base in the event that GitHub and Forgejo lay beside a run. A file that cannot be read tells nothing.
fn in_event<'a>(get: &dyn Fn(&str) -> Option<&'a str>) -> Option<String> {
    let path = get("GITHUB_EVENT_PATH")?;
    let size = fs::metadata(path).ok()?.len();
    let text = (size <= MOST_BYTES)
        .then(|| fs::read(path).ok())
        .flatten()?;
    let event: Value = serde_json::from_slice(&text).ok()?;
    let found = IN_EVENT
        .iter()
        .find_map(|place| event.pointer(place)?.as_str());
    found.filter(|commit| is_commit(commit)).map(str::to_owned)
}
