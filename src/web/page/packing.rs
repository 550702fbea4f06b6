//! Packs what an address or a reload keeps.

use crate::session::permalink::{self, Link};
use crate::web::dom;

/// Bytes from which a link is packed beside the page's own thread: to pack two megabytes takes longer than a few frames.
const PACKED_BESIDE: usize = 100_000;

/// Packs a link, at once or a little later.
pub(super) fn pack(link: &Link, then: impl FnOnce(String) + 'static) {
    let json = permalink::json(link);
    if json.len() < PACKED_BESIDE {
        return then(permalink::encode(link));
    }
    let link = link.clone();
    wasm_bindgen_futures::spawn_local(async move {
        then(match dom::deflate(&json).await {
            Some(packed) => permalink::fragment(&packed),
            None => permalink::encode(&link),
        });
    });
}
