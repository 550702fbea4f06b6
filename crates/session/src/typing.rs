//! Input of the console: each command of a text that holds several, and the editor's text where a command reads it.

use super::console::ConsoleMsg;
use super::effect::Effect;
use super::manifest_file;
use super::state::State;
use crate::console;
use actions::OutputLine;

impl State {
    pub(super) fn submit_line(&mut self, msg: ConsoleMsg) {
        if let ConsoleMsg::Enter(text) = &msg
            && let Some(lines) =
                console::commands_of_printed_session(text).or_else(|| console::listed(text))
        {
            return lines
                .into_iter()
                .for_each(|line| self.type_line(ConsoleMsg::Enter(line)));
        }
        self.type_line(msg);
    }

    fn type_line(&mut self, msg: ConsoleMsg) {
        let (mut notice, mut offer) = (None, None);
        if let ConsoleMsg::Enter(line) | ConsoleMsg::Run(line) = &msg {
            let (line, text) = (line.trim(), &self.editor.text);
            offer = manifest_file::offer(line, text, &self.timeline.run);
            if let Some(save) = manifest_file::saves(line, text, &self.timeline.run) {
                self.perform(vec![Effect::Fork, Effect::Execute(save.action)]);
                notice = save.notice;
            }
        }
        let applies = matches!(&msg, ConsoleMsg::Enter(line) if manifest_file::applies(line, &self.editor.text, &self.timeline.run));
        let mut effects = self.console.update(msg, &mut self.timeline.run);
        effects.splice(..0, notice.map(|line| Effect::Print(vec![line])));
        effects.extend(offer.map(|line| Effect::Print(vec![line])));
        self.perform(effects);
        let mut answer = self
            .console
            .lines
            .iter()
            .rev()
            .take_while(|line| line.entered.is_none());
        let is_failure = |line: &OutputLine| line.error && !line.text.starts_with("Warning: ");
        if applies && !answer.any(is_failure) {
            self.editor.note_applied(&self.timeline.run);
        }
    }
}
