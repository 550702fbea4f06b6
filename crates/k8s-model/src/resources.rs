//! Amounts of CPU, memory and ephemeral storage.

use super::quantity;
use serde_json::Value;

/// Amounts of the resources that the scheduler counts.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Resources {
    /// Thousandths of a core.
    pub cpu: i64,
    /// Bytes.
    pub memory: i64,
    /// Bytes.
    pub ephemeral: i64,
}

impl Resources {
    /// Reads amounts from a resource list.
    pub fn from_list<'a>(get: impl Fn(&str) -> Option<&'a Value>) -> Resources {
        let amount = |name: &str, scale: fn(&Value) -> i64| get(name).map_or(0, scale);
        Resources {
            cpu: amount("cpu", quantity::milli_of),
            memory: amount("memory", quantity::units_of),
            ephemeral: amount("ephemeral-storage", quantity::units_of),
        }
    }

    /// Returns the sum of two amounts.
    pub fn plus(self, o: Resources) -> Resources {
        Resources {
            cpu: self.cpu.saturating_add(o.cpu),
            memory: self.memory.saturating_add(o.memory),
            ephemeral: self.ephemeral.saturating_add(o.ephemeral),
        }
    }

    /// Returns the difference of two amounts.
    pub fn minus(self, o: Resources) -> Resources {
        Resources {
            cpu: self.cpu.saturating_sub(o.cpu),
            memory: self.memory.saturating_sub(o.memory),
            ephemeral: self.ephemeral.saturating_sub(o.ephemeral),
        }
    }
}
