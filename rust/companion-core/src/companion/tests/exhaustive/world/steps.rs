//! Lists the possible next steps, and takes them.

use super::{DiskQuery, Question, World};
use crate::companion::limits::ACKNOWLEDGEMENT_TIMEOUT;
use crate::companion::{Hook, Input, Now};
use crate::diffs::EditorCommand;

/// The limits of the steps.
#[derive(Clone, Copy, Debug)]
#[expect(clippy::struct_excessive_bools, reason = "each is a question of its own")]
pub(crate) struct Script {
    /// The path of each question.
    pub(crate) paths: &'static [&'static str],
    /// Whether the client asks about another path before it has an answer.
    pub(crate) at_once: bool,
    pub(crate) breaks: u8,
    pub(crate) kills: u8,
    pub(crate) stops: u8,
    /// How many questions the user answers in the terminal.
    pub(crate) closes: u8,
    /// How often another client asks about the path of the first question.
    pub(crate) others: u8,
    /// The number of questions that the user rejects with a reason.
    pub(crate) rejections_with_reason: u8,
    /// How many opens the editor fails.
    pub(crate) failures: u8,
    /// How often the editor does not answer in time.
    pub(crate) timeouts: u8,
    /// How often the user writes, changes or removes a comment.
    pub(crate) comments: u8,
    /// How many prompts the user sends to two CLIs that run hooks.
    pub(crate) prompts: u8,
    /// The CLI runs hooks.
    pub(crate) has_hooks: bool,
    /// The CLI runs the hooks before all edits first, as for subagents.
    pub(crate) begins_at_once: bool,
    /// The model names other paths than the client opens.
    pub(crate) corrects: bool,
    /// The next process is one that runs already, and has a client.
    pub(crate) hands_over: bool,
    /// The editor keeps its views over a restart.
    pub(crate) keeps_views: bool,
    /// The user changes every second proposal; this is the first unchanged one.
    pub(crate) unchanged: Question,
}

/// A step. An index selects a pending item.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Step {
    /// The client asks the next question.
    Ask,
    /// The hook after an edit runs.
    AfterTool,
    /// The client opens its stream again.
    ComeBack,
    /// The server takes a request.
    Serve(usize),
    /// The client gets the answer to a request.
    Reply(usize),
    /// The client reads an event.
    Read(usize),
    /// The server sends an event.
    Send,
    /// A record is saved.
    Save,
    /// The editor carries out a request.
    Edit(usize),
    /// The editor fails an open, and perhaps keeps the view that it would replace,
    FailToOpen {
        keeps_earlier: bool,
    },
    /// or does not answer in time.
    TimeOut,
    /// The user decides in the editor.
    Decide(Question, bool),
    /// rejects with a reason,
    RejectWithReason(Question),
    /// or decides in the terminal.
    Terminal(Question, bool),
    /// Another client proposes an edit of the same file, or closes what it takes for its own,
    OtherOpens,
    OtherCloses,
    /// and the user decides about its proposal.
    DecideOther(bool),
    /// The user writes or changes the comment, or removes it,
    WriteComment,
    RemoveComment,
    /// and the editor reports it to the next process.
    ReportComment,
    /// The user sends a prompt to this CLI, whose hook fetches notes,
    Prompt(usize),
    /// confirms them, or ends before that.
    Confirm(usize),
    LoseHook(usize),
    /// The disk answers, and as hoped or not.
    AnswerQuery(bool),
    /// The client does not acknowledge a decision for too long.
    Expire,
    /// The stream breaks after this number of events has arrived.
    Cut(usize),
    /// The process is killed after this number of events has arrived.
    Kill(usize),
    BeginStop,
    EndStop,
    /// After a restart the editor names its views, in time or too late.
    Resume {
        is_late: bool,
    },
    /// The editor has lost them.
    ResumeNothing,
}

