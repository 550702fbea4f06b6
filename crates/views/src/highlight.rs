//! Colours for YAML text: a small line scanner, not a parser. It never fails and never loses a character.

/// Token class.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Token {
    /// White space, dashes, colons, brackets.
    Punct,
    /// Key of a mapping.
    Key,
    /// A plain or quoted string.
    Text,
    /// A number, also with a unit or percent sign.
    Number,
    /// `true`, `false`, `null`, anchors, aliases, tags, block markers.
    Word,
    /// A comment.
    Comment,
}

impl Token {
    /// Class in `components.css`.
    pub fn class(self) -> &'static str {
        match self {
            Token::Punct => "y-p",
            Token::Key => "y-k",
            Token::Text => "y-s",
            Token::Number => "y-n",
            Token::Word => "y-w",
            Token::Comment => "y-c",
        }
    }
}

/// Splits a line into tokens, in order; together they are the line. `block` carries the indentation of a block scalar (`|`, `>`) from line
/// to line.
pub fn line<'a>(text: &'a str, block: &mut Option<usize>) -> Vec<(Token, &'a str)> {
    let indent = text.len() - text.trim_start().len();
    if let Some(of) = *block {
        if text.trim().is_empty() || indent > of {
            return vec![(Token::Text, text)];
        }
        *block = None;
    }
    let mut out = Vec::new();
    let mut at = 0;
    // Indentation and the dashes of list items.
    while at < text.len() {
        let rest = &text[at..];
        if rest.starts_with(' ') || rest.starts_with('\t') {
            at += 1;
        } else if rest.starts_with("- ") || rest == "-" || rest == "---" || rest == "..." {
            at += if rest.starts_with("- ") {
                2
            } else {
                rest.len()
            };
        } else {
            break;
        }
    }
    push(&mut out, Token::Punct, &text[..at]);
    let rest = &text[at..];
    if rest.starts_with('#') {
        push(&mut out, Token::Comment, rest);
        return out;
    }
    let value_at = match key_end(rest) {
        Some(end) => {
            push(&mut out, Token::Key, &rest[..end]);
            push(&mut out, Token::Punct, &rest[end..end + 1]);
            end + 1
        }
        None => 0,
    };
    let value = &rest[value_at..];
    let comment = comment_start(value);
    let (value, tail) = value.split_at(comment);
    scalars(value, &mut out);
    let bare = value.trim();
    if bare.starts_with('|') || bare.starts_with('>') {
        *block = Some(indent);
    }
    push(&mut out, Token::Comment, tail);
    out
}

fn push<'a>(out: &mut Vec<(Token, &'a str)>, token: Token, text: &'a str) {
    if !text.is_empty() {
        out.push((token, text));
    }
}

/// Returns the end of a key: a colon at the end of the line or followed by a space, outside quotes and brackets.
fn key_end(text: &str) -> Option<usize> {
    let bytes = text.as_bytes();
    let mut quote = 0u8;
    for (i, &b) in bytes.iter().enumerate() {
        match b {
            _ if quote != 0 => quote = if b == quote { 0 } else { quote },
            b'"' | b'\'' if i == 0 => quote = b,
            b'{' | b'[' if i == 0 => return None,
            b'#' if i > 0 && bytes[i - 1] == b' ' => return None,
            b':' if bytes.get(i + 1).is_none_or(|next| *next == b' ') => return Some(i),
            _ => {}
        }
    }
    None
}

fn comment_start(text: &str) -> usize {
    let bytes = text.as_bytes();
    let mut quote = 0u8;
    for (i, &b) in bytes.iter().enumerate() {
        match b {
            _ if quote != 0 => quote = if b == quote { 0 } else { quote },
            b'"' | b'\'' => quote = b,
            b'#' if i == 0 || bytes[i - 1] == b' ' => {
                // The space before the comment belongs to it: it is one token.
                return text[..i].trim_end().len();
            }
            _ => {}
        }
    }
    text.len()
}

fn scalars<'a>(text: &'a str, out: &mut Vec<(Token, &'a str)>) {
    let mut start = 0;
    let flow = text.trim_start().starts_with(['[', '{']);
    for (i, c) in text.char_indices() {
        if flow && "[]{},".contains(c) {
            scalar(&text[start..i], out);
            push(out, Token::Punct, &text[i..i + 1]);
            start = i + 1;
        }
    }
    scalar(&text[start..], out);
}

fn scalar<'a>(text: &'a str, out: &mut Vec<(Token, &'a str)>) {
    let lead = text.len() - text.trim_start().len();
    push(out, Token::Punct, &text[..lead]);
    let word = &text[lead..];
    if let Some(end) = key_end(word) {
        push(out, Token::Key, &word[..end]);
        push(out, Token::Punct, &word[end..end + 1]);
        return scalar(&word[end + 1..], out);
    }
    let bare = word.trim_end();
    let token = match bare {
        "true" | "false" | "null" | "~" => Token::Word,
        _ if bare.starts_with(['&', '*', '!', '|', '>']) => Token::Word,
        _ if number(bare) => Token::Number,
        _ => Token::Text,
    };
    push(out, token, word);
}

fn number(text: &str) -> bool {
    let digits = text.strip_prefix('-').unwrap_or(text);
    let digits = digits.strip_suffix('%').unwrap_or(digits);
    !digits.is_empty()
        && digits.starts_with(|c: char| c.is_ascii_digit())
        && digits.chars().all(|c| c.is_ascii_digit() || c == '.')
        && digits.matches('.').count() < 2
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kinds(text: &str) -> Vec<(Token, &str)> {
        line(text, &mut None)
    }

    #[test]
    fn keys_values_and_comments_are_told_apart() {
        assert_eq!(
            kinds("  replicas: 3   # was 2"),
            [
                (Token::Punct, "  "),
                (Token::Key, "replicas"),
                (Token::Punct, ":"),
                (Token::Punct, " "),
                (Token::Number, "3"),
                (Token::Comment, "   # was 2")
            ]
        );
        assert_eq!(kinds("- name: nginx")[1], (Token::Key, "name"));
        assert_eq!(kinds("image: nginx:1.7.9")[3], (Token::Text, "nginx:1.7.9"));
        assert_eq!(kinds("maxSurge: 25%")[3], (Token::Number, "25%"));
        assert_eq!(kinds("---"), [(Token::Punct, "---")]);
        assert_eq!(kinds("# note"), [(Token::Comment, "# note")]);
        assert!(kinds("a: {b: true, c: [1, x]}").contains(&(Token::Word, "true")));
    }

    #[test]
    fn a_block_scalar_is_text_until_the_indentation_ends() {
        let mut block = None;
        line("  data: |", &mut block);
        assert_eq!(
            line("    key: value", &mut block),
            [(Token::Text, "    key: value")]
        );
        assert_eq!(line("  next: 1", &mut block)[1].0, Token::Key);
    }

    #[test]
    fn no_character_is_lost_whatever_the_text() {
        for text in [
            "",
            "  ",
            "a",
            "a:",
            "- - b: 'x: # y' # z",
            "键: 值 # 注",
            "{a: [1,{b: \"c\"}]}",
            "\t:::#",
            "- ",
            "-",
            "'",
            "a: \"b#c\" #",
        ] {
            assert_eq!(
                kinds(text).iter().map(|piece| piece.1).collect::<String>(),
                text
            );
        }
    }
}
