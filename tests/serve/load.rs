//! Many clients, slow ones, and bodies that are too large.

use crate::http::{chunk, get, head, open, pass, post, send};
use crate::{CONFIG_MAPS, config_map, deployment, server};
use controller_runtime::cluster::ClusterConfig;
use serde_json::{Value, json};
use serve::{ClockPace, ServeOptions, Server};
use std::io::Write;
use std::net::TcpStream;

#[test]
fn a_watch_that_is_read_late_has_all_events() {
    let config = ClusterConfig::with_nodes(60);
    let server = Server::start(ServeOptions {
        pace: ClockPace::Held,
        config,
        ..ServeOptions::default()
    })
    .unwrap();
    let at = server.address();
    let target = "/api/v1/namespaces/default/pods?watch=1&resourceVersion=1";
    let (mut slow, mut other) = (
        open(at, "GET", target, &[], b""),
        open(
            at,
            "GET",
            &format!("{CONFIG_MAPS}?watch=1&resourceVersion=1"),
            &[],
            b"",
        ),
    );
    assert_eq!((head(&mut slow).0, head(&mut other).0), (200, 200));
    assert_eq!(
        post(
            at,
            "/apis/apps/v1/namespaces/default/deployments",
            &deployment("web", 2_000)
        )
        .code,
        201
    );
    // More is written at once than is rendered ahead of a reader.
    pass(at, 60);
    assert_eq!(get(at, "/readyz").code, 200);
    let (mut created, mut version) = (0, 0);
    while created < 2_000 {
        let event: Value = serde_json::from_slice(&chunk(&mut slow).unwrap()).unwrap();
        created += i32::from(event["type"] == "ADDED");
        let next = event["object"]["metadata"]["resourceVersion"].as_str();
        let next = next.unwrap().parse::<u64>().unwrap();
        assert!(next > version, "{next} after {version}");
        version = next;
    }
    // Others are not concerned.
    assert_eq!(post(at, CONFIG_MAPS, &config_map("one")).code, 201);
    while !String::from_utf8(chunk(&mut other).unwrap())
        .unwrap()
        .contains("\"name\":\"one\"")
    {}
    assert_eq!(get(at, "/api/v1/namespaces/default/pods?limit=1").code, 200);
}

#[test]
fn hundreds_of_watches_and_requests_run_concurrently() {
    let server = server();
    let at = server.address();
    let mut watches: Vec<_> = (0..200)
        .map(|_| {
            open(
                at,
                "GET",
                &format!("{CONFIG_MAPS}?watch=1&labelSelector=own"),
                &[],
                b"",
            )
        })
        .collect();
    watches
        .iter_mut()
        .for_each(|watch| assert_eq!(head(watch).0, 200));
    // Half a request, and half a body, are left open meanwhile.
    let mut half = TcpStream::connect(at).unwrap();
    half.write_all(b"POST /api/v1/namespaces/default/configmaps HTTP/1.1\r\nhost: localhost\r\ncontent-length: 100\r\n\r\n{\"a\":")
        .unwrap();
    let mut head_only = TcpStream::connect(at).unwrap();
    head_only.write_all(b"GET /api/v1/po").unwrap();
    std::thread::scope(|scope| {
        for n in 0..100 {
            scope.spawn(move || {
                let mut map = config_map(&format!("c{n}"));
                map["metadata"]["labels"] = json!({ "own": "yes" });
                assert_eq!(post(at, CONFIG_MAPS, &map).code, 201);
                assert_eq!(get(at, &format!("{CONFIG_MAPS}/c{n}")).code, 200);
            });
        }
    });
    for watch in &mut watches {
        let mut seen = 0;
        while seen < 100 {
            seen += chunk(watch)
                .unwrap()
                .iter()
                .filter(|byte| **byte == b'\n')
                .count();
        }
        assert_eq!(seen, 100);
    }
}

#[test]
fn a_body_may_have_three_mebibytes_and_no_more() {
    let server = server();
    let body = |size: usize| {
        let text = config_map("large").to_string();
        let mut body = text.into_bytes();
        body.resize(size, b' ');
        body
    };
    let code = |size: usize| {
        let reply = send(
            server.address(),
            "POST",
            &format!("{CONFIG_MAPS}?dryRun=All"),
            &[("content-type", "application/json")],
            &body(size),
        );
        (reply.code, reply.json()["reason"].clone())
    };
    assert_eq!(code(3 << 20).0, 201);
    assert_eq!(code((3 << 20) + 1), (413, json!("RequestEntityTooLarge")));
}

#[test]
fn serve_continues_after_its_first_line_was_read() {
    use std::io::{BufRead, BufReader};
    use std::process::{Command, Stdio};
    for _ in 0..5 {
        let config = concat!(env!("CARGO_TARGET_TMPDIR"), "/pipe.kubeconfig");
        let words = [
            "serve",
            "--listen",
            "127.0.0.1:0",
            "--speed",
            "0",
            "--kubeconfig",
            config,
        ];
        let mut child = Command::new(env!("CARGO_BIN_EXE_loopscope"))
            .args(words)
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut line = String::new();
        // The pipe is closed with the reader.
        BufReader::with_capacity(1, child.stdout.take().unwrap())
            .read_line(&mut line)
            .unwrap();
        let at = line
            .trim()
            .rsplit("http://")
            .next()
            .unwrap()
            .parse()
            .unwrap();
        std::thread::sleep(std::time::Duration::from_millis(20));
        assert_eq!(get(at, "/readyz").body, b"ok");
        child.kill().unwrap();
        child.wait().unwrap();
    }
}
