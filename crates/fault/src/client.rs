//! Faults on clients of the API server: requests that are refused, delayed or cut off, and watch events that do not arrive.
//!
//! A fault on a client acts in front of the API server, like a filter of its chain; `lose` and `delay` of watches ([`super::Fault`]) act on
//! the controllers of the cluster instead. Only a server has clients (`crates/serve/src/client_faults.rs`).

use super::{Fault, time};
use k8s_model::time::duration_text;
use k8s_model::{Duration, Str};
use serde::{Deserialize, Serialize};
use std::fmt;

/// Form of a selector, for messages.
pub(super) const SELECTOR: &str =
    "all, or some of agent=PREFIX user=NAME resource=PLURAL[.GROUP][/SUBRESOURCE] verb=VERB";
/// Form of an action, for messages.
const ACTION: &str = "429 [retry-after SECONDS], 500, 503, 409, 410, timeout-after-commit, slow TIME, disconnect, lose, delay TIME or off";
/// Form of a limit, for messages.
pub(super) const LIMIT: &str = "some of SHARE%, COUNT times, for TIME";

/// Verbs of requests, as RBAC rules name them.
const VERBS: [&str; 8] = [
    "get",
    "list",
    "watch",
    "create",
    "update",
    "patch",
    "delete",
    "deletecollection",
];

/// Seconds after which a refused client may retry, if the fault names none (`retryAfter` of `server/filters/maxinflight.go`).
const RETRY_AFTER: u32 = 1;

/// Fault on the requests and watches of clients. Its line: `client agent=my-operator resource=webapps 409 30% for 1m`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ClientFault {
    /// Requests concerned.
    pub selector: ClientSelector,
    /// Effect on them.
    pub action: ClientAction,
    /// Limit of the effect.
    pub limit: ClientFaultLimit,
}

/// Selector of requests by client, resource and verb; the empty one selects all.
#[derive(Clone, Default, PartialEq, Eq, Debug)]
pub struct ClientSelector {
    /// Beginning of the user agent.
    agent: Option<Str>,
    /// Name of the user.
    user: Option<Str>,
    /// Resource: `webapps`, `webapps.example.com`, `webapps/status`.
    resource: Option<Str>,
    /// Verb.
    verb: Option<Str>,
}

/// Effect of a fault on a client.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ClientAction {
    /// Refusal of a request with 429, and the seconds after which the client may retry.
    TooManyRequests(u32),
    /// Refusal of a request with 500.
    InternalError,
    /// Refusal of a request with 503.
    Unavailable,
    /// Refusal of an update or a patch with 409.
    Conflict,
    /// Answer 504 to a write that is committed.
    TimeoutAfterCommit,
    /// Delay of the answer, in microseconds of real time.
    Slow(Duration),
    /// End of an open watch, and a request without an answer.
    Disconnect,
    /// Loss of a watch event.
    Lose,
    /// Delay of a watch event, in microseconds; later events of the watch wait behind it.
    Delay(Duration),
    /// Expiry of an open watch, or of a watch or a list that continues from a resourceVersion.
    Expire,
}

/// Limit of a fault on clients; without one it lasts until it is ended.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
pub struct ClientFaultLimit {
    /// Share of the selected requests, in percent; `None` for all.
    pub share: Option<u8>,
    /// Number of requests on which the fault acts.
    pub times: Option<u32>,
    /// Duration in microseconds of the cluster's clock.
    pub span: Option<Duration>,
}

/// Exchange of a client with the API server on which a fault may act.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ClientCall {
    /// User agent.
    pub agent: Str,
    /// Name of the user.
    pub user: Str,
    /// Verb, as RBAC rules name it.
    pub verb: Str,
    /// API group; empty for the core group.
    #[serde(default, skip_serializing_if = "Str::is_empty")]
    pub group: Str,
    /// Resource; empty for a request of none.
    #[serde(default, skip_serializing_if = "Str::is_empty")]
    pub resource: Str,
    /// Subresource.
    #[serde(default, skip_serializing_if = "Str::is_empty")]
    pub subresource: Str,
    /// Line in the history: the request, or the watch event.
    pub line: Str,
    /// Stage of the exchange.
    pub stage: CallStage,
}

