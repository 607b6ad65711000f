//! Keeper: where what was counted is kept, and where words have stood: files of the user's, memory, or nowhere.

use std::collections::BTreeMap;
use std::io;
use std::sync::{Arc, Mutex};

use super::lock;
use crate::session::{Origins, Scope, ScopeFault, State, Store};

#[derive(Clone, Debug)]
pub enum Keeper {
    /// In files of the user's.
    Files(Store),
    /// In this process alone: tests, and events that are judged again.
    Memory(Arc<Mutex<Memory>>),
    /// Nowhere: what is asked cannot be told.
    Nowhere,
}

/// What is counted in this process alone.
#[derive(Debug, Default)]
pub struct Memory {
    states: BTreeMap<(Scope, String), State>,
    /// Where words have stood.
    origins: BTreeMap<String, Arc<Origins>>,
    /// Whether something of what happened is not known.
    is_lost: bool,
}

impl Memory {
    fn state(&mut self, scope: Scope, id: &str) -> &mut State {
        let is_lost = self.is_lost;
        let known = self.states.entry((scope, id.to_owned()));
        known.or_insert_with(|| {
            if is_lost {
                State::broken(0)
            } else {
                State::new(0)
            }
        })
    }
}

impl Keeper {
    /// Makes one that keeps what is counted as long as it lives.
    pub fn in_memory() -> Self {
        Self::Memory(Arc::default())
    }

    /// Takes it that some of what happened is not known; nothing where files keep it.
    pub(in crate::engine) fn lose(&self) {
        if let Self::Memory(states) = self {
            let mut memory = lock(states);
            memory.is_lost = true;
            memory.states.clear();
        }
    }

    /// Takes it that a result was not read, of a session or of one that cannot be told: its words may have stood in it.
    ///
    /// # Errors
    /// That cannot be noted.
    pub fn lose_origins(&self, session: Option<&str>) -> io::Result<()> {
        match self {
            Self::Files(store) => {
                let session = session.map(|session| store.file(Scope::Session, session));
                let file = session.unwrap_or_else(|| store.file(Scope::Project, ""));
                file.lose_origins()
            }
            Self::Memory(memory) => {
                lock(memory).is_lost = true;
                Ok(())
            }
            Self::Nowhere => Ok(()),
        }
    }

    /// Opens what says where words of a session have stood; none where nothing has taught it.
    pub(super) fn origins(&self, session: &str) -> io::Result<Option<Origins>> {
        match self {
            Self::Files(store) => {
                let file = store.file(Scope::Session, session);
                if file.has_lost_origins() || store.file(Scope::Project, "").has_lost_origins() {
                    return Err(io::Error::other("a result could not be kept"));
                }
                Origins::open(&file.origins())
            }
            Self::Memory(memory) => {
                let memory = lock(memory);
                if memory.is_lost {
                    return Err(io::Error::other("a result is not known"));
                }
                let known = memory.origins.get(session).cloned();
                known.map(|origins| origins.again()).transpose()
            }
            Self::Nowhere => Ok(None),
        }
    }

    /// Opens it to add words.
    pub(super) fn origins_to_add(&self, session: &str, salt: u64) -> io::Result<Origins> {
        match self {
            Self::Files(store) => {
                Origins::open_to_add(&store.file(Scope::Session, session).origins(), salt)
            }
            Self::Memory(memory) => {
                let mut memory = lock(memory);
                if !memory.origins.contains_key(session) {
                    let new = Arc::new(Origins::in_memory()?);
                    memory.origins.insert(session.to_owned(), new);
                }
                match memory.origins.get(session) {
                    Some(origins) => origins.again(),
                    None => Origins::in_memory(),
                }
            }
            Self::Nowhere => Origins::in_memory(),
        }
    }

    pub(super) fn read(&self, scope: Scope, id: &str) -> Result<State, String> {
        match self {
            Self::Files(store) => {
                let stored = store.file(scope, id).read();
                stored
                    .map(|stored| stored.state)
                    .map_err(|fault| fault.to_string())
            }
            Self::Memory(states) => Ok(lock(states).state(scope, id).clone()),
            Self::Nowhere => Err("there is no state directory to count in".to_owned()),
        }
    }

    pub(super) fn change(
        &self,
        scope: Scope,
        id: &str,
        salt: impl Fn() -> u64,
        change: impl FnOnce(&mut State) -> bool,
    ) -> Result<(), ScopeFault> {
        let run = |state: &mut State| ((), change(state));
        match self {
            Self::Files(store) => store.file(scope, id).change(salt, run),
            Self::Memory(states) => {
                run(lock(states).state(scope, id));
                Ok(())
            }
            Self::Nowhere => Ok(()),
        }
    }
}
