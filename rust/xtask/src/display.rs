//! Provides a display for windows: the user's, or a virtual one with a window manager.

use std::env::var_os;
use std::ffi::OsString;
use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};

use crate::Result;

const SIZE: &str = "1600x1000x24";

/// Returns whether the user has a display. Only Linux needs a variable for it.
pub(crate) fn is_there() -> bool {
    !cfg!(target_os = "linux") || var_os("DISPLAY").is_some_and(|name| !name.is_empty())
}

/// The value for `$DISPLAY`. A virtual display ends when this is dropped.
pub(crate) struct Display {
    pub(crate) name: OsString,
    processes: Vec<Child>,
}

impl Display {
    /// Opens the user's display, or else a virtual one, and prints which.
    pub(crate) fn open() -> Result<Self> {
        if !is_there() {
            return Self::start_virtual();
        }
        Ok(Self { name: var_os("DISPLAY").unwrap_or_default(), processes: Vec::new() })
    }

    fn start_virtual() -> Result<Self> {
        let missing = |program: &str, error| {
            format!("there is no display, and {program} does not start: {error}")
        };
        // It takes an unused number, and writes the number when it is ready.
        let mut server = Command::new("Xvfb")
            .args(["-displayfd", "1", "-screen", "0", SIZE, "-nolisten", "tcp"])
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .map_err(|error| missing("xvfb", error))?;
        let mut number = String::new();
        let output = server.stdout.take().ok_or("Xvfb has no output")?;
        let mut display = Self { name: OsString::new(), processes: vec![server] };
        BufReader::new(output).read_line(&mut number)?;
        if number.trim().is_empty() {
            return Err("Xvfb has ended at once".into());
        }
        let name = format!(":{}", number.trim());
        let manager = Command::new("openbox").env("DISPLAY", &name).stderr(Stdio::null()).spawn();
        display.processes.push(manager.map_err(|error| missing("openbox", error))?);
        println!("There is no display, so windows open on a virtual one. See them with");
        println!("  DISPLAY={name} import -window root screenshot.png");
        display.name = name.into();
        Ok(display)
    }
}

impl Drop for Display {
    fn drop(&mut self) {
        for process in self.processes.iter_mut().rev() {
            // It may have ended already.
            let _ = process.kill();
            let _ = process.wait();
        }
    }
}
