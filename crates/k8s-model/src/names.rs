//! Formats of names, labels and percentages; each check returns the error, if any.
//!
//! Models `apimachinery/pkg/util/validation`. Written without regular expressions.

use crate::cidr::network;

fn alnum(c: u8) -> bool {
    c.is_ascii_lowercase() || c.is_ascii_digit()
}

fn is_label(text: &str) -> bool {
    let bytes = text.as_bytes();
    let ends = bytes.first().is_some_and(|c| alnum(*c)) && bytes.last().is_some_and(|c| alnum(*c));
    ends && bytes.iter().all(|c| alnum(*c) || *c == b'-')
}

fn is_subdomain(text: &str) -> bool {
    text.split('.').all(is_label)
}

fn too_long(limit: usize) -> Option<String> {
    Some(format!("must be no more than {limit} characters"))
}

const SUBDOMAIN: &str = "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', \
    and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is \
    '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')";
const LABEL: &str = "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must \
    start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is \
    '[a-z0-9]([-a-z0-9]*[a-z0-9])?')";
const LABEL_VALUE: &str = "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', \
    and must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used \
    for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')";
const NAME_PART: &str = "name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end \
    with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is \
    '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')";
const QUALIFIED: &str = "a valid label key must consist of alphanumeric characters, '-', '_' or '.', and must start and \
    end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is \
    '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]') with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')";

/// Checks a subdomain, as `example.com`.
pub fn subdomain(text: &str) -> Option<String> {
    if text.len() > 253 {
        return too_long(253);
    }
    (!is_subdomain(text)).then(|| SUBDOMAIN.to_owned())
}

const SUBDOMAIN_WITH_UNDERSCORES: &str = "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '_', '-' or '.', \
    and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is \
    '_?[a-z0-9]([-_a-z0-9]*[a-z0-9])?(\\._?[a-z0-9]([-_a-z0-9]*[a-z0-9])?)*')";

/// Checks a subdomain that may have underscores, as `_sip._tcp.example.com`; there may be several errors.
pub fn subdomain_with_underscores(text: &str) -> Vec<String> {
    let is_label = |label: &str| {
        let bytes = label.strip_prefix('_').unwrap_or(label).as_bytes();
        let ends =
            bytes.first().is_some_and(|c| alnum(*c)) && bytes.last().is_some_and(|c| alnum(*c));
        ends && bytes.iter().all(|c| alnum(*c) || matches!(c, b'-' | b'_'))
    };
    let mut faults = Vec::new();
    faults.extend(too_long(253).filter(|_| text.len() > 253));
    if !text.split('.').all(is_label) {
        faults.push(SUBDOMAIN_WITH_UNDERSCORES.to_owned());
    }
    faults
}

const WILDCARD: &str = "a wildcard DNS-1123 subdomain must start with '*.', followed by a valid DNS subdomain, which must consist of \
    lower case alphanumeric characters, '-' or '.' and end with an alphanumeric character (e.g. '*.example.com', regex used for \
    validation is '\\*\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')";

/// Checks a host, as `example.com` or `*.example.com`.
pub fn host(text: &str) -> Option<String> {
    if !text.contains('*') {
        return subdomain(text);
    }
    let good = text.strip_prefix("*.").is_some_and(is_subdomain);
    (!good).then(|| WILDCARD.to_owned())
}

/// Checks a path segment, as `system:node`.
pub fn path_segment(text: &str) -> Option<String> {
    let whole = [".", ".."]
        .into_iter()
        .find(|name| text == *name)
        .map(|name| format!("may not be '{name}'"));
    whole.or_else(|| {
        ["/", "%"]
            .into_iter()
            .find(|part| text.contains(*part))
            .map(|part| format!("may not contain '{part}'"))
    })
}

/// Checks a label, as `my-name`.
pub fn label(text: &str) -> Option<String> {
    if text.len() > 63 {
        return too_long(63);
    }
    if is_label(text) {
        None
    } else if is_subdomain(text) {
        Some("must not contain dots".to_owned())
    } else {
        Some(LABEL.to_owned())
    }
}

const DNS_1035_LABEL: &str = "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an \
    alphabetic character, and end with an alphanumeric character (e.g. 'my-name',  or 'abc-123', regex used for validation is \
    '[a-z]([-a-z0-9]*[a-z0-9])?')";

/// Checks a label that begins with a letter, as `my-name`.
pub fn dns_1035_label(text: &str) -> Option<String> {
    if text.len() > 63 {
        return too_long(63);
    }
    let is_valid = is_label(text) && text.starts_with(|c: char| c.is_ascii_lowercase());
    (!is_valid).then(|| DNS_1035_LABEL.to_owned())
}

