//! The page: one HTML document with its style and its script, and the policy that allows these two and no others.

const FRAME: &str = include_str!("page/page.html");
const STYLE: &str = include_str!("page/page.css");
const SCRIPT: &str = include_str!("page/page.js");

/// Nothing is loaded from anywhere, nothing runs but this script, and it speaks to its own origin alone. A test compares
/// the digests with the files and says the right ones.
pub const POLICY: &str = "default-src 'none'; \
    script-src 'sha256-pIhLquoJD0Fzhk0nH0cyC1fjPk3v1IGVBrhOsxgKFmQ='; \
    style-src 'sha256-YlksIvzChsYV7jEJffcthhZYwiwg8vJFTzE4hK3fbow='; \
    connect-src 'self'; img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/// The page as it is sent.
#[must_use]
pub fn document() -> String {
    FRAME.replacen("/*style*/", STYLE, 1).replacen("/*script*/", SCRIPT, 1)
}
