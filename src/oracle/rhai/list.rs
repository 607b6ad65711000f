//! List: a list of texts that scripts share without copying it.

use std::sync::Arc;

use rhai::{Array, Dynamic, Engine, EvalAltResult, FnPtr, ImmutableString, NativeCallContext};

use super::limits::{Fallible, MAX_TEXT, failure, too_large};

/// A list of texts; unlike the interpreter's own arrays it may be long, and costs nothing to hand on.
#[derive(Clone, Debug, Default)]
pub(super) struct List(Arc<[ImmutableString]>);

impl<S: Into<ImmutableString>> FromIterator<S> for List {
    fn from_iter<I: IntoIterator<Item = S>>(items: I) -> Self {
        Self(items.into_iter().map(Into::into).collect())
    }
}

impl List {
    pub(super) fn iter(&self) -> impl Iterator<Item = &ImmutableString> {
        self.0.iter()
    }

    fn get(&self, index: i64) -> Option<&ImmutableString> {
        let index = if index < 0 {
            self.0
                .len()
                .checked_sub(usize::try_from(index.unsigned_abs()).ok()?)?
        } else {
            usize::try_from(index).ok()?
        };
        self.0.get(index)
    }

    fn len(&self) -> i64 {
        i64::try_from(self.0.len()).unwrap_or(i64::MAX)
    }

    /// Calls a script's function for each item until `visit` ends it.
    fn each(
        &self,
        context: &NativeCallContext<'_>,
        function: &FnPtr,
        mut visit: impl FnMut(&ImmutableString, Dynamic) -> Fallible<bool>,
    ) -> Fallible<()> {
        for item in self.0.iter() {
            let value = function.call_within_context::<Dynamic>(context, (item.clone(),))?;
            if !visit(item, value)? {
                break;
            }
        }
        Ok(())
    }

    fn filter(&self, context: &NativeCallContext<'_>, function: &FnPtr) -> Fallible<Self> {
        let mut kept = Vec::new();
        self.each(context, function, |item, holds| {
            if truth(&holds)? {
                kept.push(item.clone());
            }
            Ok(true)
        })?;
        Ok(Self(kept.into()))
    }

    /// Returns the first item for which the function gives `wanted`.
    fn first(
        &self,
        context: &NativeCallContext<'_>,
        function: &FnPtr,
        wanted: bool,
    ) -> Fallible<Option<ImmutableString>> {
        let mut found = None;
        self.each(context, function, |item, holds| {
            if truth(&holds)? == wanted {
                found = Some(item.clone());
            }
            Ok(found.is_none())
        })?;
        Ok(found)
    }

    fn join(&self, separator: &str) -> Fallible<String> {
        let len = self.0.iter().map(|item| item.len() + separator.len());
        if len.sum::<usize>() > MAX_TEXT {
            return Err(too_large("Length of string"));
        }
        Ok(self
            .0
            .iter()
            .map(ImmutableString::as_str)
            .collect::<Vec<_>>()
            .join(separator))
    }

    fn to_array(&self) -> Array {
        self.0.iter().cloned().map(Dynamic::from).collect()
    }
}

fn truth(value: &Dynamic) -> Fallible<bool> {
    value.as_bool().map_err(|found| {
        failure(format!(
            "expected `true` or `false` of this function, found {found}"
        ))
    })
}

fn or_unit<T: Into<Dynamic>>(value: Option<T>) -> Dynamic {
    value.map_or(Dynamic::UNIT, Into::into)
}

