//! Values that serde's derived readers would refuse without a helpful word.

use std::fmt;

use serde::de::{Deserialize, Deserializer, Error, MapAccess, Visitor};

use super::Strategy;
use super::raw::{KeySource, Mode, Source};

/// One of a few words; any other value is refused with all of them.
struct Words<T: 'static>(&'static [(&'static str, T)]);

impl<T: Copy> Visitor<'_> for Words<T> {
    type Value = T;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let words: Vec<&str> = self.0.iter().map(|(word, _)| *word).collect();
        write!(f, "one of {}", words.join(", "))
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<T, E> {
        let found = self.0.iter().find(|(word, _)| *word == text);
        found
            .map(|(_, value)| *value)
            .ok_or_else(|| E::invalid_value(serde::de::Unexpected::Str(text), &self))
    }
}

impl<'de> Deserialize<'de> for Strategy {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_str(Words(&[
            ("spread", Self::Spread),
            ("pin", Self::Pin),
            ("rotation", Self::Rotation),
            ("lpt", Self::Lpt),
            ("static", Self::Static),
        ]))
    }
}

impl<'de> Deserialize<'de> for Mode {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_str(Words(&[("route", Self::Route), ("status", Self::Status)]))
    }
}

impl<'de> Deserialize<'de> for Source {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer
            .deserialize_str(Words(&[("static", Self::Static), ("envoy_admin", Self::EnvoyAdmin)]))
    }
}

/// The sources of a key that need a name or a number.
const NAMED: &[&str] = &["header", "cookie", "query_parameter", "path_segment"];

impl<'de> Deserialize<'de> for KeySource {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(KeySourceVisitor)
    }
}

struct KeySourceVisitor;

impl<'de> Visitor<'de> for KeySourceVisitor {
    type Value = KeySource;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "\"path\", \"authority\", or an object with one of {}", NAMED.join(", "))
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<KeySource, E> {
        match text {
            "path" => Ok(KeySource::Path),
            "authority" => Ok(KeySource::Authority),
            other => Err(E::invalid_value(serde::de::Unexpected::Str(other), &self)),
        }
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<KeySource, A::Error> {
        let Some(kind) = map.next_key::<String>()? else {
            return Err(A::Error::invalid_length(0, &self));
        };
        let source = match kind.as_str() {
            "header" => KeySource::Header(map.next_value()?),
            "cookie" => KeySource::Cookie(map.next_value()?),
            "query_parameter" => KeySource::QueryParameter(map.next_value()?),
            "path_segment" => KeySource::PathSegment(map.next_value()?),
            other => return Err(A::Error::unknown_field(other, NAMED)),
        };
        if map.next_key::<String>()?.is_some() {
            return Err(A::Error::invalid_length(2, &self));
        }
        Ok(source)
    }
}
