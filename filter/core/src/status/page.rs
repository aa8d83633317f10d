//! The page: one HTML document with its style and its script, and the policy that allows these two and no others.

use super::sha256::{base64, sha256};

const FRAME: &str = include_str!("page/page.html");
const STYLE: &str = include_str!("page/page.css");
const SCRIPT: &str = include_str!("page/page.js");

/// The page as it is sent.
#[must_use]
pub fn document() -> String {
    FRAME.replacen("/*style*/", STYLE, 1).replacen("/*script*/", SCRIPT, 1)
}

/// Nothing is loaded from anywhere, nothing runs but this script, and it speaks to its own origin alone.
#[must_use]
pub fn policy() -> String {
    let hash = |text: &str| base64(&sha256(text.as_bytes()));
    format!(
        "default-src 'none'; script-src 'sha256-{}'; style-src 'sha256-{}'; connect-src 'self'; \
         img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
        hash(SCRIPT),
        hash(STYLE)
    )
}
