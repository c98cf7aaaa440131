/** The page of sessions that have the rights of an API key alone. */
import { NoPermission } from "./States.tsx"

/**
 * Explains that a sign-in link is needed, or a key with a scope. `what` completes the sentence "Sign in with a link to …".
 */
export const NoAccountRights = ({ scope, what }: { readonly what: string; readonly scope?: string }) => (
  <NoPermission title={`Sign in with a link to ${what}`}>
    This session has the rights of an API key. Ask your operator for a sign-in link
    {scope !== undefined && (
      <>
        , or sign in with a key that has the scope <code className="font-mono text-xs">{scope}</code>
      </>
    )}.
  </NoPermission>
)
