//! What Pods would use if they ran: said by a person, seen through the resource metrics API.

use crate::api::Object;
use crate::api::pod::Pod;
use crate::api::quantity::Quantity;
use crate::api::selector::{LabelSelector, Requirement};
use crate::engine::informer::Cache;

/// CPU that the Running Pods of a selector use together, evenly.
#[derive(Clone, Debug)]
pub struct Load {
    selector: LabelSelector,
    /// Thousandths of a core.
    milli: i64,
}

impl Load {
    /// Reads `app=web,tier=front` and `700m`.
    pub fn parse(selector: &str, total: &str) -> Result<Load, String> {
        let milli = Quantity::parse(total).map_err(|error| format!("cpu-load: {total}: {error}"))?.as_millis();
        let mut wanted = LabelSelector::default();
        for pair in selector.split(',') {
            let (key, value) = pair.split_once('=').ok_or_else(|| format!("cpu-load: not KEY=VALUE: {pair}"))?;
            let value = value.trim_start_matches('=').into();
            wanted.match_expressions.push(Requirement { key: key.into(), operator: "In".into(), values: vec![value] });
        }
        Ok(Load { selector: wanted, milli })
    }

    /// Whether both are about the same Pods: the later one replaces the other.
    pub fn replaces(&self, other: &Load) -> bool {
        self.selector == other.selector
    }
}

/// What a Pod uses, in thousandths of a core; nothing is known of one that does not run.
pub fn usage(loads: &[Load], pod: &Object, cache: &Cache) -> Option<i64> {
    let running = |pod: &Object| pod.pod().is_some_and(|pod: &Pod| pod.status.phase == "Running");
    if !running(pod) {
        return None;
    }
    let load = loads.iter().rev().find(|load| load.selector.matches(&pod.meta.labels))?;
    let sharing = cache.list_in(crate::api::Kind::Pod, &pod.meta.namespace).filter(|o| running(o) && load.selector.matches(&o.meta.labels));
    Some(load.milli / (sharing.count().max(1) as i64))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_load_is_a_selector_and_an_amount() {
        let load = Load::parse("app=web,tier=front", "700m").unwrap();
        assert_eq!((load.milli, load.selector.match_expressions.len()), (700, 2));
        assert!(load.replaces(&Load::parse("app=web,tier=front", "1").unwrap()));
        assert!(Load::parse("app", "1").is_err());
        assert!(Load::parse("app=web", "much").is_err());
    }
}
