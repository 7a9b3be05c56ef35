//! Goes on with the clients of another companion of the folder that has ended.
//!
//! The clients notice nothing, as after a restart: this server listens on the port that they know,
//! takes their token there, and has their sessions. See `docs/architecture/restart.md`.

use std::sync::Arc;
use std::time::Duration;

use companion_platform::Watch;
use companion_protocol::settings::AllowedHost;
use tokio::net::TcpListener;
use tokio::runtime::Handle;
use tokio::sync::Notify;
use tokio::time::{Instant, sleep, timeout};

use crate::http;
use crate::net::guard::Endpoint;
use crate::net::listen::Listeners;
use crate::parts::Parts;
use crate::resume::{Address, Legacy, Peers, SharedHead, Sight, real_folders};

/// The interval of looks while another companion of the folder runs, if the system reports its end …
const WATCH_INTERVAL: Duration = Duration::from_secs(20);

/// … and if it does not.
const LOOK_INTERVAL: Duration = Duration::from_secs(2);

/// The interval of looks while another companion ends. Until this one listens, its clients fail.
const END_INTERVAL: Duration = Duration::from_millis(50);

/// The time of such looks after a report of the system. A server takes up to 2 s to end.
const END_TIME: Duration = Duration::from_secs(3);

/// The interval in which endpoints without clients are closed.
const CLOSE_INTERVAL: Duration = Duration::from_mins(1);

/// The number of waits of [`END_INTERVAL`] until the adopted records are saved.
const MAX_WAITS: usize = 100;

struct HandOver {
    parts: Arc<Parts>,
    /// The endpoints of other companions.
    endpoints: Vec<Arc<Endpoint>>,
    head: SharedHead,
}

/// Takes over the clients of other companions of the folder when these end.
pub(crate) fn follow_peers(parts: &Arc<Parts>, runtime: &Handle, peers: Peers) {
    let (endpoints, head) = (Vec::new(), peers.head());
    let hand_over = HandOver { parts: Arc::clone(parts), endpoints, head };
    parts.until_stopped(runtime, hand_over.run(peers));
}

impl HandOver {
    /// Takes over the clients of each companion that ends, without end.
    async fn run(mut self, mut peers: Peers) {
        self.listen_again();
        let mut folders = self.parts.workspace.changes();
        let peer_changed = Arc::new(Notify::new());
        let (changed, alive) = (Arc::clone(&peer_changed), self.parts.pool.alive());
        let watch = self.parts.pool.run(move || {
            let watch = peers.watch(move || {
                let _held_by_its_thread = &alive;
                changed.notify_one();
            });
            (peers, watch)
        });
        let Ok((watched, watch)) = watch.await else { return };
        peers = watched;
        let watch = watch.inspect_err(|error| log::debug!("peers can't be watched: {error}"));
        let is_reported = watch.is_ok() && Watch::REPORTS_CLOSED_FILES;
        let mut ending_until = Instant::now();
        loop {
            let roots = self.parts.workspace.open();
            let is_port_chosen = self.parts.config.settings.port != 0;
            let look = self.parts.pool.run(move || {
                let roots = if is_port_chosen { Vec::new() } else { real_folders(&roots) };
                let has_changed = peers.set_workspace(roots);
                let sight = peers.look();
                (peers, has_changed, sight)
            });
            let Ok((looked, has_changed, sight)) = look.await else { return };
            peers = looked;
            if has_changed {
                self.parts.driver.journal().rewrite();
            }
            let sight = sight.unwrap_or_else(|error| {
                log::debug!("other companions can't be found: {error}");
                Sight::Running
            });
            let interval = match sight {
                Sight::Free(legacy) => {
                    self.adopt(*legacy).await;
                    Duration::ZERO
                }
                Sight::Ended => END_INTERVAL,
                Sight::Running if Instant::now() < ending_until => END_INTERVAL,
                Sight::Running if is_reported => WATCH_INTERVAL,
                Sight::Running => LOOK_INTERVAL,
                Sight::Alone if self.endpoints.is_empty() && is_reported => Duration::MAX,
                Sight::Alone if self.endpoints.is_empty() => WATCH_INTERVAL,
                Sight::Alone => CLOSE_INTERVAL,
            };
            self.close_unused();
            let change = async {
                tokio::select! {
                    () = peer_changed.notified() => {}
                    Ok(()) = folders.changed() => {}
                }
            };
            if timeout(interval, change).await.is_ok() {
                ending_until = Instant::now() + END_TIME;
                sleep(END_INTERVAL).await;
            }
        }
    }

