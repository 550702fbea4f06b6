//! Image registry: decides which images exist.
//!
//! Nothing is pulled, and an unknown image is assumed to exist, with any tag. For well-known official images the names and the form of
//! their tags are checked, so that a typo fails as it does in a cluster.

use k8s_model::image;

/// Words of a name or a tag that stand for an image that does not exist.
const MISSING: [&str; 9] = [
    "broken",
    "nonexist",
    "non-exist",
    "not-exist",
    "notexist",
    "nosuch",
    "no-such",
    "not-found",
    "nope",
];

/// Official images of the default registry.
const OFFICIAL: [&str; 46] = [
    "alpine",
    "bash",
    "busybox",
    "caddy",
    "cassandra",
    "centos",
    "consul",
    "couchdb",
    "debian",
    "elasticsearch",
    "fedora",
    "ghost",
    "golang",
    "haproxy",
    "hello-world",
    "httpd",
    "influxdb",
    "kibana",
    "logstash",
    "mariadb",
    "maven",
    "memcached",
    "mongo",
    "mysql",
    "nats",
    "neo4j",
    "nextcloud",
    "nginx",
    "node",
    "openjdk",
    "perl",
    "php",
    "postgres",
    "python",
    "rabbitmq",
    "redis",
    "registry",
    "ruby",
    "rust",
    "solr",
    "tomcat",
    "traefik",
    "ubuntu",
    "vault",
    "wordpress",
    "zookeeper",
];

/// Images of `registry.k8s.io` that Kubernetes' documentation uses.
const DOCUMENTED: [&str; 6] = [
    "busybox",
    "e2e-test-images/agnhost",
    "echoserver",
    "hpa-example",
    "nginx-slim",
    "pause",
];

/// Words in the tags of official images, besides versions.
const TAG_WORDS: [&str; 75] = [
    "alpha",
    "alpine",
    "amazoncorretto",
    "apache",
    "backports",
    "beta",
    "bionic",
    "bookworm",
    "builder",
    "bullseye",
    "buster",
    "canary",
    "cli",
    "community",
    "corretto",
    "current",
    "data",
    "debian",
    "dev",
    "ea",
    "eclipse",
    "edge",
    "enterprise",
    "focal",
    "forky",
    "fpm",
    "full",
    "glibc",
    "ibmjava",
    "jammy",
    "jdk",
    "jre",
    "latest",
    "linux",
    "lts",
    "ltsc",
    "mainline",
    "management",
    "meta",
    "minimal",
    "musl",
    "nanoserver",
    "nightly",
    "noble",
    "oldstable",
    "oracle",
    "oracular",
    "otel",
    "perl",
    "php",
    "plucky",
    "preview",
    "questing",
    "rawhide",
    "rc",
    "resolute",
    "rolling",
    "sapmachine",
    "scratch",
    "server",
    "sid",
    "slim",
    "stable",
    "stretch",
    "temurin",
    "testing",
    "trixie",
    "trusty",
    "ubi",
    "uclibc",
    "unstable",
    "windows",
    "windowsservercore",
    "xenial",
    "zts",
];

/// Reason why an image cannot be pulled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PullFault {
    /// The name is invalid.
    InvalidName,
    /// The repository does not exist.
    NoRepository,
    /// The repository has no such tag.
    NoTag,
}

/// Returns true if an image exists.
pub fn can_be_pulled(image: &str) -> bool {
    fault(image).is_none()
}

/// Returns true if an image without a registry is only assumed to exist because its name is unknown: `frobnicator:1.0`.
pub fn is_assumed(image: &str) -> bool {
    fault(image).is_none() && parts(image).is_some_and(|(_, name, _)| !OFFICIAL.contains(&name))
}

/// Returns the image with a corrected name, if the name is a typo of an official one.
pub fn corrected(image: &str) -> Option<String> {
    let (prefix, name, rest) = parts(image)?;
    let meant = misspelt(name)?;
    Some([prefix, meant, rest].concat())
}

