//! `nslookup`, `dig`, `ping`, `curl`, `wget`, `nc`: names, addresses, requests as a container sees them.

use super::tool::{Call, Tool};
use crate::api::{Kind, Object};
use crate::engine::disk::{FilePlace, place};
use crate::engine::dns;
use crate::kubectl::shell::room::{Done, Room};
use std::rc::Rc;

pub const NSLOOKUP: Tool = Tool { name: "nslookup", run: |call| call.room.nslookup(call.plain().next().unwrap_or("")) };
pub const PING: Tool = Tool { name: "ping", run: |call| call.room.ping(call.plain().last().unwrap_or("")) };
pub const CURL: Tool = Tool { name: "curl", run: |call| request(call) };
pub const WGET: Tool = Tool { name: "wget", run: |call| request(call) };

/// `nc -zv HOST PORT`: whether something listens.
pub const NC: Tool = Tool {
    name: "nc",
    run: |call| {
        let mut plain = call.plain();
        let (host, port) = (plain.next().unwrap_or(""), plain.next().unwrap_or(""));
        match call.room.reach(host) {
            Err(done) => Done { err: format!("nc: {}", done.err), ..done },
            Ok((address, Some(_))) => Done { err: format!("{host} ({address}:{port}) open\n"), ..Done::default() },
            Ok((address, None)) => Done::failed(format!("nc: {host} ({address}:{port}): Connection refused\n"), 1),
        }
    },
};

/// `dig +short NAME`
pub const DIG: Tool = Tool {
    name: "dig",
    run: |call| {
        let name = call.words.iter().find(|word| !word.starts_with(['+', '-', '@'])).map_or("", String::as_str);
        let Some((pod, _)) = &call.room.pod else { return outside("dig") };
        let found = dns::lookup(call.room.client.sim().server(), &pod.meta.namespace, name);
        let short = call.words.iter().any(|word| word == "+short");
        let line = |record: &dns::DnsRecord| {
            if short { format!("{}\n", record.address) } else { format!("{name}.\t30\tIN\tA\t{}\n", record.address) }
        };
        Done::said(found.iter().map(line).collect::<String>())
    },
};

fn request(call: &mut Call<'_, '_, '_>) -> Done {
    let mut url = "";
    let mut words = call.words.iter();
    while let Some(word) = words.next() {
        // Flags whose value is the next word.
        if matches!(word.as_str(), "-T" | "-m" | "-o" | "-H" | "-X" | "-d" | "--max-time" | "--connect-timeout" | "-w" | "-O") {
            words.next();
        } else if !word.starts_with('-') {
            url = word;
        }
    }
    call.room.fetch(call.name, url)
}

/// The terminal is no part of the cluster's network.
fn outside(what: &str) -> Done {
    Done::failed(format!("{what}: this terminal is outside the cluster's network; run it in a Pod: kubectl exec POD -- …\n"), 1)
}

impl Room<'_, '_> {
    fn nslookup(&self, name: &str) -> Done {
        let Some((pod, _)) = &self.pod else { return outside("nslookup") };
        let found = dns::lookup(self.client.sim().server(), &pod.meta.namespace, name);
        let mut out = format!("Server:    {s}\nAddress 1: {s} kube-dns.kube-system.svc.cluster.local\n\n", s = dns::SERVER);
        if found.is_empty() {
            out.push_str(&format!("nslookup: can't resolve '{name}'\n"));
            return Done { out, code: 1, ..Done::default() };
        }
        out.push_str(&format!("Name:      {name}\n"));
        let zone = dns::zone(self.client.sim().server());
        for (i, record) in found.iter().enumerate() {
            // The name of the Pod itself, where it has one.
            let own = zone.iter().rfind(|other| other.address == record.address).map_or(record.name.as_str(), |other| other.name.as_str());
            out.push_str(&format!("Address {}: {} {own}\n", i + 1, record.address));
        }
        Done::said(out)
    }

