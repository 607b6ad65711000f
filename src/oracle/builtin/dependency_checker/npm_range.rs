//! Ranges of versions, as npm, Yarn, pnpm and Bun write them: `^1.2`, `1.x || >=2 <3`, `1.0 - 2`.

use semver::{Version, VersionReq};

/// Whether a range allows a version; none where that cannot be told: the range is a tag or an address.
pub(super) fn allows(range: &str, version: &str) -> Option<bool> {
    // `npm:left@^1.0.0` gives a package another name.
    let range = match range.strip_prefix("npm:") {
        Some(alias) => alias.rsplit_once('@').map_or(alias, |(_, range)| range),
        None => range,
    };
    let version = Version::parse(version).ok()?;
    let mut is_allowed = false;
    for part in range.split("||") {
        is_allowed |= comparators(part.trim())?.matches(&version);
    }
    Some(is_allowed)
}

fn comparators(part: &str) -> Option<VersionReq> {
    if ["", "*", "x", "X"].contains(&part) {
        return Some(VersionReq::STAR);
    }
    if let Some((low, high)) = part.split_once(" - ") {
        return VersionReq::parse(&format!(">={}, <={}", low.trim(), high.trim())).ok();
    }
    let mut all: Vec<String> = Vec::new();
    for word in part.split_whitespace() {
        // `>= 1.2` is one of them too.
        match all.last_mut().filter(|last| last.ends_with(is_operator)) {
            Some(last) => last.push_str(word),
            None => all.push(word.to_owned()),
        }
    }
    let all = all.iter().map(|one| {
        let (operator, version) = one.split_at(one.find(|c| !is_operator(c)).unwrap_or(one.len()));
        let operator = match operator {
            "" => "=",
            "~>" => "~",
            operator => operator,
        };
        format!("{operator}{}", version.trim_start_matches('v'))
    });
    VersionReq::parse(&all.collect::<Vec<_>>().join(", ")).ok()
}

fn is_operator(c: char) -> bool {
    "^~<>=".contains(c)
}

#[cfg(test)]
#[test]
fn a_range_allows_what_npm_installs_by_it() {
    let cases = include_str!("../../../../tests/cases/npm_ranges.txt");
    for case in cases.lines().filter(|line| !line.starts_with('#')) {
        let [range, version, expected] = case.split('\t').collect::<Vec<_>>()[..] else {
            panic!("{case}");
        };
        let told = allows(range, version).map_or("unknown".to_owned(), |told| told.to_string());
        assert_eq!(told, expected, "{case}");
    }
}
