//! `loopscope mcp`: a cluster as tools of the Model Context Protocol, on standard input and output.
//!
//! Each tool is a request to the server that `loopscope serve` starts, so a page can follow what an agent does.

use super::{MAX_NODES, page, read};
use clap::{Args, value_parser};
use controller_runtime::cluster::ClusterConfig;
use rmcp::handler::server::wrapper::Parameters;
use rmcp::model::{Implementation, ServerCapabilities, ServerConfig};
use rmcp::schemars::{self, JsonSchema};
use rmcp::{ServerHandler, ServiceExt, tool, tool_handler, tool_router};
use serde::Deserialize;
use serde_json::{Value, json};
use serve::{Client, ClockPace, ServeOptions, Server};
use std::net::SocketAddr;

/// Virtual seconds after which a command that still waits is interrupted.
const PATIENCE: u64 = 600;

const INSTRUCTIONS: &str = "A simulated Kubernetes 1.36 cluster on a virtual clock. The clock stands still until `advance` or `settle` moves \
it, or a kubectl command waits. Objects are named as `web`, `pod/web-0` or `deploy/prod/web`. `why` tells what caused an object's state, \
`diagnose` what it waits for and which commands help. Containers do not run.";

/// Serves a cluster as tools for agents, by the Model Context Protocol on standard input and output (docs/agents.md)
#[derive(Args)]
pub struct McpArgs {
    /// Number of nodes
    #[arg(long, value_name = "N", default_value_t = 3, value_parser = value_parser!(u64).range(..=MAX_NODES))]
    nodes: u64,
    /// Seed of names and uids
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,
    /// Applies a file first
    #[arg(long, value_name = "FILE")]
    setup: Vec<String>,
    /// Loopback address and port of the API server, for other clients; port 0 picks a free one
    #[arg(long, value_name = "ADDRESS:PORT", default_value = "127.0.0.1:0")]
    listen: SocketAddr,
    /// Serves the built page too, which follows what the agent does; its address is printed to standard error
    #[arg(long)]
    page: bool,
}

/// Runs the server until its client disconnects.
pub fn mcp(args: McpArgs) -> Result<u8, String> {
    let setup: Result<_, _> = args.setup.iter().map(|file| read(file)).collect();
    let server = Server::start(ServeOptions {
        listen: args.listen,
        config: ClusterConfig::with_nodes(args.nodes as usize),
        seed: args.seed,
        setup: setup?,
        pace: ClockPace::Held,
        page: args.page.then(page::built_page).transpose()?,
        ..ServeOptions::default()
    })?;
    eprintln!("API server: http://{}", server.address());
    if args.page {
        eprintln!("page:       http://{}/page/?follow", server.address());
    }
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|error| error.to_string())?;
    let tools = Tools {
        cluster: server.client(),
    };
    let ended = runtime.block_on(async {
        let service = tools.serve(rmcp::transport::stdio()).await;
        let service = service.map_err(|error| error.to_string())?;
        service.waiting().await.map_err(|error| error.to_string())
    });
    // Reading standard input blocks a thread of the runtime.
    runtime.shutdown_background();
    ended.map(|_| 0)
}

/// Tools of one cluster.
#[derive(Clone)]
struct Tools {
    cluster: Client,
}

/// Result of a tool: text, or the message of an error.
type ToolResult = Result<String, String>;

#[derive(Deserialize, JsonSchema)]
struct ResetParams {
    /// Number of nodes (3)
    nodes: Option<u64>,
    /// Seed of names and uids (1)
    seed: Option<u64>,
    /// YAML manifest that is applied first; the cluster settles afterwards
    manifest: Option<String>,
    /// Faults injected after that, such as `node-down node-1`
    faults: Option<Vec<String>>,
    /// Expression that holds once the task is done, such as `ready(web) == 3 and updated(web) == 3`
    goal: Option<String>,
}

#[derive(Deserialize, JsonSchema)]
struct ManifestParams {
    /// YAML, with one or several documents
    manifest: String,
}

