//! Splitting of a text into documents at `---` lines, as in kubectl before any YAML is parsed.
//!
//! Models `apimachinery/pkg/util/yaml` (`YAMLReader`).

/// Text of one document with its position.
pub struct Chunk<'a> {
    /// Bytes between two separators.
    pub bytes: &'a [u8],
    /// Offset in the whole text.
    pub at: usize,
    /// Line of the first byte in the whole text, from 1.
    pub line: usize,
}

/// Position up to which a text has been split.
#[derive(Clone, Debug)]
pub struct Cursor {
    at: usize,
    line: usize,
}

impl Default for Cursor {
    fn default() -> Cursor {
        Cursor { at: 0, line: 1 }
    }
}

impl Cursor {
    /// Returns the next document of the text that is not empty.
    pub fn next<'a>(&mut self, text: &'a [u8]) -> Option<Chunk<'a>> {
        while self.at < text.len() {
            let (start, first) = (self.at, self.line);
            let mut end = start;
            // A separator ends a document; as the very first line of a document it belongs to it.
            while end < text.len() {
                let next = line_end(text, end);
                if end > start && is_separator(&text[end..next]) {
                    break;
                }
                end = next;
                self.line += 1;
            }
            self.at = end;
            if end < text.len() {
                self.at = line_end(text, end);
                self.line += 1;
            }
            let bytes = &text[start..end];
            if bytes.iter().any(|b| !b.is_ascii_whitespace()) {
                return Some(Chunk {
                    bytes,
                    at: start,
                    line: first,
                });
            }
        }
        None
    }
}

/// Returns the end of the line that begins here, including its line break.
fn line_end(text: &[u8], from: usize) -> usize {
    text[from..]
        .iter()
        .position(|b| *b == b'\n')
        .map_or(text.len(), |i| from + i + 1)
}

/// Returns the documents of a text, without empty ones.
pub fn chunks(text: &[u8]) -> impl Iterator<Item = Chunk<'_>> {
    let mut cursor = Cursor::default();
    std::iter::from_fn(move || cursor.next(text))
}

fn is_separator(line: &[u8]) -> bool {
    line.strip_prefix(b"---").is_some_and(|rest| {
        let rest = rest.trim_ascii_start();
        rest.is_empty() || rest[0] == b'#'
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn documents_are_split_at_separator_lines() {
        let found = |text: &'static str| -> Vec<(usize, String)> {
            chunks(text.as_bytes())
                .map(|c| (c.line, String::from_utf8_lossy(c.bytes).into_owned()))
                .collect()
        };
        assert_eq!(
            found("a\n---\nb\n"),
            [(1, "a\n".to_owned()), (3, "b\n".to_owned())]
        );
        assert_eq!(
            found("---\na\n--- # next\r\nb"),
            [(1, "---\na\n".to_owned()), (4, "b".to_owned())]
        );
        assert_eq!(found("a\n----\nb"), [(1, "a\n----\nb".to_owned())]);
        assert!(found("\n\n---\n\n---\n").is_empty());
        assert_eq!(found(""), []);
    }
}
