// Names the user's decisions about an edit, as the clients of the tests return them.

/** The user has rejected the edit. */
export const REJECTED = { status: 'rejected', content: undefined };

/** Returns the decision of a user who has accepted the edit with this text. */
export const accepted = (content) => ({ status: 'accepted', content });

/** The decision of a user who has changed nothing. The CLI itself applies the edit. */
export const UNCHANGED = accepted('');
