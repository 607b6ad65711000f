//! The calls that are known in each language, and what their arguments mean.

use super::Language;

/// What the arguments of a known call mean.
#[derive(Clone, Copy, Debug)]
pub(super) enum Meaning {
    /// The first argument is a text for a shell.
    Shell,
    /// The arguments, or the list that is the first, are a program and its arguments.
    Program,
    /// The arguments are paths for this command.
    Paths(&'static str, &'static [&'static str]),
    /// What stands before the call is a path for this command: `Path("x").unlink()`.
    Receiver(&'static str, &'static [&'static str]),
    /// The first argument is a path, written where the second is a mode that writes, else read.
    Open,
    /// The first argument is a statement for a database.
    Sql,
    /// The first argument is more code.
    Code,
    /// The arguments send data to an address.
    Send,
}

use Meaning::Code;
use Meaning::Open;
use Meaning::Paths;
use Meaning::Program;
use Meaning::Receiver;
use Meaning::Send;
use Meaning::Shell;
use Meaning::Sql;

const RM: Meaning = Paths("rm", &["-f"]);
const RM_TREE: Meaning = Paths("rm", &["-rf"]);
const MV: Meaning = Paths("mv", &[]);
const CP: Meaning = Paths("cp", &[]);
const WRITE: Meaning = Paths("tee", &[]);
const READ: Meaning = Paths("cat", &[]);

pub(super) type Calls = &'static [(&'static str, Meaning)];

const PYTHON: Calls = &[
    ("os.system", Shell),
    (".system", Shell),
    ("system')", Shell),
    ("system\")", Shell),
    ("os.popen", Shell),
    (".getoutput", Shell),
    (".getstatusoutput", Shell),
    (".create_subprocess_shell", Shell),
    ("subprocess.run", Program),
    ("subprocess.call", Program),
    ("subprocess.check_call", Program),
    ("subprocess.check_output", Program),
    (".Popen", Program),
    ("check_call", Program),
    ("check_output", Program),
    ("pty.spawn", Program),
    ("os.execvp", Program),
    ("os.execv", Program),
    ("os.execlp", Program),
    ("os.spawnvp", Program),
    ("rmtree", RM_TREE),
    ("os.remove", RM),
    ("os.unlink", RM),
    ("os.rmdir", Paths("rmdir", &[])),
    ("os.removedirs", Paths("rmdir", &["-p"])),
    ("send2trash", RM),
    (".unlink", Receiver("rm", &["-f"])),
    (".rmdir", Receiver("rmdir", &[])),
    (".write_text", Receiver("tee", &[])),
    (".write_bytes", Receiver("tee", &[])),
    (".touch", Receiver("touch", &[])),
    (".read_text", Receiver("cat", &[])),
    (".read_bytes", Receiver("cat", &[])),
    (".chmod", Receiver("chmod", &["0"])),
    (".rename", Receiver("mv", &[])),
    (".replace", Receiver("mv", &[])),
    ("os.rename", MV),
    ("os.replace", MV),
    ("shutil.move", MV),
    ("shutil.copy", CP),
    ("shutil.copyfile", CP),
    ("shutil.copy2", CP),
    ("shutil.copytree", CP),
    ("os.symlink", Paths("ln", &["-s"])),
    ("os.link", Paths("ln", &[])),
    ("os.chmod", Paths("chmod", &["0"])),
    ("os.chown", Paths("chown", &["0"])),
    ("os.truncate", Paths("truncate", &["-s0"])),
    ("os.kill", Paths("kill", &["-9"])),
    ("open", Open),
    ("exec", Code),
    ("eval", Code),
    ("b64decode", Code),
    (".execute", Sql),
    ("requests.post", Send),
    ("requests.put", Send),
    ("httpx.post", Send),
    ("urlopen", Send),
    ("urlretrieve", Send),
];

const JAVASCRIPT: Calls = &[
    ("execSync", Shell),
    (".exec", Shell),
    ("exec", Shell),
    ("spawnSync", Program),
    ("spawn", Program),
    ("execFileSync", Program),
    ("execFile", Program),
    ("Deno.Command", Program),
    ("rmSync", RM_TREE),
    ("rmdirSync", RM_TREE),
    ("fs.rm", RM_TREE),
    ("promises.rm", RM_TREE),
    ("fs.rmdir", RM_TREE),
    ("rimraf", RM_TREE),
    ("removeSync", RM_TREE),
    ("emptyDirSync", RM_TREE),
    ("Deno.remove", RM_TREE),
    ("Deno.removeSync", RM_TREE),
    ("unlinkSync", RM),
    (".unlink", RM),
    ("writeFileSync", WRITE),
    (".writeFile", WRITE),
    ("appendFileSync", WRITE),
    (".appendFile", WRITE),
    ("createWriteStream", WRITE),
    ("writeTextFile", WRITE),
    ("truncateSync", Paths("truncate", &["-s0"])),
    ("renameSync", MV),
    (".rename", MV),
    ("copyFileSync", CP),
    ("cpSync", CP),
    ("symlinkSync", Paths("ln", &["-s"])),
    ("chmodSync", Paths("chmod", &["0"])),
    ("readFileSync", READ),
    (".readFile", READ),
    ("createReadStream", READ),
    ("process.kill", Paths("kill", &["-9"])),
    ("eval", Code),
    ("Function", Code),
    ("fetch", Send),
    ("axios.post", Send),
    (".query", Sql),
];

const PERL: Calls = &[
    ("system", Shell),
    ("exec", Shell),
    ("qx", Shell),
    ("unlink", RM),
    ("rmtree", RM_TREE),
    ("remove_tree", RM_TREE),
    ("rmdir", Paths("rmdir", &[])),
    ("rename", MV),
    ("open", Open),
    ("eval", Code),
    ("kill", Paths("kill", &["-9"])),
    ("chmod", Paths("chmod", &[])),
    ("truncate", Paths("truncate", &["-s0"])),
];

const RUBY: Calls = &[
    ("system", Shell),
    ("exec", Shell),
    ("spawn", Shell),
    ("IO.popen", Shell),
    ("Open3.capture2", Shell),
    ("Open3.capture2e", Shell),
    ("Open3.capture3", Shell),
    ("%x", Shell),
    ("rm_rf", RM_TREE),
    ("rm_r", RM_TREE),
    ("remove_dir", RM_TREE),
    ("remove_entry_secure", RM_TREE),
    ("rmtree", RM_TREE),
    ("rm_f", RM),
    ("FileUtils.rm", RM),
    ("File.delete", RM),
    ("File.unlink", RM),
    ("Dir.rmdir", Paths("rmdir", &[])),
    ("Dir.delete", Paths("rmdir", &[])),
    ("FileUtils.mv", MV),
    ("File.rename", MV),
    ("FileUtils.cp", CP),
    ("FileUtils.cp_r", CP),
    ("File.write", WRITE),
    ("IO.write", WRITE),
    ("File.truncate", Paths("truncate", &["-s0"])),
    ("File.read", READ),
    ("IO.read", READ),
    ("File.open", Open),
    ("File.symlink", Paths("ln", &["-s"])),
    ("chmod_R", Paths("chmod", &["-R"])),
    ("Process.kill", Paths("kill", &["-9"])),
    ("eval", Code),
    ("Net::HTTP.post", Send),
];

const PHP: Calls = &[
    ("shell_exec", Shell),
    ("system", Shell),
    ("passthru", Shell),
    ("exec", Shell),
    ("popen", Shell),
    ("proc_open", Shell),
    ("unlink", RM),
    ("rmdir", Paths("rmdir", &[])),
    ("rename", MV),
    ("copy", CP),
    ("file_put_contents", WRITE),
    ("file_get_contents", READ),
    ("readfile", READ),
    ("fopen", Open),
    ("symlink", Paths("ln", &["-s"])),
    ("chmod", Paths("chmod", &["0"])),
    ("eval", Code),
    ("base64_decode", Code),
    (".query", Sql),
];

const LUA: Calls = &[
    ("os.execute", Shell),
    ("io.popen", Shell),
    ("os.remove", RM),
    ("os.rename", MV),
    ("io.open", Open),
];

const AWK: Calls = &[("system", Shell)];

const EXPECT: Calls = &[
    ("spawn", Shell),
    ("exec", Shell),
    ("system", Shell),
    ("file delete -force", RM_TREE),
    ("file delete", RM),
];

const JULIA: Calls = &[
    ("rm", RM_TREE),
    ("mv", MV),
    ("cp", CP),
    ("write", WRITE),
    ("download", Send),
];

/// Elixir, Emacs Lisp, Erlang, Groovy, Haskell, Java, R, Scala.
const OTHER: Calls = &[
    ("File.rm_rf", RM_TREE),
    ("File.rm_rf!", RM_TREE),
    ("File.rm", RM),
    ("File.rm!", RM),
    ("File.write", WRITE),
    ("File.write!", WRITE),
    ("File.rename", MV),
    ("File.rename!", MV),
    ("System.cmd", Program),
    ("System.shell", Shell),
    ("Repo.query", Sql),
    ("Repo.query!", Sql),
    (":os.cmd", Shell),
    (":file.del_dir_r", RM_TREE),
    (":file.delete", RM),
    (":file.rename", MV),
    ("os:cmd", Shell),
    ("file:del_dir_r", RM_TREE),
    ("file:delete", RM),
    ("delete-directory", RM_TREE),
    ("delete-file", RM),
    ("shell-command", Shell),
    (".deleteDir", Receiver("rm", &["-rf"])),
    (".delete", Receiver("rm", &["-f"])),
    ("removeDirectoryRecursive", RM_TREE),
    ("removePathForcibly", RM_TREE),
    ("removeFile", RM),
    ("unlink", RM_TREE),
    ("file.remove", RM),
    ("system", Shell),
    ("system2", Shell),
    ("sh/sh", Shell),
    ("Files.delete", RM),
    ("FileUtils.deleteDirectory", RM_TREE),
];

pub(super) fn calls(language: Language) -> Calls {
    match language {
        Language::Python => PYTHON,
        Language::JavaScript => JAVASCRIPT,
        Language::Perl => PERL,
        Language::Ruby => RUBY,
        Language::Php => PHP,
        Language::Lua => LUA,
        Language::Awk => AWK,
        Language::Expect => EXPECT,
        Language::Julia => JULIA,
        Language::Other => OTHER,
        Language::AppleScript | Language::PowerShell => &[],
    }
}
