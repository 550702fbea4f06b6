//! The built page, served beside the cluster that it follows.

use super::status::Answer;
use std::path::{Component, Path};

/// Serves a file of the page; `None` if there is no such file.
pub fn answer(folder: Option<&Path>, path: &str) -> Option<Answer> {
    let name = path.strip_prefix("/page")?.trim_start_matches('/');
    let name = Path::new(if name.is_empty() { "index.html" } else { name });
    // Paths outside the folder are rejected.
    if !name
        .components()
        .all(|part| matches!(part, Component::Normal(_)))
    {
        return None;
    }
    let body = std::fs::read(folder?.join(name)).ok()?;
    let content_type = match name.extension().and_then(|end| end.to_str()) {
        Some("html") => "text/html; charset=utf-8",
        Some("js") => "text/javascript; charset=utf-8",
        Some("css") => "text/css; charset=utf-8",
        Some("json" | "webmanifest") => "application/json",
        Some("svg") => "image/svg+xml",
        Some("wasm") => "application/wasm",
        Some("yaml") => "text/yaml",
        _ => "application/octet-stream",
    };
    Some(Answer {
        code: 200,
        content_type,
        body,
        ..Answer::default()
    })
}

#[cfg(test)]
mod tests {
    use super::answer;
    use std::path::Path;

    #[test]
    fn only_files_of_the_folder_are_served() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR"));
        assert_eq!(
            answer(Some(folder), "/page/src/page.rs").map(|answer| answer.code),
            Some(200)
        );
        for path in [
            "/page/../i18n/Cargo.toml",
            "/page//etc/passwd",
            "/page/nope",
            "/page/src",
            "/page",
        ] {
            assert!(answer(Some(folder), path).is_none(), "{path}");
        }
        assert!(answer(None, "/page/lib.rs").is_none());
    }
}
