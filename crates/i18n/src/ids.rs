// Hash of the ids of a catalogue: for build.rs, and for the page when it loads another language.

/// Hash of an empty list of ids.
const IDS_SEED: u32 = 0x811c_9dc5;

/// Returns the hash of some ids and one more (FNV-1a).
fn hashed(hash: u32, id: &str) -> u32 {
    id.bytes().chain([b'\n']).fold(hash, |hash, byte| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193))
}
