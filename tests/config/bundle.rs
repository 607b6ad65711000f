//! The layer of a signed bundle: read first, locked, only narrowed by others, and only where nobody else may write.

use std::fs;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, symlink};
use std::path::Path;

use ahp::config::{Config, Locations};
use ahp::engine::{Engine, block_on};
use ahp::event::Event;
use ahp::signal::{Intensity, Signal};
use ahp::verdict::{Decision, Verdict};

use crate::world::write;

/// A machine with a bundle in force, as `ahp bundle install` leaves it.
pub(super) struct Machine {
    pub(super) dir: tempfile::TempDir,
    pub(super) locations: Locations,
}

const POLICY: &str = "\
hooks:
  pre-tool-use:
    - {id: house, oracle: say}
";

impl Machine {
    pub(super) fn new(policy: &str) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let owner = fs::metadata(dir.path()).unwrap().uid();
        let locations = Locations {
            bundle_dir: Some(dir.path().join("bundle")),
            administrator: owner,
            system_layer: Some(dir.path().join("system.yaml")),
            user_dir: Some(dir.path().join("user")),
            ..Locations::of_project(dir.path().join("project"))
        };
        fs::create_dir_all(dir.path().join("project/.ahp")).unwrap();
        let machine = Self { dir, locations };
        machine.file("bundle/acme-42/hooks.yaml", policy);
        machine.file(
            "bundle/acme-42/oracles/say.rhai",
            "fn evaluate(ctx) { block(\"not here\").type(\"house-rule\") }",
        );
        machine.manifest("2999-01-01T00:00:00Z", "tell");
        machine.file("bundle/state.json", "{}");
        symlink("acme-42", machine.path("bundle/current")).unwrap();
        machine
    }

    pub(super) fn path(&self, name: &str) -> std::path::PathBuf {
        self.dir.path().join(name)
    }

    pub(super) fn file(&self, name: &str, text: &str) {
        let path = self.path(name);
        write(&path, text);
        let open = |path: &Path, mode| {
            fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
        };
        open(&path, 0o644);
        for folder in path.ancestors().skip(1) {
            if folder == self.dir.path() {
                break;
            }
            open(folder, 0o755);
        }
    }

    fn manifest(&self, expires: &str, on_expired: &str) {
        let text = format!(
            r#"{{"ahp_bundle":1,"id":"acme","version":42,"expires":"{expires}","min_ahp":"0.1.0","on_expired":"{on_expired}","files":{{}}}}"#
        );
        self.file("bundle/acme-42/manifest.json", &text);
    }

    /// Judges a call in a session of its own.
    pub(super) fn judge(&self) -> Verdict {
        let builder = Engine::builder().locations(self.locations.clone());
        let engine = builder.build().unwrap();
        let call = serde_json::json!({"command": "ls"});
        let session = ahp::random::id().to_string();
        block_on(engine.evaluate(Event::tool_use("Bash", call).with_session(session)))
    }

    /// The faults, each in one line.
    fn faults(&self) -> Vec<String> {
        let loaded = Config::load(&self.locations);
        let faults = loaded.diagnostics.iter().filter(|d| d.is_error());
        faults
            .map(|fault| fault.one_line(&loaded.sources))
            .collect()
    }
}

fn kinds(verdict: &Verdict) -> Vec<String> {
    let signals = verdict.signals.iter();
    signals.map(|signal| signal.header.kind.clone()).collect()
}

#[test]
fn it_is_read_first_and_told_by_its_name() {
    let machine = Machine::new(POLICY);
    let loaded = Config::load(&machine.locations);
    assert!(loaded.diagnostics.is_empty(), "{:?}", loaded.diagnostics);
    assert!(
        loaded.config.digest.starts_with("acme@42+"),
        "{}",
        loaded.config.digest
    );
    let spec = loaded.config.bindings.values().flatten().next().unwrap();
    assert_eq!(loaded.sources.line(spec.span), "acme@42:hooks.yaml:3");
    assert!(spec.locked);
    assert_eq!(
        loaded.layers[0].to_string(),
        "the bundle layer `acme@42:hooks.yaml`"
    );
    assert_eq!(machine.judge().decision, Decision::Block);
}

