//! Tests who gets the changes of CLIs.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::sync::Arc;

use http_body_util::Empty;
use hyper::{Request, StatusCode};

use crate::http::{ReadEnd, route};
use crate::tests::{PORT, Rig, TOKEN};

/// The status of a request from this address.
async fn ask(rig: &Rig, peer: IpAddr, token: &str) -> StatusCode {
    let request = Request::get("/changes")
        .header("host", format!("127.0.0.1:{PORT}"))
        .header("authorization", format!("Bearer {token}"));
    let request = request.body(Empty::new()).unwrap();
    let http = &rig.parts.http;
    let (slot, peer) = (http.slots.take(), SocketAddr::new(peer, 1));
    route(Arc::clone(http), &http.endpoint, request, &slot, &ReadEnd::default(), peer)
        .await
        .status()
}

#[tokio::test]
async fn only_a_program_with_the_token_on_this_machine_gets_the_changes() {
    let rig = Rig::start();
    let here = IpAddr::V4(Ipv4Addr::LOCALHOST);
    let mapped = IpAddr::V6(Ipv4Addr::LOCALHOST.to_ipv6_mapped());
    for peer in [here, "::1".parse().unwrap(), mapped] {
        assert_eq!(ask(&rig, peer, TOKEN).await, StatusCode::OK, "{peer}");
    }
    assert_eq!(ask(&rig, here, "another").await, StatusCode::UNAUTHORIZED);
    for peer in ["172.17.0.2", "fe80::1", "::ffff:10.0.0.1"] {
        assert_eq!(ask(&rig, peer.parse().unwrap(), TOKEN).await, StatusCode::FORBIDDEN, "{peer}");
    }
}
