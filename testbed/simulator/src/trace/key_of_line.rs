//! Where the key stands in a line.

use regex::bytes::Regex;

/// How a line is read.
#[derive(Clone, Debug)]
pub enum KeyOfLine {
    /// The line is the key.
    Line,
    /// The path of the request in an access log: the second word of the first quoted field.
    Path,
    /// The n-th field from 1, separated by blanks; quotes and brackets hold a field together.
    Field(usize),
    /// A field of a JSON object.
    Json(String),
    /// The first group of a regular expression, or all that it matches.
    Regex(Regex),
}

impl KeyOfLine {
    /// Reads what the command line gives.
    ///
    /// # Errors
    /// What is allowed.
    pub fn parse(text: &str) -> Result<Self, String> {
        let allowed = "allowed: line, path, field:N, json:NAME, regex:EXPRESSION";
        match text.split_once(':') {
            None if text == "line" => Ok(Self::Line),
            None if text == "path" => Ok(Self::Path),
            Some(("field", number)) => match number.parse() {
                Ok(number @ 1..=1000) => Ok(Self::Field(number)),
                _ => Err(format!("field {number:?} is no number from 1 to 1000")),
            },
            Some(("json", name)) if !name.is_empty() => Ok(Self::Json(name.to_owned())),
            Some(("regex", expression)) => Regex::new(expression).map(Self::Regex).map_err(|e| {
                let text = e.to_string();
                format!("regular expression {expression:?}: {}", text.lines().last().unwrap_or(""))
            }),
            _ => Err(format!("{text:?} is no way to find a key; {allowed}")),
        }
    }

    /// The key of a line, if it has one.
    #[must_use]
    pub fn find<'a>(&self, line: &'a [u8], json: &'a mut Vec<u8>) -> Option<&'a [u8]> {
        let key = match self {
            Self::Line => line,
            Self::Path => {
                let request = fields(line).find(|field| field.first() == Some(&b'"'))?;
                let mut words = unquoted(request).split(|&byte| byte == b' ');
                words.nth(1)?
            }
            Self::Field(number) => unquoted(fields(line).nth(number - 1)?),
            Self::Json(name) => return json_field(line, name, json),
            Self::Regex(expression) => {
                let found = expression.captures(line)?;
                found.get(1).or_else(|| found.get(0))?.as_bytes()
            }
        };
        (!key.is_empty()).then_some(key)
    }
}

/// The fields of a line, quotes and brackets still on.
fn fields(line: &[u8]) -> impl Iterator<Item = &[u8]> {
    let mut rest = line;
    std::iter::from_fn(move || {
        let start = rest.iter().position(|&byte| byte != b' ' && byte != b'\t')?;
        rest = &rest[start..];
        let (field, after) = rest.split_at(field_length(rest));
        rest = after;
        Some(field)
    })
}

fn field_length(rest: &[u8]) -> usize {
    let close = match rest.first() {
        Some(b'"') => b'"',
        Some(b'[') => b']',
        _ => return rest.iter().position(|byte| b" \t".contains(byte)).unwrap_or(rest.len()),
    };
    rest[1..].iter().position(|&byte| byte == close).map_or(rest.len(), |at| at + 2)
}

fn unquoted(field: &[u8]) -> &[u8] {
    match field {
        [b'"', inner @ .., b'"'] | [b'[', inner @ .., b']'] => inner,
        other => other,
    }
}

fn json_field<'a>(line: &[u8], name: &str, out: &'a mut Vec<u8>) -> Option<&'a [u8]> {
    let value: serde_json::Value = serde_json::from_slice(line).ok()?;
    out.clear();
    match value.get(name)? {
        serde_json::Value::String(text) => out.extend_from_slice(text.as_bytes()),
        serde_json::Value::Number(number) => out.extend_from_slice(number.to_string().as_bytes()),
        _ => return None,
    }
    (!out.is_empty()).then_some(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    const LOG: &[u8] = br#"[2026-01-02T03:04:05.678Z] "GET /users/42?x=1 HTTP/1.1" 200 - 0 12 3 2 "-" "curl/8" "id" "host" "10.0.0.1:80""#;

    fn found(how: &str, line: &[u8]) -> Option<String> {
        let mut scratch = Vec::new();
        let key = KeyOfLine::parse(how).unwrap().find(line, &mut scratch).map(<[u8]>::to_vec);
        key.map(|key| String::from_utf8(key).unwrap())
    }

    #[test]
    fn keys_are_found() {
        let some = |text: &str| Some(text.to_owned());
        assert_eq!(found("line", b"abc def"), some("abc def"));
        assert_eq!(found("path", LOG), some("/users/42?x=1"));
        assert_eq!(found("field:1", LOG), some("2026-01-02T03:04:05.678Z"));
        assert_eq!(found("field:3", LOG), some("200"));
        assert_eq!(found("field:10", LOG), some("curl/8"));
        assert_eq!(found("regex:/users/([0-9]+)", LOG), some("42"));
        assert_eq!(found("regex:/users/[0-9]+", LOG), some("/users/42"));
        assert_eq!(found("json:user", br#"{"user":"ann","n":7}"#), some("ann"));
        assert_eq!(found("json:n", br#"{"user":"ann","n":7}"#), some("7"));
    }

    #[test]
    fn lines_without_a_key_have_none() {
        for (how, line) in [
            ("line", &b""[..]),
            ("path", b"no quotes"),
            ("path", b"\"GET\""),
            ("path", b"\"GET /a"),
            ("field:3", b"a b"),
            ("field:1", b"\"\""),
            ("json:user", b"{\"user\":null}"),
            ("json:user", b"not json"),
            ("regex:x(y)?z", b"abc"),
        ] {
            let expected = (how == "path" && line == b"\"GET /a").then(|| "/a".to_owned());
            assert_eq!(found(how, line), expected, "{how} in {line:?}");
        }
    }

    #[test]
    fn refusals_say_what_is_allowed() {
        for (text, expected) in [
            ("lines", "allowed: line, path, field:N"),
            ("field:0", "is no number from 1 to 1000"),
            ("regex:(", "regular expression"),
        ] {
            let refusal = KeyOfLine::parse(text).unwrap_err();
            assert!(refusal.contains(expected) && !refusal.contains('\n'), "{refusal}");
        }
    }
}
