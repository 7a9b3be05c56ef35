//! Measures whether the duration of a refusal reveals anything about the token (see docs/contributing/benchmarks.md).
//!
//! Sends requests with wrong tokens to a server, in a random order. The tokens are wrong in the
//! first digit, in the last digit, in all digits, or in length. An attacker sees only the duration
//! of each refusal. A second table has the durations of the comparison alone, and of a comparison
//! that stops at the first difference.

#![expect(clippy::print_stdout, reason = "it reports")]

#[path = "common/no_editor.rs"]
mod no_editor;

use std::error::Error;
use std::hash::{BuildHasher, RandomState};
use std::hint::black_box;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::sync::Arc;
use std::time::{Duration, Instant};

use companion_protocol::settings::Settings;
use companion_server::{Config, Runtime, Server};
use no_editor::NoEditor;
use subtle::ConstantTimeEq;

/// The number of requests of each kind.
const REQUESTS: usize = 100_000;
/// The number of comparisons that are timed together, and the number of batches.
const BATCH: u32 = 1_000;
const BATCHES: u32 = 2_000;

fn main() -> Result<(), Box<dyn Error>> {
    let dir = tempfile::tempdir()?;
    let mut config = Config::new(Settings::default());
    config.discovery_dir = Some(dir.path().to_owned());
    let runtime = Runtime::start()?;
    let server = Server::open(&runtime, config, Arc::new(NoEditor))?;
    let kinds = wrong(server.token());

    let mut stream = TcpStream::connect(("127.0.0.1", server.port()))?;
    stream.set_nodelay(true)?;
    let requests = kinds.each_ref().map(|(_, token)| {
        let port = server.port();
        format!(
            "GET /mcp HTTP/1.1\r\nhost: 127.0.0.1:{port}\r\nauthorization: Bearer {token}\r\n\r\n"
        )
    });
    let mut times = kinds.each_ref().map(|_| Vec::with_capacity(REQUESTS));
    let mut reply = [0; 4096];
    let random = RandomState::new();
    for number in 0..REQUESTS * kinds.len() {
        // In turns, so that a slow moment affects all kinds; in a random order, so that no cache
        // adapts.
        let kind = usize::try_from(random.hash_one(number) % kinds.len() as u64)?;
        let begun = Instant::now();
        stream.write_all(requests[kind].as_bytes())?;
        let count = stream.read(&mut reply)?;
        times[kind].push(begun.elapsed());
        assert!(reply[..count].starts_with(b"HTTP/1.1 401"), "it has to be refused");
    }
    println!(
        "a refusal over a socket, in µs     p1      p10     p50     p90     mean of p10 to p90"
    );
    for ((name, _), times) in kinds.iter().zip(&mut times) {
        times.sort_unstable();
        let at = |percent: usize| micros(times[times.len() * percent / 100]);
        let middle = &times[times.len() / 10..times.len() * 9 / 10];
        let mean = micros(middle.iter().sum()) / f64::from(u32::try_from(middle.len())?);
        let (p1, p10, p50, p90) = (at(1), at(10), at(50), at(90));
        println!("  {name:30} {p1:7.3} {p10:7.3} {p50:7.3} {p90:7.3} {mean:9.4}");
    }

    println!("the comparison alone, in ns        as it is     stopping at the first difference");
    for (name, token) in &kinds {
        let right = server.token().as_bytes();
        let constant = nanos(|| bool::from(black_box(token.as_bytes()).ct_eq(black_box(right))));
        let first = nanos(|| {
            let (a, b) = (black_box(token.as_bytes()), black_box(right));
            a.len() == b.len() && a.iter().zip(b).all(|(a, b)| a == b)
        });
        println!("  {name:30} {constant:10.2} {first:10.2}");
    }
    server.stop();
    Ok(())
}

/// Returns tokens that are wrong in different ways.
fn wrong(token: &str) -> [(&'static str, String); 5] {
    let other = |digit: u8| if digit == b'0' { '1' } else { '0' };
    let bytes = token.as_bytes();
    let last = bytes.len() - 1;
    [
        ("wrong in the first digit", format!("{}{}", other(bytes[0]), &token[1..])),
        ("wrong in the middle", {
            let middle = bytes.len() / 2;
            format!("{}{}{}", &token[..middle], other(bytes[middle]), &token[middle + 1..])
        }),
        ("wrong in the last digit", format!("{}{}", &token[..last], other(bytes[last]))),
        ("wrong in all", bytes.iter().map(|digit| other(*digit)).collect()),
        ("one digit short", token[..last].to_owned()),
    ]
}

fn micros(time: Duration) -> f64 {
    time.as_secs_f64() * 1e6
}

/// Returns the shortest duration of a comparison. Longer durations include other work.
fn nanos(compare: impl Fn() -> bool) -> f64 {
    let batch = |_| {
        let begun = Instant::now();
        for _ in 0..BATCH {
            assert!(!black_box(compare()));
        }
        begun.elapsed().as_secs_f64() * 1e9 / f64::from(BATCH)
    };
    (0..BATCHES).map(batch).fold(f64::INFINITY, f64::min)
}
