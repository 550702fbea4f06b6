//! `curl` and `wget`: requests to Pods, to Services, and through Ingresses and Gateways.

use super::tool::{ShellTool, ToolCall};
use crate::shell::room::{CommandRoom, Done};
use cluster::disk::{FilePlace, place};
use cluster_network::connectivity::{
    Backend, HttpRequest, Led, RequestOutcome, Routed, host_and_port, route, through_gateway,
};
use cluster_network::gateway::gateway_at;
use cluster_network::http_client::ClientArgs;
use k8s_model::Object;
use k8s_model::pod::image_parts;

pub const CURL: ShellTool = ShellTool {
    name: "curl",
    run: curl,
    uses_network: true,
    ..ShellTool::PLAIN
};
pub const WGET: ShellTool = ShellTool {
    name: "wget",
    run: wget,
    uses_network: true,
    ..ShellTool::PLAIN
};

/// Index page of a web server.
const INDEX: &str = "/usr/share/nginx/html/index.html";

/// Request and its response.
struct Request {
    host: String,
    port: i32,
    address: String,
    outcome: RequestOutcome,
    /// True if a time limit was given.
    limited: bool,
    status: u16,
    body: String,
    /// Target of a redirect.
    location: String,
}

/// Arguments of a request.
struct Words<'a> {
    /// Short flags, including grouped ones.
    letters: String,
    /// `--spider`: checks only that the page exists.
    spider: bool,
    /// Flags with their values.
    values: Vec<(&'a str, &'a str)>,
    url: &'a str,
}

fn words<'a>(name: &str, all: &'a [String]) -> Words<'a> {
    let args = ClientArgs::parse(name, all.iter().map(String::as_str)).unwrap_or_default();
    let mut letters = args.letters;
    if args.switches.contains(&"--fail") {
        letters.push('f');
    }
    Words {
        letters,
        spider: args.switches.contains(&"--spider"),
        values: args.values,
        url: args.urls.last().copied().unwrap_or(""),
    }
}

impl<'a> Words<'a> {
    fn value(&self, names: &[&str]) -> Option<&'a str> {
        self.values
            .iter()
            .find(|(flag, _)| names.contains(flag))
            .map(|(_, value)| *value)
    }

    /// Returns the given headers: names and values.
    fn headers(&self) -> impl Iterator<Item = (&'a str, &'a str)> {
        let given = self
            .values
            .iter()
            .filter(|(flag, _)| matches!(*flag, "H" | "--header"));
        given
            .filter_map(|(_, header)| header.split_once(':'))
            .map(|(name, value)| (name.trim(), value.trim()))
    }

    /// Returns the method: the given one, or that implied by other flags.
    fn method(&self) -> &'a str {
        let asked = self.value(&["X", "--request"]);
        let sends = || self.value(&["d", "--data"]).is_some();
        asked.unwrap_or(if self.letters.contains('I') || self.spider {
            "HEAD"
        } else if sends() {
            "POST"
        } else {
            "GET"
        })
    }
}

fn request(call: &mut ToolCall<'_, '_, '_>, words: &Words<'_>) -> Request {
    let url = words.url;
    let (scheme, rest) = url.split_once("://").unwrap_or(("http", url));
    // Query and fragment are not part of the path.
    let (rest, query) = rest
        .split('#')
        .next()
        .unwrap_or("")
        .split_once('?')
        .unwrap_or((rest.split('#').next().unwrap_or(""), ""));
    let path = rest
        .split_once('/')
        .map_or(String::from("/"), |(_, path)| format!("/{path}"));
    let (host, port) = host_and_port(url);
    let headers: Vec<(&str, &str)> = words.headers().collect();
    let named = headers
        .iter()
        .find(|(name, _)| name.eq_ignore_ascii_case("host"))
        .map_or(host, |(_, value)| value);
    // `--resolve HOST:PORT:ADDRESS` replaces a DNS record.
    let resolved = words
        .value(&["--resolve"])
        .and_then(|entry| entry.strip_prefix(&format!("{host}:{port}:")));
    let at = resolved.unwrap_or(host);
    let limited = words
        .value(&["T", "m", "--max-time", "--connect-timeout", "--timeout"])
        .is_some();
    let mut out = Request {
        host: host.into(),
        port,
        address: String::new(),
        outcome: RequestOutcome::TimedOut,
        limited,
        status: 200,
        body: String::new(),
        location: String::new(),
    };
    // A Gateway's address is served by its proxy.
    let asked = HttpRequest {
        scheme,
        host: named,
        port,
        method: words.method(),
        path: &path,
        query,
        headers,
    };
    if let Some((status, body, location)) = call.room.through_gateway(at, &asked) {
        let outcome = if status == 0 {
            RequestOutcome::Refused
        } else {
            RequestOutcome::Answered
        };
        return Request {
            address: at.into(),
            outcome,
            status,
            body,
            location,
            ..out
        };
    }
    // A node's address is served by the ingress controller, if it has one.
    if let Some((status, body)) = call.room.through_ingress(at, port, named, &path) {
        return Request {
            address: at.into(),
            outcome: RequestOutcome::Answered,
            status,
            body,
            ..out
        };
    }
    let attempt = call.room.connect(at, port);
    (out.address, out.outcome) = (attempt.address.to_string(), attempt.outcome);
    out.body = attempt
        .pod
        .filter(|_| out.outcome == RequestOutcome::Answered)
        .map_or_else(String::new, |pod| call.room.page_of(&pod));
    out
}

