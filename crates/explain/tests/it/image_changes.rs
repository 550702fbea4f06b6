//! What the kubelet does when the image of a Pod that it runs is changed.

use crate::one_pod;

use cluster::Sim;
use explain::words;
use k8s_model::{Kind, ObjectRef, Time};
use kubectl::Session;
use kubectl::parse::split;
use one_pod::started;
use serde_json::Value;

fn at(sim: &mut Sim, seconds: f64) -> Value {
    sim.advance(Time((seconds * 1_000_000.0) as u64), usize::MAX);
    sim.store()
        .get(&ObjectRef::new(Kind::Pod, "default", "p"))
        .unwrap()
        .to_value()
}

fn set_image(sim: &mut Sim, what: &str) {
    let session = Session::start(sim, &split(&format!("set image pod/p {what}")), "");
    assert_eq!(
        session.stdout, "pod/p image updated\n",
        "{}",
        session.stderr
    );
}

/// `image restarts ready state` of a container.
fn state(pod: &Value, list: &str, i: usize) -> String {
    let status = &pod["status"][list][i];
    let (state, detail) = status["state"].as_object().unwrap().iter().next().unwrap();
    let reason = detail["reason"]
        .as_str()
        .map(|reason| format!(" {reason}"))
        .unwrap_or_default();
    format!(
        "{} {} {} {state}{reason}",
        status["image"].as_str().unwrap(),
        status["restartCount"],
        status["ready"]
    )
}

/// When the image was found missing: of so many instants, tenths of a second from one to the next.
fn tries(sim: &mut Sim, tenths: impl Iterator<Item = u32>) -> Vec<u32> {
    let (mut tries, mut before) = (Vec::new(), String::new());
    for tenth in tenths {
        let now = state(&at(sim, f64::from(tenth) / 10.0), "containerStatuses", 0);
        if now.ends_with("ErrImagePull") && now != before {
            tries.push(tenth);
        }
        before = now;
    }
    tries
}

fn said(sim: &Sim, reason: &str) -> Vec<String> {
    let all = sim
        .store()
        .list(Kind::Event)
        .map(|event| event.to_value())
        .filter(|event| event["reason"] == reason);
    all.map(|event| event["message"].as_str().unwrap().to_owned())
        .collect()
}

#[test]
fn a_running_container_is_stopped_and_started_with_its_new_image_whatever_the_policy() {
    for policy in ["Always", "OnFailure", "Never"] {
        let mut sim = started(&format!(
            "restartPolicy: {policy}, containers: [{{name: a, image: 'nginx:1'}}, {{name: b, image: 'redis:7'}}]"
        ));
        assert_eq!(
            state(&at(&mut sim, 20.0), "containerStatuses", 0),
            "nginx:1 0 true running"
        );
        set_image(&mut sim, "a=nginx:2");
        let now = at(&mut sim, 20.1);
        assert_eq!(
            said(&sim, "Killing"),
            ["Container a definition changed, will be restarted"]
        );
        // The kubelet has seen the change, and says so, before the container has stopped.
        assert_eq!(
            now["status"]["observedGeneration"],
            now["metadata"]["generation"]
        );
        assert_eq!(
            state(&now, "containerStatuses", 0),
            "nginx:1 0 true running"
        );
        let now = at(&mut sim, 60.0);
        assert_eq!(
            state(&now, "containerStatuses", 0),
            "nginx:2 1 true running",
            "{policy}"
        );
        assert_eq!(
            now["status"]["containerStatuses"][0]["lastState"]["terminated"]["exitCode"],
            0
        );
        assert_eq!(
            state(&now, "containerStatuses", 1),
            "redis:7 0 true running"
        );
        assert_eq!(said(&sim, "Killing").len(), 1);
        let reasons = words::chain(
            sim.journal(),
            &sim.delays,
            &ObjectRef::new(Kind::Pod, "default", "p"),
            0,
        );
        assert_eq!(
            reasons[0].short.english(),
            "its image changed to nginx:2: the container is restarted"
        );
        assert!(reasons[1].user, "{reasons:?}");
        // Labels are no reason.
        Session::start(&mut sim, &split("label pod/p x=y"), "");
        assert_eq!(
            state(&at(&mut sim, 90.0), "containerStatuses", 0),
            "nginx:2 1 true running"
        );
    }
}

#[test]
fn a_change_while_a_container_is_being_stopped_stops_it_once_and_the_last_image_is_started() {
    let mut sim = started("containers: [{name: a, image: 'nginx:1'}]");
    at(&mut sim, 20.0);
    set_image(&mut sim, "a=nginx:2");
    let now = at(&mut sim, 20.1);
    assert_eq!(
        state(&now, "containerStatuses", 0),
        "nginx:1 0 true running"
    );
    set_image(&mut sim, "a=nginx:3");
    assert_eq!(
        state(&at(&mut sim, 20.2), "containerStatuses", 0),
        "nginx:1 0 true running"
    );
    assert_eq!(
        state(&at(&mut sim, 60.0), "containerStatuses", 0),
        "nginx:3 1 true running"
    );
    let killing = || {
        sim.store()
            .list(Kind::Event)
            .map(|event| event.to_value())
            .filter(|event| event["reason"] == "Killing")
    };
    assert_eq!(
        killing()
            .map(|event| event["count"].as_i64())
            .collect::<Vec<_>>(),
        [Some(1)]
    );
    // And the next is stopped as the first was.
    set_image(&mut sim, "a=nginx:4");
    assert_eq!(
        state(&at(&mut sim, 90.0), "containerStatuses", 0),
        "nginx:4 2 true running"
    );
}

