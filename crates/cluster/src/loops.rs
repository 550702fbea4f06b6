//! Registry of all components that write: controllers, the scheduler, the kubelets, and the loops of ControlLoops.

use apiserver::{Actor, Component, ControllerId};
use controller_runtime::descriptor::Descriptor;
use controllers::scripted;
use {controllers, kubelet, scheduler};

/// Returns the descriptors of the components of every cluster.
pub fn all() -> impl Iterator<Item = &'static Descriptor> {
    controllers::ALL
        .iter()
        .map(|controller| controller.descriptor())
        .chain([&scheduler::DESCRIPTOR, &kubelet::DESCRIPTOR])
}

/// Returns the descriptor of a component; `None` for the person and the API server.
pub fn descriptor(component: Component) -> Option<&'static Descriptor> {
    if let Component::Loop(id) = component {
        return Some(scripted::descriptor(id));
    }
    all().find(|of| of.component == component)
}

/// Parses an actor as displayed: `job-controller`, `kubelet node-2`; also by a name under which it records Events. The inverse of
/// `Display`, for lessons and for the attributes of a drawn loop.
pub fn named(text: &str) -> Option<Actor> {
    let is = |of: &&Descriptor| {
        of.component.name() == text || of.aliases.iter().any(|alias| alias.name == text)
    };
    let kubelet = || {
        let node = text.strip_prefix(Component::Kubelet.name())?;
        Some(Actor::kubelet(&node.strip_prefix(' ')?.into()))
    };
    let written = || ControllerId::known_loop(text).map(|id| Actor::component(Component::Loop(id)));
    all()
        .find(is)
        .map(|of| Actor::component(of.component))
        .or_else(kubelet)
        .or_else(written)
}

#[cfg(test)]
mod tests {
    use super::*;
    use controller_runtime::descriptor::CodeValue;
    use std::collections::BTreeSet;

    #[test]
    fn a_component_is_found_by_each_of_its_names() {
        let all: Vec<(Component, &str)> = all()
            .flat_map(|of| {
                let aliases = of.aliases.iter().map(|alias| alias.name);
                std::iter::once(of.component.name())
                    .chain(aliases)
                    .map(|name| (of.component, name))
            })
            .collect();
        let names: BTreeSet<&str> = all.iter().map(|(_, name)| *name).collect();
        assert_eq!(names.len(), all.len(), "each name once");
        for (component, name) in all {
            assert_eq!(named(name), Some(Actor::component(component)), "{name}");
        }
        let kubelet = Actor::kubelet(&"node-2".into());
        assert_eq!(named(&kubelet.to_string()), Some(kubelet));
        assert!(named("user").is_none());
    }

    #[test]
    fn the_pseudo_code_of_each_has_a_line_that_writes() {
        assert!(all().all(|of| {
            of.code
                .iter()
                .any(|line| line.tag.is_some() && line.value == Some(CodeValue::Request))
        }));
    }
}
