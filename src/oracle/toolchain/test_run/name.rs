//! Names of tests, as their runners write them and as people do.

/// What stands between the parts of a name: modules, classes, files, titles, parameters.
const SEPARATORS: &[char] = &['/', '.', '[', ']', '>', '#'];

/// Returns the part of a test's name that stands in its source: `adds` of `com.p.SumTest.adds`, of `sums::adds` and of
/// `a.test.js > sums > adds`; `test_a` of `test_a[1]`, `TestA` of `TestA/sub`.
pub(in crate::oracle) fn short(name: &str) -> &str {
    let name = name.rsplit(" > ").next().unwrap_or(name);
    let name = name.rsplit("::").next().unwrap_or(name);
    let name = name.split('[').next().unwrap_or(name);
    if name.contains(' ') {
        return name;
    }
    // A test of Go begins with a capital, and no part of its package's path does.
    name.split('/')
        .filter_map(|part| part.rsplit('.').next())
        .find(|part| part.starts_with(|c: char| c.is_ascii_uppercase()))
        .or_else(|| name.rsplit('.').next())
        .unwrap_or(name)
}

/// Returns a (short) name without what a run may compute in it: numbers, times, addresses, ids.
pub(in crate::oracle) fn template(name: &str) -> String {
    let mut template = String::with_capacity(name.len());
    for word in name.split_inclusive(|c: char| !c.is_ascii_alphanumeric()) {
        let (word, end) = match word.char_indices().next_back() {
            Some((at, last)) if !last.is_ascii_alphanumeric() => word.split_at(at),
            _ => (word, ""),
        };
        let is_hex = word.len() >= 8 && word.chars().all(|c| c.is_ascii_hexdigit());
        let has_digit = word.contains(|c: char| c.is_ascii_digit());
        if has_digit && (is_hex || word.starts_with("0x")) {
            template.push(COMPUTED);
        } else {
            let mut was_digit = false;
            for c in word.chars() {
                if !c.is_ascii_digit() {
                    template.push(c);
                } else if !was_digit {
                    template.push(COMPUTED);
                }
                was_digit = c.is_ascii_digit();
            }
        }
        template.push_str(end);
    }
    template
}

/// What stands in a template for what is computed.
const COMPUTED: char = '\u{0}';

/// Returns what of a template stands in the source as it is; none where that would tell it from nothing.
pub(in crate::oracle) fn fixed(template: &str) -> Vec<&str> {
    // Of an example in the documentation, `src/lib.rs - add (line 4)`, it is the item, or that of the file itself.
    if let Some((place, _)) = template.split_once(" (line ") {
        let item = place.rsplit([' ', ':']).next();
        return vec![item.filter(|item| *item != "-").unwrap_or("//!")];
    }
    let parts = template.split(COMPUTED).map(str::trim);
    parts
        .filter(|part| part.chars().filter(|c| c.is_alphabetic()).count() >= 3)
        .collect()
}

/// Whether a test is the one, or one of those, that a person means: by its name, its class, its module or its file. A name
/// that only holds the other one is another name.
pub(in crate::oracle) fn is_meant(test: &str, wanted: &str) -> bool {
    let (test, wanted) = (parts(test), parts(wanted));
    !wanted.is_empty() && test.windows(wanted.len()).any(|part| part == wanted)
}

fn parts(name: &str) -> Vec<&str> {
    let parts = name.split("::").flat_map(|part| part.split(SEPARATORS));
    parts
        .map(str::trim)
        .filter(|part| !part.is_empty())
        .collect()
}

#[cfg(test)]
#[test]
fn a_name_is_known_again_cut_to_its_own_and_meant_by_whole_parts() {
    let cases = include_str!("../../../../tests/cases/test_names.txt");
    for case in cases.lines().filter(|line| !line.starts_with('#')) {
        match case.split('\t').collect::<Vec<_>>()[..] {
            ["same", name, other, is_same, parts] => {
                let same = template(name) == template(other);
                assert_eq!(same.to_string(), is_same, "{case}");
                assert_eq!(fixed(&template(name)).join("|"), parts, "{case}");
            }
            ["short", name, expected] => assert_eq!(short(name), expected, "{case}"),
            ["meant", test, wanted, expected] => {
                assert_eq!(is_meant(test, wanted).to_string(), expected, "{case}");
            }
            _ => panic!("{case}"),
        }
    }
}
