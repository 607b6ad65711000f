//! Programs that run other programs: how their own options end and the inner command begins.

/// A program (and its subcommand) whose arguments hold another command.
#[derive(Debug)]
pub(super) struct Wrapper {
    /// The program, and the words that must follow it.
    pub(super) name: &'static str,
    pub(super) subcommand: &'static [&'static str],
    /// The options that take the next word as their value.
    pub(super) values: &'static [&'static str],
    /// How many words of its own stand before the inner command.
    pub(super) own: usize,
    /// Whether `NAME=value` may stand before the inner command.
    pub(super) assignments: bool,
    /// What becomes of the rest.
    pub(super) rest: Rest,
    /// Whether it runs on another machine or in a container.
    pub(super) remote: bool,
}

/// What the words after a wrapper's own are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Rest {
    /// A command and its arguments.
    Command,
    /// Words that are joined and given to a shell.
    Text,
    /// Words each of which is given to a shell.
    Texts,
    /// A command, but only after `--`.
    AfterDashes,
}

impl Wrapper {
    /// Whether it opens a shell where it is given no command, which then reads its input.
    pub(super) fn opens_shell(&self) -> bool {
        let last = self.subcommand.last().unwrap_or(&self.name);
        matches!(*last, "ssh" | "shell" | "chroot" | "sudo" | "wsl" | "lima")
    }
}

macro_rules! wrappers {
    ($($name:literal [$($sub:literal)*] [$($value:literal)*] $own:literal $assign:ident $rest:ident $place:ident;)*) => {
        &[$(Wrapper {
            name: $name,
            subcommand: &[$($sub),*],
            values: &[$($value),*],
            own: $own,
            assignments: wrappers!(@ $assign),
            rest: Rest::$rest,
            remote: wrappers!(@ $place),
        }),*]
    };
    (@ plain) => { false };
    (@ assign) => { true };
    (@ here) => { false };
    (@ away) => { true };
}

