//! Only source of randomness: a seeded generator (splitmix64), so that a seed determines the history.

use k8s_model::{Str, Uid};

/// Letters of generated names: no vowels, so that no words appear, and no digits that look like letters.
const ALPHABET: &[u8; 27] = b"bcdfghjklmnpqrstvwxz2456789";

/// Seeded random number generator.
#[derive(Clone, Debug)]
pub struct Rng(u64);

impl Rng {
    /// Creates a generator whose whole sequence follows from the seed.
    pub fn new(seed: u64) -> Self {
        Rng(seed)
    }

    /// Returns the next 64 bits.
    pub fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// Returns a number below `n`; 0 if `n` is 0.
    pub fn below(&mut self, n: u64) -> u64 {
        if n == 0 {
            0
        } else {
            ((u128::from(self.bits()) * u128::from(n)) >> 64) as u64
        }
    }

    /// Returns the five consonants or digits that end a generated name.
    pub fn suffix(&mut self) -> Str {
        let mut letters = [0u8; 5];
        for letter in &mut letters {
            *letter = ALPHABET[self.below(27) as usize];
        }
        str::from_utf8(&letters).unwrap_or_default().into()
    }

    /// Returns a random (version 4) uid.
    pub fn uid(&mut self) -> Uid {
        let bits = (u128::from(self.bits()) << 64) | u128::from(self.bits());
        Uid((bits & !(0xf << 76) & !(0x3 << 62)) | (0x4 << 76) | (0x2 << 62))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seed_is_a_sequence() {
        let (mut a, mut b) = (Rng::new(7), Rng::new(7));
        assert_eq!(
            (a.bits(), a.suffix(), a.uid()),
            (b.bits(), b.suffix(), b.uid())
        );
        assert!(a.below(3) < 3);
    }

    #[test]
    fn uids_are_of_version_4() {
        let text = Rng::new(1).uid().to_string();
        assert_eq!((&text[14..15], text.len()), ("4", 36));
        assert!("89ab".contains(&text[19..20]));
    }
}
