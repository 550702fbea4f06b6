//! Image references: `[host[:port]/]name[:tag][@digest]`.

const INVALID: &str = "invalid reference format";

fn component(text: &str) -> bool {
    let parts = text.split(|c: char| c.is_ascii_lowercase() || c.is_ascii_digit());
    let edges = [text.chars().next(), text.chars().last()];
    edges
        .iter()
        .all(|edge| edge.is_some_and(|c| c.is_ascii_lowercase() || c.is_ascii_digit()))
        && parts.into_iter().all(|between| {
            matches!(between, "" | "." | "_" | "__") || between.bytes().all(|b| b == b'-')
        })
}

fn host(text: &str) -> bool {
    let (name, port) = text.split_once(':').unwrap_or((text, "0"));
    let label = |label: &str| {
        !label.is_empty()
            && !label.starts_with('-')
            && !label.ends_with('-')
            && label.chars().all(|c| c.is_ascii_alphanumeric() || c == '-')
    };
    name.split('.').all(label) && !port.is_empty() && port.bytes().all(|b| b.is_ascii_digit())
}

/// Returns the name without tag and digest, if the reference has a valid form.
fn name(image: &str) -> Option<&str> {
    let (rest, digest) = image
        .split_once('@')
        .map_or((image, None), |(rest, digest)| (rest, Some(digest)));
    let colon = rest.rfind(':').filter(|at| !rest[*at..].contains('/'));
    let (name, tag) = colon.map_or((rest, None), |at| (&rest[..at], Some(&rest[at + 1..])));
    let is_word = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let tag_fits = tag.is_none_or(|tag| {
        tag.len() <= 128
            && tag.starts_with(is_word)
            && tag.chars().all(|c| is_word(c) || c == '.' || c == '-')
    });
    let digest_fits = digest.is_none_or(|digest| {
        digest.split_once(':').is_some_and(|(algorithm, hex)| {
            algorithm.starts_with(|c: char| c.is_ascii_alphabetic())
                && algorithm
                    .chars()
                    .all(|c| c.is_ascii_alphanumeric() || "+.-_".contains(c))
                && hex.len() >= 32
                && hex.bytes().all(|b| b.is_ascii_hexdigit())
        })
    });
    (tag_fits && digest_fits).then_some(name)
}

/// Returns the error of an image reference, in the words of `reference.Parse`.
pub fn fault(image: &str) -> Option<&'static str> {
    let fits = name(image).is_some_and(|name| {
        let mut parts = name.split('/');
        let first = parts.next().unwrap_or("");
        let alone = !name.contains('/');
        (component(first) || !alone && host(first)) && parts.all(component)
    });
    (!fits).then_some(INVALID)
}

/// Returns the error of a reference with a registry and a path filled in, in the words of `reference.ParseNormalizedNamed`.
pub fn normalized_fault(image: &str) -> Option<String> {
    let first = image.split_once('/').map(|(first, _)| first);
    let registry = first.filter(|first| {
        first.contains(['.', ':']) || *first == "localhost" || first.chars().any(char::is_uppercase)
    });
    let path = match registry {
        Some(registry) => image[registry.len() + 1..].to_owned(),
        None if first.is_none() => format!("library/{image}"),
        None => image.to_owned(),
    };
    let remote = path.split(':').next().unwrap_or("");
    if remote.chars().any(char::is_uppercase) {
        return Some(format!(
            "{INVALID}: repository name ({remote}) must be lowercase"
        ));
    }
    fault(&format!("{}/{path}", registry.unwrap_or("docker.io"))).map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn references_are_told_from_other_texts() {
        for image in [
            "nginx",
            "nginx:1.25",
            "a/b-c__d.e:v_1",
            "Reg.io:5000/x/y",
            "localhost/x",
            "x@sha256:0123456789abcdef0123456789abcdef",
        ] {
            assert_eq!(
                (fault(image), normalized_fault(image)),
                (None, None),
                "{image}"
            );
        }
        for image in [
            "",
            "Nginx",
            "a b",
            "nginx:",
            "nginx:1:2",
            "a//b",
            "-x",
            "x@sha256:12",
            "nginx:né",
            "é",
            "a/:1",
            "a_-b",
        ] {
            assert_eq!(fault(image), Some(INVALID), "{image}");
            assert!(normalized_fault(image).is_some(), "{image}");
        }
        assert_eq!(
            normalized_fault("Nginx:1").as_deref(),
            Some("invalid reference format: repository name (library/Nginx) must be lowercase")
        );
        assert_eq!(normalized_fault("nginx:"), Some(INVALID.to_owned()));
    }
}