/// All wrappers, sorted by name; of several rows that fit, the first counts.
pub(super) static WRAPPERS: &[Wrapper] = wrappers! {
    "adb" ["shell"] ["-s" "-t"] 0 plain Text away;
    "arch-chroot" [] ["-u"] 1 plain Command away;
    "asdf" ["exec"] [] 0 plain Command here;
    "aws-vault" ["exec"] ["-d" "--duration"] 1 plain Command here;
    "bolt" ["command" "run"] ["-t" "--targets" "-i" "-u"] 0 plain Text away;
    "builtin" [] [] 0 plain Command here;
    "bun" ["x"] ["--package" "-p"] 0 plain Command here;
    "bundle" ["exec"] ["--gemfile"] 0 plain Command here;
    "bunx" [] ["--package" "-p"] 0 plain Command here;
    "busybox" [] [] 0 plain Command here;
    "bwrap" [] ["--bind" "--ro-bind" "--dev-bind" "--chdir" "--uid" "--gid"] 0 plain AfterDashes here;
    "caffeinate" [] ["-t" "-w"] 0 plain Command here;
    "chpst" [] ["-u" "-U" "-b" "-n" "-l" "-L" "-e" "-d" "-o" "-p" "-f" "-c" "-m"] 0 plain Command here;
    "chronic" [] [] 0 plain Command here;
    "chroot" [] ["--userspec" "--groups"] 1 plain Command away;
    "chrt" [] ["-T" "-P" "-D"] 1 plain Command here;
    "clush" [] ["-w" "-g" "-x" "-l" "-f" "-o"] 0 plain Text away;
    "cmake" ["-E"] [] 0 plain Command here;
    "command" [] [] 0 plain Command here;
    "concurrently" [] ["-n" "--names" "-c" "-p" "--prefix" "--max-processes" "-m"] 0 plain Texts here;
    "conda" ["run"] ["-n" "-p" "--name" "--prefix" "--cwd"] 0 plain Command here;
    "corepack" [] [] 0 plain Command here;
    "crictl" ["exec"] ["-r" "--runtime-endpoint" "-t" "--timeout"] 1 plain Command away;
    "cross-env" [] [] 0 assign Command here;
    "ctr" ["tasks" "exec"] ["--exec-id" "--cwd" "--user" "-n" "--namespace" "-a" "--address"] 1 plain Command away;
    "ctr" ["task" "exec"] ["--exec-id" "--cwd" "--user" "-n" "--namespace" "-a" "--address"] 1 plain Command away;
    "dbus-run-session" [] ["--config-file" "--dbus-daemon"] 0 plain Command here;
    "devbox" ["run"] ["-c" "--config" "-e" "--env"] 0 plain Text here;
    "direnv" ["exec"] [] 1 plain Command here;
    "distrobox" ["enter"] ["-n" "--name"] 0 plain AfterDashes away;
    "doas" [] ["-u" "-C"] 0 assign Command here;
    "docker" ["compose" "exec"] ["-e" "--env" "-u" "--user" "-w" "--workdir" "--index" "-f" "-p"] 1 plain Command away;
    "docker" ["compose" "run"] ["-e" "--env" "-u" "--user" "-w" "--workdir" "-v" "--volume" "--name" "-p" "--publish" "--entrypoint" "-l"] 1 plain Command away;
    "docker" ["container" "exec"] ["-e" "--env" "--env-file" "-u" "--user" "-w" "--workdir" "--detach-keys"] 1 plain Command away;
    "docker" ["exec"] ["-e" "--env" "--env-file" "-u" "--user" "-w" "--workdir" "--detach-keys"] 1 plain Command away;
    "docker" ["run"] ["-e" "--env" "--env-file" "-u" "--user" "-w" "--workdir" "-v" "--volume" "--mount" "--name" "-p" "--publish" "--network" "--net" "--entrypoint" "-h" "--hostname" "-m" "--memory" "--cpus" "--platform" "--pull" "-l" "--label" "--add-host" "--device" "--cap-add" "--cap-drop" "--security-opt" "--ulimit" "--gpus" "--restart" "--tmpfs" "--shm-size" "--ipc" "--pid" "--userns" "--log-driver" "--log-opt" "--dns" "--link" "--volumes-from" "--cidfile"] 1 plain Command away;
    "docker-compose" ["exec"] ["-e" "--env" "-u" "--user" "-w" "--workdir" "--index"] 1 plain Command away;
    "docker-compose" ["run"] ["-e" "--env" "-u" "--user" "-w" "--workdir" "-v" "--volume" "--name" "-p" "--publish" "--entrypoint"] 1 plain Command away;
    "docker-machine" ["ssh"] [] 1 plain Text away;
    "dokku" ["enter"] [] 2 plain Command away;
    "dokku" ["run"] [] 1 plain Text away;
    "doppler" ["run"] ["-p" "--project" "-c" "--config"] 0 plain AfterDashes here;
    "dotenv" ["run"] ["-f" "--file"] 0 plain Command here;
    "dotenv" [] ["-f" "-e" "-c" "-v"] 0 plain AfterDashes here;
    "dsh" [] ["-g" "-m" "-f"] 0 plain Text away;
    "dumb-init" [] [] 0 plain Command here;
    "eatmydata" [] [] 0 plain Command here;
    "entr" [] [] 0 plain Command here;
    "env" [] ["-u" "-C" "--unset" "--chdir" "-P"] 0 assign Command here;
    "envdir" [] [] 1 plain Command here;
    "exec" [] ["-a"] 0 plain Command here;
    "fakeroot" [] ["-l" "-f" "-i" "-s" "-b"] 0 plain Command here;
    "faketime" [] ["-f"] 1 plain Command here;
    "firejail" [] [] 0 plain Command here;
    "flock" [] ["-w" "--timeout" "-E" "--conflict-exit-code"] 1 plain Command here;
    "gcloud" ["compute" "ssh"] [] 0 plain AfterDashes away;
    "gdb" ["--args"] [] 0 plain Command here;
    "git" ["bisect" "run"] [] 0 plain Command here;
    "git" ["submodule" "foreach"] [] 0 plain Text here;
    "gosu" [] [] 1 plain Command here;
    "gtimeout" [] ["-k" "-s" "--kill-after" "--signal"] 1 plain Command here;
    "hatch" ["run"] [] 0 plain Command here;
    "heroku" ["run"] ["-a" "--app" "-s" "--size" "-r" "--remote"] 0 plain Text away;
    "hyperfine" [] ["-w" "-r" "-m" "-M" "-p" "-c" "-s" "-S" "-L" "-P" "-n" "--warmup" "--runs" "--shell" "--export-json" "--export-markdown" "--parameter-list" "--command-name"] 0 plain Texts here;
    "incus" ["exec"] [] 1 plain AfterDashes away;
    "infisical" ["run"] ["--env" "--path"] 0 plain AfterDashes here;
    "ionice" [] ["-c" "-n" "-p" "-P" "-u" "--class" "--classdata"] 0 plain Command here;
    "kamal" ["app" "exec"] ["-v" "-p" "-h" "-r" "-d" "--hosts" "--roles" "--destination" "--version"] 0 plain Text away;
    "knife" ["ssh"] ["-x" "-i" "-a"] 1 plain Text away;
    "kubectl" ["exec"] ["-n" "--namespace" "-c" "--container" "--context" "--kubeconfig" "-f" "--filename"] 1 plain Command away;
    "kubectl" ["run"] [] 1 plain AfterDashes away;
    "kubectl" ["debug"] [] 1 plain AfterDashes away;
    "ld-linux-aarch64.so.1" [] ["--library-path" "--preload"] 0 plain Command here;
    "ld-linux-x86-64.so.2" [] ["--library-path" "--preload"] 0 plain Command here;
    "ld.so" [] ["--library-path" "--preload"] 0 plain Command here;
    "lerna" ["exec"] [] 0 plain AfterDashes here;
    "lima" [] ["--workdir"] 0 plain Command away;
    "limactl" ["shell"] ["--workdir"] 1 plain Command away;
    "linux32" [] [] 0 plain Command here;
    "linux64" [] [] 0 plain Command here;
    "ltrace" [] ["-e" "-o" "-p" "-s" "-u" "-n" "-a" "-l" "-x"] 0 plain Command here;
    "lxc" ["exec"] [] 1 plain AfterDashes away;
    "machinectl" ["shell"] [] 1 plain Command away;
    "mamba" ["run"] ["-n" "-p" "--name" "--prefix" "--cwd"] 0 plain Command here;
    "micromamba" ["run"] ["-n" "-p" "--name" "--prefix" "--cwd"] 0 plain Command here;
    "mise" ["exec"] [] 0 plain AfterDashes here;
    "mise" ["x"] [] 0 plain AfterDashes here;
    "mosh" [] ["-p" "--ssh"] 1 plain Command away;
    "multipass" ["exec"] [] 1 plain AfterDashes away;
    "nerdctl" ["exec"] ["-e" "--env" "-u" "--user" "-w" "--workdir"] 1 plain Command away;
    "nice" [] ["-n" "--adjustment"] 0 plain Command here;
    "nix" ["develop"] [] 0 plain AfterDashes here;
    "nix" ["shell"] [] 0 plain AfterDashes here;
    "nocorrect" [] [] 0 plain Command here;
    "noglob" [] [] 0 plain Command here;
    "nohup" [] [] 0 plain Command here;
    "npm" ["exec"] ["--package" "-p" "-w" "--workspace"] 0 plain Command here;
    "npm" ["x"] ["--package" "-p" "-w" "--workspace"] 0 plain Command here;
    "npx" [] ["--package" "-p" "-w" "--workspace"] 0 plain Command here;
    "nsenter" [] ["-t" "--target" "-S" "-G" "--setuid" "--setgid"] 0 plain Command away;
    "numactl" [] ["-C" "-N" "-m" "-i" "-l" "-p"] 0 plain Command here;
    "oc" ["exec"] ["-n" "--namespace" "-c" "--container" "--context" "--kubeconfig"] 1 plain Command away;
    "oc" ["rsh"] ["-n" "--namespace" "-c" "--container" "--context" "--shell"] 1 plain Command away;
    "op" ["run"] ["--env-file"] 0 plain AfterDashes here;
    "parallel-ssh" [] ["-h" "-H" "-l" "-p" "-t" "-o" "-e" "-O"] 0 plain Text away;
    "pdm" ["run"] ["-p" "--project"] 0 plain Command here;
    "pdsh" [] ["-w" "-x" "-g" "-l" "-f" "-R"] 0 plain Text away;
    "perf" ["record"] ["-e" "-o" "-F" "-g"] 0 plain Command here;
    "perf" ["stat"] ["-e" "-o" "-r" "-x"] 0 plain Command here;
    "pipenv" ["run"] [] 0 plain Command here;
    "pipx" ["run"] ["--spec" "--python" "--pip-args"] 0 plain Command here;
    "pixi" ["run"] ["-e" "--environment"] 0 plain Command here;
    "pkexec" [] ["--user"] 0 plain Command here;
    "pnpm" ["dlx"] ["--package"] 0 plain Command here;
    "pnpm" ["exec"] ["-C" "--dir" "--filter"] 0 plain Command here;
    "podman" ["exec"] ["-e" "--env" "--env-file" "-u" "--user" "-w" "--workdir" "--detach-keys"] 1 plain Command away;
    "podman" ["run"] ["-e" "--env" "--env-file" "-u" "--user" "-w" "--workdir" "-v" "--volume" "--mount" "--name" "-p" "--publish" "--network" "--entrypoint" "-h" "--hostname" "-m" "--memory" "--platform" "--pull" "-l" "--label" "--device" "--cap-add" "--security-opt" "--userns"] 1 plain Command away;
    "poetry" ["run"] ["-C" "--directory" "-P" "--project"] 0 plain Command here;
    "prlimit" [] [] 0 plain Command here;
    "proxychains" [] ["-f"] 0 plain Command here;
    "proxychains4" [] ["-f"] 0 plain Command here;
    "pssh" [] ["-h" "-H" "-l" "-p" "-t" "-o" "-e" "-O"] 0 plain Text away;
    "railway" ["run"] ["-s" "--service" "-e" "--environment" "-p"] 0 plain Command here;
    "railway" ["ssh"] ["-s" "--service" "-e" "--environment" "-p"] 0 plain Text away;
    "rbenv" ["exec"] [] 0 plain Command here;
    "render" ["ssh"] [] 0 plain AfterDashes away;
    "ruby-env" ["exec"] [] 0 plain Command here;
    "runuser" [] ["-u" "-g" "-G" "--user" "--group"] 0 plain Command here;
    "rye" ["run"] [] 0 plain Command here;
    "s6-setuidgid" [] [] 1 plain Command here;
    "salt" ["cmd.run"] [] 0 plain Text away;
    "salt-call" ["cmd.run"] [] 0 plain Text away;
    "scalingo" ["run"] ["-a" "--app" "-r" "--remote" "--region" "-s" "--size"] 0 plain Text away;
    "screen" [] ["-S" "-t" "-c" "-s" "-T" "-h" "-p"] 0 plain Command here;
    "setarch" [] [] 1 plain Command here;
    "setpriv" [] ["--reuid" "--regid" "--groups"] 0 plain Command here;
    "setsid" [] [] 0 plain Command here;
    "ssh" [] ["-p" "-i" "-l" "-o" "-F" "-J" "-L" "-R" "-D" "-b" "-c" "-E" "-e" "-m" "-O" "-Q" "-S" "-W" "-w" "-I" "-B"] 1 plain Text away;
    "sshpass" [] ["-p" "-f" "-d" "-P"] 0 plain Command here;
    "stdbuf" [] ["-i" "-o" "-e" "--input" "--output" "--error"] 0 plain Command here;
    "strace" [] ["-e" "-o" "-p" "-s" "-u" "-a" "-E" "-I" "-O" "-S" "-P" "-b" "-X"] 0 plain Command here;
    "su-exec" [] [] 1 plain Command here;
    "sudo" [] ["-u" "-g" "-h" "-p" "-C" "-c" "-D" "-R" "-r" "-t" "-T" "-U" "-a" "--user" "--group" "--host" "--prompt" "--chdir" "--chroot" "--role" "--type" "--close-from"] 0 assign Command here;
    "systemd-inhibit" [] ["--what" "--who" "--why" "--mode"] 0 plain Command here;
    "systemd-nspawn" [] ["-D" "-M" "-u" "--directory" "--machine" "--user"] 0 plain Command away;
    "systemd-run" [] ["-p" "--property" "-u" "--unit" "-M" "--machine" "-E" "--setenv" "-H" "--uid" "--gid" "--slice" "--description" "--on-active" "--on-calendar"] 0 plain Command here;
    "taskset" [] [] 1 plain Command here;
    "time" [] ["-f" "-o" "--format" "--output"] 0 plain Command here;
    "timeout" [] ["-k" "-s" "--kill-after" "--signal"] 1 plain Command here;
    "toolbox" ["run"] ["-c" "--container"] 0 plain Command away;
    "torify" [] [] 0 plain Command here;
    "torsocks" [] [] 0 plain Command here;
    "toybox" [] [] 0 plain Command here;
    "trickle" [] ["-d" "-u" "-w" "-t" "-l"] 0 plain Command here;
    "tsh" ["ssh"] ["-l" "-p" "--proxy" "--cluster"] 1 plain Text away;
    "unbuffer" [] [] 0 plain Command here;
    "unshare" [] ["-S" "-G" "--map-user" "--map-group" "--setuid" "--setgid" "--root" "--wd"] 0 plain Command here;
    "uv" ["run"] ["--with" "-p" "--python" "--package" "--extra" "--group" "--project" "--directory" "--env-file" "--with-requirements" "--with-editable" "--index" "--index-url" "-C"] 0 plain Command here;
    "uv" ["tool" "run"] ["--with" "-p" "--python" "--from" "--index"] 0 plain Command here;
    "uvx" [] ["--with" "-p" "--python" "--from" "--index"] 0 plain Command here;
    "vagrant" ["ssh"] [] 0 plain AfterDashes away;
    "valgrind" [] [] 0 plain Command here;
    "watch" [] ["-n" "--interval" "-q" "--equexit"] 0 plain Text here;
    "watchexec" [] ["-w" "-e" "-i" "-f" "-s" "--watch" "--exts" "--ignore" "--filter" "--signal"] 0 plain Text here;
    "wsl" [] ["-d" "-u" "--distribution" "--user" "--cd"] 0 plain Command here;
    "xvfb-run" [] ["-n" "-s" "-e" "-f" "-w" "--server-num" "--server-args"] 0 plain Command here;
    "yarn" ["dlx"] ["-p" "--package"] 0 plain Command here;
    "yarn" ["exec"] [] 0 plain Text here;
};

