/// What may be set on the command line, each as `--name number`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Options {
    /// How many times all contenders are started.
    pub(crate) sittings: usize,
    /// In each sitting.
    pub(crate) rounds: usize,
    /// Requests of one contender in one round.
    pub(crate) requests: usize,
    /// Connections, kept open; one request at a time on each.
    pub(crate) connections: usize,
    pub(crate) keys: u64,
    pub(crate) seed: u64,
}

impl Default for Options {
    fn default() -> Self {
        Self { sittings: 9, rounds: 11, requests: 5_000, connections: 16, keys: 100_000, seed: 1 }
    }
}

impl Options {
    pub(crate) fn from_arguments(arguments: impl Iterator<Item = String>) -> Result<Self, String> {
        let mut options = Self::default();
        let mut arguments = arguments;
        while let Some(name) = arguments.next() {
            let value = arguments.next().ok_or_else(|| format!("{name} needs a number"))?;
            match name.as_str() {
                "--sittings" => options.sittings = number(&name, &value, 1, 1000)?,
                "--rounds" => options.rounds = number(&name, &value, 1, 1000)?,
                "--requests" => options.requests = number(&name, &value, 100, 10_000_000)?,
                "--connections" => options.connections = number(&name, &value, 1, 1000)?,
                "--keys" => options.keys = number(&name, &value, 1, 100_000_000)? as u64,
                "--seed" => options.seed = number(&name, &value, 0, 1 << 48)? as u64,
                _ => {
                    return Err(format!(
                        "{name} is unknown; allowed are --sittings, --rounds, --requests, --connections, --keys and --seed"
                    ));
                }
            }
        }
        Ok(options)
    }
}

fn number(name: &str, value: &str, least: usize, most: usize) -> Result<usize, String> {
    let parsed = value.parse().ok().filter(|number| (least..=most).contains(number));
    parsed.ok_or_else(|| {
        format!("{name} is {value:?}; allowed are whole numbers from {least} to {most}")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(line: &str) -> Result<Options, String> {
        Options::from_arguments(line.split_whitespace().map(str::to_owned))
    }

    #[test]
    fn takes_what_is_given_and_keeps_the_rest() {
        let expected = Options { rounds: 2, keys: 9, ..Options::default() };
        assert_eq!(parse("--rounds 2 --keys 9"), Ok(expected));
    }

    #[test]
    fn says_what_is_allowed() {
        let message = "--rounds is \"0\"; allowed are whole numbers from 1 to 1000";
        assert_eq!(parse("--rounds 0"), Err(message.to_owned()));
        assert_eq!(parse("--rounds"), Err("--rounds needs a number".to_owned()));
        assert!(
            parse("--what 1").unwrap_err().starts_with("--what is unknown; allowed are --sittings")
        );
    }
}
