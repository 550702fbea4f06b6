//! `loopscope mcp`, as a client of the Model Context Protocol speaks to it.

use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

const BROKEN: &str = "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web}\nspec:\n  replicas: 3\n  selector: {matchLabels: {app: web}}\n  template:\n    metadata: {labels: {app: web}}\n    spec: {containers: [{name: nginx, image: \"nginx:broken\"}]}\n";

struct Client {
    server: Child,
    input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
    id: u64,
}

impl Client {
    fn start() -> Client {
        let mut server = Command::new(env!("CARGO_BIN_EXE_loopscope"))
            .arg("mcp")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let input = server.stdin.take();
        let output = BufReader::new(server.stdout.take().unwrap());
        let mut client = Client {
            server,
            input,
            output,
            id: 0,
        };
        let params = json!({ "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": { "name": "test", "version": "1" } });
        let begun = client.request("initialize", params);
        assert_eq!(begun["serverInfo"]["name"], "loopscope");
        client.send(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }));
        client
    }

    fn send(&mut self, message: &Value) {
        writeln!(self.input.as_mut().unwrap(), "{message}").unwrap();
    }

    fn request(&mut self, method: &str, params: Value) -> Value {
        self.id += 1;
        self.send(&json!({ "jsonrpc": "2.0", "id": self.id, "method": method, "params": params }));
        let mut line = String::new();
        self.output.read_line(&mut line).unwrap();
        let mut answer: Value = serde_json::from_str(&line).unwrap();
        assert_eq!(answer["id"], self.id, "{answer}");
        answer["result"].take()
    }

    /// Calls a tool; returns its text, as an error if it failed.
    fn call(&mut self, tool: &str, arguments: Value) -> Result<String, String> {
        let result = self.request(
            "tools/call",
            json!({ "name": tool, "arguments": arguments }),
        );
        let text = result["content"][0]["text"]
            .as_str()
            .unwrap_or("")
            .to_owned();
        if result["isError"] == true {
            Err(text)
        } else {
            Ok(text)
        }
    }
}

#[test]
fn an_agent_finds_a_failure_mends_it_and_scores() {
    let mut client = Client::start();
    let tools = client.request("tools/list", json!({}));
    let tools = tools["tools"].as_array().unwrap();
    assert!(tools.len() >= 12 && tools.iter().all(|tool| tool["description"].is_string()));
    let goal = "ready(web) == 3";
    let begun = client.call("reset", json!({ "manifest": BROKEN, "goal": goal }));
    assert_eq!(
        begun.unwrap(),
        json!({ "goal": goal, "reached": false }).to_string()
    );
    let why: Value =
        serde_json::from_str(&client.call("why", json!({ "object": "web" })).unwrap()).unwrap();
    assert_eq!(why["health"], "stuck");
    client
        .call("snapshot", json!({ "name": "broken" }))
        .unwrap();
    let diagnosis = client.call("diagnose", json!({ "object": "web" })).unwrap();
    let diagnosis: Value = serde_json::from_str(&diagnosis).unwrap();
    let remedies = diagnosis["waits"]
        .as_array()
        .unwrap()
        .iter()
        .flat_map(|wait| wait["remedies"].as_array().unwrap());
    let remedy = remedies
        .filter(|remedy| remedy["helps"] == true)
        .map(|remedy| remedy["commands"][0].as_str().unwrap())
        .next();
    client
        .call("kubectl", json!({ "command": remedy.unwrap() }))
        .unwrap();
    let status = client.call(
        "kubectl",
        json!({ "command": "rollout status deployment/web" }),
    );
    assert!(
        status
            .unwrap()
            .ends_with("deployment \"web\" successfully rolled out\n")
    );
    assert!(
        client
            .call("score", json!({}))
            .unwrap()
            .contains("\"reached\":true")
    );
    client.call("restore", json!({ "name": "broken" })).unwrap();
    assert_eq!(
        client
            .call("evaluate", json!({ "expression": "ready(web)" }))
            .unwrap(),
        "0"
    );
}

#[test]
fn what_a_tool_cannot_do_is_an_error_with_its_reason() {
    let mut client = Client::start();
    for (tool, arguments, problem) in [
        (
            "apply",
            json!({ "manifest": "kind: Pod" }),
            "line 1: error validating",
        ),
        (
            "kubectl",
            json!({ "command": "get nope" }),
            "error: the server doesn't have a resource type \"nope\"",
        ),
        (
            "fault",
            json!({ "fault": "explode" }),
            "error: unknown fault \"explode\"",
        ),
        (
            "why",
            json!({ "object": "nobody" }),
            "there is no object \"nobody\"",
        ),
        (
            "evaluate",
            json!({ "expression": "ready(" }),
            "the expression ends",
        ),
        ("restore", json!({ "name": "never" }), ""),
        (
            "advance",
            json!({ "seconds": -1 }),
            "seconds must be a number from 0 to 86400",
        ),
    ] {
        let error = client.call(tool, arguments).expect_err(tool);
        assert!(error.starts_with(problem), "{tool}: {error}");
    }
    let advanced = client.call("advance", json!({ "seconds": 30 })).unwrap();
    assert!(advanced.contains("\"seconds\":31"), "{advanced}");
    // Its standard input ends: so does the command.
    client.input = None;
    assert!(client.server.wait().unwrap().success());
}
