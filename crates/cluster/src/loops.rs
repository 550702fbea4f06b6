//! Registry of all components that write: controllers, the scheduler, the kubelets.

use controller_runtime::descriptor::Descriptor;
use {controllers, kubelet, scheduler};

/// Returns the descriptors of all components.
pub fn all() -> impl Iterator<Item = &'static Descriptor> {
    controllers::ALL
        .iter()
        .map(|controller| controller.descriptor())
        .chain([&scheduler::DESCRIPTOR, &kubelet::DESCRIPTOR])
}

/// Returns the descriptor of a component: `job-controller`, `kubelet node-2`; also by a name under which it records Events.
pub fn named(name: &str) -> Option<&'static Descriptor> {
    let is = |name: &str| all().find(|of| of.name == name || of.aliases.contains(&name));
    is(name).or_else(|| is(name.split(' ').next()?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn a_component_is_found_by_each_of_its_names() {
        let names: Vec<&str> = all()
            .flat_map(|of| std::iter::once(of.name).chain(of.aliases.iter().copied()))
            .collect();
        assert_eq!(
            names.iter().collect::<BTreeSet<_>>().len(),
            names.len(),
            "each name once"
        );
        for name in names {
            assert!(
                named(name).is_some_and(|of| of.name == name || of.aliases.contains(&name)),
                "{name}"
            );
        }
        assert_eq!(named("kubelet node-2").map(|of| of.icon), Some("i-kubelet"));
        assert_eq!(
            named("node-controller").map(|of| of.name),
            Some("node-lifecycle-controller")
        );
        assert!(named("user").is_none());
    }

    #[test]
    fn the_pseudo_code_of_each_has_a_line_that_writes() {
        assert!(all().all(|of| {
            of.code
                .iter()
                .any(|(_, lights, value)| !lights.is_empty() && *value == "act")
        }));
    }
}
