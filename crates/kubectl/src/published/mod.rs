//! Bundled files of the web, which `-f https://…` resolves to, since nothing is fetched from a network.
//!
//! The file of metrics-server is embedded. Native builds embed that of the Gateway API as well; the page loads it when a line names it
//! ([`provide`]).

use std::cell::Cell;

/// Prefix of the Gateway API's release URLs. All v1 releases resolve to the file of v1.6.1, which has the same kinds.
const GATEWAY_RELEASES: &str =
    "https://github.com/kubernetes-sigs/gateway-api/releases/download/v1.";
/// Installation file of a release.
const GATEWAY_FILE: &str = "/standard-install.yaml";
/// Command that installs the Gateway API.
pub const GATEWAY_INSTALL: &str = "kubectl apply -f https://github.com/kubernetes-sigs/gateway-api/releases/download/v1.6.1/standard-install.yaml";

/// Prefix of metrics-server's release URLs. All releases resolve to one file.
const METRICS_SERVER_RELEASES: &str = "https://github.com/kubernetes-sigs/metrics-server/releases/";
/// Installation file of a release.
const METRICS_SERVER_FILE: &str = "/components.yaml";
/// Command that installs metrics-server.
pub const METRICS_SERVER_INSTALL: &str = "kubectl apply -f https://github.com/kubernetes-sigs/metrics-server/releases/latest/download/components.yaml";
const METRICS_SERVER: &str = include_str!("metrics-server.yaml");

thread_local! {
    static FILES: Cell<Option<&'static str>> = const { Cell::new(None) };
}

/// Returns true if a line may name a file that the page has to load.
pub fn is_in(line: &str) -> bool {
    line.contains(GATEWAY_RELEASES)
}

/// Returns true for the address of a bundled file, even if it is not loaded yet.
pub fn is_known(address: &str) -> bool {
    is_gateway(address) || is_metrics_server(address)
}

fn is_metrics_server(address: &str) -> bool {
    let release = address
        .strip_prefix(METRICS_SERVER_RELEASES)
        .and_then(|rest| rest.strip_suffix(METRICS_SERVER_FILE));
    release.is_some_and(|release| {
        let version = release.strip_prefix("download/v");
        release == "latest/download" || version.is_some_and(is_version)
    })
}

fn is_gateway(address: &str) -> bool {
    let version = address
        .strip_prefix(GATEWAY_RELEASES)
        .and_then(|rest| rest.strip_suffix(GATEWAY_FILE));
    version.is_some_and(|version| is_version(&["1.", version].concat()))
}

/// Returns true for three numbers, of a release or of its candidate.
fn is_version(version: &str) -> bool {
    let (version, candidate) = version.split_once("-rc.").unwrap_or((version, "0"));
    let is_number = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
    version.split('.').count() == 3 && version.split('.').all(is_number) && is_number(candidate)
}

/// Returns the text of the file at an address, if it is loaded.
pub fn text(address: &str) -> Option<&'static str> {
    if is_metrics_server(address) {
        return Some(METRICS_SERVER);
    }
    FILES
        .get()
        .or_else(own)
        .filter(|text| !text.is_empty() && is_gateway(address))
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
    use super::{GATEWAY_INSTALL, METRICS_SERVER_INSTALL, is_in, text};

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
        let releases = "https://github.com/kubernetes-sigs/metrics-server/releases";
        for release in ["latest/download", "download/v0.8.0"] {
            let address = format!("{releases}/{release}/components.yaml");
            assert!(
                text(&address).is_some_and(|text| text.contains("kind: APIService")),
                "{release}"
            );
        }
        let other = format!("{releases}/download/v0.8/components.yaml");
        assert_eq!(text(&other), None);
        assert!(!is_in(METRICS_SERVER_INSTALL));
        assert!(is_in(GATEWAY_INSTALL) && !is_in("kubectl apply -f https://example.com/web.yaml"));
    }
}