fn reason(status: u16) -> &'static str {
    match status {
        301 => "Moved Permanently",
        302 => "Moved Temporarily",
        303 => "See Other",
        307 => "Temporary Redirect",
        308 => "Permanent Redirect",
        404 => "Not Found",
        500 => "Internal Server Error",
        502 => "Bad Gateway",
        503 => "Service Temporarily Unavailable",
        504 => "Gateway Time-out",
        _ => "OK",
    }
}

fn curl(call: &mut ToolCall<'_, '_, '_>) -> Done {
    let words = words(call.name, call.words);
    let Request {
        host,
        port,
        status,
        body,
        outcome,
        limited,
        location,
        ..
    } = request(call, &words);
    let has = |letter: char| words.letters.contains(letter);
    let quiet = has('s') && !has('S');
    let failed = |code: i32, what: String| {
        Done::failed(
            if quiet {
                String::new()
            } else {
                format!("curl: ({code}) {what}\n")
            },
            code,
        )
    };
    match outcome {
        RequestOutcome::NoName | RequestOutcome::NoNameServer => {
            return failed(6, format!("Could not resolve host: {host}"));
        }
        RequestOutcome::Refused => {
            return failed(
                7,
                format!("Failed to connect to {host} port {port}: Connection refused"),
            );
        }
        RequestOutcome::TimedOut if limited => {
            return failed(28, "Connection timed out".to_owned());
        }
        RequestOutcome::TimedOut => {
            return failed(
                28,
                format!("Failed to connect to {host} port {port}: Connection timed out"),
            );
        }
        RequestOutcome::Answered => {}
    }
    let moved = if location.is_empty() {
        String::new()
    } else {
        format!("Location: {location}\n")
    };
    let head = format!("HTTP/1.1 {status} {}\n{moved}", reason(status));
    let mut out = match (has('I'), has('i')) {
        (true, _) => head,
        (false, true) => format!("{head}\n{body}"),
        (false, false) => body,
    };
    let refused = has('f') && status >= 400;
    if refused || words.value(&["o", "--output"]).is_some() {
        out.clear();
    }
    if let Some(format) = words.value(&["w", "--write-out"]) {
        let told = format
            .replace("%{http_code}", &status.to_string())
            .replace("%{redirect_url}", &location);
        out.push_str(&told.replace("\\n", "\n"));
    }
    if refused {
        return Done {
            out,
            ..failed(22, format!("The requested URL returned error: {status}"))
        };
    }
    Done::stdout(out)
}

/// Runs `wget`, with output as in busybox.
fn wget(call: &mut ToolCall<'_, '_, '_>) -> Done {
    let words = words(call.name, call.words);
    let Request {
        host,
        port,
        address,
        status,
        body,
        outcome,
        limited,
        ..
    } = request(call, &words);
    let quiet = words.letters.contains('q');
    let connecting = if quiet || address.is_empty() {
        String::new()
    } else {
        format!("Connecting to {host} ({address}:{port})\n")
    };
    let failed = |what: String| Done::failed(format!("{connecting}wget: {what}\n"), 1);
    match outcome {
        RequestOutcome::NoName | RequestOutcome::NoNameServer => {
            failed(format!("bad address '{host}'"))
        }
        RequestOutcome::Refused => failed(format!(
            "can't connect to remote host ({address}): Connection refused"
        )),
        RequestOutcome::TimedOut if limited => failed("download timed out".to_owned()),
        RequestOutcome::TimedOut => failed(format!(
            "can't connect to remote host ({address}): Connection timed out"
        )),
        RequestOutcome::Answered if status != 200 => failed(format!(
            "server returned error: HTTP/1.1 {status} {}",
            reason(status)
        )),
        RequestOutcome::Answered if words.spider => Done {
            err: format!("{connecting}remote file exists\n"),
            ..Done::default()
        },
        RequestOutcome::Answered => Done {
            err: connecting,
            out: body,
            code: 0,
        },
    }
}

