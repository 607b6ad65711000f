//! Hosts: for each host that can be wired, where its settings lie and how they are written.

use std::path::PathBuf;

use super::Form;
use super::Installer;
use crate::install::Places;
use crate::install::Scope;
use crate::install::json_hooks::Shape;

/// Every host that can be wired, by name.
pub(super) static INSTALLERS: &[Installer] = &[
    Installer {
        host: "claude-code",
        file: |p, scope| {
            Some(match scope {
                Scope::User => p.home.join(".claude/settings.json"),
                Scope::Project => p.project.join(".claude/settings.json"),
                Scope::Local => p.project.join(".claude/settings.local.json"),
            })
        },
        form: Form::Json(Shape::Groups),
    },
    Installer {
        host: "cline",
        file: |p, scope| match scope {
            Scope::User => Some(p.home.join(".cline/hooks")),
            Scope::Project => Some(p.project.join(".clinerules/hooks")),
            Scope::Local => None,
        },
        form: Form::Executables,
    },
    Installer {
        host: "codex",
        file: |p, scope| match scope {
            Scope::User => Some(p.codex().join("hooks.json")),
            Scope::Project => Some(p.project.join(".codex/hooks.json")),
            Scope::Local => None,
        },
        form: Form::Codex,
    },
    Installer {
        host: "copilot",
        file: copilot_file,
        form: Form::Json(Shape::Copilot),
    },
    Installer {
        host: "cursor",
        file: |p, scope| match scope {
            Scope::User => Some(p.home.join(".cursor/hooks.json")),
            Scope::Project => Some(p.project.join(".cursor/hooks.json")),
            Scope::Local => None,
        },
        form: Form::Json(Shape::Cursor),
    },
    Installer {
        host: "gemini-cli",
        file: |p, scope| match scope {
            Scope::User => Some(p.home.join(".gemini/settings.json")),
            Scope::Project => Some(p.project.join(".gemini/settings.json")),
            Scope::Local => None,
        },
        form: Form::Json(Shape::GroupsMillis),
    },
    Installer {
        host: "git",
        file: |p, scope| (scope == Scope::Project).then(|| p.project.clone()),
        form: Form::Git,
    },
    Installer {
        host: "kimi-cli",
        file: |p, scope| (scope == Scope::User).then(|| p.home.join(".kimi/config.toml")),
        form: Form::Toml,
    },
    Installer {
        host: "kimi-code",
        file: |p, scope| (scope == Scope::User).then(|| p.home.join(".kimi-code/config.toml")),
        form: Form::Toml,
    },
    Installer {
        host: "monoco",
        file: |p, scope| match scope {
            Scope::User => Some(p.ahp_home.join("bin/monoco")),
            Scope::Project => Some(p.project.join(".ahp/bin/monoco")),
            Scope::Local => None,
        },
        form: Form::Shim,
    },
    Installer {
        host: "opencode",
        file: |p, scope| match scope {
            Scope::User => Some(p.config_home.join("opencode/plugin/ahp.js")),
            Scope::Project => Some(p.project.join(".opencode/plugin/ahp.js")),
            Scope::Local => None,
        },
        form: Form::Plugin,
    },
    Installer {
        host: "qwen-code",
        file: |p, scope| match scope {
            Scope::User => Some(p.home.join(".qwen/settings.json")),
            Scope::Project => Some(p.project.join(".qwen/settings.json")),
            Scope::Local => None,
        },
        form: Form::Json(Shape::GroupsMillis),
    },
    // It reads the files of Copilot CLI, so that the two share one: whoever calls is told by the payload.
    Installer {
        host: "vscode",
        file: copilot_file,
        form: Form::Json(Shape::Copilot),
    },
    Installer {
        host: "windsurf",
        file: |p, scope| match scope {
            Scope::User => Some(p.home.join(".codeium/windsurf/hooks.json")),
            Scope::Project => Some(p.project.join(".windsurf/hooks.json")),
            Scope::Local => None,
        },
        form: Form::Json(Shape::Windsurf),
    },
];

fn copilot_file(p: &Places, scope: Scope) -> Option<PathBuf> {
    match scope {
        Scope::User => Some(p.copilot().join("hooks/ahp.json")),
        Scope::Project => Some(p.project.join(".github/hooks/ahp.json")),
        Scope::Local => None,
    }
}