impl World {
    /// Returns all possible next steps.
    pub(crate) fn steps(&self, script: &Script) -> Vec<Step> {
        let last = self.wires.last().filter(|wire| wire.is_open);
        let arriving = 0..=last.map_or(0, |wire| wire.events.len());
        let is_quiet = self.is_quiet();
        let can_send = last.is_some_and(|wire| {
            let (next, _) = self.companion.diffs().clone().next(self.session, wire.number);
            next.is_some()
        });
        let can_read = |index: &usize| {
            let wire = &self.wires[*index];
            wire.begins <= self.saved && !wire.events.is_empty()
        };
        let answerable = || self.client.waiters.values().filter(|of| self.is_answerable(**of));
        let mut steps = Vec::new();
        let mut may = |can: bool, step| steps.extend(can.then_some(step));
        may(self.client.can_ask(script), Step::Ask);
        may(!self.client.ended.is_empty(), Step::AfterTool);
        may(is_quiet && self.client.is_down(), Step::ComeBack);
        may(can_send, Step::Send);
        may(!self.unsaved.is_empty(), Step::Save);
        may(!self.asks.is_empty(), Step::Edit(0));
        may(self.may_overtake(), Step::Edit(1));
        let opens = matches!(self.asks.front(), Some((_, EditorCommand::Open(..))));
        for keeps_earlier in [false, true] {
            may(self.failures > 0 && opens, Step::FailToOpen { keeps_earlier });
        }
        may(self.timeouts > 0 && is_quiet && !self.opens.is_empty(), Step::TimeOut);
        may(self.stops > 0 && !self.is_stopping, Step::BeginStop);
        may(self.is_stopping, Step::EndStop);
        steps.extend((0..self.requests.len()).map(Step::Serve));
        steps.extend((0..self.replies.len()).map(Step::Reply));
        steps.extend((0..self.wires.len()).filter(can_read).map(Step::Read));
        if self.is_resuming {
            steps.push(Step::Resume { is_late: false });
            steps.extend(is_quiet.then_some(Step::Resume { is_late: true }));
            steps.push(Step::ResumeNothing);
        }
        let is_decidable = !self.is_resuming && !self.is_stopping;
        let decidable = || self.views.values().filter(|_| is_decidable);
        if self.rejections_with_reason > 0 {
            steps.extend(decidable().map(|question| Step::RejectWithReason(*question)));
        }
        for accept in [true, false] {
            steps.extend(decidable().map(|question| Step::Decide(*question, accept)));
            steps.extend(answerable().map(|question| Step::Terminal(*question, accept)));
        }
        if self.others > 0 && !self.is_stopping {
            steps.extend([Step::OtherOpens, Step::OtherCloses]);
        }
        if self.is_others_shown && is_decidable {
            steps.extend([true, false].map(Step::DecideOther));
        }
        if is_quiet && self.companion.calls.next_deadline() == Some(ACKNOWLEDGEMENT_TIMEOUT) {
            steps.push(Step::Expire);
        }
        let is_answerable = match self.disk_queries.front() {
            Some(DiskQuery::Read(..)) => self.unsaved.is_empty(),
            Some(DiskQuery::Access(..) | DiskQuery::Original(..) | DiskQuery::Comment(..)) => true,
            None => false,
        };
        if is_answerable {
            steps.extend([true, false].map(Step::AnswerQuery));
        }
        if self.breaks > 0 && last.is_some_and(|wire| !wire.is_answer) {
            steps.extend(arriving.clone().map(Step::Cut));
        }
        if self.kills > 0 && !self.is_stopping {
            steps.extend(arriving.map(Step::Kill));
        }
        steps.extend(self.commenting.steps());
        steps
    }

    /// Takes a step.
    pub(crate) fn take(&self, script: &Script, step: Step) -> Self {
        let mut world = self.clone();
        match step {
            Step::Ask => world.ask(script),
            Step::AfterTool => {
                let question = world.client.ended.remove(0);
                let out = world.run_hook(script, Hook::AfterTool(script.paths[question]));
                world.check_denial(script, question, &out);
            }
            Step::WriteComment => world.write_comment(),
            Step::RemoveComment => world.remove_comment(),
            Step::ReportComment => world.report_comment(),
            Step::Prompt(cli) => world.prompt(cli),
            Step::Confirm(cli) => world.confirm_hook(cli),
            Step::LoseHook(cli) => world.lose_hook(cli),
            Step::AnswerQuery(is_good) => world.answer_query(is_good),
            Step::ComeBack => world.requests.push(world.client.come_back()),
            Step::Serve(index) => world.serve(script, index),
            Step::Reply(index) => {
                let reply = world.replies.remove(index);
                world.client.answered(script, &reply);
            }
            Step::Read(index) => world.read(script, index),
            Step::Send => {
                world.send();
            }
            Step::Save => world.save(),
            Step::Edit(index) => world.edit(script, index),
            Step::FailToOpen { keeps_earlier } => world.fail_to_open(script, keeps_earlier),
            Step::TimeOut => world.time_out(),
            Step::Decide(question, accept) => world.decide(script, question, accept),
            Step::RejectWithReason(question) => world.reject_with_reason(script, question),
            Step::Terminal(question, accept) => {
                world.closes -= 1;
                world.requests.push(world.client.close(question, accept));
            }
            Step::OtherOpens => world.open_other(script),
            Step::OtherCloses => world.close_other(script),
            Step::DecideOther(accept) => world.decide_other(script, accept),
            Step::Expire => {
                let now = Now { elapsed: ACKNOWLEDGEMENT_TIMEOUT, date: 0 };
                world.handle_at(now, Input::Time);
            }
            Step::Cut(arrives) => {
                world.breaks -= 1;
                world.end_stream(arrives);
                world.handle(Input::StreamClosed(world.session, world.last_stream));
            }
            Step::Kill(arrives) => world.kill(script, arrives),
            Step::BeginStop => world.begin_stop(script),
            Step::Resume { is_late } => world.resume(script, is_late),
            Step::ResumeNothing => world.resume_nothing(script),
            Step::EndStop => world.end_stop(script),
        }
        world.settle_down(script);
        world
    }

    /// Describes a step.
    pub(crate) fn describe(&self, step: Step) -> String {
        match step {
            Step::Serve(index) => format!("{step:?} {:?}", self.requests[index]),
            Step::Reply(index) => format!("{step:?} {:?}", self.replies[index]),
            Step::Read(index) => format!("{step:?} {:?}", self.wires[index].events.front()),
            _ => format!("{step:?}"),
        }
    }
}