fn is_value(text: &str) -> bool {
    let ends = |c: Option<&u8>| c.is_some_and(u8::is_ascii_alphanumeric);
    let bytes = text.as_bytes();
    ends(bytes.first())
        && ends(bytes.last())
        && bytes
            .iter()
            .all(|c| c.is_ascii_alphanumeric() || matches!(c, b'-' | b'_' | b'.'))
}

/// Checks a label's value.
pub fn is_label_value(text: &str) -> Option<String> {
    if text.len() > 63 {
        return Some("must be no more than 63 bytes".to_owned());
    }
    (!text.is_empty() && !is_value(text)).then(|| LABEL_VALUE.to_owned())
}

/// Checks a label key, also called qualified name, as `example.com/MyName`; there may be several errors.
pub fn is_qualified_name(text: &str) -> Vec<String> {
    let mut faults = Vec::new();
    let parts: Vec<&str> = text.split('/').collect();
    let name = match parts[..] {
        [name] => name,
        [prefix, name] => {
            if prefix.is_empty() {
                faults.push("prefix part must be non-empty".to_owned());
            } else if prefix.len() > 253 {
                faults.push("prefix part must be no more than 253 bytes".to_owned());
            } else if let Some(fault) = subdomain(prefix) {
                faults.push(format!("prefix part {fault}"));
            }
            name
        }
        _ => return vec![QUALIFIED.to_owned()],
    };
    if name.is_empty() {
        faults.push("name part must be non-empty".to_owned());
    } else if name.len() > 63 {
        faults.push("name part must be no more than 63 bytes".to_owned());
    }
    if !is_value(name) {
        faults.push(NAME_PART.to_owned());
    }
    faults
}

/// Checks a port name, as `http`.
pub fn port_name(text: &str) -> Vec<String> {
    let mut faults = Vec::new();
    if text.len() > 15 {
        faults.push("must be no more than 15 characters".to_owned());
    }
    if !text.bytes().all(|c| alnum(c) || c == b'-') {
        faults.push(
            "must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-)".to_owned(),
        );
    }
    if !text.bytes().any(|c| c.is_ascii_lowercase()) {
        faults.push("must contain at least one letter (a-z)".to_owned());
    }
    if text.contains("--") {
        faults.push("must not contain consecutive hyphens".to_owned());
    }
    if text.starts_with('-') || text.ends_with('-') {
        faults.push("must not begin or end with a hyphen".to_owned());
    }
    faults
}

/// Checks a percentage, as `25%`.
pub fn percent(text: &str) -> Option<String> {
    let good = text
        .strip_suffix('%')
        .is_some_and(|n| !n.is_empty() && n.bytes().all(|c| c.is_ascii_digit()));
    (!good).then(|| {
        "a valid percent string must be a numeric string followed by an ending '%' (e.g. '1%',  or '93%', regex used for \
         validation is '[0-9]+%')"
            .to_owned()
    })
}

/// Checks the name of an environment variable.
pub fn env_name(text: &str) -> Option<String> {
    let good = text
        .bytes()
        .all(|c| (b' '..=b'~').contains(&c) && c != b'=');
    (!good).then(|| "a valid environment variable name must consist only of printable ASCII characters other than '='".to_owned())
}

/// Checks a key of a ConfigMap or Secret; there may be several errors.
pub fn config_key(text: &str) -> Vec<String> {
    let mut faults = Vec::new();
    faults.extend(too_long(253).filter(|_| text.len() > 253));
    let good = !text.is_empty()
        && text
            .bytes()
            .all(|c| c.is_ascii_alphanumeric() || matches!(c, b'-' | b'_' | b'.'));
    if !good {
        faults.push(
            "a valid config key must consist of alphanumeric characters, '-', '_' or '.' (e.g. 'key.name',  or 'KEY_NAME',  \
             or 'key-name', regex used for validation is '[-._a-zA-Z0-9]+')"
                .to_owned(),
        );
    }
    match text {
        "." | ".." => faults.push(format!("must not be '{text}'")),
        _ if text.starts_with("..") => faults.push("must not start with '..'".to_owned()),
        _ => {}
    }
    faults
}

/// Checks a CIDR in the form that older fields accept.
pub fn cidr(text: &str) -> Option<String> {
    network(text)
        .is_none()
        .then(|| "must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)".to_owned())
}

/// Checks an IP address.
pub fn ip(text: &str) -> Option<String> {
    let good = text.parse::<std::net::IpAddr>().is_ok();
    (!good).then(|| "must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)".to_owned())
}