#[derive(Deserialize, JsonSchema)]
struct KubectlParams {
    /// Command line without `kubectl`, such as `get pods -o wide`; a YAML manifest for `-f -` goes into `stdin`
    command: String,
    /// Standard input
    stdin: Option<String>,
}

#[derive(Deserialize, JsonSchema)]
struct AdvanceParams {
    /// Virtual seconds, at most 86400
    seconds: f64,
}

#[derive(Deserialize, JsonSchema)]
struct ObjectParams {
    /// Object: `web`, `pod/web-0`, `deploy/prod/web`
    object: String,
}

#[derive(Deserialize, JsonSchema)]
struct FaultParams {
    /// Fault as in scenarios: `node-down node-1`, `exit pod/web-0 1`, `lose Pod`, `delay Pod 20s`, `slow replicaset 5s`, `restart deployment`
    fault: String,
}

#[derive(Deserialize, JsonSchema)]
struct NameParams {
    /// Name, of letters, digits, `-`, `_` and `.`
    name: String,
}

#[derive(Deserialize, JsonSchema)]
struct ExpressionParams {
    /// Expression, such as `ready(web) == 3`, `count(pods, 'app=web')`, `field(web, 'spec.replicas')`
    expression: String,
}

#[tool_router]
impl Tools {
    /// Sends a request; returns its JSON.
    async fn request(&self, method: &str, path: &str, body: String) -> Result<Value, String> {
        let target = format!("/loopscope/{path}");
        let (code, body) = self.cluster.request(method, &target, body).await?;
        let value: Value = serde_json::from_slice(&body).unwrap_or(Value::Null);
        if code < 400 {
            return Ok(value);
        }
        let message = value["message"].as_str();
        Err(message.map_or_else(
            || String::from_utf8_lossy(&body).into_owned(),
            str::to_owned,
        ))
    }

    async fn post(&self, path: &str, body: impl Into<String>) -> Result<Value, String> {
        self.request("POST", path, body.into()).await
    }

    /// Replaces the cluster by a fresh one, optionally with a manifest, faults and the goal of a task
    #[tool]
    async fn reset(&self, Parameters(params): Parameters<ResetParams>) -> ToolResult {
        let body = json!({
            "nodes": params.nodes.unwrap_or(3), "seed": params.seed.unwrap_or(1), "manifest": params.manifest.unwrap_or_default(),
            "faults": params.faults.unwrap_or_default(), "goal": params.goal.unwrap_or_default(), "max_steps": u64::MAX,
        });
        self.post("environment/reset", body.to_string()).await?;
        self.score().await
    }

    /// Applies a manifest, as `kubectl apply` does; refusals have their line
    #[tool]
    async fn apply(&self, Parameters(params): Parameters<ManifestParams>) -> ToolResult {
        let answer = self.post("apply", params.manifest).await?;
        let lines = lines(&answer["lines"], "text");
        let wrong = answer["diagnostics"].as_array().into_iter().flatten();
        let wrong = wrong.map(|one| format!("line {}: {}", one["line"], text(&one["message"])));
        let output: Vec<String> = lines.into_iter().chain(wrong).collect();
        match answer["failed"] == true || !output.is_empty() && answer["lines"] == json!([]) {
            true => Err(output.join("\n")),
            false => Ok(output.join("\n")),
        }
    }

    /// Runs a kubectl command to its end; the clock moves while it waits, by up to ten virtual minutes
    #[tool]
    async fn kubectl(&self, Parameters(params): Parameters<KubectlParams>) -> ToolResult {
        let line = params.command.trim();
        let line = line.strip_prefix("kubectl ").unwrap_or(line);
        let body = json!({ "command": line, "stdin": params.stdin.unwrap_or_default(), "patience": PATIENCE });
        let answer = self.post("run", body.to_string()).await?;
        let output = format!("{}{}", text(&answer["stdout"]), text(&answer["stderr"]));
        match answer["exit"].as_i64() {
            Some(0) => Ok(output),
            _ if answer["interrupted"] == true => Ok(format!(
                "{output}(interrupted after {PATIENCE} virtual seconds)\n"
            )),
            _ => Err(output),
        }
    }

