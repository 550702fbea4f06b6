//! `nslookup`, `dig`, `ping`, `nc`: names and addresses as seen from a container.

use super::tool::{ShellTool, ToolCall, flags};
use crate::shell::room::{CommandRoom, Done};
use cluster_network::connectivity::{self, Attempt, RequestOutcome};
use cluster_network::dns;

pub const NSLOOKUP: ShellTool = ShellTool {
    name: "nslookup",
    run: |call| call.room.nslookup(call.plain().next().unwrap_or("")),
    uses_network: true,
    ..ShellTool::PLAIN
};
pub const PING: ShellTool = ShellTool {
    name: "ping",
    run: ping,
    uses_network: true,
    ..ShellTool::PLAIN
};

/// Runs `ping -c COUNT HOST`; three packets by default, since it cannot be interrupted.
fn ping(call: &mut ToolCall<'_, '_, '_>) -> Done {
    match flags("ping", call.words, "c:i:I:s:t:w:W:q46A") {
        Ok(found) => call.room.ping(
            found.words.last().copied().unwrap_or(""),
            found.number('c').unwrap_or(3).clamp(1, MOST_PINGS),
        ),
        Err(error) => error,
    }
}

/// Maximum number of packets of a ping.
const MOST_PINGS: usize = 100;

/// `nc -zv HOST PORT`: checks for a listener.
pub const NC: ShellTool = ShellTool {
    name: "nc",
    run: |call| {
        let mut plain = call.plain();
        let (host, port) = (plain.next().unwrap_or(""), plain.next().unwrap_or(""));
        let attempt = call.room.connect(host, port.parse().unwrap_or(0));
        let address = &attempt.address;
        let failed =
            |what: &str| Done::failed(format!("nc: {host} ({address}:{port}): {what}\n"), 1);
        match attempt.outcome {
            RequestOutcome::NoName | RequestOutcome::NoNameServer => {
                Done::failed(format!("nc: bad address '{host}'\n"), 1)
            }
            RequestOutcome::Answered => Done {
                err: format!("{host} ({address}:{port}) open\n"),
                ..Done::default()
            },
            RequestOutcome::Refused => failed("Connection refused"),
            RequestOutcome::TimedOut => failed("Connection timed out"),
        }
    },
    uses_network: true,
    ..ShellTool::PLAIN
};

/// `dig +short NAME`
pub const DIG: ShellTool = ShellTool {
    name: "dig",
    run: |call| {
        let name = call
            .words
            .iter()
            .find(|word| !word.starts_with(['+', '-', '@']))
            .map_or("", String::as_str);
        let Some((pod, _)) = &call.room.pod else {
            return outside("dig");
        };
        let found = dns::lookup(call.room.client.sim().store(), &pod.meta.namespace, name);
        let short = call.words.iter().any(|word| word == "+short");
        let line = |record: &dns::DnsRecord| {
            if short {
                format!("{}\n", record.address)
            } else {
                format!("{name}.\t30\tIN\tA\t{}\n", record.address)
            }
        };
        Done::stdout(found.iter().map(line).collect::<String>())
    },
    uses_network: true,
    ..ShellTool::PLAIN
};

/// Returns the error at the terminal, which is outside the cluster's network.
fn outside(what: &str) -> Done {
    Done::failed(
        format!(
            "{what}: this terminal is outside the cluster's network; run it in a Pod: kubectl exec POD -- …\n"
        ),
        1,
    )
}

impl CommandRoom<'_, '_> {
    fn nslookup(&self, name: &str) -> Done {
        let Some((pod, _)) = &self.pod else {
            return outside("nslookup");
        };
        let found = dns::answer(self.client.sim().store(), &pod.meta.namespace, name);
        let mut out = format!(
            "Server:    {s}\nAddress 1: {s} kube-dns.kube-system.svc.cluster.local\n\n",
            s = dns::SERVER
        );
        if found.records.is_empty() {
            out.push_str(&format!("nslookup: can't resolve '{name}'\n"));
            return Done {
                out,
                code: 1,
                ..Done::default()
            };
        }
        out.push_str(&format!("Name:      {name}\n"));
        for (i, (record, own)) in found.records.iter().zip(&found.own).enumerate() {
            out.push_str(&format!("Address {}: {} {own}\n", i + 1, record.address));
        }
        Done::stdout(out)
    }

    fn ping(&self, host: &str, count: usize) -> Done {
        let Some((pod, _)) = &self.pod else {
            return outside("ping");
        };
        let attempt = connectivity::ping(self.client.sim().store(), pod, host);
        let address = &attempt.address;
        let head = format!("PING {host} ({address}): 56 data bytes\n");
        match attempt.outcome {
            RequestOutcome::NoName | RequestOutcome::NoNameServer => {
                Done::failed(format!("ping: bad address '{host}'\n"), 1)
            }
            RequestOutcome::Answered => {
                let lines: String = (0..count)
                    .map(|n| format!("64 bytes from {address}: seq={n} ttl=62 time=0.5 ms\n"))
                    .collect();
                Done::stdout(format!(
                    "{head}{lines}\n--- {host} ping statistics ---\n{count} packets transmitted, {count} packets received, 0% packet loss\n"
                ))
            }
            RequestOutcome::Refused | RequestOutcome::TimedOut => Done {
                out: format!(
                    "{head}\n--- {host} ping statistics ---\n{count} packets transmitted, 0 packets received, 100% packet loss\n"
                ),
                code: 1,
                ..Done::default()
            },
        }
    }

    /// Connects from here: from the Pod, or from outside the cluster at the terminal.
    pub(super) fn connect(&self, host: &str, port: i32) -> Attempt {
        let sim = self.client.sim();
        // Consecutive requests rotate over the endpoints.
        let turn = sim.journal().len();
        match &self.pod {
            Some((pod, _)) => connectivity::connect(sim.store(), pod, host, port, turn),
            None => connectivity::connect_from_outside(sim.store(), host, port, turn),
        }
    }
}
