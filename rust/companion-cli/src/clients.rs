//! Defines the option that selects a client.

use clap::builder::{PossibleValuesParser, TypedValueParser};
use companion_protocol::profile::{self, ClientProfile};

/// Returns the selected clients, or all if the user names none.
pub(crate) fn or_all(named: &[&'static ClientProfile]) -> Vec<&'static ClientProfile> {
    if named.is_empty() { profile::ALL.to_vec() } else { named.to_vec() }
}

/// Returns the parser of one client's name.
pub(crate) fn parser() -> impl TypedValueParser<Value = &'static ClientProfile> {
    PossibleValuesParser::new(profile::ALL.map(|profile| profile.id))
        .map(|id| profile::named(&id).expect("all of these are clients"))
}
