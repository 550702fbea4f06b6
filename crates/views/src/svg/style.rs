//! Colours and icons of a saved picture. They come from the style sheets of the page, so that each colour is defined once.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::fmt::Write as _;

/// Source of colours and icons.
pub struct Style {
    token: Box<dyn Fn(&str) -> String>,
    /// Tokens read so far: a picture needs a few of them many times.
    known: RefCell<BTreeMap<String, String>>,
    icons: String,
}

impl Style {
    /// Creates a style from a function that returns a token's value (name without dashes), and the sprite of icons.
    pub fn new(token: impl Fn(&str) -> String + 'static, icons: String) -> Style {
        Style {
            token: Box::new(token),
            known: RefCell::default(),
            icons,
        }
    }

    /// Returns the style of the page in a theme, for native code. The page itself reads them from its document.
    #[cfg(not(target_arch = "wasm32"))]
    pub fn built_in(dark: bool) -> Style {
        const TOKENS: &str = include_str!("../../../../static/tokens.css");
        let (light, rest) = TOKENS
            .split_once("\n[data-theme=\"dark\"]")
            .unwrap_or((TOKENS, ""));
        let find = |sheet: &str, name: &str| {
            let (_, rest) = sheet.split_once(&format!("--{name}:"))?;
            Some(rest.split_once(';')?.0.trim().to_string())
        };
        let token = move |name: &str| {
            find(rest, name)
                .filter(|_| dark)
                .or_else(|| find(light, name))
                .unwrap_or_default()
        };
        Style::new(
            token,
            include_str!("../../../../static/icons.svg").to_string(),
        )
    }

    /// Returns the value of a token.
    pub(super) fn token(&self, name: &str) -> String {
        let mut known = self.known.borrow_mut();
        if let Some(value) = known.get(name) {
            return value.clone();
        }
        known
            .entry(name.to_owned())
            .or_insert_with(|| (self.token)(name))
            .clone()
    }

    /// Replaces each `$token` in a text by its value; a name ends where no letter, digit or single dash follows.
    pub(super) fn fill(&self, text: &str) -> String {
        let mut parts = text.split('$');
        let mut out = parts.next().unwrap_or_default().to_string();
        for part in parts {
            let end = part
                .find(|letter: char| !letter.is_ascii_alphanumeric() && letter != '-')
                .unwrap_or(part.len());
            out.push_str(&self.token(&part[..end]));
            out.push_str(&part[end..]);
        }
        out
    }

    /// Returns the symbol of an icon, with its colours written out. Clip paths within it refer to the sprite.
    pub(super) fn symbol(&self, name: &str) -> String {
        let Some((_, rest)) = self.icons.split_once(&format!("<symbol id=\"{name}\"")) else {
            return String::new();
        };
        let Some((body, _)) = rest.split_once("</symbol>") else {
            return String::new();
        };
        let mut out = format!("<symbol id=\"{name}\"");
        let mut parts = body.split("var(--");
        out.push_str(parts.next().unwrap_or_default());
        for part in parts {
            let (token, rest) = part.split_once(')').unwrap_or((part, ""));
            let _ = write!(out, "{}{rest}", self.token(token));
        }
        out + "</symbol>"
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colours_and_icons_are_those_of_the_page() {
        let (light, dark) = (Style::built_in(false), Style::built_in(true));
        assert_eq!(
            (light.token("bg").as_str(), dark.token("bg").as_str()),
            ("#F8F9FB", "#0E1116")
        );
        assert_eq!(
            light.fill(".edge{stroke:$edge;fill:$st-ready-soft}"),
            ".edge{stroke:#B9C1CE;fill:#E6F6ED}"
        );
        let symbol = light.symbol("pod-ready");
        assert!(
            symbol.contains("#1B9A59") && !symbol.contains("var("),
            "{symbol}"
        );
        assert_eq!(light.symbol("no-icon"), "");
    }
}
