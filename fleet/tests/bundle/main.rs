//! Bundles as an organisation uses them: made, signed with `minisign`'s own format, put in force, fetched from a server,
//! taken back. Each is done by the program itself.

#![expect(
    clippy::unwrap_used,
    reason = "a test that cannot go on says where by panicking"
)]

mod server;
mod world;

use std::fs;
use std::io::Read as _;
use std::os::unix::fs::{PermissionsExt as _, symlink};

use minisign::KeyPair;

use self::server::Server;
use self::world::{POLICY, World};

#[test]
fn the_same_tree_gives_the_same_bytes_and_is_put_in_force() {
    let world = World::new();
    world.write("policy/packs/ours.yaml", "hooks: {}\n");
    world.write("policy/hooks/guard/scripts/run.sh", "exit 0\n");
    world.write(
        "policy/hooks/guard/HOOK.md",
        "---\nname: guard\ndescription: Guards.\ntrigger: PreToolUse\n---\n",
    );
    let run = world.path("policy/hooks/guard/scripts/run.sh");
    fs::set_permissions(run, fs::Permissions::from_mode(0o755)).unwrap();
    let until = ["--expires", "2999-01-01T00:00:00Z"];
    let name = world.bundle("acme", 42, &until);
    let first = fs::read(world.path(&name)).unwrap();
    for file in ["policy/packs/ours.yaml", "policy/hooks.yaml"] {
        let text = fs::read(world.path(file)).unwrap();
        fs::remove_file(world.path(file)).unwrap();
        world.write(file, text);
    }
    world.bundle("acme", 42, &until);
    assert!(first == fs::read(world.path(&name)).unwrap());

    let key = world.keys.pk.to_base64();
    let ran = world.run(&["verify", &name, "--key", &key]);
    assert_eq!((ran.code, ran.err.as_str()), (0, ""));
    assert!(
        ran.out.contains("acme@42 is signed and whole: 5 files"),
        "{}",
        ran.out
    );
    let ran = world.install(&name);
    assert_eq!((ran.code, ran.err.as_str()), (0, ""));
    assert_eq!(world.in_force().as_deref(), Some("acme-42"));
    let laid = world.path("machine/etc/ahp/bundle/current");
    let mode = |name: &str| fs::metadata(laid.join(name)).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode("hooks/guard/scripts/run.sh"), 0o755);
    assert_eq!((mode("hooks.yaml"), mode("hooks")), (0o644, 0o755));
    let ran = world.run(&["status", "--root", "machine"]);
    assert!(
        ran.code == 0 && ran.out.starts_with("acme@42 is in force"),
        "{}",
        ran.out
    );
    assert!(world.install(&name).out.contains("in force already"));
    // What its hooks say is kept beside it, for everybody to read.
    let store = fs::read_dir(world.path("machine/etc/ahp/bundle")).unwrap();
    let kept = store.map(|entry| entry.unwrap().path());
    let kept: Vec<_> = kept
        .filter(|path| {
            path.file_name()
                .unwrap()
                .to_string_lossy()
                .starts_with("hook-md-")
        })
        .collect();
    assert_eq!(kept.len(), 1, "{kept:?}");
    let mode = fs::metadata(&kept[0]).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode, 0o644);
}