#[test]
fn later_layers_make_it_stricter_and_nothing_else() {
    let policy = "\
settings: {on_error: prompt, max_stop_blocks: 3, timeout: 5s}
hooks:
  pre-tool-use:
    - {id: house, oracle: say, intensity: prompt, on_error: prompt}
    - {id: free, oracle: say, enabled: false, locked: false}
";
    let binding = |change: &str| format!("hooks: {{pre-tool-use: [{{{change}}}]}}");
    for (layer, change, is_taken) in [
        ("system.yaml", binding("id: house, intensity: block"), true),
        (
            "user/hooks.yaml",
            binding("id: house, intensity: block"),
            true,
        ),
        (
            "project/.ahp/hooks.yaml",
            binding("id: house, intensity: block"),
            true,
        ),
        (
            "user/hooks.yaml",
            binding("id: house, on_error: block"),
            true,
        ),
        ("user/hooks.yaml", binding("id: free, priority: 4"), true),
        (
            "user/hooks.yaml",
            binding("id: house, intensity: aid"),
            false,
        ),
        ("system.yaml", binding("id: house, enabled: false"), false),
        (
            "user/hooks.yaml",
            binding("id: house, locked: false"),
            false,
        ),
        (
            "user/hooks.yaml",
            binding("id: house, when: {tool: [Read]}"),
            false,
        ),
        (
            "user/hooks.yaml",
            binding("id: house, config: {a: 1}"),
            false,
        ),
        (
            "user/hooks.yaml",
            binding("id: house, intensity: block, priority: 7"),
            false,
        ),
        (
            "user/hooks.yaml",
            "settings: {on_error: block}".to_owned(),
            true,
        ),
        (
            "system.yaml",
            "settings: {max_stop_blocks: 9}".to_owned(),
            true,
        ),
        (
            "user/hooks.yaml",
            "settings: {on_error: allow}".to_owned(),
            false,
        ),
        (
            "system.yaml",
            "settings: {max_stop_blocks: 1}".to_owned(),
            false,
        ),
        ("system.yaml", "settings: {timeout: 9s}".to_owned(), false),
    ] {
        let machine = Machine::new(policy);
        machine.file(layer, &change);
        let faults = machine.faults();
        assert_eq!(faults.is_empty(), is_taken, "{layer} {change} {faults:?}");
        if !is_taken {
            let fault = Config::load(&machine.locations).diagnostics.remove(0);
            assert!(
                fault.message.contains("which the bundle layer locks"),
                "{}",
                fault.message
            );
            assert!(!fault.related.is_empty(), "{change}");
        }
    }
}

#[test]
fn open_keys_of_a_lock_are_given_by_later_layers_and_no_others() {
    let policy = "\
hooks:
  pre-tool-use:
    - id: house
      oracle: say
      intensity: prompt
      config: {kept: [a], ours: 1, deep: {open: 1, kept: 2}}
      locked: {open: [timeout, priority, config.ours, config.new, config.deep.open]}
";
    for (change, is_taken) in [
        ("timeout: 5s", true),
        ("priority: 7", true),
        ("config: {ours: 2}", true),
        ("config: {new: [x]}", true),
        ("config: {deep: {open: 9}}", true),
        ("timeout: 5s, intensity: block, config: {ours: 3}", true),
        ("locked: true", true),
        ("config: {kept: [b]}", false),
        ("config: {ours: 2, kept: [b]}", false),
        ("config: {deep: {kept: 9}}", false),
        ("config: {other: 1}", false),
        ("timeout: 5s, intensity: aid", false),
        ("timeout: 5s, enabled: false", false),
        ("locked: false", false),
    ] {
        let machine = Machine::new(policy);
        let text = format!("hooks: {{pre-tool-use: [{{id: house, {change}}}]}}");
        machine.file("project/.ahp/hooks.yaml", &text);
        let faults = machine.faults();
        assert_eq!(faults.is_empty(), is_taken, "{change} {faults:?}");
    }
    // Who closes what was open has closed it for all that follow.
    let machine = Machine::new(policy);
    let binding = |change: &str| format!("hooks: {{pre-tool-use: [{{id: house, {change}}}]}}");
    machine.file("system.yaml", &binding("locked: {open: [timeout]}"));
    machine.file("user/hooks.yaml", &binding("priority: 7"));
    assert_eq!(machine.faults().len(), 1, "{:?}", machine.faults());
    machine.file("user/hooks.yaml", &binding("timeout: 7s"));
    assert_eq!(machine.faults(), [""; 0]);
    machine.file(
        "system.yaml",
        &binding("locked: {open: [timeout, intensity]}"),
    );
    assert_eq!(machine.faults().len(), 1, "more than was open");
}