/// Makes lists known to the interpreter.
pub(super) fn register(engine: &mut Engine) {
    type Context<'a> = NativeCallContext<'a>;
    engine
        .register_type_with_name::<List>("List")
        .register_iterator::<List>()
        .register_fn("len", |list: &mut List| list.len())
        .register_get("len", |list: &mut List| list.len())
        .register_fn("is_empty", |list: &mut List| list.0.is_empty())
        .register_get("is_empty", |list: &mut List| list.0.is_empty())
        .register_indexer_get(|list: &mut List, index: i64| {
            list.get(index)
                .cloned()
                .ok_or_else(|| failure(format!("no item {index} in a list of {}", list.len())))
        })
        .register_fn("contains", |list: &mut List, item: &str| {
            list.0.iter().any(|own| own == item)
        })
        .register_fn("index_of", |list: &mut List, item: &str| {
            let index = list.0.iter().position(|own| own == item);
            index.and_then(|n| i64::try_from(n).ok()).unwrap_or(-1)
        })
        .register_fn("first", |list: &mut List| or_unit(list.0.first().cloned()))
        .register_fn("last", |list: &mut List| or_unit(list.0.last().cloned()))
        .register_fn("join", |list: &mut List| list.join(", "))
        .register_fn("join", |list: &mut List, separator: &str| {
            list.join(separator)
        })
        .register_fn("to_array", |list: &mut List| list.to_array())
        .register_fn("take", |list: &mut List, count: i64| {
            let count = usize::try_from(count).unwrap_or(0);
            List(list.0.iter().take(count).cloned().collect())
        })
        .register_fn(
            "filter",
            |context: Context<'_>, list: &mut List, function: FnPtr| {
                list.filter(&context, &function)
            },
        )
        .register_fn(
            "map",
            |context: Context<'_>, list: &mut List, function: FnPtr| {
                let mut array = Array::new();
                list.each(&context, &function, |_, value| {
                    array.push(value);
                    Ok(true)
                })?;
                Ok::<_, Box<EvalAltResult>>(array)
            },
        )
        .register_fn(
            "find",
            |context: Context<'_>, list: &mut List, function: FnPtr| {
                list.first(&context, &function, true).map(or_unit)
            },
        )
        .register_fn(
            "some",
            |context: Context<'_>, list: &mut List, function: FnPtr| {
                list.first(&context, &function, true)
                    .map(|item| item.is_some())
            },
        )
        .register_fn(
            "all",
            |context: Context<'_>, list: &mut List, function: FnPtr| {
                list.first(&context, &function, false)
                    .map(|item| item.is_none())
            },
        )
        .register_fn("to_string", |list: &mut List| as_text(list))
        .register_fn("to_debug", |list: &mut List| as_text(list))
        .register_fn("==", |a: &mut List, b: List| a.0 == b.0)
        .register_fn("!=", |a: &mut List, b: List| a.0 != b.0);

    // Arrays of the interpreter have neither.
    engine
        .register_fn("join", |array: &mut Array| join_array(array, ", "))
        .register_fn("join", |array: &mut Array, separator: &str| {
            join_array(array, separator)
        })
        .register_fn("first", |array: &mut Array| or_unit(array.first().cloned()))
        .register_fn("last", |array: &mut Array| or_unit(array.last().cloned()));
}

fn join_array(array: &Array, separator: &str) -> Fallible<String> {
    texts(&Dynamic::from_array(array.clone()))?
        .into_iter()
        .collect::<List>()
        .join(separator)
}

/// Writes a list as an array is written.
fn as_text(list: &List) -> Fallible<String> {
    let len: usize = list.0.iter().map(|item| item.len() + 8).sum();
    if len > MAX_TEXT {
        return Err(too_large("Length of string"));
    }
    Ok(format!(
        "{:?}",
        list.0
            .iter()
            .map(ImmutableString::as_str)
            .collect::<Vec<_>>()
    ))
}

/// Reads what a script gives where a list of texts is wanted: a list, an array or one text.
pub(super) fn texts(value: &Dynamic) -> Fallible<Vec<String>> {
    if let Some(list) = value.read_lock::<List>() {
        return Ok(list.0.iter().map(ToString::to_string).collect());
    }
    if let Some(array) = value.read_lock::<Array>() {
        return array.iter().map(text).collect();
    }
    if value.is_unit() {
        return Ok(Vec::new());
    }
    text(value).map(|text| vec![text])
}

fn text(value: &Dynamic) -> Fallible<String> {
    if value.is_array() || value.is_map() {
        return Err(failure(format!(
            "expected text in this list, found {}",
            value.type_name()
        )));
    }
    Ok(value.to_string())
}

/// Walks a list.
#[derive(Clone, Debug)]
pub(super) struct Items {
    list: List,
    next: usize,
}

impl IntoIterator for List {
    type Item = ImmutableString;
    type IntoIter = Items;

    fn into_iter(self) -> Items {
        Items {
            list: self,
            next: 0,
        }
    }
}

impl Iterator for Items {
    type Item = ImmutableString;

    fn next(&mut self) -> Option<ImmutableString> {
        let item = self.list.0.get(self.next).cloned();
        self.next += 1;
        item
    }
}
