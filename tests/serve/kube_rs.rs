//! kube-rs against the server: the test of an operator, with a cluster of its own and a clock that it moves.

use crate::http::pass;
use futures_util::{StreamExt, TryStreamExt};
use k8s_openapi::api::apps::v1::Deployment;
use k8s_openapi::api::coordination::v1::Lease;
use k8s_openapi::api::core::v1::{ConfigMap, Pod};
use kube::api::{
    AttachParams, DeleteParams, ListParams, LogParams, Patch, PatchParams, PostParams,
};
use kube::runtime::watcher::{self, Event};
use kube::runtime::{reflector, watcher as watch};
use kube::{Api, Client, Config};
use kube_lease_manager::LeaseManagerBuilder;
use serde_json::{Value, json};
use serve::{ClockPace, ServeOptions, Server};
use std::time::Duration;
use tokio::io::AsyncReadExt;
use tokio::sync::watch::Receiver;
use tokio::task::JoinHandle;

/// A cluster whose clock stands, and a client of it.
fn start() -> (Server, Client) {
    let server = Server::start(ServeOptions {
        pace: ClockPace::Held,
        ..ServeOptions::default()
    })
    .unwrap();
    let address = format!("http://{}", server.address()).parse().unwrap();
    (server, Client::try_from(Config::new(address)).unwrap())
}

fn typed<T: serde::de::DeserializeOwned>(value: Value) -> T {
    serde_json::from_value(value).unwrap()
}

fn deployment(replicas: u32) -> Deployment {
    typed(json!({
        "metadata": { "name": "web" },
        "spec": { "replicas": replicas, "selector": { "matchLabels": { "app": "web" } }, "template": {
            "metadata": { "labels": { "app": "web" } },
            "spec": { "containers": [{ "name": "c", "image": "busybox", "command": ["sh", "-c", "echo hello; sleep 3600"] }] },
        } },
    }))
}

fn ready(deployment: &Deployment) -> i32 {
    deployment
        .status
        .as_ref()
        .and_then(|status| status.ready_replicas)
        .unwrap_or(0)
}

#[tokio::test]
async fn a_rollout_survives_a_node_that_goes_down() {
    let (server, client) = start();
    let deployments: Api<Deployment> = Api::default_namespaced(client.clone());
    deployments
        .create(&PostParams::default(), &deployment(3))
        .await
        .unwrap();
    pass(server.address(), 10);
    assert_eq!(ready(&deployments.get("web").await.unwrap()), 3);
    crate::http::send(
        server.address(),
        "POST",
        "/loopscope/fault",
        &[],
        b"node-down node-1",
    );
    pass(server.address(), 600);
    assert_eq!(ready(&deployments.get("web").await.unwrap()), 3);
    let pods: Api<Pod> = Api::default_namespaced(client);
    let running = pods
        .list(&ListParams::default().fields("spec.nodeName!=node-1"))
        .await
        .unwrap();
    assert_eq!(running.items.len(), 3);
}

#[tokio::test]
async fn a_reflector_keeps_up_and_an_applied_field_has_one_manager() {
    let (_server, client) = start();
    let maps: Api<ConfigMap> = Api::default_namespaced(client);
    let (store, writer) = reflector::store();
    let mut events = Box::pin(reflector(
        writer,
        watch(maps.clone(), watcher::Config::default()),
    ));
    while !matches!(events.try_next().await.unwrap(), Some(Event::InitDone)) {}
    let apply = |manager: &str, value: &str| {
        let map = json!({ "apiVersion": "v1", "kind": "ConfigMap", "metadata": { "name": "conf" }, "data": { "a": value } });
        let (maps, params) = (maps.clone(), PatchParams::apply(manager));
        async move { maps.patch("conf", &params, &Patch::Apply(map)).await }
    };
    apply("one", "1").await.unwrap();
    let conflict = apply("two", "2").await.unwrap_err();
    assert!(
        matches!(&conflict, kube::Error::Api(status) if status.code == 409),
        "{conflict}"
    );
    maps.delete("conf", &DeleteParams::default()).await.unwrap();
    apply("two", "2").await.unwrap();
    let mut seen = Vec::new();
    while seen.len() < 3 {
        let event = tokio::time::timeout(Duration::from_secs(20), events.next())
            .await
            .expect("an event")
            .unwrap()
            .unwrap();
        seen.push(match event {
            Event::Apply(map) => map.data.unwrap()["a"].clone(),
            Event::Delete(_) => "deleted".to_owned(),
            other => panic!("{other:?}"),
        });
    }
    assert_eq!(seen, ["1", "deleted", "2"]);
    assert!(
        store
            .state()
            .iter()
            .any(|map| map.metadata.name.as_deref() == Some("conf"))
    );
}