#[test]
fn what_is_not_as_it_must_be_is_refused_in_its_own_words_and_the_old_one_stays() {
    type Harm = fn(&World, &str);
    let good = ["--rollout", "100"];
    let harms: &[(&str, Harm, &str)] = &[
        (
            "a changed byte",
            |w, name| {
                let mut bytes = fs::read(w.path(name)).unwrap();
                bytes[40] ^= 1;
                w.write(name, bytes);
            },
            "signed it so",
        ),
        (
            "half of it",
            |w, name| {
                let bytes = fs::read(w.path(name)).unwrap();
                w.write(name, &bytes[..bytes.len() / 2]);
            },
            "signed it so",
        ),
        (
            "half of it, signed",
            |w, name| {
                let bytes = fs::read(w.path(name)).unwrap();
                w.write(name, &bytes[..bytes.len() / 2]);
                w.sign(name, "ahp-bundle acme 42", &w.keys);
            },
            "cannot be unpacked",
        ),
        (
            "another's key",
            |w, name| {
                let other = KeyPair::generate_unencrypted_keypair().unwrap();
                w.sign(name, "ahp-bundle acme 42", &other);
            },
            "signed it so",
        ),
        (
            "another comment",
            |w, name| w.sign(name, "ahp-bundle acme 43", &w.keys),
            "its signature is for",
        ),
        (
            "a comment that was changed",
            |w, name| {
                let file = format!("{name}.minisig");
                let text = fs::read_to_string(w.path(&file)).unwrap();
                w.write(&file, text.replace("acme 42", "acme 43"));
            },
            "signed it so",
        ),
        (
            "no signature",
            |w, name| fs::remove_file(w.path(&format!("{name}.minisig"))).unwrap(),
            "cannot read",
        ),
        (
            "no signature in it",
            |w, name| w.write(&format!("{name}.minisig"), "hello\n"),
            "not one of minisign",
        ),
        (
            "a link",
            |w, name| {
                repack(w, name, |tar| {
                    let mut header = tar::Header::new_ustar();
                    header.set_entry_type(tar::EntryType::Symlink);
                    header.set_size(0);
                    tar.append_link(&mut header, "packs/x.yaml", "/etc/passwd")
                        .unwrap();
                });
            },
            "not a plain file",
        ),
        (
            "a file that the manifest does not name",
            |w, name| {
                repack(w, name, |tar| {
                    let mut header = tar::Header::new_ustar();
                    header.set_size(2);
                    header.set_mode(0o644);
                    tar.append_data(&mut header, "packs/x.yaml", &b"{}"[..])
                        .unwrap();
                });
            },
            "not what its manifest says",
        ),
        (
            "a bomb",
            |w, name| {
                repack(w, name, |tar| {
                    let mut header = tar::Header::new_ustar();
                    header.set_size(65 << 20);
                    header.set_mode(0o644);
                    tar.append_data(
                        &mut header,
                        "packs/x.yaml",
                        std::io::repeat(0).take(65 << 20),
                    )
                    .unwrap();
                });
            },
            "unpacks to more than",
        ),
    ];
    let world = World::new();
    let old = world.bundle("acme", 41, &[]);
    assert_eq!(world.install(&old).code, 0);
    for (what, harm, told) in harms {
        let name = world.bundle("acme", 42, &good);
        harm(&world, &name);
        let ran = world.install(&name);
        assert_eq!(ran.code, 1, "{what}");
        assert!(ran.err.contains(told), "{what}: {}", ran.err);
        assert_eq!(world.in_force().as_deref(), Some("acme-41"), "{what}");
        let left = fs::read_dir(world.path("machine/etc/ahp/bundle")).unwrap();
        assert!(
            !left.flatten().any(|entry| entry.file_name() == "acme-42"),
            "{what}"
        );
    }
    // What is signed and whole, and not for this machine or not now.
    for (id, version, further, told) in [
        ("other", 50, &[][..], "has the policy of `acme`"),
        ("acme", 40, &[], "has had version 41"),
        (
            "acme",
            43,
            &[
                "--not-before",
                "2999-01-01T00:00:00Z",
                "--expires",
                "2999-02-01T00:00:00Z",
            ],
            "it begins at",
        ),
    ] {
        let name = world.bundle(id, version, further);
        let ran = world.install(&name);
        assert!(
            ran.code == 1 && ran.err.contains(told),
            "{told}: {}",
            ran.err
        );
        assert_eq!(world.in_force().as_deref(), Some("acme-41"), "{told}");
    }
    world.policy("hooks: {}\n");
    let changed = world.bundle("acme", 41, &[]);
    let ran = world.install(&changed);
    assert!(
        ran.err.contains("in force with another content"),
        "{}",
        ran.err
    );
    // Its time is over before it is taken.
    let now = world.bundle("acme", 44, &["--expires", "1s"]);
    let state =
        serde_json::json!({"id": "acme", "highest": 41, "checked_at": "2998-01-01T00:00:00Z"});
    world.write("machine/etc/ahp/bundle/state.json", state.to_string());
    let ran = world.install(&now);
    assert!(ran.err.contains("it expired at"), "{}", ran.err);
}

/// Packs a bundle once more with something in it, and signs it: whoever has the key may still not put in what they like.
fn repack(world: &World, name: &str, add: impl FnOnce(&mut tar::Builder<Vec<u8>>)) {
    let unpacked = zstd::decode_all(&fs::read(world.path(name)).unwrap()[..]).unwrap();
    let mut tar = tar::Builder::new(Vec::new());
    let mut archive = tar::Archive::new(&unpacked[..]);
    for entry in archive.entries().unwrap() {
        let mut entry = entry.unwrap();
        let path = entry.path().unwrap().into_owned();
        let mut header = entry.header().clone();
        let mut content = Vec::new();
        entry.read_to_end(&mut content).unwrap();
        tar.append_data(&mut header, path, &content[..]).unwrap();
    }
    add(&mut tar);
    world.write(
        name,
        zstd::encode_all(&tar.into_inner().unwrap()[..], 3).unwrap(),
    );
    world.sign(name, "ahp-bundle acme 42", &world.keys);
}