/// Stage of an exchange with a client.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum CallStage {
    /// A request arrives.
    Request {
        /// True if it continues from a resourceVersion, which may have expired: a watch, or a list with a continue token.
        resumes: bool,
    },
    /// An event is about to be sent to a watch.
    Event,
    /// A watch is open, and this number of faults had been ordered when it was examined last.
    OpenWatch {
        /// Number of faults.
        examined: u32,
    },
}

impl ClientCall {
    /// Name of the client: that of its user agent, or else of its user.
    pub fn client(&self) -> &str {
        match self.agent.split('/').next() {
            None | Some("") => &self.user,
            Some(name) => name,
        }
    }
}

impl ClientSelector {
    /// Returns true if the selector selects every request.
    pub fn is_empty(&self) -> bool {
        *self == ClientSelector::default()
    }

    /// Returns true if an exchange is selected.
    pub fn selects(&self, call: &ClientCall) -> bool {
        let is_absent_or = |wanted: &Option<Str>, found: &Str| {
            wanted.as_ref().is_none_or(|wanted| wanted == found)
        };
        let agent = self.agent.as_deref().unwrap_or("");
        call.agent.starts_with(agent)
            && is_absent_or(&self.user, &call.user)
            && is_absent_or(&self.verb, &call.verb)
            && self.selects_resource(call)
    }

    fn selects_resource(&self, call: &ClientCall) -> bool {
        let Some(wanted) = self.resource.as_deref() else {
            return true;
        };
        let (resource, subresource) = match wanted.split_once('/') {
            Some((resource, subresource)) => (resource, Some(subresource)),
            None => (wanted, None),
        };
        let (plural, group) = match resource.split_once('.') {
            Some((plural, group)) => (plural, Some(group)),
            None => (resource, None),
        };
        plural == call.resource.as_str()
            && group.is_none_or(|group| group == call.group.as_str())
            && subresource.is_none_or(|subresource| subresource == call.subresource.as_str())
    }

    /// Splits the words of a line into the selector at their beginning and the rest.
    fn parse<'w, 'l>(
        words: &'w [&'l str],
    ) -> Result<(ClientSelector, &'w [&'l str]), ClientFaultError> {
        if let ["all", rest @ ..] = words {
            return Ok((ClientSelector::default(), rest));
        }
        let mut selector = ClientSelector::default();
        let mut rest = words;
        while let [word, after @ ..] = rest
            && let Some((key, value)) = word.split_once('=')
        {
            let wrong = || ClientFaultError::NoSelector((*word).to_owned());
            let place = match key {
                "agent" => &mut selector.agent,
                "user" => &mut selector.user,
                "resource" => &mut selector.resource,
                "verb" if VERBS.contains(&value) => &mut selector.verb,
                _ => return Err(wrong()),
            };
            if value.is_empty() || place.replace(value.into()).is_some() {
                return Err(wrong());
            }
            rest = after;
        }
        match selector.is_empty() {
            true => {
                let word = words.first().copied().unwrap_or("");
                Err(ClientFaultError::NoSelector(word.to_owned()))
            }
            false => Ok((selector, rest)),
        }
    }
}

impl fmt::Display for ClientSelector {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let parts = [
            ("agent", &self.agent),
            ("user", &self.user),
            ("resource", &self.resource),
            ("verb", &self.verb),
        ];
        let words: Vec<String> = parts
            .into_iter()
            .filter_map(|(key, value)| Some(format!("{key}={}", value.as_ref()?)))
            .collect();
        match words.is_empty() {
            true => f.write_str("all"),
            false => f.write_str(&words.join(" ")),
        }
    }
}

