//! Choices of a schedule, as data.

use std::fmt::{self, Display, Formatter};
use std::str::FromStr;

/// Choice at a point of a run, by its place among the tasks that are ready there.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Choice {
    /// A ready task runs.
    Task(u16),
    /// The next step of the scenario begins.
    Step,
    /// The event that a task would deliver is lost.
    Lose(u16),
    /// A process restarts: it forgets all and lists again.
    Crash(u16),
}

impl Choice {
    /// Choice of an ordinary run: the task that is due first.
    pub const ORDINARY: Choice = Choice::Task(0);
}

impl Display for Choice {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Choice::Task(task) => write!(f, "t{task}"),
            Choice::Step => f.write_str("s"),
            Choice::Lose(task) => write!(f, "l{task}"),
            Choice::Crash(process) => write!(f, "c{process}"),
        }
    }
}

impl FromStr for Choice {
    type Err = String;

    fn from_str(text: &str) -> Result<Choice, String> {
        let wrong = || format!("{text} is no choice: t1, s, l0 or c0 is one");
        let number = |text: &str| text.parse::<u16>().map_err(|_| wrong());
        match (text.get(..1), text.get(1..)) {
            (Some("s"), Some("")) => Ok(Choice::Step),
            (Some("t"), Some(task)) => Ok(Choice::Task(number(task)?)),
            (Some("c"), Some(process)) => Ok(Choice::Crash(number(process)?)),
            (Some("l"), Some(task)) => Ok(Choice::Lose(number(task)?)),
            _ => Err(wrong()),
        }
    }
}

/// Schedule: the points at which a run departs from the ordinary order, in order, each with its choice.
///
/// Its text is short, since all other choices are ordinary: `12:t1,31:l0`.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Schedule(pub Vec<(u32, Choice)>);

impl Schedule {
    /// Returns the departures of a sequence of choices.
    pub fn of(choices: &[Choice]) -> Schedule {
        let departs = |(at, choice): (usize, &Choice)| {
            (*choice != Choice::ORDINARY).then_some((at as u32, *choice))
        };
        Schedule(choices.iter().enumerate().filter_map(departs).collect())
    }

    /// Returns the choice at a point.
    pub fn at(&self, point: usize) -> Choice {
        let known = self.0.iter().find(|(at, _)| *at as usize == point);
        known.map_or(Choice::ORDINARY, |(_, choice)| *choice)
    }
}

impl Display for Schedule {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        if self.0.is_empty() {
            return f.write_str("ordinary");
        }
        for (place, (at, choice)) in self.0.iter().enumerate() {
            let comma = if place > 0 { "," } else { "" };
            write!(f, "{comma}{at}:{choice}")?;
        }
        Ok(())
    }
}

impl FromStr for Schedule {
    type Err = String;

    fn from_str(text: &str) -> Result<Schedule, String> {
        let parts = text
            .split(',')
            .filter(|part| !part.is_empty() && *part != "ordinary");
        let parse = |part: &str| {
            let (at, choice) = part.split_once(':').ok_or_else(|| {
                format!("{part}: a point and its choice are needed, such as 12:t1")
            })?;
            let at = at
                .parse()
                .map_err(|_| format!("{at} is no number of a point"))?;
            Ok((at, choice.parse()?))
        };
        parts
            .map(parse)
            .collect::<Result<_, String>>()
            .map(Schedule)
    }
}
