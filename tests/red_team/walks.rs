//! Programs and code that change what they find in a folder that holds a guarded place, by every part of such a line.

use super::classes::Judge;

/// Code of one language: its start, what it lists as `f`, what it does with `f`, and what it asks of `f`.
struct Code {
    /// The command line; `@L` stands for the listing, `@C` for the condition and `@D` for the deed.
    frames: &'static [&'static str],
    listings: &'static [&'static str],
    deeds: &'static [&'static str],
    /// Deeds that change nothing.
    looks: &'static [&'static str],
    /// Conditions that a guarded place meets.
    meets: &'static [&'static str],
    /// Conditions that keep it out.
    keeps_out: &'static [&'static str],
}

const PYTHON: Code = Code {
    frames: &[
        "python3 -c \"import os,re,shutil,pathlib,subprocess\nfor f in @L:\n  if @C: @D\"",
        "python3 -c \"import os,re,shutil,pathlib,subprocess; [@D for f in @L if @C]\"",
        "python3 - <<'E'\nimport os,re,shutil,pathlib,subprocess\nfor f in @L:\n  if not (@C):\n    continue\n  @D\nE",
        "cat > x.py <<'E'\nimport os,re,shutil,pathlib,subprocess\nfor f in @L:\n  if @C:\n    @D\nE\npython3 x.py",
    ],
    listings: &[
        "os.listdir('.')",
        "os.listdir()",
        "[e.name for e in os.scandir('.')]",
        "[p.name for p in pathlib.Path('.').iterdir()]",
        "[str(p) for p in pathlib.Path('.').glob('*')]",
        "[os.path.join(r, d) for r, ds, fs in os.walk('.') for d in ds]",
    ],
    deeds: &[
        "shutil.rmtree(f)",
        "os.rename(f, '/tmp/x')",
        "shutil.move(f, '/tmp')",
        "os.chmod(f, 0)",
        "open(f + '/hooks.yaml', 'w')",
        "pathlib.Path(f).rename('x')",
        "subprocess.run(['rm', '-rf', f])",
        "os.system('rm -rf ' + f)",
        "os.system(f'rm -rf {f}')",
    ],
    looks: &[
        "print(f)",
        "open(f).read()",
        "os.path.getsize(f)",
        "subprocess.run(['wc', '-l', f])",
    ],
    meets: &[
        "True",
        "f.startswith('.a')",
        "f.endswith('hp')",
        "'ah' in f",
        "f[0] == '.'",
        "len(f) == 4",
        "re.match(r'\\W.hp', f)",
        "not f.startswith('s')",
        "f != 'src'",
    ],
    keeps_out: &[
        "f.endswith('.pyc')",
        "f.startswith('tmp')",
        "'__pycache__' in f",
        "f == 'node_modules'",
        "f in ('dist', 'target')",
        "re.search(r'cache$', f)",
        "not f.startswith('.')",
    ],
};

const JAVASCRIPT: Code = Code {
    frames: &[
        "node -e \"const fs=require('fs');for (const f of @L) if (@C) @D\"",
        "node -e \"const fs=require('fs');@L.filter(f => @C).forEach(f => @D)\"",
        "node <<'E'\nconst fs=require('fs'); const {execSync}=require('child_process');\nfor (const f of @L) {\n  if (@C) { @D }\n}\nE",
    ],
    listings: &[
        "fs.readdirSync('.')",
        "fs.readdirSync(`.`)",
        "fs.readdirSync('.', {withFileTypes: false})",
    ],
    deeds: &[
        "fs.rmSync(f, {recursive: true})",
        "fs.renameSync(f, 'x')",
        "fs.chmodSync(f, 0)",
        "fs.writeFileSync(f + '/hooks.yaml', '')",
        "require('child_process').execSync('rm -rf ' + f)",
    ],
    looks: &["console.log(f)", "fs.statSync(f)", "fs.readFileSync(f)"],
    meets: &[
        "true",
        "f.startsWith('.a')",
        "f.endsWith('hp')",
        "f[0] == '.'",
        "f.includes('ah')",
        "f !== 'src'",
    ],
    keeps_out: &[
        "f.endsWith('.map')",
        "f.startsWith('tmp')",
        "f.includes('cache')",
        "f === 'dist'",
        "!f.startsWith('.')",
    ],
};

const PERL: Code = Code {
    frames: &[
        "perl -MFile::Path -e 'opendir(D, \".\"); for (@L) { @D if @C }'",
        "perl -MFile::Find -MFile::Path -e 'find(sub { my $f = $_; @D if @C }, \".\")'",
    ],
    listings: &["readdir D", "readdir(D)"],
    deeds: &[
        "rmtree($_)",
        "rename $_, \"x$_\"",
        "chmod 0, $_",
        "system(\"rm -rf $_\")",
    ],
    looks: &["print $_", "stat $_"],
    meets: &["1", "/^\\.a/", "/hp$/", "length == 4"],
    keeps_out: &["/\\.pyc$/", "/^tmp/", "/cache/"],
};

