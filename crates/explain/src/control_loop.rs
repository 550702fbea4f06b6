//! Data of the loop inspector: the component of a loop, its watches, and the faults that can be injected into it.

use super::remedies::ActionOffer;
use apiserver::Component;
use cluster::Sim;
use cluster::slowed::Slowed;
use controller_runtime::process::Process;
use controllers::Watch;
use fault::{Fault, FaultTarget};
use i18n::msg;
use k8s_model::time::SECOND;
use k8s_model::{Kind, kind};

/// Kinds whose watch events wake a loop of a cluster, also one that a ControlLoop describes.
pub fn watched_in(sim: &Sim, component: Component) -> Vec<Kind> {
    match component {
        Component::Loop(id) => {
            let of = sim.manager.scripted(id);
            of.map_or_else(Vec::new, |(of, _)| of.watched())
        }
        _ => watched(component),
    }
}

/// Kinds whose watch events wake a loop of every cluster.
pub fn watched(component: Component) -> Vec<Kind> {
    let Some(of) = controllers::controller(component) else {
        return match component {
            Component::Kubelet => vec![Kind::Pod],
            Component::Loop(_) => Vec::new(),
            _ => vec![Kind::Pod, Kind::Node],
        };
    };
    let mut kinds = Vec::new();
    for watch in of.watches() {
        let (Watch::For(kind) | Watch::Owns(_, kind) | Watch::Maps(kind)) = *watch;
        // A custom kind only exists once its definition does.
        if !kinds.contains(&kind) && kind::all().any(|known| known == kind) {
            kinds.push(kind);
        }
    }
    kinds
}

/// Kinds of the objects that a controller reconciles; none for other components.
pub fn reconciled(component: Component) -> impl Iterator<Item = Kind> {
    let controller = controllers::controller(component);
    let watches = controller.map_or(&[][..], |controller| controller.watches());
    watches.iter().filter_map(|watch| match watch {
        Watch::For(kind) => Some(*kind),
        Watch::Owns(..) | Watch::Maps(_) => None,
    })
}

/// Slowdown offered for a loop; `None` for a kubelet, which is as fast as its containers.
pub fn pace(sim: &Sim, component: Component) -> Option<ActionOffer> {
    let slow = Slowed::of(sim, component).is_some();
    (component != Component::Kubelet).then(|| match slow {
        true => ActionOffer::new(
            msg::offer_full_speed(),
            msg::offer_full_speed_title(),
            Fault::Slow {
                name: component.name().into(),
                pass: None,
            },
        ),
        false => ActionOffer::new(
            msg::offer_slow(),
            msg::offer_slow_title(),
            Fault::Slow {
                name: component.name().into(),
                pass: Some(2 * SECOND),
            },
        ),
    })
}

/// Replacement of a loop by a program that reacts to events alone, or the end of it; `None` for a loop without such a program.
fn event_driven(sim: &Sim, component: Component) -> Option<ActionOffer> {
    let controller = controllers::ALL.iter().find(|controller| {
        let program = controller.event_driven().map(|program| program.component());
        program.is_some_and(|program| component == program || component == controller.component())
    })?;
    let fault = |on: bool| Fault::EventDriven {
        name: controller.name().into(),
        on,
    };
    Some(match sim.manager.runs(controller.component()) {
        true => ActionOffer::new(
            msg::offer_event_driven(),
            msg::offer_event_driven_title(),
            fault(true),
        ),
        false => ActionOffer::new(
            msg::offer_control_loop(),
            msg::offer_control_loop_title(),
            fault(false),
        ),
    })
}

/// Faults offered for a loop: a slowdown, a program in its place, a restart of its component, and lost watch events.
pub fn offers(sim: &Sim, component: Component) -> Vec<ActionOffer> {
    let of = Process::of(component).name();
    let restart = ActionOffer::new(
        msg::offer_restart(of),
        msg::offer_restart_title(of),
        Fault::Restart {
            component: of.into(),
        },
    );
    let lose = watched_in(sim, component).into_iter().map(|kind| {
        let lose = Fault::Lose {
            target: FaultTarget::every(kind),
            component: Some(of.into()),
        };
        ActionOffer::new(
            msg::offer_lose_kind(kind),
            msg::offer_lose_kind_title(of, kind),
            lose,
        )
    });
    pace(sim, component)
        .into_iter()
        .chain(event_driven(sim, component))
        .chain([restart])
        .chain(lose)
        .chain([super::remedies::relist(sim)])
        .collect()
}
