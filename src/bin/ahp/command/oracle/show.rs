//! ahp oracle show: an oracle's manual page.

use ahp::oracle::rhai::Script;
use ahp::oracle::{Definition, Factory as _, page};
use serde_json::json;

use super::Oracles;
use crate::exit_code::Exit;
use crate::output::{self, Format};

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The oracle, by any spelling of its name, or a script's path
    name: String,
    /// Print the script itself
    #[arg(long)]
    source: bool,
    /// How the page is written
    #[arg(long, value_enum, default_value_t)]
    format: Format,
}

pub(super) fn show(args: &Args) -> Result<Exit, String> {
    let oracles = Oracles::find()?;
    let mut definitions = oracles.catalog.definitions().into_iter();
    if let Some(definition) = definitions.find(|definition| definition.is_named(&args.name)) {
        if args.source {
            return Err(format!("`{}` is written in Rust", definition.kebab));
        }
        built_in(definition, args.format);
        return Ok(Exit::Success);
    }
    let script = match oracles.library.find(&args.name) {
        Ok(Some(script)) => script,
        Ok(None) => return Err(oracles.unknown(&args.name)),
        Err(error) => return Err(error.to_string()),
    };
    if args.source {
        output::line(script.source().trim_end());
    } else {
        of_script(&script, args.format);
    }
    Ok(Exit::Success)
}

fn built_in(definition: &Definition, format: Format) {
    let schema = (definition.schema)().to_value();
    let intensities: Vec<_> = definition.intensities.iter().map(|i| i.name()).collect();
    let triggers: Vec<_> = definition.triggers.iter().map(|t| t.name()).collect();
    if format == Format::Json {
        output::json(&json!({
            "name": definition.kebab,
            "summary": definition.summary,
            "intensities": intensities,
            "triggers": triggers,
            "schema": schema,
        }));
        return;
    }
    output::line(page(definition).trim_end());
}

fn of_script(script: &std::sync::Arc<Script>, format: Format) {
    let intensities: Vec<_> = script.intensities().iter().map(|i| i.name()).collect();
    let triggers: Vec<_> = script.triggers().iter().map(|t| t.name()).collect();
    if format == Format::Json {
        output::json(&json!({
            "name": script.name(),
            "file": script.file(),
            "summary": script.summary(),
            "page": script.page(),
            "intensities": intensities,
            "triggers": triggers,
            "defaults": script.defaults(),
            "choices": script.choices(),
        }));
        return;
    }
    output::line(format!("# {}\n", script.name()));
    output::line(if script.page().is_empty() {
        script.summary()
    } else {
        script.page()
    });
    output::line(format!("\nScript: {}", script.file()));
    output::line(format!("Can give: {}", intensities.join(", ")));
    if !triggers.is_empty() {
        output::line(format!("At: {}", triggers.join(", ")));
    }
    let defaults = script.defaults();
    let choices = script.choices();
    let entries = defaults.as_object().into_iter().flatten();
    for (n, (key, default)) in entries.enumerate() {
        if n == 0 {
            output::line("\nConfiguration, with its defaults:\n");
        }
        let offered = match choices.get(key) {
            Some(offered) => format!("   # one of {offered}"),
            None => String::new(),
        };
        output::line(format!("  {key}: {default}{offered}"));
    }
}