#[test]
fn a_lock_opens_only_keys_that_there_are_and_only_for_the_machine() {
    for (layer, open, told) in [
        (
            "user/hooks.yaml",
            "timeout",
            "the user layer cannot open keys of a lock",
        ),
        (
            "project/.ahp/hooks.yaml",
            "timeout",
            "the project layer cannot open keys of a lock",
        ),
        (
            "system.yaml",
            "tiemout",
            "`tiemout` is not a key that can be open",
        ),
        (
            "system.yaml",
            "locked",
            "`locked` is not a key that can be open",
        ),
        (
            "system.yaml",
            "config.",
            "`config.` is not a key that can be open",
        ),
    ] {
        let machine = Machine::new("hooks: {}");
        let text = format!(
            "hooks: {{pre-tool-use: [{{id: b, oracle: say, locked: {{open: [{open}]}}}}]}}"
        );
        machine.file(layer, &text);
        let faults = machine.faults();
        assert!(
            faults.iter().any(|fault| fault.contains(told)),
            "{layer} {open} {faults:?}"
        );
    }
}

#[test]
fn whoever_extends_a_pack_adjusts_it_and_nobody_later() {
    let pack = "hooks: {pre-tool-use: [{id: house, oracle: say, locked: true}]}";
    let machine = Machine::new(
        "extends: [packs/ours.yaml]\nhooks: {pre-tool-use: [{id: house, intensity: prompt}]}",
    );
    machine.file("bundle/acme-42/packs/ours.yaml", pack);
    assert_eq!(machine.faults(), [""; 0]);
    assert_ne!(machine.judge().decision, Decision::Block);
    machine.file(
        "user/hooks.yaml",
        "hooks: {pre-tool-use: [{id: house, intensity: aid}]}",
    );
    assert_eq!(machine.faults().len(), 1);
    // A layer that names the same pack as the bundle says nothing new.
    let machine = Machine::new("extends: [ahp:standard]");
    machine.file("user/hooks.yaml", "extends: [ahp:standard]");
    assert_eq!(machine.faults(), [""; 0]);
}

#[test]
fn what_others_could_have_written_is_not_believed() {
    type Harm = fn(&Machine);
    let open = |machine: &Machine, name: &str, mode| {
        let path = machine.path(name);
        fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
    };
    for name in [
        "bundle",
        "bundle/acme-42",
        "bundle/acme-42/hooks.yaml",
        "bundle/acme-42/oracles",
        "bundle/acme-42/oracles/say.rhai",
    ] {
        let machine = Machine::new(POLICY);
        let mode = fs::metadata(machine.path(name)).unwrap().mode() | 0o020;
        open(&machine, name, mode);
        let fault = machine.faults().remove(0);
        assert!(
            fault.contains("may be changed by others"),
            "{name}: {fault}"
        );
        assert_eq!(machine.judge().decision, Decision::Block, "{name}");
    }
    let harms: [(Harm, &str); 4] = [
        (
            |m| fs::remove_dir_all(m.path("bundle/acme-42")).unwrap(),
            "acme-42",
        ),
        (
            |m| m.file("bundle/acme-42/manifest.json", "{"),
            "manifest.json",
        ),
        (
            |m| fs::remove_file(m.path("bundle/acme-42/manifest.json")).unwrap(),
            "manifest.json",
        ),
        (
            |m| symlink("/etc/passwd", m.path("bundle/acme-42/link")).unwrap(),
            "link",
        ),
    ];
    for (harm, told) in harms {
        let machine = Machine::new("hooks: {}");
        harm(&machine);
        let fault = machine.faults().remove(0);
        assert!(fault.contains(told), "{fault}");
        assert_eq!(machine.judge().decision, Decision::Block, "{told}");
    }
    // Another's directory, whatever its modes are.
    let mut machine = Machine::new("hooks: {}");
    machine.locations.administrator += 1;
    assert_eq!(machine.judge().decision, Decision::Block);
}