    /// Moves the virtual clock forward; everything due until then happens
    #[tool]
    async fn advance(&self, Parameters(params): Parameters<AdvanceParams>) -> ToolResult {
        let body = json!({ "seconds": params.seconds });
        Ok(self.post("time", body.to_string()).await?.to_string())
    }

    /// Moves the virtual clock until nothing but Events has changed for 3 seconds, at most 90 seconds
    #[tool]
    async fn settle(&self) -> ToolResult {
        let body = json!({ "until": "settled" });
        Ok(self.post("time", body.to_string()).await?.to_string())
    }

    /// Tells the state of an object and what caused it: the chain of writes, newest first, each with its loop, its reason and its figures
    #[tool]
    async fn why(&self, Parameters(params): Parameters<ObjectParams>) -> ToolResult {
        self.of_object("why", &params.object).await
    }

    /// Tells what an object waits for, down to the root, and commands that could help; each was tried on a copy of the cluster
    #[tool]
    async fn diagnose(&self, Parameters(params): Parameters<ObjectParams>) -> ToolResult {
        self.of_object("diagnosis", &params.object).await
    }

    async fn of_object(&self, what: &str, object: &str) -> ToolResult {
        let path = format!("{what}/{}", encoded(object));
        Ok(self.request("GET", &path, String::new()).await?.to_string())
    }

    /// Injects a fault: a node fails, a container exits, watch events are lost or late, a loop is slow or restarts
    #[tool]
    async fn fault(&self, Parameters(params): Parameters<FaultParams>) -> ToolResult {
        Ok(self.post("fault", params.fault).await?.to_string())
    }

    /// Keeps the cluster as it is, under a name
    #[tool]
    async fn snapshot(&self, Parameters(params): Parameters<NameParams>) -> ToolResult {
        let path = format!("snapshots/{}", encoded(&params.name));
        Ok(self.request("PUT", &path, String::new()).await?.to_string())
    }

    /// Returns to a snapshot
    #[tool]
    async fn restore(&self, Parameters(params): Parameters<NameParams>) -> ToolResult {
        let path = format!("snapshots/{}", encoded(&params.name));
        Ok(self.post(&path, "").await?.to_string())
    }

    /// Evaluates an expression about the cluster now; null means that the object does not exist
    #[tool]
    async fn evaluate(&self, Parameters(params): Parameters<ExpressionParams>) -> ToolResult {
        Ok(self.post("value", params.expression).await?["value"].to_string())
    }

    /// Tells the goal of the task and whether it is reached
    #[tool]
    async fn score(&self) -> ToolResult {
        let state = self
            .request("GET", "environment/state", String::new())
            .await?;
        Ok(json!({ "goal": state["goal"], "reached": state["reached"] }).to_string())
    }
}

#[tool_handler]
impl ServerHandler for Tools {
    fn get_info(&self) -> ServerConfig {
        let capabilities = ServerCapabilities::builder().enable_tools().build();
        let mut config = ServerConfig::new(capabilities).with_instructions(INSTRUCTIONS);
        config.server_info = Implementation::new("loopscope", env!("CARGO_PKG_VERSION"));
        config
    }
}

/// Percent-encodes an argument for a path; slashes separate the parts of an object's name.
fn encoded(argument: &str) -> String {
    let parts = argument.split('/').map(|part| {
        form_urlencoded::byte_serialize(part.as_bytes())
            .collect::<String>()
            .replace('+', "%20")
    });
    parts.collect::<Vec<_>>().join("/")
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or("")
}

fn lines(list: &Value, field: &str) -> Vec<String> {
    let list = list.as_array().into_iter().flatten();
    list.map(|one| text(&one[field]).to_owned()).collect()
}
