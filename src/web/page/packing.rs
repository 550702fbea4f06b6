//! Packs what an address or a reload keeps.

use crate::web::dom;
use session::permalink::{self, Link};
use std::cell::Cell;

/// Bytes from which a link is packed beside the page's own thread: to pack two megabytes takes longer than a few frames.
const PACKED_BESIDE: usize = 100_000;

/// What is packed for: the newest of each counts.
#[derive(Clone, Copy)]
pub(super) enum Packed {
    Address,
    Reload,
}

thread_local! {
    static BEGUN: Cell<[u32; 2]> = const { Cell::new([0; 2]) };
}

/// How many have begun of each; one more if `begins`.
fn begun(of: Packed, begins: bool) -> u32 {
    BEGUN.with(|cell| {
        let mut all = cell.get();
        all[of as usize] += u32::from(begins);
        cell.set(all);
        all[of as usize]
    })
}

/// Nothing that is still being packed for this counts any more.
pub(super) fn supersede(of: Packed) {
    begun(of, true);
}

/// Packs a link, at once or a little later.
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