impl ClientAction {
    /// Returns true if the action can act on an exchange.
    pub fn concerns(self, call: &ClientCall) -> bool {
        let verb = call.verb.as_str();
        match (self, call.stage) {
            (ClientAction::Lose | ClientAction::Delay(_), stage) => stage == CallStage::Event,
            (_, CallStage::Event) => false,
            (ClientAction::Disconnect | ClientAction::Expire, CallStage::OpenWatch { .. }) => true,
            (_, CallStage::OpenWatch { .. }) => false,
            (ClientAction::Expire, CallStage::Request { resumes }) => resumes,
            (ClientAction::Conflict, _) => matches!(verb, "update" | "patch"),
            (ClientAction::TimeoutAfterCommit, _) => {
                VERBS.contains(&verb) && !matches!(verb, "get" | "list" | "watch")
            }
            (
                ClientAction::TooManyRequests(_)
                | ClientAction::InternalError
                | ClientAction::Unavailable
                | ClientAction::Slow(_)
                | ClientAction::Disconnect,
                CallStage::Request { .. },
            ) => true,
        }
    }

    /// Splits the words of a line into the action at their beginning and the rest.
    fn parse<'w, 'l>(
        words: &'w [&'l str],
    ) -> Result<(ClientAction, &'w [&'l str]), ClientFaultError> {
        let span = |word: &str| {
            time(word)
                .filter(|span| *span > 0)
                .ok_or_else(|| ClientFaultError::NoTime(word.to_owned()))
        };
        Ok(match words {
            ["429", "retry-after", seconds, rest @ ..] => {
                let after = seconds
                    .parse()
                    .map_err(|_| ClientFaultError::NoSeconds((*seconds).to_owned()))?;
                (ClientAction::TooManyRequests(after), rest)
            }
            ["429", rest @ ..] => (ClientAction::TooManyRequests(RETRY_AFTER), rest),
            ["500", rest @ ..] => (ClientAction::InternalError, rest),
            ["503", rest @ ..] => (ClientAction::Unavailable, rest),
            ["409", rest @ ..] => (ClientAction::Conflict, rest),
            ["410", rest @ ..] => (ClientAction::Expire, rest),
            ["timeout-after-commit", rest @ ..] => (ClientAction::TimeoutAfterCommit, rest),
            ["slow", word, rest @ ..] => (ClientAction::Slow(span(word)?), rest),
            ["disconnect", rest @ ..] => (ClientAction::Disconnect, rest),
            ["lose", rest @ ..] => (ClientAction::Lose, rest),
            ["delay", word, rest @ ..] => (ClientAction::Delay(span(word)?), rest),
            _ => return Err(ClientFaultError::NoAction(words.join(" "))),
        })
    }
}

impl fmt::Display for ClientAction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ClientAction::TooManyRequests(RETRY_AFTER) => f.write_str("429"),
            ClientAction::TooManyRequests(after) => write!(f, "429 retry-after {after}"),
            ClientAction::InternalError => f.write_str("500"),
            ClientAction::Unavailable => f.write_str("503"),
            ClientAction::Conflict => f.write_str("409"),
            ClientAction::Expire => f.write_str("410"),
            ClientAction::TimeoutAfterCommit => f.write_str("timeout-after-commit"),
            ClientAction::Slow(span) => write!(f, "slow {}", duration_text(*span)),
            ClientAction::Disconnect => f.write_str("disconnect"),
            ClientAction::Lose => f.write_str("lose"),
            ClientAction::Delay(span) => write!(f, "delay {}", duration_text(*span)),
        }
    }
}

