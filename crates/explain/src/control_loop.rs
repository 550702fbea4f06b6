//! Data of the loop inspector: the component of a loop, its watches, and the faults that can be injected into it.

use super::remedies::ActionOffer;
use cluster::Sim;
use controllers::Watch;
use fault::{Fault, FaultTarget};
use i18n::msg;
use k8s_model::time::SECOND;
use k8s_model::{Kind, kind};

/// Component in which a loop runs, as named in fault injection.
pub fn component(name: &str) -> &'static str {
    match name {
        "default-scheduler" | "kube-scheduler" => "kube-scheduler",
        _ if name.starts_with("kubelet") => "kubelet",
        _ => "kube-controller-manager",
    }
}

/// Kinds whose watch events wake a loop.
pub fn watched(name: &str) -> Vec<Kind> {
    let Some(of) = controllers::ALL.iter().find(|of| of.name() == name) else {
        return if component(name) == "kubelet" {
            vec![Kind::Pod]
        } else {
            vec![Kind::Pod, Kind::Node]
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

/// Slowdown offered for a loop; `None` for a kubelet, which is as fast as its containers.
pub fn pace(sim: &Sim, name: &str) -> Option<ActionOffer> {
    let slow = sim.slowed(name).is_some();
    (component(name) != "kubelet").then(|| match slow {
        true => ActionOffer::new(
            msg::offer_full_speed(),
            msg::offer_full_speed_title(),
            Fault::Slow {
                name: name.into(),
                pass: None,
            },
        ),
        false => ActionOffer::new(
            msg::offer_slow(),
            msg::offer_slow_title(),
            Fault::Slow {
                name: name.into(),
                pass: Some(2 * SECOND),
            },
        ),
    })
}

/// Faults offered for a loop: a slowdown, a restart of its component, and lost watch events.
pub fn offers(sim: &Sim, name: &str) -> Vec<ActionOffer> {
    let of = component(name);
    let restart = ActionOffer::new(
        msg::offer_restart(of),
        msg::offer_restart_title(of),
        Fault::Restart {
            component: of.into(),
        },
    );
    let lose = watched(name).into_iter().map(|kind| {
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
    pace(sim, name)
        .into_iter()
        .chain([restart])
        .chain(lose)
        .chain([super::remedies::relist(sim)])
        .collect()
}
