//! Aligned columns. A watch prints row after row, so widths only grow and are remembered.

/// A cell with its padding is at least this wide.
const LEAST: usize = 6;
const PADDING: usize = 3;

/// Column widths that have been needed so far.
#[derive(Clone, Debug, Default)]
pub struct Widths(Vec<usize>);

impl Widths {
    /// Aligns rows with each other and with all that came before.
    pub fn print(&mut self, rows: &[Vec<String>]) -> String {
        rows.iter().for_each(|row| self.measure(row));
        let mut text = String::new();
        rows.iter().for_each(|row| self.put(row, &mut text));
        text
    }

    /// Makes room for a row.
    pub fn measure(&mut self, row: &[String]) {
        for (index, cell) in row.iter().enumerate() {
            let width = (cell.chars().count() + PADDING).max(LEAST);
            match self.0.get_mut(index) {
                Some(known) => *known = width.max(*known),
                None => self.0.push(width),
            }
        }
    }

    /// Prints a row that was measured.
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