#[tokio::test]
async fn logs_are_read_and_commands_run() {
    let (server, client) = start();
    let deployments: Api<Deployment> = Api::default_namespaced(client.clone());
    deployments
        .create(&PostParams::default(), &deployment(1))
        .await
        .unwrap();
    pass(server.address(), 10);
    let pods: Api<Pod> = Api::default_namespaced(client);
    let pod = pods
        .list(&ListParams::default())
        .await
        .unwrap()
        .items
        .remove(0)
        .metadata
        .name
        .unwrap();
    assert_eq!(
        pods.logs(&pod, &LogParams::default()).await.unwrap(),
        "hello\n"
    );
    let mut attached = pods
        .exec(
            &pod,
            ["sh", "-c", "hostname; exit 3"],
            &AttachParams::default().stderr(false),
        )
        .await
        .unwrap();
    let status = attached.take_status().unwrap();
    let mut out = String::new();
    attached
        .stdout()
        .unwrap()
        .read_to_string(&mut out)
        .await
        .unwrap();
    assert_eq!(out.trim(), pod);
    let status = status.await.unwrap();
    assert_eq!(status.reason.as_deref(), Some("NonZeroExitCode"));
}

/// Somebody who wants to lead: whether it does, and the task that asks for it.
async fn stand(
    client: &Client,
    name: &str,
) -> (
    Receiver<bool>,
    JoinHandle<kube_lease_manager::Result<kube_lease_manager::LeaseManager>>,
) {
    let manager = LeaseManagerBuilder::new(client.clone(), "leader")
        .with_identity(name)
        .with_duration(2)
        .with_grace(1);
    manager.build().await.unwrap().watch().await
}

#[tokio::test]
async fn one_leads_and_the_other_takes_over_when_it_is_gone() {
    let (_server, client) = start();
    let leases: Api<Lease> = Api::default_namespaced(client.clone());
    let holder = || async {
        leases
            .get("leader")
            .await
            .unwrap()
            .spec
            .unwrap()
            .holder_identity
    };
    let within = Duration::from_secs(20);
    let (mut first, task) = stand(&client, "one").await;
    tokio::time::timeout(within, first.wait_for(|leads| *leads))
        .await
        .expect("one leads")
        .unwrap();
    let (mut second, other) = stand(&client, "two").await;
    // While it is renewed, beyond the time for which the Lease was first taken, nobody else has it.
    assert!(
        tokio::time::timeout(Duration::from_secs(3), second.wait_for(|leads| *leads))
            .await
            .is_err(),
        "two lead"
    );
    assert_eq!(
        (holder().await.as_deref(), *first.borrow()),
        (Some("one"), true)
    );
    // It ends without a word; the Lease runs out.
    task.abort();
    tokio::time::timeout(within, second.wait_for(|leads| *leads))
        .await
        .expect("two leads")
        .unwrap();
    assert_eq!(holder().await.as_deref(), Some("two"));
    // It leaves, and the Lease is free at once.
    drop(second);
    other.await.unwrap().unwrap();
    assert_eq!(holder().await, None);
}

#[tokio::test]
async fn a_lease_is_taken_from_its_current_version_alone() {
    let (_server, client) = start();
    let leases: Api<Lease> = Api::default_namespaced(client);
    let lease = |holder: &str| -> Lease {
        let renewed = "2026-01-01T00:00:00.000000Z";
        typed(
            json!({ "metadata": { "name": "leader" }, "spec": { "holderIdentity": holder, "leaseDurationSeconds": 3, "renewTime": renewed } }),
        )
    };
    let params = PostParams::default();
    let created = leases.create(&params, &lease("one")).await.unwrap();
    let refused = |result: kube::Result<Lease>, reason: &str| match result {
        Err(kube::Error::Api(status)) => {
            assert_eq!((status.code, status.reason.as_str()), (409, reason))
        }
        other => panic!("{other:?}"),
    };
    refused(leases.create(&params, &lease("two")).await, "AlreadyExists");
    // Both have read it, and both take it: one of them comes too late.
    let take = |holder: &str| Lease {
        metadata: created.metadata.clone(),
        ..lease(holder)
    };
    leases
        .replace("leader", &params, &take("two"))
        .await
        .unwrap();
    refused(
        leases.replace("leader", &params, &take("three")).await,
        "Conflict",
    );
    assert_eq!(
        leases
            .get("leader")
            .await
            .unwrap()
            .spec
            .unwrap()
            .holder_identity
            .as_deref(),
        Some("two")
    );
}
