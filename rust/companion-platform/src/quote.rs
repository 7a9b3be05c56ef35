//! Quotes values for shells. Each shell reads back exactly the value.

/// Quotes for sh, bash and zsh.
pub fn sh(value: &str) -> String {
    format!("'{}'", value.replace('\'', r"'\''"))
}

/// Quotes for fish, where a backslash has a meaning within quotes.
pub fn fish(value: &str) -> String {
    format!("'{}'", value.replace('\\', r"\\").replace('\'', r"\'"))
}

/// Quotes for PowerShell, where curly quotes are also quotes.
pub fn powershell(value: &str) -> String {
    let mut quoted = String::from("'");
    for c in value.chars() {
        if matches!(c, '\'' | '‘' | '’' | '‚' | '‛') {
            quoted.push(c);
        }
        quoted.push(c);
    }
    quoted + "'"
}

/// Formats one word of a command line, with quotes only if necessary.
pub fn word(value: &str) -> String {
    let plain = |c: char| c.is_alphanumeric() || "/._-+@:,%=".contains(c);
    if !value.is_empty() && value.chars().all(plain) { value.to_owned() } else { sh(value) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn curly_quotes_are_quotes_in_powershell() {
        assert_eq!(powershell("a‘b’c'd"), "'a‘‘b’’c''d'");
    }

    #[cfg(unix)]
    #[test]
    fn a_shell_reads_back_the_value() {
        for value in ["a b", "$HOME `id` \"x\" \\ !", "it's", "", "-n", "a\nb\n\n", "é😀*?[", "~"]
        {
            for quoted in [sh(value), word(value)] {
                let script = format!("printf '%s|' {quoted}");
                let output = std::process::Command::new("sh").args(["-c", &script]).output();
                let output = output.expect("there is a shell");
                assert_eq!(String::from_utf8_lossy(&output.stdout), format!("{value}|"));
            }
        }
    }
}
