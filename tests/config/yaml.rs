//! YAML as it is read: every value with its place, every fault, and limits.

use ahp::config::{Node, Value, parse_yaml};
use ahp::diagnostic::{Code, Diagnostic, FileId};
use proptest::prelude::*;

fn read(text: &str) -> (Option<Node>, Vec<Diagnostic>) {
    let mut diagnostics = Vec::new();
    let node = parse_yaml(text, FileId(0), &mut diagnostics);
    (node, diagnostics)
}

fn json(text: &str) -> serde_json::Value {
    let (node, diagnostics) = read(text);
    assert!(diagnostics.is_empty(), "{text}: {diagnostics:?}");
    node.unwrap().to_json()
}

fn fault(text: &str) -> (Code, u32, u32) {
    let (_, diagnostics) = read(text);
    let first = diagnostics.first().unwrap();
    let span = first.label.as_ref().unwrap().span;
    (first.code, span.line, span.column)
}

#[test]
fn scalars_are_those_of_the_core_schema() {
    let cases = [
        ("on", serde_json::json!("on")),
        ("No", serde_json::json!("No")),
        ("True", serde_json::json!(true)),
        ("~", serde_json::json!(null)),
        ("12", serde_json::json!(12)),
        ("-0x1", serde_json::json!("-0x1")),
        ("0x1f", serde_json::json!(31)),
        ("0o17", serde_json::json!(15)),
        ("007", serde_json::json!("007")),
        ("0.5", serde_json::json!(0.5)),
        ("-.5e2", serde_json::json!(-50.0)),
        ("1e3", serde_json::json!(1000.0)),
        ("1_000", serde_json::json!("1_000")),
        ("1.2.3", serde_json::json!("1.2.3")),
        ("2026-01-01", serde_json::json!("2026-01-01")),
        ("infinity", serde_json::json!("infinity")),
        ("'12'", serde_json::json!("12")),
        ("!!str 12", serde_json::json!("12")),
        ("!!float 12", serde_json::json!(12)),
    ];
    for (text, expected) in cases {
        assert_eq!(json(&format!("v: {text}"))["v"], expected, "{text}");
    }
}

#[test]
fn an_empty_document_is_an_empty_map() {
    for text in ["", "# nothing\n", "---\n", "\u{feff}", "~\n"] {
        assert_eq!(json(text), serde_json::json!({}), "{text:?}");
    }
}

#[test]
fn places_survive_a_byte_order_mark_crlf_and_wide_characters() {
    let text = "\u{feff}表: 1\r\nkey: [a, 表格]\r\n";
    let node = read(text).0.unwrap();
    let Value::Seq(items) = &node.get("key").unwrap().value else {
        panic!("a list was expected");
    };
    let span = items[1].span;
    assert_eq!((span.line, span.column), (2, 10));
    assert_eq!(
        text.get(span.start as usize..span.end as usize),
        Some("表格")
    );
    let key = node.entries()[0].0.span;
    assert_eq!(text.get(key.start as usize..key.end as usize), Some("表"));
}

#[test]
fn each_fault_has_its_place() {
    assert_eq!(fault("a: 1\nb: 2\na: 3\n"), (Code::DuplicateKey, 3, 1));
    assert_eq!(fault("a:\n\t- x\n").0, Code::Syntax);
    assert_eq!(fault("a: *nobody\n"), (Code::Syntax, 1, 4));
    assert_eq!(fault("a: &x [*x]\n"), (Code::Syntax, 1, 8));
    assert_eq!(fault("a: {<<: {b: 1}}\n"), (Code::Syntax, 1, 5));
    assert_eq!(fault("a: !thing x\n").0, Code::Syntax);
    assert_eq!(fault("a: .inf\n"), (Code::BadValue, 1, 4));
    assert_eq!(fault("a: 1\n---\nb: 2\n"), (Code::Syntax, 2, 1));
    assert_eq!(fault("? [a]\n: 1\n"), (Code::Syntax, 1, 3));
}

#[test]
fn all_duplicate_keys_are_reported() {
    let (node, diagnostics) = read("a: 1\na: 2\nb: {c: 1, c: 2}\n");
    assert_eq!(diagnostics.len(), 2);
    assert!(node.is_some());
    // Few keys are compared one by one, many are looked up.
    let many: Vec<_> = (0..40).map(|n| format!("k{}: {n}\n", n % 20)).collect();
    let (node, diagnostics) = read(&many.concat());
    assert_eq!(node.unwrap().entries().len(), 20);
    let first = |d: &Diagnostic| d.related.first().map(|label| label.span.line);
    let firsts: Vec<_> = diagnostics.iter().filter_map(first).collect();
    assert_eq!(firsts, (1..=20).collect::<Vec<_>>());
}

#[test]
fn bombs_are_stopped() {
    let mut bomb = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n".to_owned();
    for level in 1..10 {
        let uses = vec![format!("*a{}", level - 1); 10].join(", ");
        bomb.push_str(&format!("a{level}: &a{level} [{uses}]\n"));
    }
    assert_eq!(fault(&bomb).0, Code::Limit);
    let leaves = vec!["x"; 3_000].join(",");
    let nested: String = (0..40).fold(format!("[{leaves}]"), |inner, n| format!("&n{n} [{inner}]"));
    assert_eq!(fault(&nested).0, Code::Limit);
    assert_eq!(fault(&"[".repeat(10_000)).0, Code::Limit);
    assert_eq!(fault(&"- ".repeat(10_000)).0, Code::Limit);
    let deep: Vec<_> = (0..500).map(|n| format!("{}k:", " ".repeat(n))).collect();
    assert_eq!(fault(&deep.join("\n")).0, Code::Limit);
}

#[test]
fn an_alias_has_the_place_of_its_use() {
    let node = read("a: &x {b: 1}\nc: *x\n").0.unwrap();
    let used = node.get("c").unwrap();
    assert_eq!((used.span.line, used.span.column), (2, 4));
    assert_eq!(used.get("b").unwrap().span.line, 1);
}

proptest! {
    #[test]
    fn no_text_makes_it_panic(text in "[-a-c:,\\[\\]{}&*!|>'\"%@`#?~<. \t\r\n表\u{feff}0-9]{0,60}") {
        let (node, diagnostics) = read(&text);
        prop_assert!(node.is_some() || diagnostics.iter().any(Diagnostic::is_error));
        for label in diagnostics.iter().filter_map(|d| d.label.as_ref()) {
            prop_assert!(label.span.end as usize <= text.len());
            prop_assert!(label.span.line >= 1 && label.span.column >= 1);
        }
    }
}
