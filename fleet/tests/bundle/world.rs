//! An organisation that makes bundles, and a machine that takes them.

use std::fs;
use std::path::PathBuf;
use std::process::Command;

use minisign::KeyPair;

pub(crate) const POLICY: &str = "hooks: {pre-tool-use: [{id: house, oracle: say}]}\n";

/// An organisation with a key, and one machine of it.
pub(crate) struct World {
    pub(crate) dir: tempfile::TempDir,
    pub(crate) keys: KeyPair,
}

pub(crate) struct Ran {
    pub(crate) code: i32,
    pub(crate) out: String,
    pub(crate) err: String,
}

impl World {
    pub(crate) fn new() -> Self {
        let world = Self {
            dir: tempfile::tempdir().unwrap(),
            keys: KeyPair::generate_unencrypted_keypair().unwrap(),
        };
        world.policy(POLICY);
        world.write(
            "policy/oracles/say.rhai",
            "fn evaluate(ctx) { block(\"not here\") }",
        );
        world.settings("https://policy.example/acme.tar.zst");
        world
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    pub(crate) fn write(&self, name: &str, text: impl AsRef<[u8]>) {
        let path = self.path(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    pub(crate) fn policy(&self, text: &str) {
        self.write("policy/hooks.yaml", text);
    }

    /// What comes to the machine by other means: the key, and where the server is.
    pub(crate) fn settings(&self, url: &str) {
        let key = self.keys.pk.to_base64();
        self.write(
            "machine/etc/ahp/hooks.yaml",
            format!("settings: {{fleet: {{bundle: {{url: '{url}', keys: ['{key}']}}}}}}\n"),
        );
    }

    #[expect(
        clippy::disallowed_methods,
        reason = "the program itself is what is tested"
    )]
    pub(crate) fn run(&self, arguments: &[&str]) -> Ran {
        let done = Command::new(env!("CARGO_BIN_EXE_ahp-fleet"))
            .arg("bundle")
            .args(arguments)
            .current_dir(self.dir.path())
            .env_clear()
            .env("AHP_MACHINE_ID", "machine-7")
            .env("USER", "ada")
            .output()
            .unwrap();
        Ran {
            code: done.status.code().unwrap(),
            out: String::from_utf8_lossy(&done.stdout).into_owned(),
            err: String::from_utf8_lossy(&done.stderr).into_owned(),
        }
    }

    /// Makes a bundle, signs it, and returns its name.
    pub(crate) fn bundle(&self, id: &str, version: u64, further: &[&str]) -> String {
        let name = format!("{id}-{version}.tar.zst");
        let version = version.to_string();
        let mut arguments = vec![
            "build",
            "policy",
            "--id",
            id,
            "--version",
            &version,
            "-o",
            &name,
        ];
        if !further.contains(&"--expires") {
            arguments.extend(["--expires", "30d"]);
        }
        arguments.extend(further);
        let ran = self.run(&arguments);
        assert_eq!(ran.code, 0, "{}", ran.err);
        let comment = format!("ahp-bundle {id} {version}");
        assert!(
            ran.out
                .contains(&format!("minisign -Sm {name} -t \"{comment}\"")),
            "{}",
            ran.out
        );
        self.sign(&name, &comment, &self.keys);
        name
    }

    pub(crate) fn sign(&self, name: &str, comment: &str, keys: &KeyPair) {
        let packed = fs::File::open(self.path(name)).unwrap();
        let signed = minisign::sign(Some(&keys.pk), &keys.sk, packed, Some(comment), None).unwrap();
        self.write(&format!("{name}.minisig"), signed.to_string());
    }

    pub(crate) fn install(&self, name: &str) -> Ran {
        self.run(&["install", name, "--root", "machine"])
    }

    pub(crate) fn in_force(&self) -> Option<String> {
        let link = fs::read_link(self.path("machine/etc/ahp/bundle/current")).ok()?;
        Some(link.to_string_lossy().into_owned())
    }

    pub(crate) fn state(&self) -> serde_json::Value {
        let text = fs::read(self.path("machine/etc/ahp/bundle/state.json")).unwrap();
        serde_json::from_slice(&text).unwrap()
    }
}