#[test]
fn nobody_signs_what_would_not_hold() {
    let world = World::new();
    let build = |further: &[&str]| {
        let mut arguments = vec!["build", "policy", "--version", "1", "-o", "x.tar.zst"];
        arguments.extend(further);
        world.run(&arguments)
    };
    let usual = ["--id", "acme", "--expires", "30d"];
    world.policy("hooks: {pre-tool-use: [{oracle: Nobody}]}\n");
    let ran = build(&usual);
    assert!(
        ran.code == 1 && ran.err.contains("no oracle is called `Nobody`"),
        "{}",
        ran.err
    );
    assert!(ran.err.contains("acme@1:hooks.yaml:1"), "{}", ran.err);
    world.policy(POLICY);
    for (further, told) in [
        (&["--id", "../acme", "--expires", "30d"][..], "is not an id"),
        (
            &["--id", "acme", "--expires", "2001-01-01T00:00:00Z"],
            "still to come",
        ),
        (
            &["--id", "acme", "--expires", "30d", "--min-ahp", "9.0.0"],
            "needs ahp",
        ),
    ] {
        let ran = build(further);
        assert!(
            ran.code == 1 && ran.err.contains(told),
            "{told}: {}",
            ran.err
        );
    }
    world.write("policy/README", "no part of it");
    let ran = build(&usual);
    assert!(
        ran.err.contains("`README` does not belong into a bundle"),
        "{}",
        ran.err
    );
    fs::remove_file(world.path("policy/README")).unwrap();
    fs::create_dir_all(world.path("policy/packs")).unwrap();
    symlink("/etc/passwd", world.path("policy/packs/x.yaml")).unwrap();
    assert!(build(&usual).err.contains("`packs/x.yaml` does not belong"));
    let left: Vec<_> = fs::read_dir(world.dir.path()).unwrap().flatten().collect();
    assert_eq!(left.len(), 2, "nothing half made is left: {left:?}");
}

#[test]
fn a_rollback_takes_the_one_before_and_the_next_version_again() {
    let world = World::new();
    let ran = world.run(&["rollback", "--root", "machine"]);
    assert!(
        ran.code == 1 && ran.err.contains("no bundle from before"),
        "{}",
        ran.err
    );
    for version in [1, 2, 3] {
        let name = world.bundle("acme", version, &[]);
        assert_eq!(world.install(&name).code, 0);
    }
    assert!(
        !world.path("machine/etc/ahp/bundle/acme-1").exists(),
        "two are kept"
    );
    let ran = world.run(&["rollback", "--root", "machine"]);
    assert_eq!(ran.code, 0, "{}", ran.err);
    assert_eq!(world.in_force().as_deref(), Some("acme-2"));
    assert_eq!(world.state()["highest"], 3);
    let older = world.bundle("acme", 2, &["--expires", "31d"]);
    assert!(world.install(&older).err.contains("has had version 3"));
    // What a person wants by hand is taken again.
    assert_eq!(world.install("acme-3.tar.zst").code, 0);
    assert_eq!(world.in_force().as_deref(), Some("acme-3"));
}

#[test]
fn a_machine_takes_a_stage_by_its_number_and_the_first_policy_anyway() {
    let world = World::new();
    let first = world.bundle("acme", 1, &["--rollout", "0"]);
    assert_eq!(world.install(&first).code, 0);
    assert_eq!(world.in_force().as_deref(), Some("acme-1"));
    let second = world.bundle("acme", 2, &["--rollout", "0"]);
    let ran = world.install(&second);
    assert!(
        ran.code == 0 && ran.out.contains("is for 0 of 100 machines"),
        "{}",
        ran.out
    );
    assert_eq!(world.in_force().as_deref(), Some("acme-1"));
    // It has been seen: nobody goes back behind it.
    assert_eq!(world.state()["highest"], 2);
    assert!(world.install(&first).err.contains("has had version 2"));
    let ran = world.run(&["install", &second, "--root", "machine", "--whole"]);
    assert_eq!(ran.code, 0);
    assert_eq!(world.in_force().as_deref(), Some("acme-2"));
    let third = world.bundle("acme", 3, &["--rollout", "100"]);
    world.install(&third);
    assert_eq!(world.in_force().as_deref(), Some("acme-3"));
}

