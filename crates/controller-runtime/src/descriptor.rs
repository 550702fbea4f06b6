//! UI presentation of a component: data beside its code, so that adding a controller touches only its own file and the registry.

/// Line of pseudo-code: the text, its highlight tag, and the value shown beside it, which is the name of a row of the controller's input,
/// `act` for its write, or empty.
pub type CodeLine = (&'static str, &'static str, &'static str);

/// Component that writes: a controller, the scheduler, the kubelets.
#[derive(Debug)]
pub struct Descriptor {
    /// User name under which it writes.
    pub name: &'static str,
    /// Other names under which it records Events.
    pub aliases: &'static [&'static str],
    /// Short name.
    pub title: &'static str,
    /// Icon in `static/icons.svg`.
    pub icon: &'static str,
    /// Lane of the timeline; empty for the shared lane.
    pub lane: &'static str,
    /// True if the component is shown on the ring before its first write.
    pub always_shown: bool,
    /// Pseudo-code of its reconcile pass.
    pub code: &'static [CodeLine],
}

/// Pseudo-code of a controller without its own.
pub const GENERIC: &[CodeLine] = &[
    ("for {", "", ""),
    ("    actual  := observe the cluster", "", "first"),
    ("    desired := read the object", "", ""),
    ("    if actual == desired {", "", ""),
    ("        do nothing", "", ""),
    ("    } else {", "", ""),
    ("        act", "write", "act"),
    ("    }", "", ""),
    ("}", "", ""),
];
