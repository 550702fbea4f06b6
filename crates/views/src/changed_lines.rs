//! Lines of a text that differ from another text.

/// Returns true for each line of the new text that differs: common head and tail are equal, everything between is changed. Compared with an
/// empty text no line differs.
pub fn changed(new: &str, old: &str) -> Vec<bool> {
    let (new, old): (Vec<&str>, Vec<&str>) = (new.split('\n').collect(), old.split('\n').collect());
    if old == [""] {
        return vec![false; new.len()];
    }
    let head = new.iter().zip(&old).take_while(|(a, b)| a == b).count();
    let tail = new[head..]
        .iter()
        .rev()
        .zip(old[head..].iter().rev())
        .take_while(|(a, b)| a == b)
        .count();
    let mut known = old[head..old.len() - tail].to_vec();
    known.sort();
    (0..new.len())
        .map(|at| at >= head && at < new.len() - tail && known.binary_search(&new[at]).is_err())
        .collect()
}

/// Start and end of each run of marked lines, counted from one.
pub fn runs(marked: &[bool]) -> Vec<usize> {
    let mut out = Vec::new();
    for at in (0..marked.len()).filter(|at| marked[*at]) {
        match out.last_mut() {
            Some(last) if *last == at => *last = at + 1,
            _ => out.extend([at + 1, at + 1]),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::{changed, runs};

    #[test]
    fn a_line_that_the_old_text_has_elsewhere_does_not_differ() {
        assert_eq!(runs(&changed("a\nb\nc\nd", "a\nc\nd")), [2, 2]);
        assert_eq!(
            runs(&changed("a\nx\ny\nc\nb\nz\nd", "a\nb\nc\nd")),
            [2, 3, 6, 6]
        );
        assert!(runs(&changed("a\nb", "")).is_empty() && runs(&changed("a\nb", "a\nb")).is_empty());
    }

    #[test]
    fn runs_of_lines_begin_and_end() {
        assert_eq!(
            runs(&[true, true, false, true, false, false, true, true, true]),
            [1, 2, 4, 4, 7, 9]
        );
        assert!(runs(&[false; 4]).is_empty() && runs(&[]).is_empty());
    }
}
