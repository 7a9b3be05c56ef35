//! Measures the start-up cost of each further discovery file (see docs/contributing/benchmarks.md).
//!
//! Servers start alternately with one file and with two, in a separate home folder.

#![expect(clippy::print_stdout, reason = "it reports")]

#[path = "common/no_editor.rs"]
mod no_editor;

use std::error::Error;
use std::path::Path;
use std::process::Command;
use std::sync::Arc;
use std::time::{Duration, Instant};
use std::{env, fs, thread};

use companion_protocol::profile::{self, Base};
use companion_protocol::settings::Settings;
use companion_server::{Config, Runtime, Server};
use no_editor::NoEditor;

const ROUNDS: usize = 2_000;

fn main() -> Result<(), Box<dyn Error>> {
    if env::args().nth(1).is_some() {
        return measure();
    }
    let home = tempfile::tempdir()?;
    let mut again = Command::new(env::current_exe()?);
    again.arg("here").envs(["HOME", "TMPDIR"].map(|name| (name, home.path())));
    for profile in profile::ALL {
        if let Base::Own { variable, name } = profile.folder.base {
            fs::create_dir(home.path().join(name))?;
            again.env_remove(variable);
        }
    }
    again.status()?;
    Ok(())
}

fn measure() -> Result<(), Box<dyn Error>> {
    let runtime = Runtime::start()?;
    let all = profile::ALL;
    let mut times = all.map(|_| Vec::with_capacity(ROUNDS));
    let mut threads = all.map(|_| 0);
    for round in 0..ROUNDS {
        for turn in 0..all.len() {
            let last = (round + turn) % all.len(); // each case comes first equally often
            let settings = Settings { clients: all[..=last].to_vec(), ..Settings::default() };
            let begun = Instant::now();
            let server = Server::open(&runtime, Config::new(settings), Arc::new(NoEditor))?;
            times[last].push(begun.elapsed());
            if round + 1 == ROUNDS {
                thread::sleep(Duration::from_secs(1)); // until the search for stale files has ended
                threads[last] = running_threads();
            }
            server.stop();
        }
    }
    for (times, threads) in times.iter_mut().zip(threads) {
        times.sort_unstable();
        let [p10, p50, p90] = [1, 5, 9].map(|tenths| times[ROUNDS * tenths / 10].as_micros());
        println!("start {p50} µs ({p10}–{p90}), {threads} threads");
    }
    Ok(())
}

/// Returns the number of threads of this process, or 0 if the system has no file that states it.
fn running_threads() -> usize {
    fs::read_dir(Path::new("/proc/self/task")).map_or(0, Iterator::count)
}
