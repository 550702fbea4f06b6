//! Packing of links for the address or for a reload.

use crate::web::dom;
use session::permalink::{self, Link};
use std::cell::Cell;

/// Size in bytes from which a link is packed in a worker: packing two megabytes takes longer than a few frames.
const PACKED_BESIDE: usize = 100_000;

/// Purpose of a packed link: the newest of each purpose counts.
#[derive(Clone, Copy)]
pub(super) enum Packed {
    Address,
    Reload,
}

thread_local! {
    static BEGUN: Cell<[u32; 2]> = const { Cell::new([0; 2]) };
}

/// Number of packings begun for a purpose; incremented if `begins`.
fn begun(of: Packed, begins: bool) -> u32 {
    BEGUN.with(|cell| {
        let mut all = cell.get();
        all[of as usize] += u32::from(begins);
        cell.set(all);
        all[of as usize]
    })
}

/// Invalidates any packing in progress for a purpose.
pub(super) fn supersede(of: Packed) {
    begun(of, true);
}

/// Packs a link, immediately or asynchronously.
pub(super) fn pack(of: Packed, link: &Link, then: impl FnOnce(String) + 'static) {
    let turn = begun(of, true);
    let json = permalink::json(link);
    if json.len() < PACKED_BESIDE {
        return then(permalink::encode(link));
    }
    let link = link.clone();
    wasm_bindgen_futures::spawn_local(async move {
        let packed = dom::deflate(&json).await;
        if begun(of, false) == turn {
            then(packed.map_or_else(
                || permalink::encode(&link),
                |packed| permalink::fragment(&packed),
            ));
        }
    });
}
