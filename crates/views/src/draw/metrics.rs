//! Widths of texts.

use super::primitive::Font;

/// Widths of texts in the fonts of pictures.
pub trait TextMetrics {
    /// Returns the width of a text in pixels.
    fn width(&self, font: Font, text: &str) -> f64;
}

/// Share of the font size by which monospaced letters are drawn closer.
pub const MONO_TIGHTENING: f64 = 0.02;

/// Metrics where no browser measures: those of DejaVu Sans and DejaVu Sans Mono 2.37, which are as wide as any that a picture is read in,
/// so that no text leaves its ground.
pub struct BuiltIn;

/// Advance widths of the printable ASCII characters in DejaVu Sans, in thousandths of the font size (table `hmtx` of the font).
const REGULAR: [u16; 95] = [
    318, 401, 460, 838, 636, 950, 780, 275, 390, 390, 500, 838, 318, 361, 318, 337, 636, 636, 636,
    636, 636, 636, 636, 636, 636, 636, 337, 337, 838, 838, 838, 531, 1000, 684, 686, 698, 770, 632,
    575, 775, 752, 295, 295, 656, 557, 863, 748, 787, 603, 787, 695, 635, 611, 732, 684, 989, 685,
    611, 685, 390, 337, 390, 838, 500, 500, 613, 635, 550, 635, 615, 352, 635, 634, 278, 278, 579,
    278, 974, 634, 612, 635, 635, 411, 521, 392, 634, 592, 818, 592, 592, 525, 636, 337, 636, 838,
];

/// The widths in DejaVu Sans Bold.
const BOLD: [u16; 95] = [
    348, 456, 521, 838, 696, 1002, 872, 306, 457, 457, 523, 838, 380, 415, 380, 365, 696, 696, 696,
    696, 696, 696, 696, 696, 696, 696, 400, 400, 838, 838, 838, 580, 1000, 774, 762, 734, 830, 683,
    683, 821, 837, 372, 372, 775, 637, 995, 837, 850, 733, 850, 770, 720, 682, 812, 774, 1103, 771,
    724, 725, 457, 365, 457, 838, 500, 500, 675, 716, 593, 716, 678, 435, 716, 712, 343, 343, 665,
    343, 1042, 712, 687, 716, 716, 493, 595, 478, 712, 652, 924, 645, 652, 582, 712, 365, 712, 838,
];

/// Advance width of the letters of DejaVu Sans Mono.
const MONO: f64 = 0.602;

impl TextMetrics for BuiltIn {
    fn width(&self, font: Font, text: &str) -> f64 {
        let table = if font.weight < 600 { &REGULAR } else { &BOLD };
        let em = |letter: char| match letter {
            // Chinese characters and full-width signs are square.
            '\u{2e80}'..='\u{9fff}' | '\u{ff00}'..='\u{ff60}' => 1.0,
            _ if font.mono => MONO - MONO_TIGHTENING,
            '…' | '→' | '—' => 1.0,
            ' '..='~' => f64::from(table[letter as usize - 32]) / 1000.0,
            '·' => 318.0 / 1000.0,
            _ => 838.0 / 1000.0,
        };
        text.chars().map(em).sum::<f64>() * font.size
    }
}

/// Cuts a text at its end if it is wider than its room, within a pixel.
pub fn cut(metrics: &dyn TextMetrics, font: Font, text: &str, room: f64) -> String {
    if metrics.width(font, text) <= room + 1.0 {
        return text.to_string();
    }
    let room = room - metrics.width(font, "…");
    if room < 0.0 {
        return String::new();
    }
    let mut taken = 0.0;
    let fits = |letter: &char| {
        taken += metrics.width(font, letter.encode_utf8(&mut [0; 4]));
        taken <= room
    };
    text.chars().take_while(fits).chain(['…']).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::draw::primitive::ui;

    #[test]
    fn a_text_is_cut_to_its_room() {
        let font = ui(12.0, "text");
        assert_eq!(cut(&BuiltIn, font, "nginx", 100.0), "nginx");
        let text = cut(&BuiltIn, font, "a-very-long-name-of-a-deployment", 60.0);
        assert!(
            text.ends_with('…') && BuiltIn.width(font, &text) <= 60.0,
            "{text}"
        );
        assert_eq!(cut(&BuiltIn, font, "name", 0.0), "");
    }
}