impl ClientFaultLimit {
    fn parse(words: &[&str]) -> Result<ClientFaultLimit, ClientFaultError> {
        let mut limit = ClientFaultLimit::default();
        let mut rest = words;
        while !rest.is_empty() {
            let wrong = || ClientFaultError::NoLimit(words.join(" "));
            rest = match rest {
                ["for", word, after @ ..] if limit.span.is_none() => {
                    let span = time(word).filter(|span| *span > 0);
                    limit.span = Some(span.ok_or_else(wrong)?);
                    after
                }
                [count, "times", after @ ..] if limit.times.is_none() => {
                    let times = count.parse().ok().filter(|times| *times > 0);
                    limit.times = Some(times.ok_or_else(wrong)?);
                    after
                }
                [word, after @ ..] if limit.share.is_none() => {
                    let share = word.strip_suffix('%').and_then(|share| share.parse().ok());
                    let share = share.filter(|share| (1..=100).contains(share));
                    limit.share = Some(share.ok_or_else(wrong)?);
                    after
                }
                _ => return Err(wrong()),
            };
        }
        Ok(limit)
    }
}

impl fmt::Display for ClientFaultLimit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(share) = self.share {
            write!(f, " {share}%")?;
        }
        if let Some(times) = self.times {
            write!(f, " {times} times")?;
        }
        match self.span {
            Some(span) => write!(f, " for {}", duration_text(span)),
            None => Ok(()),
        }
    }
}

impl fmt::Display for ClientFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "client {} {}{}", self.selector, self.action, self.limit)
    }
}

/// Parses the words of a line after `client`.
pub(super) fn parse(words: &[&str]) -> Result<Fault, ClientFaultError> {
    let (selector, words) = ClientSelector::parse(words)?;
    if words == ["off"] {
        return Ok(Fault::EndClient(selector));
    }
    let (action, words) = ClientAction::parse(words)?;
    Ok(Fault::Client(ClientFault {
        selector,
        action,
        limit: ClientFaultLimit::parse(words)?,
    }))
}

/// Reason why a line is no fault on clients.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum ClientFaultError {
    /// Invalid selector.
    NoSelector(String),
    /// Unknown action.
    NoAction(String),
    /// Invalid time of an action.
    NoTime(String),
    /// Invalid number of seconds.
    NoSeconds(String),
    /// Invalid limit.
    NoLimit(String),
}

