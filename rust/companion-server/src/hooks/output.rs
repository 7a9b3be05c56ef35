//! Declares the answers to events, which the CLIs read as JSON.

use companion_core::notes::Delivery;
use companion_protocol::hook::HookReply;
use serde::Serialize;

use super::event::HookEvent;
use crate::net::json::Json;

/// The answer to an event.
#[derive(Debug, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct HookOutput {
    #[serde(skip_serializing_if = "Option::is_none")]
    decision: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    system_message: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    hook_specific_output: Option<HookSpecificOutput>,
    /// The delivery of its notes, which the hook confirms.
    #[serde(skip)]
    delivery: Option<u64>,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct HookSpecificOutput {
    hook_event_name: String,
    additional_context: String,
}

impl HookOutput {
    /// The CLI asks the user for a confirmation, which opens a diff.
    pub(super) fn ask() -> Self {
        let message = "Review this edit in your editor.";
        Self { decision: Some("ask"), system_message: Some(message), ..Self::default() }
    }

    /// The model gets `reason` in place of the tool's result.
    pub(super) fn deny(reason: String) -> Self {
        Self { decision: Some("deny"), reason: Some(reason), ..Self::default() }
    }

    /// The CLI goes on with `text` as the next prompt.
    pub(super) fn go_on(text: String) -> Self {
        Self { decision: Some("block"), reason: Some(text), ..Self::default() }
    }

    /// The model gets these texts besides the result or the prompt.
    pub(super) fn context(event: &HookEvent, texts: &[String]) -> Self {
        if texts.is_empty() {
            return Self::default();
        }
        let output = HookSpecificOutput {
            hook_event_name: event.name.clone(),
            additional_context: texts.join("\n\n"),
        };
        Self { hook_specific_output: Some(output), ..Self::default() }
    }

    /// Names the delivery whose notes it has.
    pub(super) fn with(self, delivery: &Delivery) -> Self {
        Self { delivery: Some(delivery.number), ..self }
    }

    /// The body of the reply; empty if the CLI goes on as without a hook.
    pub(super) fn into_json(self) -> Json {
        if self.decision.is_none() && self.hook_specific_output.is_none() {
            return Json::default();
        }
        let output = serde_json::value::to_raw_value(&self).expect("an answer is JSON");
        Json::new(&HookReply { output: &output, ack: self.delivery })
    }
}
