//! Trial: how a host's own program is started for one turn of a model that somebody plays, to see whether it asks before a tool.

/// One turn of a host's own program, without a terminal.
#[derive(Clone, Copy, Debug)]
pub struct Trial {
    /// What follows the program: `$URL` stands for the address of the model, `$PROMPT` for the prompt.
    pub arguments: &'static [&'static str],
    /// Variables that lead it to the model, and to no other; `$URL` as above.
    pub variables: &'static [(&'static str, &'static str)],
    /// What it speaks with its model.
    pub dialect: Dialect,
    /// Its shell tool.
    pub tool: &'static str,
    /// The input of that tool; `$COMMAND` stands for the command line, as it is written within JSON.
    pub input: &'static str,
}

/// What a program speaks with its model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dialect {
    /// Messages of Anthropic.
    Messages,
    /// Chat completions of `OpenAI`.
    Chat,
    /// Responses of `OpenAI`.
    Responses,
    /// Generated content of Gemini.
    Gemini,
}
