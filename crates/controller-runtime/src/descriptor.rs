//! How the page presents a component: data beside its code, so that adding a loop touches its own file and the registry.

/// A line of the pseudo-code, what highlights it, and the value shown beside it: the name of a row of the loop's input,
/// `act` for what it wrote, or empty.
pub type CodeLine = (&'static str, &'static str, &'static str);

/// A component that writes: a control loop, the scheduler, the kubelets.
#[derive(Debug)]
pub struct Descriptor {
    /// The name it writes under.
    pub name: &'static str,
    /// Other names under which it records Events.
    pub aliases: &'static [&'static str],
    /// Short name.
    pub title: &'static str,
    /// Its icon in `static/icons`.
    pub icon: &'static str,
    /// Its lane of the timeline; empty for the shared lane.
    pub lane: &'static str,
    /// True if it is on the ring of loops before it has written.
    pub always_shown: bool,
    /// The pseudo-code of its pass.
    pub code: &'static [CodeLine],
}

/// The pseudo-code of a loop that has none of its own.
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