/// Returns the reason why an image cannot be pulled, if any.
pub(super) fn fault(image: &str) -> Option<PullFault> {
    if image::normalized_fault(image).is_some() {
        return Some(PullFault::InvalidName);
    }
    if MISSING.iter().any(|word| has_word(image, word)) {
        return Some(PullFault::NoTag);
    }
    if let Some((name, tag)) = image
        .strip_prefix("registry.k8s.io/")
        .and_then(|rest| rest.split_once(':'))
        && DOCUMENTED.contains(&name)
    {
        return (!tag.contains('@') && !is_tag(name, tag)).then_some(PullFault::NoTag);
    }
    let (_, name, rest) = parts(image)?;
    if misspelt(name).is_some() {
        return Some(PullFault::NoRepository);
    }
    let tag = rest
        .strip_prefix(':')
        .filter(|tag| OFFICIAL.contains(&name) && !tag.contains('@'))?;
    (!is_tag(name, tag)).then_some(PullFault::NoTag)
}

/// Returns true if a whole word of an image's name or tag is the given one, or a form of it such as `nonexistent` and `doesnotexist`.
fn has_word(image: &str, word: &str) -> bool {
    image.match_indices(word).any(|(start, _)| {
        let (before, after) = (&image[..start], &image[start + word.len()..]);
        let before = before
            .strip_suffix("does")
            .filter(|_| word.starts_with("not"))
            .unwrap_or(before);
        let after = ["ent", "ing"]
            .into_iter()
            .filter(|_| word.ends_with("exist"))
            .find_map(|ending| after.strip_prefix(ending))
            .unwrap_or(after);
        let is_letter = |c: char| c.is_ascii_alphanumeric();
        !before.ends_with(is_letter) && !after.starts_with(is_letter)
    })
}

/// Splits an image without a registry into prefix, name and rest.
fn parts(image: &str) -> Option<(&str, &str, &str)> {
    let prefixes = ["docker.io/library/", "docker.io/", "library/", ""];
    let prefix = prefixes
        .into_iter()
        .find(|prefix| image.starts_with(prefix))?;
    let (prefix, rest) = image.split_at(prefix.len());
    let (name, rest) = rest.split_at(rest.find([':', '@']).unwrap_or(rest.len()));
    (!name.contains('/')).then_some((prefix, name, rest))
}

/// Returns true if an official image may have a tag: each part is a version or a word used in such tags.
fn is_tag(name: &str, tag: &str) -> bool {
    if name == "nginx" && !may_be_nginx(tag) {
        return false;
    }
    tag.split(['-', '_']).all(|part| {
        let word = part.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.');
        is_version(part.strip_prefix('v').unwrap_or(part)) || TAG_WORDS.contains(&word)
    })
}

/// Returns true if a tag of nginx may exist: all versions are 1.x, well below 1.60, with at most fifteen patch releases and no letters.
/// `nginx:2` is accepted, since people write it to get another image.
fn may_be_nginx(tag: &str) -> bool {
    let version = tag.split('-').next().unwrap_or(tag);
    let numbers: Vec<Option<u64>> = version.split('.').map(|part| part.parse().ok()).collect();
    match numbers[..] {
        [None, ..] => !version.starts_with(|c: char| c.is_ascii_digit()),
        [Some(major)] => major <= 9,
        [Some(1), Some(minor)] => minor < 60,
        [Some(1), Some(minor), Some(patch)] => minor < 60 && patch <= 15,
        _ => false,
    }
}

/// Returns true for a version: `1.27`, `3.13.0rc1`, `8u312`. Letters within it are at most two in a row, or a word of tags.
fn is_version(part: &str) -> bool {
    let mut letters = part
        .split(|c: char| !c.is_ascii_alphabetic())
        .filter(|run| !run.is_empty());
    part.starts_with(|c: char| c.is_ascii_digit())
        && letters.all(|run| run.len() <= 2 || TAG_WORDS.contains(&run))
}

/// Returns the official image of which this name is a typo: two letters swapped, or one missing or extra.
fn misspelt(name: &str) -> Option<&'static str> {
    if OFFICIAL.contains(&name) {
        return None;
    }
    OFFICIAL
        .into_iter()
        .filter(|known| known.len() > 4)
        .find(|known| is_slip(name.as_bytes(), known.as_bytes()))
}

