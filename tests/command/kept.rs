//! Records and lessons of earlier versions (`tests/data/records`, `tests/data/lessons`) open; of an unknown version they are refused.

use k8s_model::Kind;
use session::record::{SavedRecord, Unreadable};
use session::run::Run;
use std::fs;

#[test]
fn a_record_of_an_earlier_version_repeats() {
    let text = fs::read_to_string("tests/data/records/2026-11-30-serve.jsonl").unwrap();
    let record = SavedRecord::read(&text).unwrap();
    let done: Vec<String> = record
        .commands
        .iter()
        .map(|recorded| recorded.action.to_string())
        .collect();
    assert_eq!(done.len(), 6);
    assert_eq!(
        done[1..4],
        [
            "kubectl scale deployment web --replicas=3",
            "fault node-down node-1",
            "fault client agent=my-operator 409 2 times",
        ]
    );
    let mut run = Run::recalled(record.config, record.seed, record.commands, record.end);
    while run.is_replaying() {
        run.advance(record.end.1, usize::MAX);
    }
    let deleted = |pod: &&std::rc::Rc<k8s_model::Object>| pod.meta.is_deleting();
    let pods: Vec<_> = run.sim().store().list(Kind::Pod).collect();
    // The kubelet of the node that is down cannot end its Pod.
    assert_eq!(
        (pods.len(), pods.iter().filter(|pod| deleted(pod)).count()),
        (5, 1)
    );
}

#[test]
fn a_record_of_an_unknown_version_is_refused() {
    let error = SavedRecord::read("{\"record\":2,\"seed\":1,\"cluster\":null}\n").unwrap_err();
    assert_eq!(error, Unreadable(1, "version 2 is not known".to_owned()));
}

#[test]
fn lessons_of_earlier_versions_play() {
    for entry in fs::read_dir("tests/data/lessons").unwrap() {
        let file = entry.unwrap().path();
        let text = fs::read_to_string(&file).unwrap();
        let lesson = lesson::parse(&text).unwrap();
        let findings = lesson::check::check(&lesson);
        assert!(findings.is_empty(), "{}", file.display());
    }
}
