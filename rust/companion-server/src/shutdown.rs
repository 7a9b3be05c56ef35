//! The end of a server, in this order:
//!
//! 1. the discovery file goes, so that no CLI comes any more;
//! 2. the listener closes;
//! 3. open diffs are rejected: a client that hears nothing would wait for ever;
//! 4. streams end once they have sent that, by FIN: after a RST the client would stay
//!    disconnected until its user types `/ide enable`;
//! 5. requests that are being answered get a second;
//! 6. what is left is dropped;
//! 7. what clients have not been told is saved for the next process, if this server can be
//!    resumed.

use std::time::Duration;

use crate::core::Core;
use crate::discovery::Discovery;

/// How long requests may take to be answered, and streams to be read.
const GRACE: Duration = Duration::from_secs(1);

/// All of it.
pub(crate) async fn shut_down(core: &Core, discovery: Option<&Discovery>) {
    begin(core, discovery);
    core.tasks.close();
    if tokio::time::timeout(GRACE, core.tasks.wait()).await.is_err() {
        log::debug!("{} connections were cut", core.tasks.len());
        core.aborting.cancel();
        core.tasks.wait().await;
    }
    if let Some(journal) = &core.journal {
        journal.end();
        journal.ended().await;
    }
}

/// Steps 1 to 4, without waiting.
pub(crate) fn begin(core: &Core, discovery: Option<&Discovery>) {
    if let Some(discovery) = discovery {
        discovery.remove();
    }
    core.stopping.cancel();
    core.diffs.stop();
    core.sessions.end_streams();
    core.monitors.end();
}
