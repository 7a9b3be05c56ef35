//! What users write into the settings page, and what is wrong with it.

use companion_server::{AllowedHost, ListenAddress};

use crate::gate::Error;

/// All of `texts`, each read by `read`.
pub(crate) fn all<T>(
    texts: &[String],
    read: impl Fn(&str) -> Result<T, String>,
) -> Result<Vec<T>, Error> {
    texts.iter().map(|text| read(text)).collect::<Result<_, _>>().map_err(Error::Setting)
}

/// A host by which clients may call the server.
pub(crate) fn allowed_host(text: &str) -> Result<AllowedHost, String> {
    text.parse()
}

/// An address to listen on. The program has a second option for all addresses at once; the
/// settings have not.
pub(crate) fn listen_address(text: &str) -> Result<ListenAddress, String> {
    match text.parse::<ListenAddress>()? {
        everywhere if everywhere.is_everywhere() => Err(format!(
            "{text:?}: every machine that reaches this one could try to connect; give one address, \
             such as 172.17.0.1"
        )),
        address => Ok(address),
    }
}
