//! Aligned columns. A watch prints row by row, so widths are remembered and only grow.

/// Minimum width of a cell with its padding.
const LEAST: usize = 6;
const PADDING: usize = 3;

/// Column widths needed so far.
#[derive(Clone, Debug, Default)]
pub struct Widths(Vec<usize>);

impl Widths {
    /// Aligns rows with each other and with all earlier ones.
    pub fn print(&mut self, rows: &[Vec<String>]) -> String {
        rows.iter().for_each(|row| self.measure(row));
        let mut text = String::new();
        rows.iter().for_each(|row| self.put(row, &mut text));
        text
    }

    /// Widens the columns for a row.
    pub fn measure(&mut self, row: &[String]) {
        for (index, cell) in row.iter().enumerate() {
            let width = (cell.chars().count() + PADDING).max(LEAST);
            match self.0.get_mut(index) {
                Some(known) => *known = width.max(*known),
                None => self.0.push(width),
            }
        }
    }

    /// Prints a measured row.
    pub fn put(&self, row: &[String], text: &mut String) {
        for (index, cell) in row.iter().enumerate() {
            text.push_str(cell);
            if index + 1 < row.len() {
                let pad = self.0[index].saturating_sub(cell.chars().count());
                text.extend(std::iter::repeat_n(' ', pad));
            }
        }
        text.push('\n');
    }
}