#[test]
fn a_bundle_that_is_asked_for_and_missing_blocks_whatever_variables_are_set() {
    let mut machine = Machine::new(POLICY);
    fs::remove_file(machine.path("bundle/current")).unwrap();
    assert_eq!(machine.judge().decision, Decision::None);
    machine.file(
        "system.yaml",
        "settings: {fleet: {bundle: {url: 'https://policy.example/acme', keys: [RWQ]}}}",
    );
    machine.locations.allow_broken = true;
    let fault = machine.faults().remove(0);
    assert!(fault.contains("no signed policy is in force"), "{fault}");
    assert_eq!(machine.judge().decision, Decision::Block);
}

#[test]
fn a_bundle_holds_all_that_it_extends_and_names_no_keys() {
    let machine = Machine::new("extends: [../../user/loose.yaml]");
    machine.file("user/loose.yaml", "hooks: {}");
    let fault = machine.faults().remove(0);
    assert!(fault.contains("outside of the bundle"), "{fault}");
    let machine = Machine::new("settings: {fleet: {bundle: {url: 'https://x/', keys: []}}}");
    let fault = machine.faults().remove(0);
    assert!(fault.contains("where bundles come from"), "{fault}");
    // What else `fleet` says, bundle and system layer say together.
    let machine = Machine::new("settings: {fleet: {names: true}, forbid: [AHP_ENV]}");
    machine.file(
        "system.yaml",
        "settings: {fleet: {detail: full}, forbid: [AHP_TRUST]}",
    );
    assert_eq!(machine.faults(), [""; 0]);
    let settings = Config::load(&machine.locations).config.settings;
    assert!(settings.fleet.names && settings.forbid.len() == 2);
}

#[test]
fn its_age_is_told_once_and_blocks_only_where_it_says_so() {
    let machine = Machine::new("hooks: {}");
    assert_eq!(kinds(&machine.judge()), [""; 0]);
    machine.manifest("2001-01-01T00:00:00Z", "tell");
    let verdict = machine.judge();
    assert_eq!(kinds(&verdict), ["bundle-expired"]);
    assert_ne!(verdict.decision, Decision::Block);
    machine.manifest("2001-01-01T00:00:00Z", "block");
    assert_eq!(machine.judge().decision, Decision::Block);
    // A clock that was set back makes it no younger.
    machine.manifest("2500-01-01T00:00:00Z", "tell");
    machine.file(
        "bundle/state.json",
        r#"{"checked_at":"2600-01-01T00:00:00Z"}"#,
    );
    assert_eq!(kinds(&machine.judge()), ["bundle-expired"]);
    machine.file(
        "bundle/state.json",
        r#"{"checked_at":"2001-01-01T00:00:00Z"}"#,
    );
    assert_eq!(kinds(&machine.judge()), [""; 0]);
    machine.file(
        "system.yaml",
        "settings: {fleet: {bundle: {url: 'https://policy.example/acme', keys: [RWQ]}}}",
    );
    assert_eq!(kinds(&machine.judge()), ["bundle-unchecked"]);
    // Where no server was ever reached, it counts from the time when the bundle came.
    machine.file("bundle/state.json", "{}");
    assert_eq!(kinds(&machine.judge()), [""; 0]);
    let manifest = fs::File::options()
        .write(true)
        .open(machine.path("bundle/acme-42/manifest.json"));
    let long_ago = std::time::UNIX_EPOCH;
    manifest.unwrap().set_modified(long_ago).unwrap();
    assert_eq!(kinds(&machine.judge()), ["bundle-unchecked"]);
}