impl fmt::Display for ClientFaultError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ClientFaultError::NoSelector(word) => {
                write!(f, "client: {word:?}: {SELECTOR} is required")
            }
            ClientFaultError::NoAction(words) => {
                write!(f, "client: {words:?}: {ACTION} is required")
            }
            ClientFaultError::NoTime(word) => {
                write!(f, "client: not a time like 500ms, 2s or 1m: {word}")
            }
            ClientFaultError::NoSeconds(word) => write!(f, "client: not a whole number: {word}"),
            ClientFaultError::NoLimit(words) => {
                write!(f, "client: {words:?}: {LIMIT} is required")
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::FaultError;

    fn call(agent: &str, verb: &str, resource: &str, stage: CallStage) -> ClientCall {
        let (resource, subresource) = resource.split_once('/').unwrap_or((resource, ""));
        ClientCall {
            agent: agent.into(),
            user: "kubernetes-admin".into(),
            verb: verb.into(),
            group: "example.com".into(),
            resource: resource.into(),
            subresource: subresource.into(),
            line: Str::default(),
            stage,
        }
    }

    #[test]
    fn a_fault_on_clients_is_written_as_it_is_read() {
        for line in [
            "client all disconnect for 5s",
            "client all off",
            "client agent=my-operator 429",
            "client agent=my-operator 429 retry-after 7 30% 4 times for 1m",
            "client agent=op/v1 user=bob resource=webapps.example.com/status verb=update 409 2 times",
            "client user=system:serviceaccount:a:b 500",
            "client resource=pods 503",
            "client verb=watch 410 1 times",
            "client verb=create timeout-after-commit",
            "client agent=op slow 250ms",
            "client agent=op lose 5%",
            "client agent=op delay 3s",
            "client resource=pods off",
        ] {
            let fault: Fault = line
                .parse()
                .unwrap_or_else(|error| panic!("{line}: {error}"));
            assert_eq!(fault.to_string(), line);
        }
        // Limits may come in any order, and the default is not written.
        let fault: Fault = "client all  429 retry-after 1 for 60s 2 times"
            .parse()
            .unwrap();
        assert_eq!(fault.to_string(), "client all 429 2 times for 1m");
    }

    #[test]
    fn what_is_wrong_with_a_fault_on_clients_is_named() {
        let error = |line: &str| match line.parse::<Fault>().unwrap_err() {
            FaultError::NoClientFault(error) => error,
            other => panic!("{line}: {other}"),
        };
        let word = |text: &str| text.to_owned();
        for selector in ["agent=", "name=x", "verb=read", "agent=a agent=b", "409"] {
            let line = format!("client {selector} 409");
            let named = selector.split(' ').next_back().unwrap_or("");
            assert_eq!(error(&line), ClientFaultError::NoSelector(word(named)));
        }
        assert_eq!(error("client all"), ClientFaultError::NoAction(word("")));
        assert_eq!(
            error("client all 418"),
            ClientFaultError::NoAction(word("418"))
        );
        assert_eq!(
            error("client all delay soon"),
            ClientFaultError::NoTime(word("soon"))
        );
        assert_eq!(
            error("client all 429 retry-after soon"),
            ClientFaultError::NoSeconds(word("soon"))
        );
        for limit in ["0%", "101%", "0 times", "5% 5%", "for ever", "often"] {
            assert_eq!(
                error(&format!("client all 500 {limit}")),
                ClientFaultError::NoLimit(word(limit))
            );
        }
    }

    #[test]
    fn a_selector_selects_by_client_resource_and_verb() {
        let selects = |selector: &str, call: &ClientCall| {
            let line = format!("client {selector} off");
            match line.parse().unwrap() {
                Fault::EndClient(selector) => selector.selects(call),
                other => panic!("{other}"),
            }
        };
        let request = CallStage::Request { resumes: false };
        let status = call("op/v1 (linux)", "update", "webapps/status", request);
        for selector in [
            "all",
            "agent=op",
            "agent=op/v1 user=kubernetes-admin",
            "resource=webapps",
            "resource=webapps.example.com",
            "resource=webapps/status verb=update",
        ] {
            assert!(selects(selector, &status), "{selector}");
        }
        for selector in [
            "agent=v1",
            "user=bob",
            "resource=webapp",
            "resource=webapps.example.org",
            "resource=webapps/scale",
            "verb=patch",
        ] {
            assert!(!selects(selector, &status), "{selector}");
        }
        assert_eq!(status.client(), "op");
        assert_eq!(call("", "get", "", request).client(), "kubernetes-admin");
    }

    #[test]
    fn an_action_concerns_the_exchanges_on_which_it_can_act() {
        let (plain, resumed) = (
            CallStage::Request { resumes: false },
            CallStage::Request { resumes: true },
        );
        let open = CallStage::OpenWatch { examined: 0 };
        let concerned = |action: ClientAction| {
            [
                call("", "get", "webapps", plain),
                call("", "update", "webapps", plain),
                call("", "delete", "webapps", plain),
                call("", "watch", "webapps", resumed),
                call("", "watch", "webapps", open),
                call("", "watch", "webapps", CallStage::Event),
            ]
            .map(|call| action.concerns(&call))
        };
        let (yes, no) = (true, false);
        let refused = [yes, yes, yes, yes, no, no];
        assert_eq!(concerned(ClientAction::TooManyRequests(1)), refused);
        assert_eq!(concerned(ClientAction::Slow(1)), refused);
        assert_eq!(concerned(ClientAction::Conflict), [no, yes, no, no, no, no]);
        assert_eq!(
            concerned(ClientAction::TimeoutAfterCommit),
            [no, yes, yes, no, no, no]
        );
        assert_eq!(
            concerned(ClientAction::Disconnect),
            [yes, yes, yes, yes, yes, no]
        );
        assert_eq!(concerned(ClientAction::Expire), [no, no, no, yes, yes, no]);
        assert_eq!(concerned(ClientAction::Lose), [no, no, no, no, no, yes]);
    }
}