/// Options whose value is a text for a shell.
pub(super) static SHELL_OPTIONS: &[(&str, &[&str])] = &[
    ("ansible", &["-a", "--args"]),
    ("aws", &["--command"]),
    ("az", &["--scripts"]),
    ("cargo", &["-s", "--shell"]),
    ("cf", &["-c", "--command"]),
    ("eb", &["-c", "--command"]),
    ("flock", &["-c", "--command"]),
    ("fly", &["-C", "--command"]),
    ("flyctl", &["-C", "--command"]),
    ("gcloud", &["--command"]),
    (
        "git",
        &[
            "-x",
            "--exec",
            "--tree-filter",
            "--index-filter",
            "--msg-filter",
            "--env-filter",
            "--commit-filter",
            "--parent-filter",
            "--upload-pack",
            "--receive-pack",
        ],
    ),
    ("make", &["--eval"]),
    ("man", &["-P", "--pager"]),
    ("nix-shell", &["--run", "--command"]),
    ("nodemon", &["--exec", "-x"]),
    ("npm", &["-c", "--call"]),
    ("npx", &["-c", "--call"]),
    ("rsync", &["-e", "--rsh", "--rsync-path"]),
    ("repo", &["-c"]),
    ("runuser", &["-c", "--command", "--session-command"]),
    ("script", &["-c", "--command"]),
    ("sg", &["-c"]),
    ("su", &["-c", "--command", "--session-command"]),
    ("tar", &["--to-command", "-I", "--use-compress-program"]),
    ("vagrant", &["-c", "--command"]),
    ("wezterm", &["-e"]),
    ("xterm", &["-e"]),
    ("zip", &["-TT", "--unzip-command"]),
];

