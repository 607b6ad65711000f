//! The sandbox: one interpreter for the process, with every limit, and nothing that reaches outside.

use std::sync::OnceLock;

use rhai::Engine;
use rhai::module_resolvers::DummyModuleResolver;
use rhai::packages::{
    BasicArrayPackage, BasicIteratorPackage, BasicMapPackage, BasicMathPackage, BasicStringPackage,
    LanguageCorePackage, MoreStringPackage, Package as _,
};

use super::limits::{Fallible, MAX_CALLS, MAX_ITEMS, MAX_OPERATIONS, MAX_TEXT, failure, too_large};
use super::{api, context, coverage, guard};

pub(super) fn engine() -> &'static Engine {
    static ENGINE: OnceLock<Engine> = OnceLock::new();
    ENGINE.get_or_init(build)
}

fn build() -> Engine {
    let mut engine = Engine::new_raw();
    LanguageCorePackage::new().register_into_engine(&mut engine);
    BasicIteratorPackage::new().register_into_engine(&mut engine);
    BasicMathPackage::new().register_into_engine(&mut engine);
    BasicStringPackage::new().register_into_engine(&mut engine);
    MoreStringPackage::new().register_into_engine(&mut engine);
    BasicArrayPackage::new().register_into_engine(&mut engine);
    BasicMapPackage::new().register_into_engine(&mut engine);

    // The guard counts too, and names the place; this one holds where there is no guard.
    engine.set_max_operations(2 * MAX_OPERATIONS);
    engine.set_max_call_levels(MAX_CALLS);
    engine.set_max_expr_depths(64, 32);
    engine.set_max_string_size(MAX_TEXT);
    engine.set_max_array_size(MAX_ITEMS);
    engine.set_max_map_size(MAX_ITEMS);
    engine.set_max_variables(256);
    engine.set_max_functions(64);
    // Here zero means none.
    engine.set_max_modules(0);
    engine.set_module_resolver(DummyModuleResolver::new());
    engine.disable_symbol("eval");
    engine.disable_symbol("import");
    engine.disable_symbol("export");
    // The optimiser can make a script panic, and saves nothing at this size.
    engine.set_optimization_level(rhai::OptimizationLevel::None);
    engine.set_fail_on_invalid_map_property(true);

    engine.on_progress(guard::progress);
    #[expect(deprecated, reason = "it is not: the mark says that it may change")]
    engine.on_var(|_, _, _| {
        if guard::ends_here() {
            Err(failure("the run is over"))
        } else {
            Ok(None)
        }
    });
    engine.on_print(guard::print);
    engine.on_debug(|text, _, position| guard::print(&format!("{position}: {text}")));

    // Disabling `sleep` as a symbol has no effect on a function.
    engine.register_fn("sleep", |_: i64| not_offered("sleep"));
    engine.register_fn("sleep", |_: f64| not_offered("sleep"));
    bound_the_packages(&mut engine);
    engine.register_fn(coverage::NOTE, |place: i64| {
        guard::reach(u32::try_from(place).unwrap_or(0));
    });

    context::register(&mut engine);
    api::register(&mut engine);
    engine
}

fn not_offered(name: &str) -> Fallible<()> {
    Err(failure(format!("`{name}` is not offered to scripts")))
}

/// Replaces the functions of the packages whose result can be far larger than what they are given: the interpreter
/// looks at a result only when it is made.
fn bound_the_packages(engine: &mut Engine) {
    fn replaced(text: &str, from: &str, to: &str) -> Fallible<String> {
        let count = if from.is_empty() {
            return Ok(text.to_owned());
        } else {
            text.matches(from).count()
        };
        let grown = text.len() + count.saturating_mul(to.len().saturating_sub(from.len()));
        if grown > MAX_TEXT {
            return Err(too_large("Length of string"));
        }
        Ok(text.replace(from, to))
    }
    fn pieces<'a>(pieces: impl Iterator<Item = &'a str>) -> Fallible<rhai::Array> {
        let mut array = rhai::Array::new();
        for piece in pieces {
            if array.len() == MAX_ITEMS {
                return Err(too_large("Size of array/BLOB"));
            }
            array.push(piece.into());
        }
        Ok(array)
    }

    engine.register_fn(
        "replace",
        |text: &mut rhai::ImmutableString, from: &str, to: &str| {
            replaced(text, from, to).map(|new| *text = new.into())
        },
    );
    engine.register_fn(
        "replace",
        |text: &mut rhai::ImmutableString, from: &str, to: char| {
            replaced(text, from, to.encode_utf8(&mut [0; 4])).map(|new| *text = new.into())
        },
    );
    engine.register_fn(
        "replace",
        |text: &mut rhai::ImmutableString, from: char, to: &str| {
            replaced(text, from.encode_utf8(&mut [0; 4]), to).map(|new| *text = new.into())
        },
    );
    engine.register_fn("split", |text: &str| pieces(text.split_whitespace()));
    engine.register_fn("split", |text: &str, by: &str| pieces(text.split(by)));
    engine.register_fn("split", |text: &str, by: char| pieces(text.split(by)));
    engine.register_fn("split_rev", |text: &str, by: &str| pieces(text.rsplit(by)));
    engine.register_fn("split_rev", |text: &str, by: char| pieces(text.rsplit(by)));
    engine.register_fn("to_chars", |text: &str| {
        pieces(text.split("").filter(|piece| !piece.is_empty()))
    });
}