#[test]
fn a_pull_fetches_what_is_new_and_asks_no_more_than_it_must() {
    let (world, server) = (World::new(), Server::start());
    let pull = || world.run(&["pull", "--root", "machine", "--pause", "10ms"]);
    let ran = pull();
    assert!(
        ran.code == 1 && ran.err.contains("cannot be reached"),
        "{}",
        ran.err
    );
    world.settings("http://policy.example/acme");
    assert!(pull().err.contains("expected `https://"));

    world.settings(&format!("{}/acme", server.url));
    let serve = |name: &str| {
        server.put("/acme", &world.path(name));
        server.put("/acme.minisig", &world.path(&format!("{name}.minisig")));
    };
    assert!(pull().err.contains("answered 404"));
    let first = world.bundle("acme", 1, &[]);
    serve(&first);
    server.asked();
    let ran = pull();
    assert_eq!((ran.code, ran.err.as_str()), (0, ""));
    assert_eq!(world.in_force().as_deref(), Some("acme-1"));
    assert_eq!(pull().out, "nothing new\n");
    let asked = server.asked();
    let asked: Vec<_> = asked
        .iter()
        .map(|(path, status)| (path.as_str(), *status))
        .collect();
    assert_eq!(
        asked,
        [("/acme", 200), ("/acme.minisig", 200), ("/acme", 304)]
    );
    let checked = world.state()["checked_at"].clone();
    pull();
    assert_ne!(world.state()["checked_at"], checked);

    // The two files change one after the other: it is fetched twice, and the old one stays.
    server.asked();
    let second = world.bundle("acme", 2, &[]);
    server.put("/acme", &world.path(&second));
    let ran = pull();
    assert!(
        ran.code == 1 && ran.err.contains("signed it so"),
        "{}",
        ran.err
    );
    assert_eq!(server.asked().len(), 4);
    assert_eq!(world.in_force().as_deref(), Some("acme-1"));
    serve(&second);
    assert_eq!(pull().code, 0);
    assert_eq!(world.in_force().as_deref(), Some("acme-2"));

    // An old one is not taken again, and what was rolled back is not fetched again.
    serve(&first);
    assert!(pull().err.contains("has had version 2"));
    world.run(&["rollback", "--root", "machine"]);
    serve(&second);
    assert_eq!(pull().out, "nothing new\n");
    let mut state = world.state();
    state["etag"] = serde_json::Value::Null;
    world.write("machine/etc/ahp/bundle/state.json", state.to_string());
    assert!(pull().out.contains("was rolled back here"));
    let third = world.bundle("acme", 3, &[]);
    serve(&third);
    pull();
    assert_eq!(world.in_force().as_deref(), Some("acme-3"));

    // Only the server's own redirections are followed.
    world.settings(&format!("{}/moved", server.url));
    server.redirect("http://127.0.0.1:9/acme");
    assert!(pull().err.contains("another place"));
}

#[test]
fn what_runs_a_pull_is_printed_for_whoever_may_read_it() {
    let world = World::new();
    for (kind, line) in [
        ("systemd", "ahp\" bundle pull\n"),
        ("launchd", "<string>bundle</string><string>pull</string>"),
        ("cron", "*/15 * * * * root "),
    ] {
        let ran = world.run(&["pull", "--print-timer", kind]);
        assert!(
            ran.code == 0 && ran.out.contains(line),
            "{}{}",
            ran.out,
            ran.err
        );
    }
}

#[test]
fn glass_is_broken_with_a_name_a_reason_and_an_end() {
    let world = World::new();
    world.install(&world.bundle("acme", 1, &[]));
    let run = |further: &[&str]| {
        let mut arguments = vec!["break-glass", "--root", "machine"];
        arguments.extend(further);
        world.run(&arguments)
    };
    for (further, code, told) in [
        (
            &["--for", "25h", "--reason", "x"][..],
            2,
            "longer than a day",
        ),
        (
            &["--for", "0s", "--reason", "x"],
            2,
            "must be longer than 0",
        ),
        (&["--for", "1h", "--reason", " "], 1, "`--reason` is empty"),
    ] {
        let ran = run(further);
        assert!(ran.code == code && ran.err.contains(told), "{}", ran.err);
    }
    assert_eq!(run(&["--for", "1h"]).code, 2, "a reason is needed");
    // A name that no locked binding has would break nothing, and seem to.
    for (name, told) in [("hose", "did you mean `house`?"), ("zzzzzz", "`house`")] {
        let ran = run(&[
            "--for",
            "1h",
            "--reason",
            "x",
            "--binding",
            "house",
            "--binding",
            name,
        ]);
        let is_told = ran.err.contains(&format!("is called `{name}`")) && ran.err.contains(told);
        assert!(ran.code == 1 && is_told, "{}", ran.err);
    }
    let status = world.run(&["status", "--root", "machine"]).out;
    assert!(!status.contains("BROKEN"), "{status}");
    let ran = run(&["--for", "2h", "--reason", "outage 7", "--binding", "house"]);
    assert!(
        ran.code == 0 && ran.out.contains("`house` only advise, by ada: outage 7"),
        "{}",
        ran.out
    );
    let status = world.run(&["status", "--root", "machine"]).out;
    assert!(status.contains("BROKEN GLASS"), "{status}");
    assert_eq!(run(&["--end"]).code, 0);
    assert!(
        !world
            .run(&["status", "--root", "machine"])
            .out
            .contains("BROKEN")
    );
    world.policy(&format!("settings: {{forbid: [break-glass]}}\n{POLICY}"));
    world.install(&world.bundle("acme", 2, &[]));
    let ran = run(&["--for", "1h", "--reason", "x"]);
    assert!(
        ran.code == 1 && ran.err.contains("the policy forbids it"),
        "{}",
        ran.err
    );
}

