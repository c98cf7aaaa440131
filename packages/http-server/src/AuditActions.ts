/** Actions of entries of the audit log that hosts keep for a time of their own. */

/** The action of failed sign-ins. Clients without an account cause them. */
export const failedSignIn = "session.signInFailed"
