//! Unit: the files by which the system starts the judge of a person when it is first asked.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use ahp::config::Environment;
use ahp::process::Program;

use crate::exit_code::Exit;
use crate::output;

/// The name under which `ahp install` and `ahp uninstall` take it.
pub(crate) const NAME: &str = "serve";

/// What systemd listens at until somebody asks.
const SOCKET: &str = "[Unit]
Description=Where hooks ask ahp

[Socket]
ListenStream=%t/ahp/serve.sock
SocketMode=0600
DirectoryMode=0700

[Install]
WantedBy=sockets.target
";

/// How long the system may take to start or stop it.
const PATIENCE: Duration = Duration::from_secs(30);

/// Returns the files with their texts.
fn files(environment: &Environment, program: &Path) -> Result<Vec<(PathBuf, String)>, String> {
    let absolute = |name: &str| {
        let path = environment.get(name).map(PathBuf::from);
        path.filter(|path| path.is_absolute())
    };
    let home = absolute("HOME").ok_or("where the files belong is not known: set HOME")?;
    let program = program
        .to_str()
        .filter(|path| !path.contains(char::is_control))
        .ok_or_else(|| {
            format!(
                "`{}` cannot be written into a file of text",
                program.display()
            )
        })?;
    if cfg!(target_os = "macos") {
        let path = home.join("Library/LaunchAgents/ahp.serve.plist");
        return Ok(vec![(path, launch_agent(program))]);
    }
    let config = absolute("XDG_CONFIG_HOME").unwrap_or_else(|| home.join(".config"));
    let units = config.join("systemd/user");
    Ok(vec![
        (units.join("ahp.socket"), SOCKET.to_owned()),
        (units.join("ahp.service"), service(program)?),
    ])
}

/// Returns what systemd starts.
fn service(program: &str) -> Result<String, String> {
    if program.contains(['"', '\'', '\\']) {
        return Err(format!(
            "systemd starts no program whose path has a quotation mark or a backslash: `{program}`"
        ));
    }
    // Two of them are no specifier.
    let program = program.replace('%', "%%");
    Ok(format!(
        "[Unit]\nDescription=Judges what hooks ask\n\n[Service]\nExecStart=\"{program}\" serve --idle 30m\n\
         Restart=on-failure\nMemoryMax=512M\n"
    ))
}

/// Returns what launchd starts.
fn launch_agent(program: &str) -> String {
    let program = program
        .replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;");
    format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<!DOCTYPE plist PUBLIC \"-//Apple//DTD PLIST 1.0//EN\" \
         \"http://www.apple.com/DTDs/PropertyList-1.0.dtd\">\n<plist version=\"1.0\"><dict>\n\
         <key>Label</key><string>ahp.serve</string>\n\
         <key>ProgramArguments</key><array><string>{program}</string><string>serve</string></array>\n\
         <key>RunAtLoad</key><true/>\n\
         <key>KeepAlive</key><dict><key>SuccessfulExit</key><false/></dict>\n</dict></plist>\n"
    )
}

/// Writes the files, and has the system listen where that is asked for.
pub(crate) fn install(
    environment: &Environment,
    program: &Path,
    start: bool,
    dry_run: bool,
) -> Result<Exit, String> {
    for (path, text) in files(environment, program)? {
        if dry_run {
            output::line(format!("# {}\n{text}", path.display()));
            continue;
        }
        let told = |error: std::io::Error| format!("`{}`: {error}", path.display());
        fs::create_dir_all(path.parent().unwrap_or(Path::new("/"))).map_err(told)?;
        fs::write(&path, text).map_err(told)?;
        output::line(format!("wrote {}", path.display()));
    }
    if start && !dry_run {
        if cfg!(target_os = "macos") {
            let (path, _) = files(environment, program)?.remove(0);
            run(&["launchctl", "load", "-w", &path.display().to_string()])?;
        } else {
            run(&["systemctl", "--user", "daemon-reload"])?;
            run(&["systemctl", "--user", "enable", "--now", "ahp.socket"])?;
        }
        output::line("it listens, and starts when it is first asked");
    } else if !dry_run {
        output::line("`ahp install serve --start` has the system listen");
    }
    Ok(Exit::Success)
}