    /// Goes on with the clients of a companion that has ended.
    async fn adopt(&mut self, legacy: Legacy) {
        let mut bound = Vec::new();
        for address in legacy.addresses() {
            bound.extend(self.bind(&address).map(|listeners| (address, listeners)));
        }
        if bound.is_empty() {
            // Another program may have been shown the token.
            self.on_disk(move || legacy.forget_clients()).await;
            return;
        }
        log::info!("another companion of this folder has ended; going on with its clients");
        self.head.lock().adopted.extend(bound.iter().map(|(address, _)| address.clone()));
        self.parts.driver.journal().rewrite();
        self.parts.clients.adopt(legacy.left.clone());
        for (address, listeners) in bound {
            self.listen(&address, listeners);
        }
        self.parts.hooks.report_pending_comments();
        if self.is_saved().await {
            self.on_disk(move || legacy.remove()).await;
        } else {
            // It may have the only copy of an accepted text.
            log::warn!("the resume data of another companion stays, because its copy is not saved");
        }
    }

    /// Whether this server's file has all records. Waits for that for some seconds.
    async fn is_saved(&self) -> bool {
        for _ in 0..MAX_WAITS {
            self.parts.driver.wait_until_journaled().await;
            if self.parts.driver.ask(|companion| companion.diffs().is_saved()) {
                return true;
            }
            sleep(END_INTERVAL).await;
        }
        false
    }

    async fn on_disk(&self, job: impl FnOnce() -> std::io::Result<()> + Send + 'static) {
        if let Ok(Err(error)) = self.parts.pool.run(job).await {
            log::warn!("cannot remove the resume data of another companion: {error}");
        }
    }

    /// Listens where the last process of this editor had taken clients over.
    fn listen_again(&mut self) {
        let addresses = self.head.lock().adopted.clone();
        for address in addresses {
            if let Some(listeners) = self.bind(&address) {
                self.listen(&address, listeners);
            } else {
                self.head.lock().adopted.retain(|of| of.port != address.port);
                self.parts.driver.journal().rewrite();
            }
        }
    }

    /// Binds a port, unless another program has it at any address.
    fn bind(&self, address: &Address) -> Option<Listeners> {
        let why = match Listeners::bind(address.port, &self.parts.config.settings.listen) {
            Ok(listeners) => match listeners.taken() {
                None => return Some(listeners),
                Some(taken) => format!("it is taken on {taken}"),
            },
            Err(error) => error.to_string(),
        };
        log::warn!(
            "not listening on port {} of another companion: {why}. CLIs that were connected to it \
             have to reconnect (/ide enable)",
            address.port
        );
        None
    }

    /// Serves clients at `address`.
    fn listen(&mut self, address: &Address, listeners: Listeners) {
        let mut hosts = self.parts.config.settings.allowed_hosts.clone();
        hosts.extend(listeners.addresses().into_iter().flatten().map(AllowedHost::from));
        let Address { port, token } = address;
        let stopping = &self.parts.lifecycle.stopping;
        let endpoint = Arc::new(Endpoint::new(*port, token.expose(), &hosts, stopping));
        for socket in listeners.into_parts().0 {
            let socket = socket.set_nonblocking(true).and_then(|()| TcpListener::from_std(socket));
            match socket {
                Ok(socket) => {
                    let accept =
                        http::accept(socket, Arc::clone(&endpoint), Arc::clone(&self.parts.http));
                    self.parts.lifecycle.listening.spawn(accept);
                }
                Err(error) => log::warn!("not listening on port {port}: {error}"),
            }
        }
        self.endpoints.push(endpoint);
        self.parts.sessions.set_adopted(true);
    }

    /// Closes the endpoints that no client knows any more.
    fn close_unused(&mut self) {
        let unused = self.endpoints.extract_if(.., |of| !self.parts.sessions.may_reach(of.port));
        for endpoint in unused {
            endpoint.closing.cancel();
            self.head.lock().adopted.retain(|of| of.port != endpoint.port);
            self.parts.driver.journal().rewrite();
        }
        self.parts.sessions.set_adopted(!self.endpoints.is_empty());
    }
}
