//! What kubectl prints, for a narrow window.

use super::shell::Line;

/// The lines with one space between the columns of each answer, where kubectl leaves three.
#[inline(never)]
pub fn narrow(lines: &[Line]) -> Vec<String> {
    lines.chunk_by(|a, b| asked(a) == asked(b)).flat_map(answer).collect()
}

fn asked(line: &Line) -> bool {
    line.text.starts_with("$ ")
}

fn answer(lines: &[Line]) -> Vec<String> {
    // What stands alone is no table.
    if lines.len() < 2 || asked(&lines[0]) {
        return lines.iter().map(|line| line.text.clone()).collect();
    }
    let rows: Vec<Vec<char>> = lines.iter().map(|line| line.text.chars().collect()).collect();
    let longest = rows.iter().map(Vec::len).max().unwrap_or(0);
    // Where every line that comes so far has a space; what is indented stays so.
    let gap = |at: usize| at < longest && rows.iter().all(|row| row.get(at).is_none_or(|c| *c == ' '));
    let begins = (0..longest).find(|at| !gap(*at)).unwrap_or(0);
    let stays: Vec<bool> = (0..longest).map(|at| at < begins || !(gap(at) && gap(at + 1))).collect();
    let short = |row: &Vec<char>| row.iter().zip(&stays).filter(|(_, stays)| **stays).map(|(c, _)| *c).collect();
    rows.iter().map(short).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_come_closer_and_stay_columns() {
        let lines = |texts: &[&str]| texts.iter().map(|text| Line { text: (*text).into(), error: false }).collect::<Vec<_>>();
        let printed =
            lines(&["$ kubectl get pods", "NAME    READY   AGE", "web-0   1/1     5s", "$ kubectl get x  -o yaml", "a:", "  b: 1"]);
        let told = ["$ kubectl get pods", "NAME  READY AGE", "web-0 1/1   5s", "$ kubectl get x  -o yaml", "a:", "  b: 1"];
        assert_eq!(narrow(&printed), told);
    }
}
