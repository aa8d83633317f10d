use std::fs;
use std::path::PathBuf;

use crate::{KeepList, TrimError};

pub const USAGE: &str = "usage: rudolph-trim-exports (--keep NAME[=SYMBOL],... | --keep-file FILE) INPUT.wasm OUTPUT.wasm";

/// The command line, parsed and with its keep-list read.
#[derive(Debug)]
pub struct Args {
    pub keep: KeepList,
    pub input: PathBuf,
    pub output: PathBuf,
}

impl Args {
    pub fn parse(arguments: impl IntoIterator<Item = String>) -> Result<Self, TrimError> {
        let mut keep = None;
        let mut paths = Vec::new();
        let mut arguments = arguments.into_iter();
        while let Some(argument) = arguments.next() {
            match argument.as_str() {
                "--keep" => {
                    set_once(&mut keep, KeepList::from_commas(&value(&argument, &mut arguments)?)?)?
                }
                "--keep-file" => {
                    set_once(&mut keep, read_list(&value(&argument, &mut arguments)?)?)?
                }
                flag if flag.starts_with('-') => return usage(format!("unknown option {flag}")),
                path => paths.push(PathBuf::from(path)),
            }
        }
        let Some(keep) = keep else {
            return usage("no keep-list given".to_owned());
        };
        let count = paths.len();
        let Ok([input, output]) = <[PathBuf; 2]>::try_from(paths) else {
            return usage(format!("expected 2 files, got {count}"));
        };
        Ok(Self { keep, input, output })
    }
}

fn usage<T>(argument: String) -> Result<T, TrimError> {
    Err(TrimError::Usage { argument })
}

fn value(flag: &str, rest: &mut impl Iterator<Item = String>) -> Result<String, TrimError> {
    rest.next().map_or_else(|| usage(format!("{flag} needs a value")), Ok)
}

fn set_once(slot: &mut Option<KeepList>, list: KeepList) -> Result<(), TrimError> {
    if slot.replace(list).is_some() {
        return usage("more than one keep-list given".to_owned());
    }
    Ok(())
}

fn read_list(path: &str) -> Result<KeepList, TrimError> {
    let text = fs::read_to_string(path)
        .map_err(|source| TrimError::Read { path: PathBuf::from(path), source })?;
    KeepList::from_lines(&text)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(line: &str) -> Result<Args, TrimError> {
        Args::parse(line.split(' ').filter(|word| !word.is_empty()).map(str::to_owned))
    }

    #[test]
    fn takes_a_list_and_two_files() {
        let args = parse("--keep a,b in.wasm out.wasm").unwrap();
        assert_eq!(args.keep, KeepList::from_commas("a,b").unwrap());
        assert_eq!(args.input, PathBuf::from("in.wasm"));
        assert_eq!(args.output, PathBuf::from("out.wasm"));
    }

    #[test]
    fn says_what_is_wrong() {
        for (line, expected) in [
            ("in out", "no keep-list"),
            ("--keep", "--keep needs a value"),
            ("--keep a in", "expected 2 files, got 1"),
            ("--keep a --keep b in out", "more than one keep-list"),
            ("--drop a in out", "unknown option --drop"),
            ("--keep-file /no/such/list in out", "cannot read /no/such/list"),
        ] {
            let message = parse(line).unwrap_err().to_string();
            assert!(message.contains(expected), "{line}: {message}");
        }
    }
}
