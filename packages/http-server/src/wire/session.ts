/** Sessions in the API of the console. */
import type * as Wire from "@kinora/http-api/ConsoleSession"
import type { Session } from "@kinora/sessions"
import { Option } from "effect"
import { roleOf } from "../middleware/consoleAuthentication.ts"
import type { Caller } from "../middleware/currentRequest.ts"
import type { Owned } from "../middleware/sessionOwner.ts"

/** The session of the request. */
export const currentToWire = ({ owner, session, view }: Owned): Wire.ConsoleSession => ({
  id: session.id,
  scope: session.grant.scope,
  role: roleOf(session.grant),
  account: owner._tag === "Account" ? accountOf(owner.caller) : null,
  view: view === undefined ? null : { account: accountOf(view.caller), until: view.until },
  member: owner._tag === "Account" && owner.member !== undefined
    ? { id: owner.member.id, email: owner.member.email }
    : null,
  name: owner.name,
  created_at: session.createdAt,
  expires_at: session.expiresAt,
  idle_expires_at: session.idleUntil
})

/** A session in the list. */
export const listedToWire = (session: Session.Session, current: Session.Session): Wire.ListedSession => ({
  id: session.id,
  scope: session.grant.scope,
  device: Option.getOrNull(session.device),
  address: session.address,
  created_at: session.createdAt,
  seen_at: session.seenAt,
  expires_at: session.expiresAt,
  current: session.id === current.id
})

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const accountOf = ({ account: { email, id } }: Caller) => ({ id, email })