#[test]
fn broken_glass_leaves_locked_bindings_advice_for_a_while() {
    let glass = |until: &str, bindings: &str| {
        format!(
            r#"{{"by":"ada","reason":"outage 7","since":"2001-01-01T00:00:00Z","until":"{until}","bindings":[{bindings}]}}"#
        )
    };
    let machine = Machine::new(POLICY);
    for (until, bindings, blocks) in [
        ("2999-01-01T00:00:00Z", "", false),
        ("2999-01-01T00:00:00Z", "\"house\"", false),
        ("2999-01-01T00:00:00Z", "\"other\"", true),
        ("2001-01-01T02:00:00Z", "", true),
    ] {
        machine.file("bundle/break-glass.json", &glass(until, bindings));
        let verdict = machine.judge();
        assert_eq!(
            verdict.decision == Decision::Block,
            blocks,
            "{until} {bindings}"
        );
        assert!(kinds(&verdict).contains(&"house-rule".to_owned()));
        if !blocks {
            let signals = verdict.signals.iter();
            let strongest = signals.map(Signal::intensity).max();
            assert_eq!(strongest, Some(Intensity::Aid));
            let told = verdict
                .signals
                .iter()
                .any(|s| s.payload.text().contains("ada: outage 7"));
            assert!(told, "{:?}", kinds(&verdict));
        }
    }
    let log = fs::read_to_string(machine.path("project/.ahp/signals.jsonl")).unwrap();
    assert!(log.contains(r#""note":"break-glass""#), "{log}");
    assert!(log.contains(r#""policy":"acme@42+"#), "{log}");
    // Who could write it could break it: then nobody has.
    machine.file(
        "bundle/break-glass.json",
        &glass("2999-01-01T00:00:00Z", ""),
    );
    let path = machine.path("bundle/break-glass.json");
    fs::set_permissions(&path, fs::Permissions::from_mode(0o666)).unwrap();
    assert_eq!(machine.judge().decision, Decision::Block);
    fs::set_permissions(&path, fs::Permissions::from_mode(0o644)).unwrap();
    assert_ne!(machine.judge().decision, Decision::Block);
    machine.file(
        "bundle/acme-42/hooks.yaml",
        &format!("settings: {{forbid: [break-glass]}}\n{POLICY}"),
    );
    assert_eq!(machine.judge().decision, Decision::Block);
}

/// A script that lets everything through, by the name of the machine's gate.
const OPEN: &str = "fn evaluate(ctx) { accept() }";

#[test]
fn no_later_layer_replaces_the_script_of_an_earlier_ones_binding() {
    let named = |dir: String| format!("settings: {{oracles: ['{dir}']}}\n");
    let bound = "hooks: {pre-tool-use: [{id: gate, oracle: gate";
    for binds in ["system.yaml"] {
        for (layer, dir, again) in [
            ("project/.ahp/hooks.yaml", ".ahp/o", ""),
            ("project/.ahp/hooks.local.yaml", ".ahp/o", ""),
            ("project/.ahp/hooks.yaml", ".ahp/oracles", ""),
        ] {
            if binds == layer {
                continue;
            }
            let machine = Machine::new("hooks: {}");
            let at = |name: &str| machine.path(name).display().to_string();
            let gate = POLICY.replace("house", "gate").replace("say", "gate");
            let lock = gate.replace("gate}", "gate, locked: true}");
            machine.file(binds, &format!("{}{lock}", named(at("etc"))));
            machine.file(
                "etc/gate.rhai",
                "fn evaluate(ctx) { block(\"not here\").type(\"house-rule\") }",
            );
            let dir = dir.replace("{evil}", &at("evil"));
            let dir = dir.replace("{user}", &at("user/oracles"));
            let lies = Path::new(&at("project")).join(&dir);
            let lies = lies.strip_prefix(machine.dir.path()).unwrap();
            machine.file(&format!("{}/gate.rhai", lies.display()), OPEN);
            let more = if again.is_empty() {
                String::new()
            } else {
                format!("{bound}{again}}}]}}")
            };
            machine.file(layer, &format!("{}{more}", named(dir.clone())));
            assert_eq!(machine.faults(), [""; 0], "{binds} {layer} {dir}");
            let told = kinds(&machine.judge());
            assert_eq!(told, ["house-rule"], "{binds} {layer} {dir} {again}");
            // What is nowhere where it is meant is a fault, and opens nothing.
            fs::remove_file(machine.path("etc/gate.rhai")).unwrap();
            let verdict = machine.judge();
            assert_eq!(verdict.decision, Decision::Block, "{binds} {layer} {dir}");
        }
    }
}

#[test]
fn the_bundles_script_stays_whatever_directories_others_name() {
    for (layer, dir) in [
        ("project/.ahp/hooks.yaml", ".ahp/o"),
        ("user/hooks.yaml", "evil"),
    ] {
        let machine = Machine::new(POLICY);
        machine.file("project/.ahp/o/say.rhai", OPEN);
        machine.file("evil/say.rhai", OPEN);
        let dir = match dir {
            "evil" => machine.path(dir).display().to_string(),
            relative => relative.to_owned(),
        };
        machine.file(layer, &format!("settings: {{oracles: ['{dir}']}}"));
        assert_eq!(kinds(&machine.judge()), ["house-rule"], "{layer}");
    }
}
