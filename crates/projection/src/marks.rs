//! Marks of the timeline: one for each write, refusal and command, in the lane of the component that made it.

use std::cell::RefCell;
use std::rc::Rc;

/// Lane of the timeline.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Lane {
    /// Actions of a person.
    User,
    Deployment,
    ReplicaSet,
    StatefulSet,
    DaemonSet,
    Job,
    Autoscaler,
    Scheduler,
    Kubelet,
    Volume,
    Endpoints,
    Node,
    /// Loop that is a program, or client from outside, by its number.
    Named(u8),
    /// Loops without a lane of their own.
    Others,
}

/// Number of lanes for loops that are programs and for clients.
const NAMED: usize = 24;

thread_local! {
    /// Names of these lanes in the order in which they came; one is never removed, as with the identities of loops.
    static NAMES: RefCell<Vec<&'static str>> = const { RefCell::new(Vec::new()) };
}

impl Lane {
    /// Lanes, from the top.
    pub const ALL: [Lane; 13 + NAMED] = {
        let mut all = [Lane::Others; 13 + NAMED];
        let mut i = 0;
        while i < Lane::KNOWN.len() {
            all[i] = Lane::KNOWN[i];
            i += 1;
        }
        let mut n = 0;
        while n < NAMED {
            all[i + n] = Lane::Named(n as u8);
            n += 1;
        }
        all
    };
    /// Lanes of a person and of the loops of the control plane, from the top.
    const KNOWN: [Lane; 12] = [
        Lane::User,
        Lane::Deployment,
        Lane::ReplicaSet,
        Lane::StatefulSet,
        Lane::DaemonSet,
        Lane::Job,
        Lane::Autoscaler,
        Lane::Scheduler,
        Lane::Kubelet,
        Lane::Volume,
        Lane::Endpoints,
        Lane::Node,
    ];

    /// Returns the lane of a loop that is a program, or of a client, by its name; that of the others if there are too many.
    pub fn named(name: &str) -> Lane {
        NAMES.with_borrow_mut(|names| {
            if let Some(at) = names.iter().position(|known| *known == name) {
                return Lane::Named(at as u8);
            }
            if names.len() >= NAMED {
                return Lane::Others;
            }
            names.push(Box::leak(name.into()));
            Lane::Named(names.len() as u8 - 1)
        })
    }

    /// Index in [`Lane::ALL`].
    pub fn index(self) -> usize {
        match self {
            Lane::Named(number) => Lane::KNOWN.len() + number as usize,
            Lane::Others => Lane::ALL.len() - 1,
            known => Lane::KNOWN
                .iter()
                .position(|lane| *lane == known)
                .unwrap_or(0),
        }
    }

    /// Name in the descriptor of a loop.
    pub fn name(self) -> &'static str {
        match self {
            Lane::User => "user",
            Lane::Deployment => "deployment",
            Lane::ReplicaSet => "replicaset",
            Lane::StatefulSet => "statefulset",
            Lane::DaemonSet => "daemonset",
            Lane::Job => "job",
            Lane::Autoscaler => "autoscaler",
            Lane::Scheduler => "scheduler",
            Lane::Kubelet => "kubelet",
            Lane::Volume => "volume",
            Lane::Endpoints => "endpoints",
            Lane::Node => "node",
            Lane::Named(number) => {
                let name = NAMES.with_borrow(|names| names.get(number as usize).copied());
                name.unwrap_or("others")
            }
            Lane::Others => "others",
        }
    }

    /// Returns the lane with a name.
    pub fn from_name(name: &str) -> Option<Lane> {
        let known = Lane::KNOWN.into_iter().chain([Lane::Others]);
        known.into_iter().find(|lane| lane.name() == name)
    }
}

/// Mark on the timeline.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Mark {
    /// Time in milliseconds.
    pub at: u64,
    /// Lane.
    pub lane: Lane,
    /// True for a failure or refusal.
    pub bad: bool,
    /// True for a fault injected by a person.
    pub fault: bool,
    /// Number of entries that it represents.
    pub count: u32,
}