/// Shells that run POSIX-like text given with `-c`, as a file or on their input.
pub(super) const SHELLS: &[&str] = &[
    "sh", "bash", "zsh", "dash", "ksh", "ash", "fish", "mksh", "rbash", "yash", "oksh", "pdksh",
    "bash5", "csh", "tcsh",
];

/// Images whose entry point is a client: what follows their name are that client's words.
const CLIENT_IMAGES: &[(&str, &str)] = &[
    ("aws-cli", "aws"),
    ("azure-cli", "az"),
    ("cloud-sdk", "gcloud"),
    ("flyway", "flyway"),
    ("git", "git"),
    ("helm", "helm"),
    ("kubectl", "kubectl"),
    ("liquibase", "liquibase"),
    ("mc", "mc"),
    ("migrate", "migrate"),
    ("opentofu", "tofu"),
    ("rclone", "rclone"),
    ("restic", "restic"),
    ("s3cmd", "s3cmd"),
    ("terraform", "terraform"),
];

/// Returns the client that a container of an image runs, whatever its words.
pub(super) fn client_of_image(wrapper: &Wrapper, image: &str) -> Option<&'static str> {
    let starts_container =
        matches!(wrapper.name, "docker" | "podman" | "nerdctl") && wrapper.subcommand == ["run"];
    let name = image.rsplit('/').next()?;
    let name = name.split([':', '@']).next()?;
    CLIENT_IMAGES
        .iter()
        .find(|(image, _)| starts_container && *image == name)
        .map(|(_, client)| *client)
}

/// Finds how a program runs another.
pub(super) fn find(program: &str, arguments: &[super::Word]) -> Option<&'static Wrapper> {
    let from = WRAPPERS.partition_point(|w| w.name < program);
    let mut named = WRAPPERS.iter().skip(from).take_while(|w| w.name == program);
    named.find(|w| {
        let mut own = arguments.iter().filter(|a| !a.is_option());
        let mut at_once = arguments.iter();
        w.subcommand.iter().enumerate().all(|(i, wanted)| {
            // A global option may stand before the subcommand, its value may not be told from it.
            let exact = at_once.next().is_some_and(|word| word.text == *wanted);
            let loose = own.next().is_some_and(|word| word.text == *wanted);
            exact || loose || (i == 0 && arguments.iter().take(6).any(|a| a.text == *wanted))
        })
    })
}

#[cfg(test)]
mod tests {
    #[test]
    fn wrappers_are_sorted() {
        assert!(super::WRAPPERS.is_sorted_by_key(|wrapper| wrapper.name));
    }
}
