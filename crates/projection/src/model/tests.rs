//! Counting of Pods and comparison of names.

use super::id::Id;
use super::pod::Pod;
use super::workload::{Tone, counters};
use k8s_model::natural::natural_cmp;

#[test]
fn names_sort_with_their_numbers_as_numbers() {
    let mut names = ["node-10", "node-2", "node-1", "a", "node-2b"];
    names.sort_by(|a, b| natural_cmp(a, b));
    assert_eq!(names, ["a", "node-1", "node-2", "node-2b", "node-10"]);
    let mut names = [
        "a-010",
        "a-10",
        "a-9",
        "a-0",
        "a-00",
        "a",
        "a-b",
        "a-123456789012345678901234567890123456789012",
    ];
    names.sort_by(|a, b| natural_cmp(a, b));
    assert_eq!(
        names,
        [
            "a",
            "a-0",
            "a-00",
            "a-9",
            "a-010",
            "a-10",
            "a-123456789012345678901234567890123456789012",
            "a-b"
        ]
    );
}

#[test]
fn a_long_name_keeps_its_end() {
    let pod = |name: &str, prefix, family| {
        Pod {
            id: Id::named("Pod", name),
            prefix,
            family,
            ..Pod::default()
        }
        .parts(20)
    };
    let pair = |a: &str, b: &str| (a.to_string(), b.to_string());
    assert_eq!(pod("web-0", 4, 4), pair("web-", "0"));
    assert_eq!(
        pod("nginx-deployment-5d59d67564-abcde", 28, 17),
        pair("5d59d67564-", "abcde")
    );
    assert_eq!(
        pod("a-very-long-statefulset-name-0", 29, 0),
        pair("…-statefulset-name-", "0")
    );
    assert_eq!(
        pod("a-pod-without-any-owner-at-all", 0, 0)
            .1
            .chars()
            .count(),
        20
    );
}

#[test]
fn ready_is_green_when_it_is_what_is_desired() {
    assert_eq!(counters(3, 4, 3)[2].tone, Tone::Ok);
    assert_eq!(counters(3, 3, 2)[2].tone, Tone::Off);
    assert_eq!(counters(0, 0, 0)[2].tone, Tone::Ok);
}
