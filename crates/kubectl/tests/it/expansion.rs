//! Claims that ask for more than they have.

use cluster::Sim;
use controller_runtime::cluster::ClusterConfig;
use k8s_model::{Kind, ObjectRef, Time};
use kubectl::Session;
use kubectl::parse::split;
use serde_json::Value;

const CLASS: &str = "{apiVersion: storage.k8s.io/v1, kind: StorageClass, metadata: {name: elastic}, provisioner: loopscope.dev/provisioner, allowVolumeExpansion: true}\n---\n";
const POD: &str = "{apiVersion: v1, kind: Pod, metadata: {name: p}, spec: {volumes: [{name: v, persistentVolumeClaim: {claimName: data}}], containers: [{name: c, image: nginx, volumeMounts: [{name: v, mountPath: /d}]}]}}";

fn claim(class: &str) -> String {
    format!(
        "{{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {{name: data}}, spec: {{storageClassName: {class}, accessModes: [ReadWriteOnce], resources: {{requests: {{storage: 1Gi}}}}}}}}\n"
    )
}

fn kubectl(sim: &mut Sim, line: &str, stdin: &str) -> String {
    let session = Session::start(sim, &split(line), stdin);
    session.stdout + &session.stderr
}

fn wait(sim: &mut Sim, tenths: u64) {
    let to: Time = sim.now().after(tenths * 100_000);
    sim.advance(to, usize::MAX);
}

fn resize(sim: &mut Sim, size: &str) -> String {
    kubectl(
        sim,
        &format!(
            "patch pvc data -p '{{\"spec\":{{\"resources\":{{\"requests\":{{\"storage\":\"{size}\"}}}}}}}}'"
        ),
        "",
    )
}

fn get(sim: &Sim) -> Value {
    sim.store()
        .get(&ObjectRef::new(
            Kind::PersistentVolumeClaim,
            "default",
            "data",
        ))
        .unwrap()
        .to_value()
}

fn told(sim: &Sim, of: &str) -> Vec<String> {
    let all = sim
        .store()
        .list(Kind::Event)
        .map(|e| e.to_value())
        .filter(|e| e["involvedObject"]["kind"] == of);
    let all = all.filter(|e| {
        e["reason"]
            .as_str()
            .is_some_and(|r| r.contains("Resiz") || r.contains("Expanding"))
    });
    all.map(|e| {
        format!(
            "{} {}: {}",
            e["reason"].as_str().unwrap(),
            e["source"]["component"].as_str().unwrap(),
            e["message"].as_str().unwrap()
        )
    })
    .collect()
}

#[test]
fn a_claim_grows_where_its_class_allows_it() {
    let mut sim = Sim::new(ClusterConfig::default(), 1);
    kubectl(
        &mut sim,
        "apply -f -",
        &(CLASS.to_owned() + &claim("elastic")),
    );
    wait(&mut sim, 50);
    assert_eq!(
        resize(&mut sim, "2Gi"),
        "persistentvolumeclaim/data patched\n"
    );
    wait(&mut sim, 3);
    let status = get(&sim)["status"].clone();
    assert_eq!(
        (
            &status["conditions"][0]["type"],
            &status["capacity"]["storage"]
        ),
        (&Value::from("Resizing"), &Value::from("1Gi"))
    );
    assert_eq!(
        status["allocatedResourceStatuses"]["storage"],
        "ControllerResizeInProgress"
    );
    wait(&mut sim, 10);
    let status = get(&sim)["status"].clone();
    assert_eq!(status["conditions"][0]["type"], "FileSystemResizePending");
    assert_eq!(
        status["conditions"][0]["message"],
        "Waiting for user to (re-)start a pod to finish file system resize of volume on node."
    );
    assert_eq!(
        (
            &status["allocatedResources"]["storage"],
            &status["capacity"]["storage"]
        ),
        (&Value::from("2Gi"), &Value::from("1Gi"))
    );
    let volume = format!("pvc-{}", get(&sim)["metadata"]["uid"].as_str().unwrap());
    assert_eq!(
        kubectl(
            &mut sim,
            "get pv -o jsonpath={.items[0].spec.capacity.storage}",
            ""
        ),
        "2Gi"
    );
    assert!(
        kubectl(&mut sim, "describe pvc data", "").contains("  FileSystemResizePending "),
        "conditions are described"
    );
    // A Pod comes: the file system on its node grows.
    kubectl(&mut sim, "apply -f -", POD);
    wait(&mut sim, 50);
    let status = get(&sim)["status"].clone();
    assert_eq!(
        (
            &status["capacity"]["storage"],
            &status["conditions"],
            &status["allocatedResourceStatuses"]
        ),
        (&Value::from("2Gi"), &Value::Null, &Value::Null)
    );
    let mut said = told(&sim, "PersistentVolumeClaim");
    said.sort();
    assert_eq!(
        said,
        [
            "ExternalExpanding volume_expand: waiting for an external controller to expand this PVC".to_owned(),
            "FileSystemResizeRequired external-resizer loopscope.dev/provisioner: Require file system resize of volume on node".to_owned(),
            format!("FileSystemResizeSuccessful kubelet: MountVolume.NodeExpandVolume succeeded for volume \"{volume}\" node-1"),
            format!("Resizing external-resizer loopscope.dev/provisioner: External resizer is resizing volume {volume}"),
        ]
    );
    assert_eq!(told(&sim, "Pod").len(), 1);
    // While it is used, it grows without anybody's doing.
    resize(&mut sim, "3Gi");
    wait(&mut sim, 20);
    assert_eq!(get(&sim)["status"]["capacity"]["storage"], "3Gi");
}

#[test]
fn what_may_not_grow_or_shrink_is_refused() {
    let mut sim = Sim::new(ClusterConfig::default(), 1);
    kubectl(&mut sim, "apply -f -", &claim("standard"));
    wait(&mut sim, 50);
    assert_eq!(
        resize(&mut sim, "2Gi"),
        "Error from server (Forbidden): persistentvolumeclaims \"data\" is forbidden: only dynamically provisioned pvc can be resized \
         and the storageclass that provisions the pvc must support resize\n"
    );
    assert_eq!(
        resize(&mut sim, "512Mi"),
        "The PersistentVolumeClaim \"data\" is invalid: spec.resources.requests.storage: Forbidden: field can not be less than status.capacity\n"
    );
    assert_eq!(get(&sim)["spec"]["resources"]["requests"]["storage"], "1Gi");
}

#[test]
fn an_expansion_may_be_taken_back_while_it_has_not_come() {
    let mut sim = Sim::new(ClusterConfig::default(), 1);
    kubectl(
        &mut sim,
        "apply -f -",
        &(CLASS.to_owned() + &claim("elastic")),
    );
    wait(&mut sim, 50);
    resize(&mut sim, "9Gi");
    assert_eq!(
        resize(&mut sim, "4Gi"),
        "persistentvolumeclaim/data patched\n"
    );
    wait(&mut sim, 30);
    assert_eq!(
        kubectl(
            &mut sim,
            "get pv -o jsonpath={.items[0].spec.capacity.storage}",
            ""
        ),
        "4Gi"
    );
}
