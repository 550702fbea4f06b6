//! Bundled files of the web, which `-f https://…` resolves to, since nothing is fetched from a network.
//!
//! Native builds embed them; the page loads them when a line names one of them ([`provide`]).

use std::cell::Cell;

/// Prefix of the Gateway API's release URLs. All v1 releases resolve to the file of v1.6.1, which has the same kinds.
const GATEWAY_RELEASES: &str =
    "https://github.com/kubernetes-sigs/gateway-api/releases/download/v1.";
/// Installation file of a release.
const GATEWAY_FILE: &str = "/standard-install.yaml";
/// Command that installs the Gateway API.
pub const GATEWAY_INSTALL: &str = "kubectl apply -f https://github.com/kubernetes-sigs/gateway-api/releases/download/v1.6.1/standard-install.yaml";

thread_local! {
    static FILES: Cell<Option<&'static str>> = const { Cell::new(None) };
}

/// Returns true if a line may name one of the files.
pub fn is_in(line: &str) -> bool {
    line.contains(GATEWAY_RELEASES)
}

/// Returns true for the address of a bundled file, even if it is not loaded yet.
pub fn is_known(address: &str) -> bool {
    let version = address
        .strip_prefix(GATEWAY_RELEASES)
        .and_then(|rest| rest.strip_suffix(GATEWAY_FILE));
    version.is_some_and(|version| {
        let (minor, patch) = version.split_once('.').unwrap_or((version, ""));
        let (patch, candidate) = patch.split_once("-rc.").unwrap_or((patch, "0"));
        [minor, patch, candidate]
            .iter()
            .all(|part| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit()))
    })
}

/// Returns the text of the file at an address, if it is loaded.
pub fn text(address: &str) -> Option<&'static str> {
    FILES
        .get()
        .or_else(own)
        .filter(|text| !text.is_empty() && is_known(address))
}

/// Returns true if the files are loaded, or known to be unavailable.
pub fn is_settled() -> bool {
    FILES.get().or_else(own).is_some()
}

/// Installs the files for the current thread; an empty text means that they are unavailable.
pub fn provide(text: String) {
    if FILES.get().is_none_or(str::is_empty) {
        FILES.set(Some(Box::leak(text.into_boxed_str())));
    }
}

#[cfg(not(target_arch = "wasm32"))]
fn own() -> Option<&'static str> {
    Some(include_str!("gateway-api.yaml"))
}

#[cfg(target_arch = "wasm32")]
fn own() -> Option<&'static str> {
    None
}

#[cfg(test)]
mod tests {
    use super::{GATEWAY_INSTALL, is_in, text};

    #[test]
    fn an_address_of_a_release_is_that_of_the_file() {
        let address = |version: &str, file: &str| {
            format!(
                "https://github.com/kubernetes-sigs/gateway-api/releases/download/{version}/{file}"
            )
        };
        for version in ["v1.0.0", "v1.6.1", "v1.5.0-rc.2"] {
            assert!(
                text(&address(version, "standard-install.yaml"))
                    .is_some_and(|text| text.contains("kind: HTTPRoute")),
                "{version}"
            );
        }
        for (version, file) in [
            ("v1.6.1", "experimental-install.yaml"),
            ("v0.8.0", "standard-install.yaml"),
            ("v1.x.1", "standard-install.yaml"),
            ("v1", "standard-install.yaml"),
        ] {
            assert_eq!(text(&address(version, file)), None, "{version} {file}");
        }
        assert!(is_in(GATEWAY_INSTALL) && !is_in("kubectl apply -f https://example.com/web.yaml"));
    }
}
