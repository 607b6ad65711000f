//! Secrets: what is cut out of a text, by the tables in `policies/secrets/` and around them.

mod everywhere;
mod table;

use ahp::secret::{is_secret_file, redact};

/// Returns a text with a sign for each secret that was cut.
fn cut(text: &str) -> String {
    let mut clean = redact(text).into_owned();
    while let Some((before, behind)) = clean.split_once("[redacted: ") {
        if text.contains("[redacted: ") {
            break;
        }
        let (_, behind) = behind.split_once(']').unwrap();
        clean = format!("{before}✂{behind}");
    }
    clean
}

#[test]
fn what_stands_behind_a_name_is_cut_whole() {
    for (text, left) in [
        (
            r#"curl -d "{\"password\": \"hunter22\"}""#,
            r#"curl -d "{\"password\": \"✂\"}""#,
        ),
        (
            r#"{"a": "{\\\"token\\\": \\\"ab\\\\\\\"cdefg\\\"}"}"#,
            r#"{"a": "{\\\"token\\\": \\\"✂\\\"}"}"#,
        ),
        (
            r#"curl -d "{\"password\": 12345678}""#,
            r#"curl -d "{\"password\": ✂}""#,
        ),
        (
            r#"-d "a=1&password=hunter22" x"#,
            r#"-d "a=1&password=✂" x"#,
        ),
        (
            r#"DB_PASSWORD="abc hunter2" make"#,
            r#"DB_PASSWORD="✂" make"#,
        ),
        (r#"password="correct horse battery" x"#, r#"password="✂" x"#),
        ("password=\"\"\"hunter 22\"\"\"", "password=\"\"\"✂\"\"\""),
        (r#"token = "ab\"cdefgh" x"#, r#"token = "✂" x"#),
        ("token='abc defghi", "token='✂"),
        (&format!("token=x{} b", "é".repeat(900)), "token=✂ b"),
        (&format!("a token={} b", "x1".repeat(900)), "a token=✂ b"),
        ("token='abc defghi\nls", "token='✂\nls"),
        ("X_TOKEN='ab;cdefghijkl' x", "X_TOKEN='✂' x"),
        ("SECRET='abc,defghijk' x", "SECRET='✂' x"),
        ("SECRET=ab\\;cdefg x", "SECRET=✂ x"),
        ("DB_PASSWORD='$ecretP4ss!x'", "DB_PASSWORD='✂'"),
        ("PASSWORD=abc(hunter22", "PASSWORD=✂"),
        ("PASSWORD=abc(hunter22\nls (x)", "PASSWORD=✂\nls (x)"),
        (
            "private-key=abcdef1 access-key=abcdef2 secretKey=abcdef3",
            "private-key=✂ access-key=✂ secretKey=✂",
        ),
        (
            "Authorization: Basic dXNlcjpwYXNz",
            "Authorization: Basic ✂",
        ),
        (
            r#"{"Authorization": "Bearer abc123"}"#,
            r#"{"Authorization": "Bearer ✂"}"#,
        ),
        ("DB_PASS=hunter22 x", "DB_PASS=✂ x"),
        (r#"{"pass":"hunter22"}"#, r#"{"pass":"✂"}"#),
        ("Server=x;Pwd=hunter22;", "Server=x;Pwd=✂;"),
        ("mysql --password hunter22 db", "mysql --password ✂ db"),
        ("x --api-key 'ab cdef' y", "x --api-key '✂' y"),
        ("curl -u user:pw http://x", "curl -u user:✂ http://x"),
        (
            "curl --user 'me:p w' http://x",
            "curl --user 'me:✂' http://x",
        ),
        ("'password' => 'hunter22'", "'password' => '✂'"),
        ("password := \"hunter22\"", "password := \"✂\""),
    ] {
        assert_eq!(cut(text), left, "{text}");
    }
}

#[test]
fn programs_and_documents_stay() {
    for text in [
        "interface A { token: string; password: Optional }",
        "password: Optional[str]",
        "password: Option<String>,",
        "fn f(token: TokenKind, secret: Secret)",
        "let token = get_token();",
        "let token = read(path)",
        "token = fetch(\n  url)",
        "token = self.tokens",
        "token: process.env.TOKEN",
        "token => something",
        "pub semi_token: Token![;],",
        "password:\nusername: foobar",
        "password =\n  something",
        "docker login --password-stdin",
        "--password string   the password",
        "--password <password>",
        "--token-file some-file",
        "--secret id=abcdef",
        "--private-key ~/.ssh/id_ed25519",
        "the non-token another",
        "pwd && ls",
        "cd \"$(pwd)\"",
        "PWD=/home/somebody",
        "OLDPWD=somebody",
        "PASS: tests/foo.test",
        "bypass=something",
        "docker run -u 1000:1000 x",
        "git push -u origin main:main",
        "PASSWORD=$SECRET PASSWORD=${SECRET} PASSWORD=$(cat secret)",
        r#"PASSWORD="$SECRET" PASSWORD="${SECRET}" PASSWORD="$(cat x)""#,
        r#"curl -d "{\"password\": \"$SECRET\"}""#,
        "curl -u \"user:$PW\"",
        "\"token=\" + other + \"&more=\"",
        "<input type=\"password\" name=\"something\">",
        "PASSWORD=\"[redacted: secret]\" PASSWORD=[redacted: secret]",
        "Authorization: required",
        "token=''",
    ] {
        assert_eq!(cut(text), text);
    }
}

#[test]
fn what_was_cut_is_told_by_its_kind() {
    let github = format!("ghp_{}", "a1B2c3D4".repeat(5));
    for (text, left) in [
        (
            format!("git push https://{github}@x"),
            "git push https://[redacted: github-token]@x",
        ),
        (
            "id AKIAIOSFODNN7EXAMPLE ok".to_owned(),
            "id [redacted: aws-access-key-id] ok",
        ),
        (
            "a -----BEGIN RSA PRIVATE KEY-----\nMII\n-----END RSA PRIVATE KEY----- b".to_owned(),
            "a [redacted: private-key] b",
        ),
        (
            "psql postgres://me:hunter2@db/x".to_owned(),
            "psql postgres://me:[redacted: url-password]@db/x",
        ),
        (
            "x https://me:h@y/z".to_owned(),
            "x https://me:[redacted: url-password]@y/z",
        ),
    ] {
        assert_eq!(redact(&text), left);
    }
}

#[test]
fn other_forms_are_cut_too() {
    for (text, left) in [
        ("<Password>hunter22</Password>", "<Password>✂</Password>"),
        (
            "<db:password>hunter22</db:password>",
            "<db:password>✂</db:password>",
        ),
        (
            r#"<add key="ApiKey" value="k3Jx9QmZ2vLpR8tW"/>"#,
            r#"<add key="ApiKey" value="✂"/>"#,
        ),
        (
            r#"<add connectionString="Server=db;User=a;Password=hunter22;Pooling=true"/>"#,
            r#"<add connectionString="Server=db;User=a;Password=✂;Pooling=true"/>"#,
        ),
        (
            "alter user a identified by 'hunter22'",
            "alter user a identified by '✂'",
        ),
        (
            "curl 'https://x/a?key=hunter22&b=1' https://y/?a=1&sig=hunter22",
            "curl 'https://x/a?key=✂&b=1' https://y/?a=1&sig=✂",
        ),
        (
            "curl -x http://me:hunter22@proxy:3128 https://x",
            "curl -x http://me:✂@proxy:3128 https://x",
        ),
        (
            "curl --proxy 'me:hunter22@proxy:3128' https://x",
            "curl --proxy 'me:✂@proxy:3128' https://x",
        ),
        (
            r#"mongosh --eval "db.auth(\"me\", \"hunter22\")""#,
            r#"mongosh --eval "db.auth(\"me\", \"✂\")""#,
        ),
        (
            "requests.get(u, auth=('me', 'hunter22'))",
            "requests.get(u, auth=('me', '✂'))",
        ),
        ("smtp.login(user, 'pw')", "smtp.login(user, '✂')"),
        ("npm publish --otp=123456", "npm publish --otp=✂"),
        ("npm publish --otp 123456", "npm publish --otp ✂"),
        (
            "aws sts get-session-token --token-code 123456",
            "aws sts get-session-token --token-code ✂",
        ),
        ("x login passcode=123456", "x login passcode=✂"),
        (
            "read -rs PASSWORD <<< 'hunter 22'",
            "read -rs PASSWORD <<< '✂'",
        ),
        (
            "create role a with password 'hunter22'",
            "create role a with password '✂'",
        ),
        (
            "aws_secret_access_key k3Jx9QmZ2vLpR8tWyB5cN7dF4gH6sA1eU0iOqXzT",
            "aws_secret_access_key ✂",
        ),
        ("config['secret'] => 'hunter22'", "config['secret'] => '✂'"),
        (
            "password_for_db = \"k3Jx9QmZ2v\"",
            "password_for_db = \"✂\"",
        ),
        (
            "let token: String = \"Zx8vQ2mN5kLpR9tWyB3c\".into();",
            "let token: String = \"✂\".into();",
        ),
        (
            "sh -c \"mysql -phunter22 db\" && echo done",
            "sh -c \"mysql -p✂ db\" && echo done",
        ),
        ("mysql -p'hunter 22' db", "mysql -p'✂' db"),
        (
            "bash -c 'sshpass -p \"hunter 22\" ssh a'",
            "bash -c 'sshpass -p \"✂\" ssh a'",
        ),
        (
            "mysql -p\"$PW\" db; mysql -p$PW db; sshpass -p `cat f` ssh a",
            "mysql -p\"$PW\" db; mysql -p$PW db; sshpass -p `cat f` ssh a",
        ),
        (
            "x | redis-cli \\\n  -a hunter22 ping",
            "x | redis-cli \\\n  -a ✂ ping",
        ),
    ] {
        assert_eq!(cut(text), left, "{text}");
    }
}

#[test]
fn what_only_looks_like_one_stays() {
    for text in [
        "risk-assessment-of-the-whole-thing-is-done-now",
        "PASSWORD=$SECRET make",
        "max_tokens",
        "the token is read from a file",
        "basic idea behind it",
        "https://x/?key=name&sort=up",
        "https://x/?key=$KEY",
        "curl -x proxy:3128 https://x; curl -x http://proxy:3128 https://x",
        "curl -x \"$P\" https://x",
        "db.auth(user, password)",
        "app.login('me')\nrun('a', 'bcdefg')",
        "the desktop=123456 and the footprint=123456",
        "read -r a b <<< \"$line\"",
        "std::env::var(\"TOKEN\")",
        "tokenizer = \"meta-llama/Llama-3.1-8B-Instruct\"",
        "<token> of the call: <token>",
        "expected token ')' but found it",
    ] {
        assert_eq!(cut(text), text);
    }
}

#[test]
fn time_grows_with_the_length_of_a_text_and_not_with_its_square() {
    // How long this thread has computed, in nanoseconds: what else the machine does is not in it. Only Linux tells it so.
    let computed = || {
        let told = std::fs::read_to_string("/proc/thread-self/schedstat").ok()?;
        told.split(' ').next()?.parse::<f64>().ok()
    };
    let time = |text: &str| {
        let start = computed()?;
        drop(redact(text));
        Some(computed()? - start)
    };
    for piece in [
        "echo mysql -p vault put 'a ",
        "password=\"a ",
        "discord us-east -us :AA ",
        "https://a:b ",
        "-----BEGIN PRIVATE KEY-----",
        "token ",
    ] {
        let short = time(&piece.repeat((4 << 10) / piece.len()));
        let long = time(&piece.repeat((64 << 10) / piece.len()));
        let (Some(short), Some(long)) = (short, long) else {
            return;
        };
        // Sixteen times the text; its square would be 256 times the time.
        assert!(
            long < 100.0 * short.max(1e6),
            "{piece}: {short} ns, {long} ns"
        );
    }
}

#[test]
fn secret_files_are_told_from_what_looks_like_them() {
    for path in [
        ".env",
        "~/.ssh/id_rsa",
        "/home/u/.aws/credentials",
        "config/.env.production",
        "server.key",
        "/etc/shadow",
        "/proc/self/environ",
        "~/.config/gcloud/application_default_credentials.json",
        "~/.kube/config",
        "~/.docker/config.json",
        "~/.ssh/id_*",
        ".env*",
    ] {
        let docker = path.contains(".docker");
        assert!(is_secret_file(path) || docker, "{path}");
    }
    for path in [
        ".env.example",
        "~/.ssh/id_rsa.pub",
        "~/.ssh/known_hosts",
        "src/env.rs",
        "README.md",
        "tests/fixtures/cert.pem",
        "package.json",
        "environment.yml",
        "credentials",
        "*",
        "*.json",
        "https://x/y.key",
    ] {
        assert!(!is_secret_file(path), "{path}");
    }
}
