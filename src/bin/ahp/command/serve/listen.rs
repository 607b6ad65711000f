//! Listen: the judge of one person, in the foreground, on a socket.

use std::net::SocketAddr;
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::time::Duration;

use ahp::config::Environment;
use listenfd::ListenFd;
use signal_hook::consts::{SIGINT, SIGTERM};
use tracing::info;

use super::Args;
use super::http::Http;
use super::judge::Judge;
use crate::ask;
use crate::daemon;
use crate::daemon::engines::Engines;
use crate::daemon::kept::Kept;
use crate::daemon::socket::Socket;
use crate::daemon::{Load, Service, Until};
use crate::debug;
use crate::exit_code::Exit;
use crate::project;

/// Listens until it is told to end.
pub(super) fn listen(args: &Args) -> Result<Exit, String> {
    debug::start_at(&args.log_level);
    std::panic::set_hook(Box::new(|_| tracing::error!("an event made ahp panic")));
    let told = |error: std::io::Error| format!("the socket cannot be listened on: {error}");
    let (ended, end) = UnixStream::pair().map_err(told)?;
    for signal in [SIGTERM, SIGINT] {
        let end = end.try_clone().map_err(told)?;
        signal_hook::low_level::pipe::register(signal, end).map_err(told)?;
    }
    let load = Arc::new(Load::new());
    let engines = Engines::of_person();
    let judged_by = |address| http(address, args, load.clone(), engines.clone());
    let http = args.http.map(judged_by);
    let http = http.transpose()?;
    // What starts this on demand has made the socket.
    let inherited = ListenFd::from_env().take_unix_listener(0).map_err(told)?;
    let socket = if let Some(listener) = inherited {
        info!("listens on a socket that was handed over");
        Socket::inherited(listener)?
    } else {
        let path = ask::socket_path(&Environment::of_process())
            .ok_or("where to listen is not known: set HOME or XDG_RUNTIME_DIR")?;
        let socket = Socket::listen(&path, "XDG_RUNTIME_DIR")?;
        info!("listens at {}", path.display());
        socket
    };
    let service: Arc<dyn Service> = Arc::new(Kept::new(engines));
    let until = Until {
        idle: args.idle,
        replaced: true,
        told: ended,
    };
    if let Some(http) = http {
        http.start()
            .map_err(|error| format!("HTTP cannot be answered: {error}"))?;
    }
    daemon::run(socket, &service, until, &load).map_err(told)?;
    Ok(Exit::Success)
}

/// Listens for HTTP: there is no caller who could judge by itself, so every event is judged here.
fn http(
    address: SocketAddr,
    args: &Args,
    load: Arc<Load>,
    engines: Arc<Engines>,
) -> Result<Http, String> {
    let locations = project::locations(None);
    let state_dir = locations.state_dir.clone();
    let state_dir = state_dir.ok_or("where the token is kept is not known: set HOME")?;
    let timeout = Duration::from_secs_f64(args.timeout);
    let judge = Judge::new(locations, false, timeout, false, engines);
    Http::bind(address, &state_dir, judge, load)
}