/// Maximum number of marks: above it, neighbours are merged.
const MAX_MARKS: usize = 20_000;

/// Marks of a history, in order of time.
#[derive(Debug)]
pub struct Marks {
    all: Rc<Vec<Mark>>,
    /// Interval in milliseconds within which entries of a lane share one mark.
    grain: u64,
    /// Number of marks above which they are thinned out.
    most: usize,
    last: [Option<usize>; Lane::ALL.len()],
}

impl Default for Marks {
    fn default() -> Self {
        Marks {
            all: Rc::default(),
            grain: 1,
            most: MAX_MARKS,
            last: [None; Lane::ALL.len()],
        }
    }
}

impl Marks {
    /// Returns all marks.
    pub fn all(&self) -> Rc<Vec<Mark>> {
        self.all.clone()
    }

    /// Adds the newest mark.
    pub fn push(&mut self, mark: Mark) {
        let all = Rc::make_mut(&mut self.all);
        let Some(last) = self.last.get_mut(mark.lane.index()) else {
            return;
        };
        // Each action of a person has a mark of its own.
        let near = last
            .and_then(|at| all.get_mut(at))
            .filter(|old| mark.lane != Lane::User && old.at / self.grain == mark.at / self.grain);
        if let Some(old) = near {
            (old.bad, old.count) = (old.bad | mark.bad, old.count + mark.count);
            return;
        }
        *last = Some(all.len());
        all.push(mark);
        if all.len() > self.most {
            self.thin();
        }
    }

    fn thin(&mut self) {
        // Marks of users are never merged, so that there may be many of them.
        while self.all.len() > MAX_MARKS / 2 && self.grain < 1 << 32 {
            let finer = std::mem::take(&mut self.all);
            *self = Marks {
                grain: self.grain * 2,
                most: usize::MAX,
                ..Marks::default()
            };
            finer.iter().for_each(|mark| self.push(*mark));
        }
        self.most = MAX_MARKS.max(self.all.len() * 2);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lane_is_found_at_its_index() {
        let (mine, sample) = (Lane::named("mine"), Lane::named("sample-controller"));
        assert_ne!(mine, sample);
        assert_eq!(Lane::named("mine"), mine);
        assert_eq!(sample.name(), "sample-controller");
        for (at, lane) in Lane::ALL.into_iter().enumerate() {
            assert_eq!(lane.index(), at);
        }
        assert!(Lane::ALL.is_sorted());
        let many = (0..100).map(|n| Lane::named(&format!("loop-{n}")));
        let many: Vec<Lane> = many.collect();
        assert_eq!(many.last(), Some(&Lane::Others));
        assert_eq!(Lane::from_name("others"), Some(Lane::Others));
    }

    #[test]
    fn many_marks_become_fewer_and_none_is_lost() {
        let mut marks = Marks::default();
        let people = 50;
        for at in 0..200_000u64 {
            marks.push(Mark {
                at,
                lane: Lane::ALL[2 + (at % 3) as usize],
                bad: at == 77_777,
                fault: false,
                count: 1,
            });
            if at % 4_000 == 0 {
                marks.push(Mark {
                    at,
                    lane: Lane::User,
                    bad: false,
                    fault: false,
                    count: 1,
                });
            }
        }
        let all = marks.all();
        assert!(
            all.len() <= MAX_MARKS && all.len() > MAX_MARKS / 8,
            "{}",
            all.len()
        );
        assert_eq!(
            all.iter().map(|mark| mark.count as usize).sum::<usize>(),
            200_000 + people
        );
        assert_eq!(
            (
                all.iter().filter(|mark| mark.lane == Lane::User).count(),
                all.iter().filter(|mark| mark.bad).count()
            ),
            (people, 1)
        );
        assert!(all.is_sorted_by_key(|mark| mark.at));
    }
}
