//! Elastic tab stops: a cell that ends in a tab is as wide as its neighbours above and below.
//!
//! Models Go's `text/tabwriter` as `kubectl describe` uses it.

const PADDING: usize = 2;

/// Aligns a text whose cells end in tabs.
pub fn align(text: &str) -> String {
    align_with(text, PADDING)
}

/// Aligns a text with another padding.
pub fn align_with(text: &str, padding: usize) -> String {
    let lines: Vec<Vec<&str>> = text
        .lines()
        .map(|line| line.split('\t').collect())
        .collect();
    let mut out = String::with_capacity(text.len() * 2);
    block(&mut out, &lines, &mut Vec::new(), padding);
    out
}

/// Prints lines that all have the columns in `widths`.
fn block(out: &mut String, lines: &[Vec<&str>], widths: &mut Vec<usize>, padding: usize) {
    let column = widths.len();
    let mut start = 0;
    while start < lines.len() {
        let ends_in_tab = |line: &Vec<&str>| column + 1 < line.len();
        if !ends_in_tab(&lines[start]) {
            print(out, &lines[start], widths);
            start += 1;
            continue;
        }
        let length = lines[start..]
            .iter()
            .take_while(|line| ends_in_tab(line))
            .count();
        let cells = &lines[start..start + length];
        let width = cells
            .iter()
            .map(|line| line[column].chars().count() + padding)
            .max()
            .unwrap_or(0);
        widths.push(width);
        block(out, cells, widths, padding);
        widths.pop();
        start += length;
    }
}

fn print(out: &mut String, line: &[&str], widths: &[usize]) {
    for (index, cell) in line.iter().enumerate() {
        out.push_str(cell);
        if let Some(width) = widths.get(index).filter(|_| index + 1 < line.len()) {
            out.extend(std::iter::repeat_n(
                ' ',
                width.saturating_sub(cell.chars().count()),
            ));
        }
    }
    out.push('\n');
}
