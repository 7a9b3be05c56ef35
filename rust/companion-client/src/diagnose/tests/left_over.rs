//! Tests the evidence about the file of an editor that has ended.

use super::*;

const LEFT_OVER: &str = "left over from a companion that has ended";
const HAD_OPEN: &str = "project, which the editor that has ended had open\n";

#[test]
fn a_port_without_a_listener_is_left_over_though_another_process_has_the_id() {
    let text = check(Some(Problem::NotRunning), &failing(Failure::Refused));
    assert!(text.contains(HAD_OPEN) && text.contains(LEFT_OVER), "{text}");
}

/// No companion removes the file.
#[test]
fn a_port_that_another_program_has_is_not_left_over() {
    let failure = Failure::NotACompanion("the server answered 404".to_owned());
    let mut facts = failing(failure);
    facts.plan.search.candidates[0].alive = false;
    let text = check(Some(Problem::NotACompanion), &facts);
    assert!(text.contains(HAD_OPEN) && !text.contains(LEFT_OVER), "{text}");
}
