//! Sets of completion indexes, as a Job's status writes them: `0,2-5`.
//!
//! Models `pkg/controller/job/indexed_job_utils.go`.

use k8s_model::Object;

/// Annotation and label with the completion index of a Pod of an Indexed Job.
pub const INDEX: &str = "batch.kubernetes.io/job-completion-index";

/// Returns the completion index of a Pod, if it has a valid one.
pub fn index_of(pod: &Object) -> Option<i64> {
    pod.meta.annotation(INDEX)?.parse().ok().filter(|i| *i >= 0)
}

/// Set of indexes: ranges in order, with gaps between them.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Indexes(Vec<(i64, i64)>);

impl Indexes {
    /// Parses the text of a status or a rule; invalid parts, and indexes beyond the completions, are left out.
    pub fn parse(text: &str, completions: i64) -> Indexes {
        let mut set = Indexes::default();
        for part in text.split(',') {
            let (first, last) = part.split_once('-').unwrap_or((part, part));
            if let (Ok(first), Ok(last)) = (first.parse::<i64>(), last.parse::<i64>())
                && first < completions
            {
                set.add(first, last.min(completions - 1));
            }
        }
        set
    }

    /// Adds a range.
    pub fn add(&mut self, first: i64, last: i64) {
        if first > last {
            return;
        }
        let start = self
            .0
            .iter()
            .position(|r| r.1 + 1 >= first)
            .unwrap_or(self.0.len());
        let (mut range, mut end) = ((first, last), start);
        while let Some(next) = self.0.get(end).filter(|r| r.0 <= range.1 + 1) {
            range = (range.0.min(next.0), range.1.max(next.1));
            end += 1;
        }
        self.0.splice(start..end, [range]);
    }

    /// Adds all indexes of another set.
    pub fn merge(&mut self, other: &Indexes) {
        other.0.iter().for_each(|r| self.add(r.0, r.1));
    }

    /// Returns true if the set contains an index.
    pub fn has(&self, index: i64) -> bool {
        self.0.iter().any(|r| r.0 <= index && index <= r.1)
    }

    /// Returns the number of indexes in the set.
    pub fn total(&self) -> i64 {
        self.0.iter().map(|r| r.1 - r.0 + 1).sum()
    }

    /// Returns the number of indexes in both sets.
    pub fn common(&self, other: &Indexes) -> i64 {
        let overlap = |a: &(i64, i64), b: &(i64, i64)| (a.1.min(b.1) - a.0.max(b.0) + 1).max(0);
        self.0
            .iter()
            .map(|a| other.0.iter().map(|b| overlap(a, b)).sum::<i64>())
            .sum()
    }

    /// Returns the first `count` indexes below `completions` that are not in the set.
    pub fn missing(&self, count: usize, completions: i64) -> Vec<i64> {
        let mut missing = Vec::new();
        let mut candidate = 0;
        for range in self.0.iter().chain([&(completions, completions)]) {
            while candidate < range.0.min(completions) && missing.len() < count {
                missing.push(candidate);
                candidate += 1;
            }
            candidate = candidate.max(range.1 + 1);
        }
        missing
    }

    /// Formats the set, as `0,2-5`; two adjacent indexes are not written as a range.
    pub fn text(&self) -> String {
        let mut text = String::new();
        for (first, last) in &self.0 {
            if !text.is_empty() {
                text.push(',');
            }
            text.push_str(&first.to_string());
            if last > first {
                text.push(if *last == first + 1 { ',' } else { '-' });
                text.push_str(&last.to_string());
            }
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sets_of_indexes_are_written_as_ranges() {
        for (added, text) in [
            (&[][..], ""),
            (&[3], "3"),
            (&[0, 1], "0,1"),
            (&[2, 0, 1], "0-2"),
            (&[5, 0, 1, 4, 9, 6], "0,1,4-6,9"),
            (&[1, 3, 2, 2], "1-3"),
        ] {
            let mut set = Indexes::default();
            added.iter().for_each(|i| set.add(*i, *i));
            assert_eq!(set.text(), text);
            assert_eq!(Indexes::parse(text, 100), set);
        }
    }

    #[test]
    fn the_first_missing_indexes_fill_the_gaps() {
        let set = Indexes::parse("0,1,4-6", 9);
        assert_eq!(set.missing(9, 9), [2, 3, 7, 8]);
        assert_eq!(set.missing(3, 9), [2, 3, 7]);
        assert_eq!(Indexes::default().missing(2, 9), [0, 1]);
        assert_eq!((set.total(), set.has(5), set.has(7)), (5, true, false));
        assert_eq!(Indexes::parse("0-99", 3).text(), "0-2");
        assert_eq!(set.common(&Indexes::parse("1-5", 9)), 3);
    }
}
