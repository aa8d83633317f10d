//! The page as a browser gets it.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests may stop")]

use base64::{Engine, engine::general_purpose::STANDARD};
use rudolph_status::{POLICY, document};
use sha2::{Digest, Sha256};

#[test]
fn the_page_is_small_and_whole() {
    let page = document();
    assert!(page.len() < 60 * 1024, "{} bytes", page.len());
    assert!(!page.contains("/*style*/") && !page.contains("/*script*/"));
}

#[test]
fn the_policy_allows_the_pages_own_style_and_script() {
    let page = document();
    for element in ["style", "script"] {
        let text = page.split(&format!("<{element}>")).nth(1).unwrap();
        let text = text.split(&format!("</{element}>")).next().unwrap();
        let digest = STANDARD.encode(Sha256::digest(text.as_bytes()));
        let named = format!("{element}-src 'sha256-{digest}'");
        assert!(POLICY.contains(&named), "not in the policy: {named}");
    }
}
