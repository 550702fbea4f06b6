//! How fast a served cluster answers: `cargo bench --bench serve` prints the figures of docs/serve.md.
//!
//! The server is a process of its own, reached over loopback; the client keeps its connections open.

use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

const CONFIG_MAPS: &str = "/api/v1/namespaces/default/configmaps";

/// A server in a process of its own.
struct Served {
    child: Child,
    address: SocketAddr,
    /// From the start of the process to its first answer.
    ready: Duration,
}

impl Served {
    fn start(words: &[&str]) -> Served {
        let file =
            std::env::temp_dir().join(format!("loopscope-bench-{}.kubeconfig", std::process::id()));
        let began = now();
        let mut child = Command::new(env!("CARGO_BIN_EXE_loopscope"))
            .args([
                "serve",
                "--listen",
                "127.0.0.1:0",
                "--max-memory",
                "0",
                "--kubeconfig",
            ])
            .arg(&file)
            .args(words)
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap())
            .read_line(&mut line)
            .unwrap();
        let address = line
            .trim()
            .rsplit("http://")
            .next()
            .unwrap()
            .parse()
            .unwrap();
        assert_eq!(Client::to(address).send("GET", "/readyz", b"").0, 200);
        Served {
            child,
            address,
            ready: began.elapsed(),
        }
    }

    fn client(&self) -> Client {
        Client::to(self.address)
    }

    /// The memory that the process holds, in MiB.
    fn memory(&self) -> u64 {
        let text = std::fs::read_to_string(format!("/proc/{}/status", self.child.id()))
            .unwrap_or_default();
        let line = text
            .lines()
            .find_map(|line| line.strip_prefix("VmRSS:"))
            .unwrap_or("0 kB");
        line.trim()
            .trim_end_matches("kB")
            .trim()
            .parse::<u64>()
            .unwrap_or(0)
            / 1024
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[allow(clippy::disallowed_methods)] // what is measured
fn now() -> Instant {
    Instant::now()
}

struct Client(BufReader<TcpStream>, SocketAddr);

impl Client {
    fn to(address: SocketAddr) -> Client {
        let stream = TcpStream::connect(address).unwrap();
        stream.set_nodelay(true).unwrap();
        Client(BufReader::new(stream), address)
    }

    fn ask(&mut self, method: &str, target: &str, body: &[u8]) {
        let head = format!(
            "{method} {target} HTTP/1.1\r\nhost: {}\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n",
            self.1,
            body.len()
        );
        self.0
            .get_mut()
            .write_all(&[head.as_bytes(), body].concat())
            .unwrap();
    }

    /// Status and length of an answer.
    fn head(&mut self) -> (u16, usize) {
        let (mut line, mut code, mut length) = (String::new(), 0, 0);
        loop {
            line.clear();
            self.0.read_line(&mut line).unwrap();
            let text = line.trim_end().to_lowercase();
            if let Some(rest) = text.strip_prefix("http/1.1 ") {
                code = rest[..3].parse().unwrap();
            } else if let Some(rest) = text.strip_prefix("content-length: ") {
                length = rest.parse().unwrap();
            } else if text.is_empty() {
                return (code, length);
            }
        }
    }

    fn send(&mut self, method: &str, target: &str, body: &[u8]) -> (u16, Vec<u8>) {
        self.ask(method, target, body);
        let (code, length) = self.head();
        let mut body = vec![0; length];
        self.0.read_exact(&mut body).unwrap();
        (code, body)
    }

    fn post(&mut self, target: &str, body: &Value) -> u16 {
        self.send("POST", target, body.to_string().as_bytes()).0
    }

    /// The next piece of a stream.
    fn piece(&mut self) {
        let mut line = String::new();
        self.0.read_line(&mut line).unwrap();
        let mut piece = vec![0; usize::from_str_radix(line.trim(), 16).unwrap() + 2];
        self.0.read_exact(&mut piece).unwrap();
    }
}

fn config_map(name: &str) -> Value {
    json!({ "metadata": { "name": name }, "data": { "key": "value" } })
}

fn deployment(pods: u32) -> Value {
    json!({ "metadata": { "name": "web" }, "spec": { "replicas": pods, "selector": { "matchLabels": { "app": "web" } }, "template": {
        "metadata": { "labels": { "app": "web" } }, "spec": { "containers": [{ "name": "nginx", "image": "nginx:1.27" }] } } } })
}

/// Requests a second from so many clients at once, each with so many requests.
fn rate(
    served: &Served,
    clients: usize,
    each: usize,
    one: impl Fn(&mut Client, usize) + Sync,
) -> f64 {
    let began = now();
    std::thread::scope(|scope| {
        for number in 0..clients {
            let (one, mut client) = (&one, served.client());
            scope.spawn(move || (0..each).for_each(|n| one(&mut client, number * each + n)));
        }
    });
    (clients * each) as f64 / began.elapsed().as_secs_f64()
}

fn middle(mut all: Vec<Duration>) -> (Duration, Duration) {
    all.sort();
    (all[all.len() / 2], all[all.len() * 99 / 100])
}

fn watches(served: &Served, count: usize) -> Vec<Client> {
    let open = |_| {
        let mut client = served.client();
        client.ask(
            "GET",
            &format!("{CONFIG_MAPS}?watch=1&resourceVersion=1&labelSelector=own"),
            b"",
        );
        assert_eq!(client.head().0, 200);
        client
    };
    (0..count).map(open).collect()
}

fn labelled(name: &str) -> Value {
    let mut map = config_map(name);
    map["metadata"]["labels"] = json!({ "own": "yes" });
    map
}

fn main() {
    let starts: Vec<Duration> = (0..20)
        .map(|_| Served::start(&["--speed", "0"]).ready)
        .collect();
    println!(
        "from the start of the process to its first answer: {:.1?}",
        middle(starts).0
    );

    let served = Served::start(&["--speed", "0", "--nodes", "50"]);
    let mut client = served.client();
    assert_eq!(client.post(CONFIG_MAPS, &config_map("one")), 201);
    let get = |client: &mut Client, _: usize| {
        assert_eq!(
            client.send("GET", &format!("{CONFIG_MAPS}/one"), b"").0,
            200
        )
    };
    println!(
        "get: {:.0} requests a second from one client, {:.0} from sixteen",
        rate(&served, 1, 4_000, get),
        rate(&served, 16, 500, get)
    );
    let create = |client: &mut Client, n: usize| {
        assert_eq!(
            client.post(CONFIG_MAPS, &config_map(&format!("c-{n}"))),
            201
        )
    };
    println!(
        "create: {:.0} requests a second from one client",
        rate(&served, 1, 2_000, create)
    );

    let mut watch = watches(&served, 1);
    let one = |n: usize| {
        let began = now();
        assert_eq!(client.post(CONFIG_MAPS, &labelled(&format!("w-{n}"))), 201);
        watch[0].piece();
        began.elapsed()
    };
    let (half, most) = middle((0..500).map(one).collect());
    println!("from a write to its event in a watch: {half:.1?}, 99 % in {most:.1?}");
    drop(watch);

    assert_eq!(
        client.post(
            "/apis/apps/v1/namespaces/default/deployments",
            &deployment(5_000)
        ),
        201
    );
    assert_eq!(
        client.post("/loopscope/time", &json!({ "seconds": 120 })),
        200
    );
    let list = |client: &mut Client| {
        let began = now();
        let (code, body) = client.send("GET", "/api/v1/namespaces/default/pods", b"");
        assert_eq!(code, 200);
        (began.elapsed(), body.len())
    };
    let lists: Vec<(Duration, usize)> = (0..10).map(|_| list(&mut client)).collect();
    let size = lists[0].1 as f64 / 1e6;
    println!(
        "list of 5,000 Pods ({size:.1} MB): {:.2?}",
        middle(lists.into_iter().map(|(time, _)| time).collect()).0
    );
    drop(client);
    drop(served);

    let served = Served::start(&["--speed", "0"]);
    let (mut client, mut all) = (served.client(), watches(&served, 1_000));
    let one = |n: usize| {
        let began = now();
        assert_eq!(client.post(CONFIG_MAPS, &labelled(&format!("w-{n}"))), 201);
        all.iter_mut().for_each(Client::piece);
        began.elapsed()
    };
    let (half, most) = middle((0..50).map(one).collect());
    println!(
        "a write until 1,000 watches have its event: {half:.1?}, at most {most:.1?}; {} MiB",
        served.memory()
    );
    drop(all);
    drop(client);
    drop(served);

    let served = Served::start(&["--speed", "0"]);
    let before = served.memory();
    let mut client = served.client();
    (0..10_000).for_each(|n| {
        assert_eq!(
            client.post(CONFIG_MAPS, &config_map(&format!("c-{n}"))),
            201
        )
    });
    println!(
        "memory: {before} MiB empty, {} MiB with 10,000 ConfigMaps",
        served.memory()
    );
    drop(served);
    let served = Served::start(&["--speed", "0", "--nodes", "100"]);
    let mut client = served.client();
    assert_eq!(
        client.post(
            "/apis/apps/v1/namespaces/default/deployments",
            &deployment(10_000)
        ),
        201
    );
    assert_eq!(
        client.post("/loopscope/time", &json!({ "seconds": 300 })),
        200
    );
    println!(
        "memory: {} MiB with 10,000 Pods of a Deployment, all started",
        served.memory()
    );
}