/// Returns nginx's error page.
fn page(status: u16) -> String {
    format!(
        "<html>\n<head><title>{status} {0}</title></head>\n<body>\n<center><h1>{status} {0}</h1></center>\n<hr><center>nginx</center>\n</body>\n</html>\n",
        reason(status)
    )
}

impl CommandRoom<'_, '_> {
    /// Returns the response of a web server: the index page of its Pod, if one was written.
    fn page_of(&self, pod: &Object) -> String {
        let text = match place(self.client.sim().store(), pod, 0, INDEX) {
            FilePlace::Disk { disk, path } => self
                .client
                .sim()
                .disks
                .read(&disk, &path)
                .map(|text| text.to_string()),
            FilePlace::Projected { .. } => None,
        };
        let answers_ok = || {
            let mut containers = pod
                .pod()
                .into_iter()
                .flat_map(|pod| pod.spec.containers.iter());
            containers.any(|one| image_parts(&one.image).0.ends_with("hpa-example"))
        };
        text.unwrap_or_else(|| match answers_ok() {
            true => "OK!".to_owned(),
            false => format!(
                "<html><body><h1>Welcome to {}!</h1></body></html>\n",
                pod.meta.name
            ),
        })
    }

    /// Returns the response of a Gateway's proxy at an address, if there is one: status, body and redirect target; status 0 if no
    /// listener exists.
    fn through_gateway(
        &mut self,
        address: &str,
        asked: &HttpRequest<'_>,
    ) -> Option<(u16, String, String)> {
        let server = self.client.sim().store();
        let gateway = gateway_at(server, address)?;
        let turn = self.client.sim().journal().len() + self.client.requests;
        let led = through_gateway(server, gateway, asked, turn);
        self.client.requests += 1;
        let failed = |status: u16| (status, page(status), String::new());
        Some(match led {
            Led::Refused => (0, String::new(), String::new()),
            Led::NoRoute => failed(404),
            Led::Redirected { status, location } => (status, page(status), location),
            Led::Unresolved => failed(500),
            Led::NotListening => failed(502),
            Led::NotReady => failed(503),
            Led::Denied => failed(504),
            Led::Answered(pod) => (200, self.page_of(&pod), String::new()),
        })
    }

    /// Returns the response of the ingress controller at an address, if it serves there: status and body.
    fn through_ingress(
        &self,
        address: &str,
        port: i32,
        host: &str,
        path: &str,
    ) -> Option<(u16, String)> {
        let server = self.client.sim().store();
        if port != 80 || !cluster_network::connectivity::serves_ingresses(server, address) {
            return None;
        }
        Some(match route(server, host, path) {
            Routed::NoRule => (404, page(404)),
            Routed::To {
                service: Some(service),
                backend: Backend::Ready(_),
                ..
            } => {
                match cluster_network::connectivity::endpoint_of(
                    server,
                    &service,
                    self.client.sim().journal().len(),
                ) {
                    Some(pod) => (200, self.page_of(&pod)),
                    None => (503, page(503)),
                }
            }
            Routed::To {
                backend: Backend::Denied(_),
                ..
            } => (504, page(504)),
            Routed::To { .. } => (503, page(503)),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::words;

    #[test]
    fn short_flags_stand_together() {
        let all: Vec<String> = "-so /dev/null -XPOST -w %{http_code} --max-time=3 a/b"
            .split(' ')
            .map(str::to_owned)
            .collect();
        let found = words("curl", &all);
        assert_eq!((found.url, found.letters.as_str()), ("a/b", "soXw"));
        assert_eq!(found.value(&["o"]), Some("/dev/null"));
        assert_eq!(
            (found.value(&["X"]), found.value(&["m", "--max-time"])),
            (Some("POST"), Some("3"))
        );
    }
}
