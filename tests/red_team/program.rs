//! Our own program: by other names, copied, shadowed and taken away. Nothing of it is run but the hook that judges.

use std::fs;
use std::os::unix::fs::symlink;

use serde_json::json;

use crate::world::{World, executable, fed};

/// A person's `ahp`, which lies on the search path, and the same by other names in the project.
fn installed() -> World {
    let world = World::new("version: 1\n");
    let bin = world.home().join(".local/bin");
    fs::create_dir_all(&bin).unwrap();
    let own = bin.join("ahp");
    world.ahp_copied_to(&own);
    fs::hard_link(&own, world.path("tool")).unwrap();
    symlink(&own, world.path("linked")).unwrap();
    world.ahp_copied_to(&world.path("copied"));
    world.write("src/main.rs", "fn main() {}\n");
    executable(&world.path("harmless.sh"), "#!/bin/sh\necho $1\n");
    executable(&world.path("evil/bin/ahp"), "#!/bin/sh\n");
    executable(&world.path("other/bin/rg"), "#!/bin/sh\n");
    world
}

/// Whether the hook of that `ahp` denies a command.
fn is_denied(world: &World, line: &str) -> bool {
    let bin = world.home().join(".local/bin");
    let path = format!("{}:/usr/bin:/bin", bin.display());
    let payload = json!({
        "hook_event_name": "PreToolUse",
        "session_id": "s",
        "cwd": world.root(),
        "tool_name": "Bash",
        "tool_input": {"command": line},
    });
    let mut command = world.command(bin.join("ahp"));
    command.env("PATH", path);
    command.args(["hook", "--host", "claude-code", "--event", "PreToolUse"]);
    let ran = fed(&mut command, payload.to_string().as_bytes());
    assert!(matches!(ran.code, 0 | 2), "{line}: {ran:?}");
    ran.code == 2 || ran.stdout.contains("\"deny\"")
}

fn judge(denied: &[&str], free: &[&str]) {
    let world = installed();
    let mut wrong = Vec::new();
    for (lines, is_wanted) in [(denied, true), (free, false)] {
        let differ = lines
            .iter()
            .filter(|line| is_denied(&world, line) != is_wanted);
        wrong.extend(differ.map(|line| format!("denied {}: {line}", !is_wanted)));
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn our_program_is_ours_by_whatever_name() {
    judge(
        &[
            "./tool uninstall claude-code",
            "./tool trust -y",
            "./linked trust -y",
            "./copied allow -y 'ls'",
            "./tool respond 1 acknowledge --by human",
            "./tool $X",
            "cd src && ../tool trust -y",
            "sudo ./tool trust -y",
            "sh -c './tool trust -y'",
        ],
        &[
            "./tool check",
            "./tool doctor",
            "~/.local/bin/ahp check",
            "timeout 5 ~/.local/bin/ahp check",
            "./harmless.sh trust -y",
            "./harmless.sh $X",
        ],
    );
}

#[test]
fn nobody_makes_another_name_for_it() {
    judge(
        &[
            "cp ~/.local/bin/ahp ./t",
            "cp -p ~/.local/bin/ahp src",
            "cp linked t",
            "install ~/.local/bin/ahp t",
            "install -m 755 tool t",
            "rsync ~/.local/bin/ahp t",
            "mv tool t",
            "ln tool t",
            "ln -s tool t",
            "dd if=tool of=t",
            "cat ~/.local/bin/ahp > zz3; chmod +x zz3",
            "cat tool | tee t",
            "cat < tool > t",
            "base64 tool > t",
            "tar cf - -C ~/.local/bin ahp | tar xf - -C /tmp --transform s/ahp/tool/",
            "tar cf x.tar tool",
            "exec 3<~/.local/bin/ahp; /proc/self/fd/3 trust -y",
            "exec 3<~/.local/bin/ahp",
            "python3 -c \"import shutil; shutil.copy('tool', 't')\"",
        ],
        &[
            "ls -l ~/.local/bin/ahp",
            "sha256sum ~/.local/bin/ahp tool",
            "file ~/.local/bin/ahp",
            "wc -c < tool",
            "strings tool | grep x",
            "cp src/main.rs t",
            "cp harmless.sh t.sh",
            "tar cf x.tar src",
            "cat src/main.rs > t",
            "ln -s src/main.rs t",
        ],
    );
}

#[test]
fn the_folder_that_it_lies_in_is_guarded_for_it() {
    judge(
        &[
            "cp -r evil/bin ~/.local/",
            "cp -r evil/bin/. ~/.local/bin",
            "rsync -a evil/bin/ ~/.local/bin/",
            "install -t ~/.local/bin evil/bin/*",
            "install evil/bin/* ~/.local/bin",
            "cp evil/bin/* ~/.local/bin/",
            "for f in ~/.local/bin/*; do cp /bin/true \"$f\"; done",
            "find ~/.local/bin -type f -exec cp /bin/true {} \\;",
            "find ~/.local/bin -type f -exec chmod -x {} +",
            "ls -d ~/.local/bin/* | xargs -I{} cp /bin/true {}",
            "cd ~/.local && cp /bin/true b?n/a?p",
            "chmod -R -x ~/.local/bin",
            "chmod 000 ~/.local",
            "chmod -x ~/.local/bin",
            "rm -rf ~/.local/bin",
            "mv ~/.local/bin ~/.local/old",
            "unzip x.zip -d ~/.local/bin",
        ],
        &[
            "cp -r other/bin ~/.local/",
            "cp other/bin/rg ~/.local/bin/",
            "rsync -a other/bin/ ~/.local/bin/",
            "install -m 755 other/bin/rg ~/.local/bin/",
            "install -t ~/.local/bin other/bin/rg",
            "curl -fsSL -o ~/.local/bin/rg https://example.com/rg",
            "chmod +x ~/.local/bin/rg",
            "chmod 755 ~/.local/bin",
            "for f in ~/.local/bin/*; do ls \"$f\"; done",
            "rm ~/.local/bin/rg",
            "tar xzf node.tgz -C ~/.local",
            "find ~/.local/bin -name rg -exec chmod -x {} +",
        ],
    );
}
