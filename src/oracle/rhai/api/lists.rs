//! What can be done with lists of texts, beside what the language does with its own arrays.

use super::{Function, Group};

/// Lists are registered with their type; these rows are their manual.
pub(super) const GROUP: Group = Group {
    title: "Lists",
    doc: "Facts that are lists (`ctx.files.changed`) and the results of `lines` and `list_files` are lists of texts that are shared, not copied. `for`, `[n]`, `len()`, `is_empty()`, `contains`, `in`, `index_of`, `filter`, `map`, `find`, `some` and `all` work on them as on arrays; `to_array()` gives an array.",
    functions: &[
        Function {
            signature: "list.filter(function) -> list",
            doc: "The items for which the function gives `true`.",
            example: r#"ctx.files.changed.filter(|f| f.ends_with(".rs")).len() == 2"#,
            register: |_| {},
        },
        Function {
            signature: "list.map(function) -> array",
            doc: "What the function makes of each item.",
            example: r#"ctx.files.changed.map(|f| stem(f)).contains("users")"#,
            register: |_| {},
        },
        Function {
            signature: "list.some(function) -> bool",
            doc: "Whether the function gives `true` for an item; `all` says it of every item.",
            example: r#"ctx.files.changed.some(|f| glob(f, "src/**")) && !ctx.files.changed.all(|f| glob(f, "src/**"))"#,
            register: |_| {},
        },
        Function {
            signature: "list.find(function) -> text or ()",
            doc: "The first item for which the function gives `true`.",
            example: r#"ctx.files.changed.find(|f| extension(f) == "md") == "README.md""#,
            register: |_| {},
        },
        Function {
            signature: "list.take(count) -> list",
            doc: "The first items.",
            example: "ctx.files.changed.take(2).len() == 2",
            register: |_| {},
        },
        Function {
            signature: "list.join(separator = \", \") -> text",
            doc: "All items as one text; works on arrays too.",
            example: r#"["a", "b"].join(" + ") == "a + b" && ctx.files.changed.join().contains("README.md, ")"#,
            register: |_| {},
        },
        Function {
            signature: "list.first() -> item or ()",
            doc: "The first item; `last()` gives the last. Both work on arrays too.",
            example: r#"ctx.files.changed.first() == "README.md" && [].last() == ()"#,
            register: |_| {},
        },
        Function {
            signature: "list.to_array() -> array",
            doc: "An array of the language with the same items.",
            example: r#"type_of(ctx.files.changed.to_array()) == "array""#,
            register: |_| {},
        },
    ],
};
