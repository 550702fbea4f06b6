//! Short names of images that distinguish them.

use i18n::format;
use k8s_model::pod::image_parts;

/// Returns the last part of a repository: `web` of `registry.example.com/shop/web`.
fn last(repository: &str) -> &str {
    repository.rsplit('/').next().unwrap_or(repository)
}

/// Returns an image by the last part of its repository and its tag, `web:1.27`; in full if another image shown has the same last part.
pub fn name<'a>(image: &'a str, shown: &[&str]) -> &'a str {
    let repository = image_parts(image).0;
    let is_like = |other: &&str| {
        image_parts(other).0 != repository && last(image_parts(other).0) == last(repository)
    };
    if shown.iter().any(is_like) {
        image
    } else {
        last(image)
    }
}

/// Returns a label of at most `room` characters that distinguishes an image from the others shown: its tag if they differ only in that.
/// Otherwise the image if it fits, or its name, or its tag if another image has the same name.
pub fn label(image: &str, shown: &[&str], room: usize) -> String {
    let parts = |image| image_parts(name(image, shown));
    let (own, tag) = parts(image);
    let tag = if tag.is_empty() { own } else { tag };
    let names: Vec<&str> = shown.iter().map(|other| parts(other).0).collect();
    let full = name(image, shown);
    if names.iter().all(|name| *name == own) {
        return format::middle(tag, room);
    }
    if full.chars().count() <= room {
        return full.to_string();
    }
    if shown
        .iter()
        .any(|other| *other != image && parts(other).0 == own)
    {
        return format::middle(tag, room);
    }
    // Names with the same beginning and end differ in between.
    let cuts: [fn(&str, usize) -> String; 2] = [format::middle, format::front];
    let tells = |cut: &fn(&str, usize) -> String| {
        names
            .iter()
            .all(|name| *name == own || cut(name, room) != cut(own, room))
    };
    cuts.into_iter().find(tells).unwrap_or(format::middle)(own, room)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tag_tells_versions_of_one_image_apart_and_a_name_different_images() {
        let of = |shown: &[&str], room| {
            shown
                .iter()
                .map(|image| label(image, shown, room))
                .collect::<Vec<_>>()
        };
        assert_eq!(of(&["nginx:1.7.9", "nginx:1.27"], 6), ["1.7.9", "1.27"]);
        assert_eq!(of(&["nginx", "nginx:1.27"], 6), ["nginx", "1.27"]);
        // A misspelled name is not mistaken for another tag.
        assert_eq!(of(&["nginx:1.7.9", "ngnix:1.27"], 6), ["nginx", "ngnix"]);
        assert_eq!(
            of(&["nginx:1.7.9", "ngnix:1.27"], 11),
            ["nginx:1.7.9", "ngnix:1.27"]
        );
        assert_eq!(
            of(&["nginx:1.7.9", "nginx:1.27", "ngnix:1.27"], 6),
            ["1.7.9", "1.27", "ngnix"]
        );
        assert_eq!(
            of(&["shop-frontend:1", "shop-backend:1"], 7),
            ["…ontend", "…ackend"]
        );
    }

    #[test]
    fn an_image_is_named_without_its_registry_unless_two_would_be_named_alike() {
        assert_eq!(
            name("registry.k8s.io/shop/web:1.0", &["web:2.0@sha256:1"]),
            "registry.k8s.io/shop/web:1.0"
        );
        assert_eq!(
            name(
                "registry.k8s.io/shop/web:1.0",
                &["registry.k8s.io/shop/web:2.0", "api:1"]
            ),
            "web:1.0"
        );
        assert_eq!(
            label(
                "localhost:5000/web:1.0",
                &["localhost:5000/web:1.0", "web:1.0"],
                30
            ),
            "localhost:5000/web:1.0"
        );
        assert_eq!(
            label(
                "localhost:5000/web:1.0",
                &["localhost:5000/web:2.0", "localhost:5000/web:1.0"],
                30
            ),
            "1.0"
        );
    }
}
