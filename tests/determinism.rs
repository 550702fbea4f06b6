//! The same scenario and seed give the same bytes, however the time was sliced.

use loopscope::scenario::{self, Trace};
use std::fs;
use std::path::Path;

fn trace(name: &str, seed: u64, slice: usize) -> Vec<u8> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/conformance/scenarios/{name}.yaml"));
    let scenario = scenario::parse(&fs::read_to_string(path).unwrap()).unwrap();
    let mut bytes = Vec::new();
    scenario::run(&scenario, seed, slice, &mut Trace::new(&mut bytes));
    bytes
}

#[test]
fn a_run_in_slices_gives_the_same_bytes() {
    for name in ["b-rolling-3-default", "l05-sts-rolling", "c6-rolling-10-s25-u25", "n06-svc-rolling", "k3-delete-orphan"] {
        let whole = trace(name, 1, usize::MAX);
        assert!(whole.len() > 10_000, "{name} is a history");
        for slice in [1, 7, 1000] {
            assert!(trace(name, 1, slice) == whole, "{name} in slices of {slice}");
        }
    }
}

#[test]
fn another_seed_is_another_history() {
    assert!(trace("b-rolling-3-default", 1, 1000) != trace("b-rolling-3-default", 2, 1000));
}