    /// The Pod that a host name or an address leads to from here.
    fn reach(&self, host: &str) -> Result<(String, Option<Rc<Object>>), Done> {
        let Some((pod, _)) = &self.pod else { return Err(outside(host)) };
        let sim = self.client.sim();
        if matches!(host, "localhost" | "127.0.0.1") {
            return Ok(("127.0.0.1".into(), Some(pod.clone())));
        }
        let is_address = host.split('.').count() == 4 && host.chars().all(|c| c.is_ascii_digit() || c == '.');
        let found = dns::lookup(sim.server(), &pod.meta.namespace, host);
        let address = match (is_address, found.first()) {
            (true, _) => host.to_string(),
            (false, Some(record)) => record.address.to_string(),
            (false, None) => return Err(Done::failed(format!("bad address '{host}'\n"), 1)),
        };
        let with = |address: &str| {
            sim.list(Kind::Pod).find(|pod| pod.pod().is_some_and(|p| p.status.pod_ip == address && !p.is_terminal())).cloned()
        };
        let pod = with(&address).or_else(|| {
            let service = sim
                .list(Kind::Service)
                .find(|s| s.get::<crate::api::network::Service>().is_some_and(|s| s.spec.cluster_ip == address.as_str()))?;
            let ready = sim.server().slices_of(service).flat_map(|slice| slice.endpoints.iter());
            let all: Vec<_> = ready.filter(|e| e.conditions.ready.unwrap_or(true)).filter_map(|e| e.addresses.first()).collect();
            // One request after another goes round the endpoints.
            let turn = sim.journal().len();
            with(all.get(turn % all.len().max(1))?)
        });
        Ok((address, pod))
    }

    fn ping(&self, host: &str) -> Done {
        match self.reach(host) {
            Err(done) => Done { err: format!("ping: {}", done.err), ..done },
            Ok((address, Some(_))) => {
                let mut out = format!("PING {host} ({address}): 56 data bytes\n");
                (0..3).for_each(|n| out.push_str(&format!("64 bytes from {address}: seq={n} ttl=62 time=0.5 ms\n")));
                out.push_str(&format!("\n--- {host} ping statistics ---\n3 packets transmitted, 3 packets received, 0% packet loss\n"));
                Done::said(out)
            }
            Ok((address, None)) => Done {
                out: format!(
                    "PING {host} ({address}): 56 data bytes\n\n--- {host} ping statistics ---\n3 packets transmitted, 0 packets received, 100% packet loss\n"
                ),
                code: 1,
                ..Done::default()
            },
        }
    }

    /// What a web server would answer: the index page of its Pod, if somebody wrote one.
    fn fetch(&self, tool: &str, url: &str) -> Done {
        let host = url.trim_start_matches("http://").split(['/', ':']).next().unwrap_or("");
        let refused = |address: &str| match tool {
            "curl" => Done::failed(format!("curl: (7) Failed to connect to {host} port 80: Connection refused\n"), 7),
            _ => Done::failed(format!("wget: can't connect to remote host ({address}): Connection refused\n"), 1),
        };
        match self.reach(host) {
            Err(_) if tool == "curl" => Done::failed(format!("curl: (6) Could not resolve host: {host}\n"), 6),
            Err(done) => Done { err: format!("wget: {}", done.err), ..done },
            Ok((address, None)) => refused(&address),
            Ok((_, Some(pod))) => {
                const INDEX: &str = "/usr/share/nginx/html/index.html";
                let text = match place(self.client.sim().server(), &pod, 0, INDEX) {
                    FilePlace::Disk { disk, path } => self.client.sim().disks.read(&disk, &path).map(|text| text.to_string()),
                    FilePlace::Projected { .. } => None,
                };
                Done::said(text.unwrap_or_else(|| format!("<html><body><h1>Welcome to {}!</h1></body></html>\n", pod.meta.name)))
            }
        }
    }
}