/// Takes the files away; what listens ends first.
pub(crate) fn remove(environment: &Environment, program: &Path) -> Result<Exit, String> {
    let files = files(environment, program)?;
    if !files.iter().any(|(path, _)| path.exists()) {
        output::line("serve was not installed");
        return Ok(Exit::Success);
    }
    // Where nothing listens, or the system has no such service, there is nothing to end.
    if cfg!(target_os = "macos") {
        for (path, _) in &files {
            run(&["launchctl", "unload", "-w", &path.display().to_string()]).ok();
        }
    } else {
        run(&[
            "systemctl",
            "--user",
            "disable",
            "--now",
            "ahp.socket",
            "ahp.service",
        ])
        .ok();
    }
    for (path, _) in files {
        match fs::remove_file(&path) {
            Ok(()) => output::line(format!("removed {}", path.display())),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
            Err(error) => return Err(format!("`{}`: {error}", path.display())),
        }
    }
    Ok(Exit::Success)
}

fn run(argv: &[&str]) -> Result<(), String> {
    let command = argv.join(" ");
    let finished = Program::new(argv.iter().map(|&word| word.to_owned()).collect())
        .deadline(Some(Instant::now() + PATIENCE))
        .run()
        .map_err(|error| error.to_string())?;
    if finished.exit.is_success() {
        return Ok(());
    }
    let why = finished.stderr_text();
    Err(format!("`{command}` failed: {}", why.trim()))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Paths that mean something else to whoever reads them carelessly.
    const PROGRAMS: &[&str] = &[
        "/usr/bin/ahp",
        "/opt/my tools/ahp",
        "/opt/100%/$HOME/ahp",
        "/opt/<a>&b;/ahp",
        "/opt/äö/ahp",
    ];

    /// Runs a program that reads the files as the system does; none where it is not here, which is said.
    fn read_by(argv: &[&str], dir: &Path, stdin: &str) -> Option<ahp::process::Finished> {
        if ahp::process::find_program(argv[0], std::env::var_os("PATH").as_deref()).is_none() {
            eprintln!(
                "NOT TRIED: the files for the system: there is no {}",
                argv[0]
            );
            return None;
        }
        let program = Program::new(argv.iter().map(|&word| word.to_owned()).collect());
        let program = program.dir(dir).stdin(stdin.as_bytes().to_vec());
        Some(program.run().unwrap())
    }

    #[test]
    fn launchd_reads_the_program_as_it_lies() {
        let script = "import json, plistlib, sys; json.dump(plistlib.loads(sys.stdin.buffer.read()), sys.stdout)";
        for program in PROGRAMS {
            let text = launch_agent(program);
            let Some(read) = read_by(&["python3", "-c", script], Path::new("/"), &text) else {
                return;
            };
            assert!(read.exit.is_success(), "{text}");
            let read: serde_json::Value = serde_json::from_str(&read.stdout_text()).unwrap();
            let wanted = serde_json::json!({
                "Label": "ahp.serve", "ProgramArguments": [program, "serve"], "RunAtLoad": true,
                "KeepAlive": {"SuccessfulExit": false},
            });
            assert_eq!(read, wanted);
        }
    }

    #[test]
    fn systemd_finds_no_fault_with_the_files() {
        let dir = tempfile::tempdir().unwrap();
        fs::write(dir.path().join("ahp.socket"), SOCKET).unwrap();
        for program in PROGRAMS {
            // It looks whether the program is there.
            let program = format!("{}{program}", dir.path().display());
            fs::create_dir_all(Path::new(&program).parent().unwrap()).unwrap();
            fs::copy("/bin/true", &program).unwrap();
            fs::write(dir.path().join("ahp.service"), service(&program).unwrap()).unwrap();
            let argv = ["systemd-analyze", "verify", "./ahp.service", "./ahp.socket"];
            let Some(read) = read_by(&argv, dir.path(), "") else {
                return;
            };
            let said = read.stderr_text();
            assert!(
                read.exit.is_success() && said.is_empty(),
                "{program}: {said}"
            );
        }
        for program in ["/opt/it's/ahp", "/opt/\"a\"/ahp", "/opt/a\\b/ahp"] {
            assert!(service(program).unwrap_err().contains("systemd"));
        }
    }
}