#[test]
fn a_new_image_that_cannot_be_pulled_leaves_the_container_waiting_until_one_can() {
    let mut sim = started("containers: [{name: a, image: 'nginx:1'}]");
    at(&mut sim, 20.0);
    set_image(&mut sim, "a=broken:1");
    let now = at(&mut sim, 21.0);
    assert!(
        state(&now, "containerStatuses", 0).starts_with("broken:1 0 false waiting ErrImagePull"),
        "{}",
        now["status"]
    );
    assert_eq!(now["status"]["phase"], "Running");
    assert!(
        state(&at(&mut sim, 25.0), "containerStatuses", 0).ends_with("waiting ImagePullBackOff")
    );
    // The next image is tried at once, not at the end of the back-off.
    at(&mut sim, 200.0);
    set_image(&mut sim, "a=nginx:3");
    assert_eq!(
        state(&at(&mut sim, 201.0), "containerStatuses", 0),
        "nginx:3 1 true running"
    );
    assert_eq!(
        state(&at(&mut sim, 900.0), "containerStatuses", 0),
        "nginx:3 1 true running"
    );
}

#[test]
fn a_pull_that_fails_is_tried_at_once_with_another_image_and_backed_off_from_anew() {
    let mut sim = started("containers: [{name: a, image: 'broken:1'}]");
    at(&mut sim, 300.0);
    set_image(&mut sim, "a=broken:2");
    let tries = tries(&mut sim, 3001..4800);
    // At once, and after 10, 20, 40 and 80 s, each looked for up to half as late again.
    let waits: Vec<_> = tries.windows(2).map(|pair| pair[1] - pair[0]).collect();
    assert_eq!(tries[0], 3001, "{tries:?}");
    assert!(
        waits.len() >= 3
            && waits
                .iter()
                .zip([100, 200, 400, 800])
                .all(|(wait, least)| *wait >= least && *wait <= 2 * least),
        "{waits:?}"
    );
    set_image(&mut sim, "a=nginx:1");
    assert_eq!(
        state(&at(&mut sim, 481.0), "containerStatuses", 0),
        "nginx:1 0 true running"
    );
}

#[test]
fn a_container_that_is_held_back_starts_at_once_with_another_image() {
    let mut sim = started("containers: [{name: a, image: 'app:1', command: [sh, -c, 'exit 1']}]");
    let now = at(&mut sim, 100.0);
    assert!(
        state(&now, "containerStatuses", 0).ends_with("waiting CrashLoopBackOff"),
        "{}",
        now["status"]
    );
    let count = now["status"]["containerStatuses"][0]["restartCount"]
        .as_u64()
        .unwrap();
    set_image(&mut sim, "a=app:2");
    let later = at(&mut sim, 100.2);
    assert_eq!(
        later["status"]["containerStatuses"][0]["restartCount"]
            .as_u64()
            .unwrap(),
        count + 1,
        "{}",
        later["status"]
    );
}

#[test]
fn a_sidecar_with_another_image_is_started_again() {
    let mut sim = started(
        "initContainers: [{name: side, image: 'proxy:1', restartPolicy: Always}], containers: [{name: a, image: nginx}]",
    );
    assert_eq!(
        state(&at(&mut sim, 20.0), "initContainerStatuses", 0),
        "proxy:1 0 true running"
    );
    set_image(&mut sim, "side=proxy:2");
    let now = at(&mut sim, 60.0);
    assert_eq!(
        said(&sim, "Killing"),
        ["Init container side definition changed"]
    );
    assert_eq!(
        state(&now, "initContainerStatuses", 0),
        "proxy:2 1 true running"
    );
    assert_eq!(state(&now, "containerStatuses", 0), "nginx 0 true running");
}

#[test]
fn a_container_that_is_never_started_again_ends_where_its_new_image_cannot_be_pulled() {
    let mut sim = started("restartPolicy: Never, containers: [{name: a, image: 'nginx:1'}]");
    at(&mut sim, 20.0);
    set_image(&mut sim, "a=broken:1");
    let now = at(&mut sim, 400.0);
    assert_eq!(
        state(&now, "containerStatuses", 0),
        "nginx:1 0 false terminated Completed"
    );
    assert_eq!(now["status"]["phase"], "Succeeded");
    assert_eq!(said(&sim, "Pulling"), ["Pulling image \"broken:1\""]);
}

#[test]
fn a_restart_that_was_planned_before_does_not_pull_out_of_turn() {
    let mut sim = started("containers: [{name: a, image: 'app:1', command: [sh, -c, 'exit 1']}]");
    // Held back until some time after 150 s.
    at(&mut sim, 90.0);
    set_image(&mut sim, "a=broken:1");
    let tries = tries(&mut sim, (910..7000).step_by(10));
    let waits: Vec<_> = tries.windows(2).map(|pair| pair[1] - pair[0]).collect();
    assert!(waits.len() > 3 && waits.is_sorted(), "{waits:?}");
}

#[test]
fn an_init_container_that_runs_is_let_end() {
    let init = "initContainers: [{name: i, image: 'app:1', command: [sh, -c, 'sleep 20; exit 1']}]";
    let mut sim = started(&format!("{init}, containers: [{{name: a, image: nginx}}]"));
    assert!(state(&at(&mut sim, 30.0), "initContainerStatuses", 0).ends_with("running"));
    set_image(&mut sim, "i=app:2");
    at(&mut sim, 35.0);
    assert!(said(&sim, "Killing").is_empty());
    assert_eq!(
        at(&mut sim, 45.0)["status"]["initContainerStatuses"][0]["restartCount"],
        1
    );
}
