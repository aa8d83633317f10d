use crate::{Spec, SpecError, sequential};

macro_rules! specs {
    ($($name:literal),+ $(,)?) => {
        [$(($name, include_str!(concat!("../specs/", $name, ".toml")))),+]
    };
}

/// Names and texts of the experiments that come with the project, in the order in which all of them run.
pub const SHIPPED: [(&str, &str); 9] = specs![
    "fig5",
    "fig6a",
    "fig6b",
    "fig7",
    "fig8",
    "rivals",
    "rivals-open",
    "failover",
    "scale-out",
];

/// The shipped experiment of that name.
pub fn shipped(name: &str) -> Result<Spec, SpecError> {
    let found = SHIPPED.into_iter().find(|(shipped, _)| *shipped == name);
    let (name, text) = found.ok_or_else(|| SpecError::Unknown {
        name: name.to_owned(),
        names: format!("{}, {}", SHIPPED.map(|(name, _)| name).join(", "), sequential::NAME),
    })?;
    Spec::parse(name, text)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::campaign;

    #[test]
    fn all_are_sound_in_both_lengths() {
        for (name, _) in SHIPPED {
            let spec = shipped(name).unwrap_or_else(|error| panic!("{name}: {error}"));
            assert!(spec.repeats >= 3, "{name}");
            let quick = spec.quick();
            let runs = campaign::order(&quick).len() as u64;
            let whole = runs * (quick.load.seconds + quick.load.warm_up_s + 3);
            assert!(whole < 40, "{name}: QUICK=1 takes some {:?}", Duration::from_secs(whole));
        }
    }

    #[test]
    fn an_unknown_name_is_refused_with_those_known() {
        let error = shipped("fig9").unwrap_err().to_string();
        assert!(error.contains("\"fig9\"") && error.contains("fig6a"), "{error}");
    }
}
