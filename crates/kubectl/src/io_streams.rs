//! Output of a command, and its failures.

use super::Failure;
use std::ops::Range;

/// Length of the output at some point of a command.
#[derive(Clone, Copy)]
pub struct PrintedLength {
    /// Bytes of stdout.
    pub out: usize,
    /// Bytes of stderr.
    pub err: usize,
}

impl PrintedLength {
    /// Returns the bytes of both streams.
    pub fn total(self) -> usize {
        self.out + self.err
    }
}

/// Piece of stderr that precedes other output.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ErrPiece {
    /// Range of the piece in stderr, in bytes.
    pub range: Range<usize>,
    /// Length of stdout before the piece, in bytes.
    pub out_len: usize,
}

/// Standard output and standard error of a command: `genericiooptions.IOStreams`.
#[derive(Clone, Debug, Default)]
pub struct IoStreams {
    /// Stdout.
    pub out: String,
    /// Stderr.
    pub err: String,
    /// Pieces of stderr that precede other output.
    pub err_pieces: Vec<ErrPiece>,
    /// First failure of a command that continues.
    pub failure: Option<Failure>,
    /// Failures to print at the end of the command.
    failures: Vec<Failure>,
}

impl IoStreams {
    /// Prints a line.
    pub fn say(&mut self, line: impl std::fmt::Display) {
        self.out.push_str(&format!("{line}\n"));
    }

    /// Prints a line to stderr.
    pub fn warn(&mut self, line: impl std::fmt::Display) {
        self.write_err(&format!("{line}\n"));
    }

    /// Writes to stderr; a terminal shows the text in order with stdout.
    pub fn write_err(&mut self, text: &str) {
        if text.is_empty() {
            return;
        }
        let from = self.err.len();
        self.err.push_str(text);
        self.err_pieces.push(ErrPiece {
            range: from..self.err.len(),
            out_len: self.out.len(),
        });
    }

    /// Returns the lengths of stdout and stderr so far, for [`IoStreams::take_printed`].
    pub fn printed(&self) -> PrintedLength {
        PrintedLength {
            out: self.out.len(),
            err: self.err.len(),
        }
    }

    /// Takes back the output printed since then, for a shell that pipes or redirects it.
    pub fn take_printed(&mut self, printed: PrintedLength) -> (String, String) {
        let PrintedLength { out, err } = printed;
        self.err_pieces.retain(|piece| piece.range.end <= err);
        (self.out.split_off(out), self.err.split_off(err))
    }

    /// Records a failure and continues: it is printed at the end, and sets the exit code.
    pub fn fail(&mut self, failure: &Failure) {
        self.failures.push(failure.clone());
        self.failure.get_or_insert_with(|| failure.clone());
    }

    /// Records several errors as one failure and continues.
    pub fn fail_all(&mut self, faults: Vec<Failure>) {
        Failure::all(faults)
            .iter()
            .for_each(|failure| self.fail(failure));
    }

    /// Prints the failures. Several are formatted differently from a single one: `checkErr` of `kubectl/pkg/cmd/util/helpers.go`.
    pub fn print_failures(&mut self) {
        match &std::mem::take(&mut self.failures)[..] {
            [one] => self.err.push_str(&one.message),
            all => all
                .iter()
                .for_each(|failure| self.err.push_str(&format!("{}\n", failure.in_aggregate))),
        }
    }
}
