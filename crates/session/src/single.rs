//! The page as one file (`scripts/single.mjs`), filled with the link that it opens. Native; the page does the same in `editor/single.mjs`.

use super::permalink::Link;
use crate::permalink;

/// Placeholder in the file for the link that it opens with.
const EMPTY: &str = r#"window.loopscopeFile={"hash":"","query":""}"#;

/// Fills the file with the link that it opens with; `None` if the placeholder is missing.
pub fn fill(page: &str, link: &Link, title: &str) -> Option<String> {
    let hash = permalink::encode(link);
    let (before, after) = page.split_once(EMPTY)?;
    // Neither base64url nor a prefix needs an escape in JSON or HTML.
    let filled = format!(r#"{before}window.loopscopeFile={{"hash":"{hash}","query":""}}{after}"#);
    let title = title
        .replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;");
    let (head, rest) = filled.split_once("<title>")?;
    let (_, rest) = rest.split_once("</title>")?;
    Some(format!("{head}<title>{title}</title>{rest}"))
}

#[cfg(test)]
mod tests {
    use super::{EMPTY, fill};
    use crate::permalink::{Link, decode};

    #[test]
    fn a_manifest_and_its_title_are_written_into_the_file() {
        let page = format!(
            "<html><title>Loopscope</title><script>{EMPTY}</script>\n<script>code</script></html>"
        );
        let text = "kind: Pod # </script>\n";
        let link = Link {
            v: 1,
            manifest: Some(text.to_owned()),
            ..Link::default()
        };
        let filled = fill(&page, &link, "a <b>").unwrap();
        assert!(
            filled.contains("<title>a &lt;b&gt;</title>")
                && filled.ends_with("code</script></html>")
        );
        let hash = filled
            .split("\"hash\":\"")
            .nth(1)
            .and_then(|rest| rest.split('"').next())
            .unwrap();
        assert_eq!(
            decode(hash).unwrap().unwrap().manifest.as_deref(),
            Some(text)
        );
        assert_eq!(fill("<html></html>", &link, "a"), None);
    }
}
