/** The page of sessions that have the rights of an API key alone. */
import { NoPermission } from "./States.tsx"

/** Explains that a sign-in link is needed. `what` completes the sentence "Sign in with a link to …". */
export const NoAccountRights = ({ what }: { readonly what: string }) => (
  <NoPermission title={`Sign in with a link to ${what}`}>
    This session has the rights of an API key. Ask your operator for a sign-in link.
  </NoPermission>
)
