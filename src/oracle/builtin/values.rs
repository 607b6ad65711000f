//! Values that the configurations of several oracles are made of.

use std::borrow::Cow;
use std::fmt;
use std::time::Duration;

use ignore::gitignore::{Gitignore, GitignoreBuilder};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize, de};

use crate::glob;

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(transparent)]
pub(super) struct Texts(pub(super) Vec<String>);

impl AsRef<[String]> for Texts {
    fn as_ref(&self) -> &[String] {
        &self.0
    }
}

/// Takes texts that are globs; one that could never be met is an error.
pub(super) fn globs<'de, D, T>(deserializer: D) -> Result<T, D::Error>
where
    D: Deserializer<'de>,
    T: Deserialize<'de> + AsRef<[String]>,
{
    let globs = T::deserialize(deserializer)?;
    check_globs(globs.as_ref())?;
    Ok(globs)
}

/// Refuses globs of which one could never be met.
pub(super) fn check_globs<E: de::Error>(globs: &[String]) -> Result<(), E> {
    match globs.iter().find_map(|text| glob::fault(text)) {
        Some(fault) => Err(E::custom(format!("{fault}; {}", glob::HELP))),
        None => Ok(()),
    }
}

impl<'de> Deserialize<'de> for Texts {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Visitor;
        impl<'de> de::Visitor<'de> for Visitor {
            type Value = Texts;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("text, or a list of texts")
            }

            fn visit_str<E: de::Error>(self, text: &str) -> Result<Texts, E> {
                Ok(Texts(vec![text.to_owned()]))
            }

            fn visit_seq<A: de::SeqAccess<'de>>(self, mut items: A) -> Result<Texts, A::Error> {
                let mut texts = Vec::new();
                while let Some(text) = items.next_element()? {
                    texts.push(text);
                }
                Ok(Texts(texts))
            }
        }
        deserializer.deserialize_any(Visitor)
    }
}

impl JsonSchema for Texts {
    fn schema_name() -> Cow<'static, str> {
        "Texts".into()
    }

    fn inline_schema() -> bool {
        true
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({"type": ["string", "array"], "items": {"type": "string"}})
    }
}

/// Paths that are left out, written as in `.gitignore`: `dist`, `vendor/`, `/gen/**`, `*.lock`, `!kept.lock`.
#[derive(Clone, Debug, Default)]
pub(super) struct PathPatterns {
    texts: Texts,
    /// None where there is no pattern, so that nothing is compiled for it.
    matcher: Option<Gitignore>,
}

impl PathPatterns {
    /// Whether a path, relative to the project, or a directory that it lies in is left out.
    pub(super) fn match_path(&self, path: &str) -> bool {
        let is_inside = !path.is_empty() && !path.starts_with('/');
        let matcher = self.matcher.as_ref().filter(|_| is_inside);
        matcher.is_some_and(|matcher| matcher.matched_path_or_any_parents(path, false).is_ignore())
    }
}

impl<'de> Deserialize<'de> for PathPatterns {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let texts = Texts::deserialize(deserializer)?;
        if texts.0.is_empty() {
            return Ok(Self::default());
        }
        let mut builder = GitignoreBuilder::new("");
        for text in &texts.0 {
            let text = text.strip_prefix("./").unwrap_or(text);
            // Git takes it as it stands, so that the pattern would silently leave nothing out.
            let bare = text.replace(r"\[", "");
            if bare.rfind('[') > bare.rfind(']') {
                return Err(de::Error::custom(format!(
                    "`{text}` has a `[` without its `]`"
                )));
            }
            builder.add_line(None, text).map_err(de::Error::custom)?;
        }
        let matcher = Some(builder.build().map_err(de::Error::custom)?);
        Ok(Self { texts, matcher })
    }
}

impl Serialize for PathPatterns {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.texts.serialize(serializer)
    }
}

impl JsonSchema for PathPatterns {
    fn schema_name() -> Cow<'static, str> {
        "PathPatterns".into()
    }

    fn inline_schema() -> bool {
        true
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        Texts::json_schema(generator)
    }
}

/// How old something may be: `30m`, `12h`, `7d`, or a number of seconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Age(pub(super) Duration);

impl Age {
    fn parse(text: &str) -> Option<Self> {
        let text = text.trim();
        let end = text
            .find(|c: char| !c.is_ascii_digit() && c != '.')
            .unwrap_or(text.len());
        let (number, unit) = text.split_at(end);
        let seconds = match unit.trim() {
            "" | "s" => 1.0,
            "m" | "min" => 60.0,
            "h" => 3_600.0,
            "d" => 86_400.0,
            _ => return None,
        };
        let age = Duration::try_from_secs_f64(number.parse::<f64>().ok()? * seconds).ok()?;
        (!age.is_zero()).then_some(Self(age))
    }
}

impl<'de> Deserialize<'de> for Age {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Visitor;
        impl de::Visitor<'_> for Visitor {
            type Value = Age;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an age such as `30m`, `12h`, `7d`, or a number of seconds")
            }

            fn visit_str<E: de::Error>(self, text: &str) -> Result<Age, E> {
                Age::parse(text).ok_or_else(|| {
                    E::custom(format!(
                        "`{text}` is not an age; write it as `30m`, `12h`, `7d`, or a number of seconds"
                    ))
                })
            }

            fn visit_u64<E: de::Error>(self, seconds: u64) -> Result<Age, E> {
                self.visit_str(&seconds.to_string())
            }

            fn visit_f64<E: de::Error>(self, seconds: f64) -> Result<Age, E> {
                self.visit_str(&seconds.to_string())
            }
        }
        deserializer.deserialize_any(Visitor)
    }
}

impl JsonSchema for Age {
    fn schema_name() -> Cow<'static, str> {
        "Age".into()
    }

    fn inline_schema() -> bool {
        true
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({"type": ["string", "number"]})
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ages_have_a_unit_or_are_seconds() {
        let seconds = |text| Age::parse(text).map(|age| age.0.as_secs());
        assert_eq!(seconds("90"), Some(90));
        assert_eq!(seconds("30m"), Some(1_800));
        assert_eq!(seconds("12h"), Some(43_200));
        assert_eq!(seconds("7d"), Some(604_800));
        for wrong in ["", "0", "-1h", "soon", "1w", "1h30m"] {
            assert_eq!(seconds(wrong), None, "{wrong}");
        }
    }
}