fn is_slip(name: &[u8], known: &[u8]) -> bool {
    let same = name.iter().zip(known).take_while(|(a, b)| a == b).count();
    let (left, right) = (&name[same..], &known[same..]);
    match (left, right) {
        ([a, b, left @ ..], [c, d, right @ ..]) if (a, b) == (d, c) && left == right => true,
        ([extra, left @ ..], right) if left == right => extra.is_ascii_lowercase(),
        (left, [_, right @ ..]) => left == right,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::PullFault::{InvalidName, NoRepository, NoTag};
    use super::{MISSING, can_be_pulled, corrected, fault, is_assumed};

    #[test]
    fn slips_fail_and_what_nobody_knows_exists() {
        for (image, wanted) in [
            ("nginx", None),
            ("nginx:1.16.1", None),
            ("nginx:1.27-alpine-slim", None),
            ("nginx:stable-perl", None),
            ("nginx:2", None),
            (&format!("nginx@sha256:{}", "0".repeat(64)), None),
            ("docker.io/library/postgres:16-alpine3.19", None),
            ("python:slim-bookworm", None),
            ("php:8.3-fpm-alpine3.20", None),
            ("maven:3.9-eclipse-temurin-21", None),
            ("debian:bookworm-20240513-slim", None),
            ("python:3.13.0rc1", None),
            ("traefik:v3.0", None),
            ("tomcat:jre17", None),
            ("myapp:whatever", None),
            ("mango:1", None),
            ("ghcr.io/acme/nginx:wrong", None),
            ("acme/ngnix:1", None),
            ("1.161/nginx:1", None),
            ("nginx:1.161", Some(NoTag)),
            ("nginx:9.99.99", Some(NoTag)),
            ("nginx:1.99.99", Some(NoTag)),
            ("nginx:99", Some(NoTag)),
            ("nginx:1.27-oops", Some(NoTag)),
            ("nginx:1.27typo", Some(NoTag)),
            ("nginx:1.27x", Some(NoTag)),
            ("nginx:27x", Some(NoTag)),
            ("nginx:1.27.99", Some(NoTag)),
            ("nginx:1.15.12-alpine", None),
            ("nginx:mainline-alpine3.20", None),
            ("openjdk:8u312-jdk", None),
            ("registry.k8s.io/nginx-slim:0.24", None),
            ("registry.k8s.io/nginx-slim:0.99typo", Some(NoTag)),
            ("registry.k8s.io/other:0.99typo", None),
            ("redis:7-alpien", Some(NoTag)),
            ("nginx:doesnotexist", Some(NoTag)),
            ("nginx:wrong-tag", Some(NoTag)),
            ("docker.io/redis:typo", Some(NoTag)),
            ("myapp:does-not-exist", Some(NoTag)),
            ("ngnix:1.27", Some(NoRepository)),
            ("library/reddis", Some(NoRepository)),
            ("mysq:8", Some(NoRepository)),
            ("Nginx", Some(InvalidName)),
            ("acme/canopen-gateway:1", None),
            ("acme/unbroken:1", None),
            ("acme/app:nope", Some(NoTag)),
            ("acme/doesnotexist", Some(NoTag)),
            ("registry.example/nope/app:1", Some(NoTag)),
            ("example.com/nonexistent_app:1", Some(NoTag)),
        ] {
            assert_eq!(fault(image), wanted, "{image}");
        }
        assert_eq!(
            corrected("docker.io/ngnix:1.27").as_deref(),
            Some("docker.io/nginx:1.27")
        );
        assert_eq!(corrected("myapp:1"), None);
        let assumed = [
            "myapp:1",
            "frobnicator",
            "nginx:1.27",
            "registry.example/shop:1",
            "ngnix:1.27",
            "shop:broken",
        ]
        .map(is_assumed);
        assert_eq!(assumed, [true, true, false, false, false, false]);
    }

    #[test]
    fn the_sentence_about_images_names_exactly_those_that_cannot_be_pulled() {
        let said = i18n::msg::inspector_image_note().to_string();
        let quoted: Vec<&str> = said
            .split('“')
            .skip(1)
            .filter_map(|rest| rest.split('”').next())
            .collect();
        assert_eq!(quoted, MISSING);
        assert!(
            quoted
                .iter()
                .all(|word| !can_be_pulled(&format!("myapp:{word}")))
        );
        let examples: Vec<&str> = said
            .split([' ', ','])
            .map(|word| word.trim_end_matches('.'))
            .filter(|word| word.contains(':'))
            .collect();
        assert!(
            examples.len() > 2 && examples.iter().all(|image| !can_be_pulled(image)),
            "{examples:?}"
        );
    }
}