const RUBY: Code = Code {
    frames: &[
        "ruby -rfileutils -e '@L.each { |f| @D if @C }'",
        "ruby -rfileutils -rfind -e 'for f in @L do @D if @C end'",
    ],
    listings: &[
        "Dir.children(\".\")",
        "Dir.entries(\".\")",
        "Dir.each_child(\".\")",
        "Dir.foreach(\".\")",
    ],
    deeds: &[
        "FileUtils.rm_rf(f)",
        "File.rename(f, \"x\")",
        "system(\"rm -rf #{f}\")",
    ],
    looks: &["puts f", "File.size(f)"],
    meets: &[
        "true",
        "f.start_with?(\".a\")",
        "f.end_with?(\"hp\")",
        "f =~ /^\\.a/",
        "f.include?(\"ah\")",
    ],
    keeps_out: &[
        "f.end_with?(\".pyc\")",
        "f.start_with?(\"tmp\")",
        "f =~ /\\.tmp$/",
        "f == \"dist\"",
    ],
};

const PHP: Code = Code {
    frames: &["php -r 'foreach (@L as $f) { if (@C) { @D; } }'"],
    listings: &["scandir(\".\")", "new DirectoryIterator(\".\")"],
    deeds: &["rename($f, \"x\")", "system(\"rm -rf $f\")"],
    looks: &["echo $f", "filesize($f)"],
    meets: &[
        "true",
        "$f[0] == \".\"",
        "str_ends_with($f, \"hp\")",
        "$f != \"src\"",
    ],
    keeps_out: &["str_ends_with($f, \".pyc\")", "$f == \"dist\""],
};

#[test]
fn code_that_changes_what_it_finds_passes_only_where_a_filter_keeps_the_place_out() {
    let mut judge = Judge::new();
    for code in [PYTHON, JAVASCRIPT, PERL, RUBY, PHP] {
        let kinds = [
            (code.deeds, code.meets, true),
            (code.deeds, code.keeps_out, false),
            (code.looks, code.meets, false),
        ];
        for (frame, listing) in code
            .frames
            .iter()
            .flat_map(|f| code.listings.iter().map(move |l| (f, l)))
        {
            for (deeds, conditions, is_stopped) in kinds {
                for (deed, condition) in deeds
                    .iter()
                    .flat_map(|d| conditions.iter().map(move |c| (d, c)))
                {
                    let line = frame
                        .replace("@L", listing)
                        .replace("@C", condition)
                        .replace("@D", deed);
                    if is_stopped {
                        judge.stops_command(&line);
                    } else {
                        judge.lets_pass(&line);
                    }
                }
            }
        }
    }
    judge.end(2_000);
}

/// Programs that print the names of what lies in a folder, hidden files among them.
const PRINTERS: &[&str] = &[
    "find . -type f",
    "find . -maxdepth 1",
    "ls -A",
    "ls -a",
    "fd -H .",
    "rg --files --hidden",
    "git ls-files",
    "git diff --name-only",
    "git diff --name-only HEAD~1",
    "git diff --name-status main...HEAD",
    "git diff --stat",
    "git diff-tree -r --name-only --no-commit-id HEAD",
    "git show --name-only --format= HEAD",
    "git log --name-only --pretty=",
    "git whatchanged --name-only",
    "git stash show --name-only",
    "git rev-list --objects --all",
    "git status --porcelain",
    "git clean -nd",
];

/// What takes the names, `@P` being the program that prints them and `@F` what stands between.
const TAKERS: &[&str] = &[
    "@P@F | xargs rm -rf",
    "@P@F | xargs -I{} mv {} /tmp/x",
    "@P@F | xargs sed -i s/a/b/",
    "@P@F | while read -r f; do rm -rf \"$f\"; done",
    "rm -rf $(@P@F)",
    "for f in $(@P@F); do rm -rf \"$f\"; done",
    "rm -rf `@P@F`",
];

#[test]
fn what_programs_print_and_others_change_passes_only_where_a_filter_keeps_the_place_out() {
    let mut judge = Judge::new();
    for (printer, taker) in PRINTERS
        .iter()
        .flat_map(|p| TAKERS.iter().map(move |t| (p, t)))
    {
        let line = taker.replace("@P", printer);
        for filter in ["", " | sort -u", " | head -100", " | grep -v src"] {
            judge.stops_command(&line.replace("@F", filter));
        }
        for filter in [" | grep -v ahp | grep '\\.tmp$'", " | grep '\\.pyc$'"] {
            judge.lets_pass(&line.replace("@F", filter));
        }
    }
    for printer in PRINTERS {
        for reader in [
            "wc -l",
            "sort",
            "xargs wc -l",
            "xargs cat",
            "xargs grep -l x",
        ] {
            judge.lets_pass(&format!("{printer} | {reader}"));
        }
    }
    judge.end(800);
}
