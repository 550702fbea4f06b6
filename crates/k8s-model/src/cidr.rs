//! Networks such as `10.0.0.0/8`.

use std::net::IpAddr;

/// Parses `10.0.0.0/8` into the address and the prefix length.
pub fn network(text: &str) -> Option<(IpAddr, u8)> {
    let (address, bits) = text.split_once('/')?;
    let (address, bits) = (address.parse::<IpAddr>().ok()?, bits.parse::<u8>().ok()?);
    (bits <= if address.is_ipv4() { 32 } else { 128 }).then_some((address, bits))
}

/// Returns true if the address is in the network.
pub fn contains(network: (IpAddr, u8), address: IpAddr) -> bool {
    let number = |address: IpAddr| match address {
        IpAddr::V4(v4) => (u128::from(u32::from(v4)) << 96, true),
        IpAddr::V6(v6) => (u128::from(v6), false),
    };
    let ((base, four), (other, also_four)) = (number(network.0), number(address));
    let mask = u128::MAX
        .checked_shl(128 - u32::from(network.1))
        .unwrap_or(0);
    four == also_four && base & mask == other & mask
}
