use std::net::SocketAddr;

use clap::Parser;

/// The status page of a gateway in a terminal, anew each second; Ctrl-C ends it
#[derive(Debug, Clone, Parser)]
#[command(version)]
pub(crate) struct Options {
    /// Where the status page is, as ip:port
    #[arg(long, default_value = "127.0.0.1:9902")]
    pub(crate) at: SocketAddr,
    /// The id of a filter, where there are several
    #[arg(long, value_parser = filter_id)]
    pub(crate) filter: Option<String>,
    /// Show it once and end
    #[arg(long)]
    pub(crate) once: bool,
    /// Most servers that are shown, the busiest first
    #[arg(long, default_value_t = 20, value_parser = clap::value_parser!(u16).range(1..=5_000))]
    pub(crate) rows: u16,
}

impl Options {
    /// Unless NO_COLOR is set.
    pub(crate) fn color(&self) -> bool {
        std::env::var_os("NO_COLOR").is_none()
    }
}

fn filter_id(text: &str) -> Result<String, String> {
    let sound = text.len() == 16 && text.bytes().all(|byte| byte.is_ascii_hexdigit());
    sound.then(|| text.to_owned()).ok_or_else(|| "allowed: the 16 digits of an id".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bad_value_is_named_with_what_is_allowed() {
        let error = |arguments: [&str; 3]| {
            Options::try_parse_from(arguments).map(drop).map_err(|error| error.to_string())
        };
        let at = error(["top", "--at", "localhost"]).unwrap_err();
        assert!(at.contains("'localhost'") && at.contains("socket address"), "{at}");
        let filter = error(["top", "--filter", "rudolph"]).unwrap_err();
        assert!(filter.contains("'rudolph'") && filter.contains("16 digits"), "{filter}");
        assert!(error(["top", "--rows", "0"]).unwrap_err().contains("1..=5000"));
    }
}
