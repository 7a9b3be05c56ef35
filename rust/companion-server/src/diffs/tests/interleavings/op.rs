//! What can happen next.

use proptest::prelude::*;

use super::PATHS;

#[derive(Clone, Debug)]
pub(super) enum Op {
    Open {
        client: usize,
        path: usize,
    },
    Close {
        client: usize,
        path: usize,
        suppress: bool,
    },
    Decide {
        path: usize,
        accept: bool,
    },
    /// The user decides a view that shows.
    User {
        path: usize,
        accept: bool,
    },
    /// The editor carries out the oldest request, if it can.
    Editor {
        can: bool,
    },
    /// What is under way gets on, one step each.
    Turn,
    /// The editor takes longer than it may.
    Overdue,
    /// The client reads what its stream has.
    Read {
        client: usize,
    },
    /// The streams break after `arrived` more events, whatever the server sent on them.
    Cut {
        client: usize,
        arrived: usize,
    },
    /// The client opens the streams again that broke.
    Back {
        client: usize,
    },
    /// The client's user reconnects it: it has another session, and leaves the first one open.
    Again {
        client: usize,
    },
    /// The client leaves for good, by DELETE.
    Leave {
        client: usize,
    },
}

/// What `clients` may do. They reconnect only if each is alone: of two sessions that close a diff of
/// neither, nobody could say whose client that is.
pub(super) fn op(clients: usize) -> impl Strategy<Value = Op> {
    let client = 0..clients;
    let again = if clients == 1 { Op::Again { client: 0 } } else { Op::Turn };
    let path = 0..PATHS.len();
    prop_oneof![
        4 => (client.clone(), path.clone()).prop_map(|(client, path)| Op::Open { client, path }),
        2 => (client.clone(), path.clone(), any::<bool>())
            .prop_map(|(client, path, suppress)| Op::Close { client, path, suppress }),
        1 => (path.clone(), any::<bool>()).prop_map(|(path, accept)| Op::Decide { path, accept }),
        4 => (path, any::<bool>()).prop_map(|(path, accept)| Op::User { path, accept }),
        6 => prop::bool::weighted(0.9).prop_map(|can| Op::Editor { can }),
        8 => Just(Op::Turn),
        1 => Just(Op::Overdue),
        3 => client.clone().prop_map(|client| Op::Read { client }),
        2 => (client.clone(), 0..3_usize).prop_map(|(client, arrived)| Op::Cut { client, arrived }),
        2 => client.clone().prop_map(|client| Op::Back { client }),
        1 => Just(again),
        1 => client.prop_map(|client| Op::Leave { client }),
    ]
}
