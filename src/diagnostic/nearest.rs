//! The known name nearest to a misspelt one.

/// A name of many thousand bytes is not a misspelling nor what is meant by one, and the distance is quadratic.
const LONGEST: usize = 100;

/// Returns the known name nearest to `given`, if one is near enough to be what was meant.
///
/// Nearness is Damerau-Levenshtein distance without case and punctuation, at most a third of the name's length.
pub fn nearest<'a>(given: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let fold = |s: &str| -> String {
        s.chars()
            .filter(|c| c.is_alphanumeric())
            .flat_map(char::to_lowercase)
            .collect()
    };
    if given.len() > LONGEST {
        return None;
    }
    let folded = fold(given);
    known
        .into_iter()
        .filter(|name| name.len() <= LONGEST)
        .map(|name| (strsim::damerau_levenshtein(&folded, &fold(name)), name))
        .filter(|(distance, name)| *distance * 3 <= name.chars().count().max(3))
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, name)| name)
}
