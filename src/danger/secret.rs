//! Secrets: files and variables that hold what must not leave the machine or reach a model.

use super::glob::glob;

/// Files that hold secrets, wherever they lie.
const FILES: &[&str] = &[
    "id_rsa",
    "id_dsa",
    "id_ecdsa",
    "id_ed25519",
    "id_ecdsa_sk",
    "id_ed25519_sk",
    "*_rsa",
    "*_ed25519",
    "*.pem",
    "*.key",
    "*.p12",
    "*.pfx",
    "*.jks",
    "*.keystore",
    "*.kdbx",
    "*.ppk",
    "*.asc.key",
    ".env",
    ".env.*",
    "*.env",
    ".envrc",
    ".netrc",
    "_netrc",
    ".pgpass",
    ".my.cnf",
    ".npmrc",
    ".pypirc",
    ".git-credentials",
    ".gitcredentials",
    ".htpasswd",
    ".dockercfg",
    ".vault-token",
    "credentials.json",
    "service-account*.json",
    "service_account*.json",
    "serviceaccount*.json",
    "client_secret*.json",
    "secrets.yml",
    "secrets.yaml",
    "secrets.json",
    "secrets.toml",
    "secret.yaml",
    "secret.yml",
    "secret.json",
    "master.key",
    "credentials.yml.enc",
    "terraform.tfstate",
    "*.tfstate",
    "terraform.tfvars",
    "*.tfvars",
    "kubeconfig",
    "kubeconfig.*",
    "shadow",
    "gshadow",
    "sudoers",
    ".credentials.json",
    "application_default_credentials.json",
    "Login Data",
    "logins.json",
    "key4.db",
    "Cookies",
    "cookies.sqlite",
    "wallet.dat",
    "*.keychain",
    "*.keychain-db",
    ".bash_history",
    ".zsh_history",
    ".python_history",
    ".psql_history",
    ".mysql_history",
    "access_tokens.db",
    "credentials.db",
    "msal_token_cache.json",
    "accessTokens.json",
    "secring.gpg",
    "hosts.yml",
    "credentials",
    "credentials.toml",
    "auth.json",
];

/// Names of files that only look like secrets.
const HARMLESS: &[&str] = &[
    "*.example",
    "*.sample",
    "*.template",
    "*.dist",
    "*.tmpl",
    "*.pub",
    "*.example.*",
    "*.sample.*",
    "example.env",
    "sample.env",
    "*.schema",
    "*.test",
    "*.testing",
    "*.ci",
    "ca.pem",
    "cert.pem",
    "cacert.pem",
    "ca-bundle.pem",
    "fullchain.pem",
    "chain.pem",
    "*cert*.pem",
    "*public*",
];

/// Names that hold secrets only below one of these directories.
const ONLY_BELOW: &[(&str, &[&str])] = &[
    (
        "credentials",
        &[".aws", ".config", ".gem", ".cargo", ".kaggle"],
    ),
    ("credentials.toml", &[".cargo", ".config"]),
    ("hosts.yml", &["gh"]),
    (
        "auth.json",
        &[".codex", ".composer", "composer", "containers", ".config"],
    ),
    ("shadow", &["etc"]),
    ("gshadow", &["etc"]),
    ("sudoers", &["etc"]),
];

/// Directories all of whose files hold secrets.
const DIRS: &[&str] = &[
    ".ssh",
    ".gnupg",
    ".aws",
    ".azure",
    ".kube",
    ".docker",
    ".password-store",
    "gcloud",
    "1Password",
    "Keychains",
    "keyrings",
    ".secrets",
    ".claude/.credentials",
];

/// Files in those directories that hold none.
const PUBLIC_IN_DIRS: &[&str] = &[
    "known_hosts",
    "known_hosts.*",
    "*.pub",
    "authorized_keys",
    "cache",
    "config.d",
    "cli",
];

/// Whether a path names a file that holds secrets.
pub(super) fn is_secret_path(path: &str) -> bool {
    let path = path.trim_matches(['"', '\'', '@']);
    let path = path.strip_prefix("file://").unwrap_or(path);
    if path.is_empty() || path.len() > 512 || path.contains("://") || path.contains('\n') {
        return false;
    }
    let (dir, name) = path.rsplit_once('/').unwrap_or(("", path));
    let components: Vec<&str> = dir.split('/').collect();
    if path.starts_with("/proc/") && name == "environ" {
        return true;
    }
    let in_secret_dir = DIRS.iter().any(|d| components.contains(d));
    if in_secret_dir {
        let only_settings = name == "config" && !components.contains(&".kube");
        return !name.is_empty() && !only_settings && !PUBLIC_IN_DIRS.iter().any(|p| glob(p, name));
    }
    if HARMLESS.iter().any(|p| glob(p, name)) {
        return false;
    }
    if let Some((_, parents)) = ONLY_BELOW.iter().find(|(n, _)| *n == name) {
        return parents.iter().any(|p| components.contains(p));
    }
    FILES.iter().any(|p| {
        glob(p, name)
            || (name.contains(['*', '?'])
                && name.len() > 2
                && !name.starts_with('*')
                && glob(name, p))
    })
}

/// Words in the names of variables that hold secrets.
const SECRET_WORDS: &[&str] = &[
    "SECRET",
    "TOKEN",
    "PASSWORD",
    "PASSWD",
    "API_KEY",
    "APIKEY",
    "PRIVATE_KEY",
    "ACCESS_KEY",
    "CREDENTIAL",
    "AUTH_KEY",
    "ENCRYPTION_KEY",
    "SIGNING_KEY",
    "DATABASE_URL",
    "CONNECTION_STRING",
];

/// Whether a name is that of a variable that holds a secret.
pub(super) fn is_secret_variable(name: &str) -> bool {
    let upper = name.to_ascii_uppercase();
    SECRET_WORDS.iter().any(|word| upper.contains(word))
        && !upper.contains("TOKENIZER")
        && !upper.contains("MAX_TOKEN")
        && !upper.contains("TOKENS")
}

/// Returns the names of the variables that a text still holds as `$NAME` or `${NAME}`.
pub(super) fn variables(text: &str) -> impl Iterator<Item = &str> {
    text.split('$').skip(1).filter_map(|rest| {
        let rest = rest.trim_start_matches('{');
        let end = rest
            .find(|c: char| !(c.is_ascii_alphanumeric() || c == '_'))
            .unwrap_or(rest.len());
        rest.get(..end).filter(|name| !name.is_empty())
    })
}

#[cfg(test)]
mod tests {
    use super::is_secret_path;
    use super::is_secret_variable;

    #[test]
    fn secrets_are_told_from_what_looks_like_them() {
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
            assert!(is_secret_path(path) || docker, "{path}");
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
            assert!(!is_secret_path(path), "{path}");
        }
        assert!(is_secret_variable("AWS_SECRET_ACCESS_KEY"));
        assert!(!is_secret_variable("PATH"));
    }
}