#[test]
fn a_version_that_was_seen_has_one_content_whether_it_was_taken_or_not() {
    // Not for this machine yet; and taken back.
    for is_rolled_back in [false, true] {
        let world = World::new();
        let first = world.bundle("acme", 41, &[]);
        assert_eq!(world.install(&first).code, 0);
        let share = if is_rolled_back { "100" } else { "0" };
        let seen = world.bundle("acme", 42, &["--rollout", share]);
        assert_eq!(world.install(&seen).code, 0);
        if is_rolled_back {
            assert_eq!(world.run(&["rollback", "--root", "machine"]).code, 0);
        }
        assert_eq!(world.in_force().as_deref(), Some("acme-41"));
        let whole = ["install", seen.as_str(), "--whole", "--root", "machine"];
        let as_seen = fs::read(world.path(&seen)).unwrap();
        let signature = fs::read(world.path(&format!("{seen}.minisig"))).unwrap();
        world.policy("hooks: {pre-tool-use: [{id: other, oracle: say}]}\n");
        world.bundle("acme", 42, &["--rollout", share]);
        let ran = world.run(&whole);
        assert_eq!(ran.code, 1, "{}", ran.out);
        assert!(
            ran.err.contains("version 42 with another content"),
            "{}",
            ran.err
        );
        assert_eq!(world.in_force().as_deref(), Some("acme-41"));
        // The very same is taken.
        world.write(&seen, as_seen);
        world.write(&format!("{seen}.minisig"), signature);
        let ran = world.run(&whole);
        assert_eq!(
            (ran.code, world.in_force().as_deref()),
            (0, Some("acme-42")),
            "{}",
            ran.err
        );
    }
}

#[test]
fn after_a_kill_between_two_steps_a_rollback_goes_back_by_one() {
    for is_asked_first in [false, true] {
        let world = World::new();
        let mut names = Vec::new();
        for version in [40, 41, 42] {
            names.push(world.bundle("acme", version, &[]));
        }
        assert_eq!(world.install(&names[0]).code, 0);
        assert_eq!(world.install(&names[1]).code, 0);
        let before = fs::read(world.path("machine/etc/ahp/bundle/state.json")).unwrap();
        let kept = world.path("machine/etc/ahp/bundle/acme-40");
        assert!(kept.exists());
        assert_eq!(world.install(&names[2]).code, 0);
        // The link names the new one, and nothing else was noted.
        world.write("machine/etc/ahp/bundle/state.json", before);
        if is_asked_first {
            assert!(world.install(&names[2]).out.contains("in force already"));
        }
        let ran = world.run(&["rollback", "--root", "machine"]);
        assert_eq!(ran.code, 0, "{}", ran.err);
        assert_eq!(world.in_force().as_deref(), Some("acme-41"));
        // And one that was killed in a rollback knows that 42 was taken back.
        assert_eq!(world.state()["rolled_back"], 42);
        let ran = world.run(&["rollback", "--root", "machine"]);
        assert_eq!(ran.code, 1, "{}", ran.out);
    }
}

#[test]
fn what_everybody_reads_is_so_from_the_first_moment_on() {
    let world = World::new();
    let name = world.bundle("acme", 42, &[]);
    assert_eq!(world.install(&name).code, 0);
    let at = world.path("machine/etc/ahp/bundle");
    for file in ["state.json", "acme-42/hooks.yaml", "acme-42/manifest.json"] {
        let mode = fs::metadata(at.join(file)).unwrap().permissions().mode() & 0o777;
        assert_eq!(mode, 0o644, "{file}");
    }
}
