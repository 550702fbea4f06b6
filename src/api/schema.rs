//! The v1.36 field table: names, types and requiredness of every accepted kind.
