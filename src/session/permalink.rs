//! A link that holds everything: `#pako:` and the base64url of a zlib stream of versioned JSON, so that
//! nothing is sent to a server. All fields but the version are optional; an unknown prefix is refused with words.

use crate::i18n::{Message, msg};
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde::{Deserialize, Serialize};

/// More than this is not unpacked: a link is untrusted input.
const MAX_UNPACKED_BYTES: usize = 4 << 20;

/// What a link holds.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Link {
    /// Version of this format: 1.
    #[serde(default)]
    pub v: u32,
    /// The text of the editor.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub manifest: Option<String>,
    /// The seed of the run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seed: Option<u64>,
    /// The diagram that is shown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub view: Option<String>,
}

/// The fragment of an address, with its `#`.
pub fn encode(link: &Link) -> String {
    let json = serde_json::to_vec(link).unwrap_or_default();
    let packed = miniz_oxide::deflate::compress_to_vec_zlib(&json, 9);
    format!("#pako:{}", URL_SAFE_NO_PAD.encode(packed))
}

/// Reads a fragment. `Ok(None)` when there is none; the error is words for the reader.
pub fn decode(fragment: &str) -> Result<Option<Link>, Message> {
    let text = fragment.strip_prefix('#').unwrap_or(fragment);
    if text.is_empty() {
        return Ok(None);
    }
    unpack(text).map(Some)
}

fn unpack(text: &str) -> Result<Link, Message> {
    let Some((prefix, body)) = text.split_once(':') else {
        return Err(msg::link_unknown("pako:"));
    };
    let bytes =
        URL_SAFE_NO_PAD.decode(body.trim_end_matches('=').replace('+', "-").replace('/', "_")).map_err(|_| msg::link_not_base64())?;
    let json = match prefix {
        "pako" => {
            miniz_oxide::inflate::decompress_to_vec_zlib_with_limit(&bytes, MAX_UNPACKED_BYTES).map_err(|_| msg::link_not_deflate())?
        }
        "base64" if bytes.len() <= MAX_UNPACKED_BYTES => bytes,
        _ => return Err(msg::link_prefix(format!("{prefix}:"))),
    };
    let link: Link = serde_json::from_slice(&json).map_err(|_| msg::link_not_json())?;
    if link.v != 1 {
        return Err(msg::link_version(link.v));
    }
    Ok(link)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_link_round_trips() {
        let link = Link { v: 1, manifest: Some("kind: Pod\n# 控制器\n".into()), seed: Some(7), view: Some("storage".into()) };
        let text = encode(&link);
        assert!(text.starts_with("#pako:"));
        assert!(!text.contains('=') && !text.contains('+') && !text[1..].contains('#'));
        assert_eq!(decode(&text), Ok(Some(link)));
    }

    #[test]
    fn a_stored_link_is_read_too() {
        let text = format!("#base64:{}", URL_SAFE_NO_PAD.encode(r#"{"v":1,"manifest":"a"}"#));
        assert_eq!(decode(&text).unwrap().unwrap().manifest.as_deref(), Some("a"));
    }

    #[test]
    fn what_is_not_a_link_is_refused_with_words() {
        assert_eq!(decode(""), Ok(None));
        assert!(decode("#hello").is_err());
        assert!(decode("#gzip:AAAA").unwrap_err().contains("gzip"));
        assert!(decode("#pako:%%%").unwrap_err().contains("base64url"));
        assert!(decode("#pako:AAAA").is_err());
        let newer = Link { v: 9, ..Link::default() };
        assert!(decode(&encode(&newer)).unwrap_err().contains("version 9"));
    }

    #[test]
    fn a_decompression_bomb_is_not_unpacked() {
        let packed = miniz_oxide::deflate::compress_to_vec_zlib(&vec![b' '; MAX_UNPACKED_BYTES + 1], 9);
        assert!(decode(&format!("#pako:{}", URL_SAFE_NO_PAD.encode(packed))).is_err());
    }
}
