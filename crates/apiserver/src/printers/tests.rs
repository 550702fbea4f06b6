use super::*;
use k8s_model::{Kind, Object};
use serde_json::json;

#[test]
fn ages_have_two_units_at_most() {
    for (seconds, text) in [
        (0, "0s"),
        (119, "119s"),
        (120, "2m"),
        (163, "2m43s"),
        (600, "10m"),
        (10800, "3h"),
        (11000, "3h3m"),
        (90000, "25h"),
        (200_000, "2d7h"),
        (-5, "<invalid>"),
    ] {
        assert_eq!(age::human(seconds), text);
    }
    assert_eq!(
        age::long("2026-11-21T06:23:33Z"),
        "Sat, 21 Nov 2026 06:23:33 +0000"
    );
}

#[test]
fn a_pod_that_has_ended_is_completed_and_one_on_its_way_out_terminating() {
    let mut pod = json!({"metadata": {"name": "p"}, "spec": {"containers": [{"name": "c"}]},
        "status": {"phase": "Running", "containerStatuses": [{"ready": true, "restartCount": 0, "state": {"running": {}}}]}});
    let cells = |pod: &Value| {
        let pod = Object::from_value(Kind::Pod, pod.clone()).unwrap();
        TableConvertor::default().cells(&pod, 0)
    };
    assert_eq!(cells(&pod)[1..4], ["1/1", "Running", "0"]);
    pod["metadata"]["deletionTimestamp"] = json!("2026-11-21T06:23:33Z");
    assert_eq!(cells(&pod)[2], "Terminating");
    pod["status"] = json!({"phase": "Succeeded", "containerStatuses": [{"ready": false, "restartCount": 0, "state": {"terminated": {"reason": "Completed", "exitCode": 0}}}]});
    assert_eq!(cells(&pod)[1..3], ["0/1", "Completed"]);
}

#[test]
fn a_pod_with_a_completed_container_is_not_ready() {
    let pod = json!({"metadata": {"name": "p"}, "spec": {"containers": [{"name": "a"}, {"name": "b"}],
        "initContainers": [{"name": "i", "restartPolicy": "Always"}, {"name": "j"}]},
        "status": {"phase": "Running", "conditions": [{"type": "Initialized", "status": "True"}],
            "initContainerStatuses": [
                {"name": "i", "ready": true, "started": true, "restartCount": 1, "state": {"running": {}}},
                {"name": "j", "ready": true, "restartCount": 4, "state": {"terminated": {"reason": "Completed", "exitCode": 0}}}],
            "containerStatuses": [
                {"name": "a", "ready": false, "restartCount": 0, "state": {"terminated": {"reason": "Completed", "exitCode": 0}}},
                {"name": "b", "ready": true, "restartCount": 2, "state": {"running": {}}}]}});
    let pod = Object::from_value(Kind::Pod, pod).unwrap();
    let cells = TableConvertor::default().cells(&pod, 0);
    assert_eq!(cells[1..4], ["2/3", "NotReady", "3"]);
}

#[test]
fn columns_have_names_and_types_and_cells_follow_them() {
    let columns = TableConvertor::default().columns(Kind::DaemonSet);
    let desired = &columns[1];
    assert_eq!(
        (
            desired.name.as_str(),
            desired.kind.as_str(),
            desired.title()
        ),
        ("Desired", "integer", "DESIRED".to_owned())
    );
    assert_eq!(desired.cell("3".to_owned()), json!(3));
    assert_eq!(columns[0].cell("3".to_owned()), json!("3"));
    let driver = json!({"metadata": {"name": "d"}, "spec": {"attachRequired": false}});
    let driver = Object::from_value(Kind::CSIDriver, driver).unwrap();
    let cells = TableConvertor::default().cells(&driver, 0);
    assert_eq!(
        cells[1..7],
        ["false", "false", "false", "<unset>", "false", "<none>"]
    );
}
