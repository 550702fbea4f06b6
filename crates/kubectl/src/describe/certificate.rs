//! Descriptions of CertificateSigningRequests, whose subject is decoded from the request itself.
//!
//! Models `describeCertificateSigningRequest` of `kubectl/pkg/describe/describe.go`.

use super::page::{DescribePage, long, name, pairs};
use crate::printers::{age, certificate_state};
use k8s_model::base64;

/// Object identifiers in their DER encoding.
const COMMON_NAME: &[u8] = &[0x55, 4, 3];
const SERIAL_NUMBER: &[u8] = &[0x55, 4, 5];
const ALTERNATIVE_NAMES: &[u8] = &[0x55, 0x1d, 0x11];
const LISTS: [(&str, &[u8]); 7] = [
    ("Organization", &[0x55, 4, 10]),
    ("Organizational Unit", &[0x55, 4, 11]),
    ("Country", &[0x55, 4, 6]),
    ("Locality", &[0x55, 4, 7]),
    ("Province", &[0x55, 4, 8]),
    ("StreetAddress", &[0x55, 4, 9]),
    ("PostalCode", &[0x55, 4, 17]),
];
/// Types of alternative names, by their tags.
const NAMES: [(&str, u8); 4] = [
    ("DNS Names", 0x82),
    ("Email Addresses", 0x81),
    ("URIs", 0x86),
    ("IP Addresses", 0x87),
];
/// Maximum nesting of values.
const DEPTH: usize = 12;

/// DER value: tag and contents.
type Der<'d> = (u8, &'d [u8]);

/// Returns consecutive values; truncated ones are left out.
fn values(mut bytes: &[u8]) -> Vec<Der<'_>> {
    let mut found = Vec::new();
    while let [tag, first, rest @ ..] = bytes {
        let (length, rest) = match usize::from(*first) {
            short @ 0..=0x7f => (short, rest),
            long => {
                let digits = long - 0x80;
                let Some((digits, rest)) = rest.split_at_checked(digits).filter(|_| digits <= 4)
                else {
                    break;
                };
                (
                    digits
                        .iter()
                        .fold(0, |length, digit| length << 8 | usize::from(*digit)),
                    rest,
                )
            }
        };
        let Some((content, rest)) = rest.split_at_checked(length) else {
            break;
        };
        found.push((*tag, content));
        bytes = rest;
    }
    found
}

/// Collects every pair of an object identifier and the value after it, at any depth.
fn named<'d>(bytes: &'d [u8], depth: usize, found: &mut Vec<(&'d [u8], Der<'d>)>) {
    let all = values(bytes);
    if let [(6, id), .., value] = all[..] {
        found.push((id, value));
    }
    for (tag, content) in all {
        // Sequences, sets and tagged values contain other values.
        if tag & 0x20 != 0 && depth < DEPTH {
            named(content, depth + 1, found);
        }
    }
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// Prints a list such as `Organization:`, one value per line.
fn list(page: &mut DescribePage<'_>, title: &str, all: &[String]) {
    if !all.is_empty() {
        page.line(format!("\t{title}:\t{}", all.join("\n\t\t")));
    }
}

pub fn request(page: &mut DescribePage<'_>) {
    let row = page.row;
    page.line(format!("Name:\t{}", name(row.object)));
    page.text
        .push_str(&pairs("Labels", row.at("/metadata/labels"), '='));
    let annotations = row
        .at("/metadata/annotations")
        .as_object()
        .into_iter()
        .flatten();
    let annotations: Vec<String> = annotations
        .map(|(key, value)| format!("{key}={}", value.as_str().unwrap_or("")))
        .collect();
    page.line(format!(
        "Annotations:\t{}",
        if annotations.is_empty() {
            "<none>".to_owned()
        } else {
            annotations.join("\n\t")
        }
    ));
    page.line(format!(
        "CreationTimestamp:\t{}",
        long(row, "/metadata/creationTimestamp")
    ));
    page.line(format!("Requesting User:\t{}", row.text("/spec/username")));
    page.line(format!("Signer:\t{}", row.text("/spec/signerName")));
    if let Some(seconds) = row.at("/spec/expirationSeconds").as_i64() {
        page.line(format!("Requested Duration:\t{}", age::human(seconds)));
    }
    page.line(format!("Status:\t{}", certificate_state(row)));
    let lines = base64::decoded(row.text("/spec/request"));
    let lines: String = lines
        .lines()
        .filter(|line| !line.starts_with("-----"))
        .collect();
    let der = base64::bytes(&lines).unwrap_or_default();
    let mut found = Vec::new();
    named(&der, 0, &mut found);
    let all = |id: &[u8]| -> Vec<String> {
        found
            .iter()
            .filter(|(of, _)| *of == id)
            .map(|(_, (_, value))| text(value))
            .collect()
    };
    let one = |id: &[u8]| all(id).pop().unwrap_or_default();
    page.line(format!(
        "Subject:\n\tCommon Name:\t{}\n\tSerial Number:\t{}",
        one(COMMON_NAME),
        one(SERIAL_NUMBER)
    ));
    for (title, id) in LISTS {
        list(page, title, &all(id));
    }
    let names = found
        .iter()
        .find(|(id, _)| *id == ALTERNATIVE_NAMES)
        .map_or(&[][..], |(_, (_, value))| value);
    let names: Vec<Der<'_>> = values(names)
        .into_iter()
        .flat_map(|(_, inner)| values(inner))
        .collect();
    if !names.is_empty() {
        page.line("Subject Alternative Names:");
    }
    for (title, tag) in NAMES {
        let shown = |value: &[u8]| match (tag, <[u8; 4]>::try_from(value)) {
            (0x87, Ok(address)) => std::net::Ipv4Addr::from(address).to_string(),
            (0x87, Err(_)) => <[u8; 16]>::try_from(value)
                .map(|address| std::net::Ipv6Addr::from(address).to_string())
                .unwrap_or_default(),
            _ => text(value),
        };
        let all: Vec<String> = names
            .iter()
            .filter(|(of, _)| *of == tag)
            .map(|(_, value)| shown(value))
            .collect();
        list(page, title, &all);
    }
}
