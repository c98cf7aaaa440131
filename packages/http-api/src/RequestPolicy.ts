/**
 * The policy of an endpoint: how callers authenticate, which body it reads, and which
 * rate limit applies. Servers limit bodies by it. Authentication and rate limits are
 * documented by it, and a test compares them with the middleware of the endpoint.
 */
import { Context, Schema } from "effect"
import type { HttpApiEndpoint } from "effect/http-api"

/**
 * A kind of request, to which an API key can be restricted. `generate`: creates and cancels
 * jobs, and uploads images. `read`: reads jobs, results and models. `account:read`: reads the
 * account and its usage. `webhooks`: manages the webhook endpoints of the account.
 */
export const KeyScope = Schema.Literals(["generate", "read", "account:read", "webhooks"])
/** See the schema of the same name. */
export type KeyScope = typeof KeyScope.Type

/**
 * A role of an operator. Each role permits everything that those before it permit. `auditor`: all
 * reads. `support`: cancels jobs, resends deliveries, disables webhook endpoints, and suspends and
 * resumes accounts. `operator`: everything except changes of operators. `owner`: everything.
 */
export const OperatorRole = Schema.Literals(["auditor", "support", "operator", "owner"])
/** See the schema of the same name. */
export type OperatorRole = typeof OperatorRole.Type

/** Returns whether a role permits what another one permits. */
export const permits = (role: OperatorRole, needed: OperatorRole): boolean =>
  OperatorRole.literals.indexOf(role) >= OperatorRole.literals.indexOf(needed)

/**
 * Rights that an endpoint requires of a session. `any`: every session has them. `key`: a session of an account, also one that was created with an
 * API key. `viewer`: a session of a member of the account. `member`: the same, unless the member is a viewer. `operator`: a
 * session of an operator. A session of an operator that views an account has the rights of a viewer too.
 */
export const ConsoleAccess = Schema.Literals(["any", "key", "viewer", "member", "operator"])
/** See the schema of the same name. */
export type ConsoleAccess = typeof ConsoleAccess.Type

/** See `RequestPolicy`. */
export interface Policy {
  /**
   * How callers authenticate. `key`: by API key. `link`: by API key or by the signature of
   * the URL. `operator`: by the operator's token. `session`: by the cookie of a session. `credential`: by a credential in
   * the body. `keyOrSession`: by the cookie of a session, or by API key. A session of an account can replace the API key,
   * and one of an operator the operator's token.
   */
  readonly authentication: "none" | "key" | "link" | "operator" | "session" | "keyOrSession" | "credential"
  /** The body. `creation`: JSON with inlined images. `image`: an image file. */
  readonly body: "none" | "json" | "creation" | "image"
  /**
   * The limits that an authenticated request counts against. `key`: requests of the API key or of the session.
   * `creation`: the same, and creations of the plan group.
   */
  readonly rate: "none" | "key" | "creation"
  /** The scope that an API key needs. `undefined` if no API key is needed. */
  readonly scope: KeyScope | undefined
  /**
   * The role that an operator needs. `auditor` for all reads, and another one for all changes.
   * `undefined` on endpoints for clients.
   */
  readonly role: OperatorRole | undefined
  /** The rights that a session needs. `undefined` on endpoints outside of the console. */
  readonly access: ConsoleAccess | undefined
}

/** The annotation that every endpoint of `Api`, `AdminApi` and `ConsoleApi` has. */
export class RequestPolicy extends Context.Service<RequestPolicy, Policy>()("@kinora/http-api/RequestPolicy") {}

/** Requests without authentication, for probes. */
export const open: Policy = {
  authentication: "none",
  body: "none",
  rate: "none",
  scope: undefined,
  role: undefined,
  access: undefined
}

/** Requests that read jobs or models. */
export const reading: Policy = { ...open, authentication: "key", rate: "key", scope: "read" }

/** Requests without a body that change jobs or uploads. */
export const changing: Policy = { ...reading, scope: "generate" }

/** Requests that read the account. */
export const reporting: Policy = { ...reading, scope: "account:read" }

/** Requests that create a job. */
export const creating: Policy = { ...changing, body: "creation", rate: "creation" }

/** Requests that upload an image. */
export const uploading: Policy = { ...changing, body: "image" }

/** Requests for a file. */
export const downloading: Policy = { ...reading, authentication: "link" }

/** Requests of operators with this role, without a body. */
export const operating = (role: OperatorRole): Policy => ({ ...open, authentication: "operator", role })

/** Requests of operators with this role, with a JSON body. */
export const configuring = (role: OperatorRole): Policy => ({ ...operating(role), body: "json" })

/** Requests that start a session. */
export const signingIn: Policy = { ...open, authentication: "credential", body: "json" }

/**
 * Requests of sessions with this access. `scope` is the scope that the API key of a session needs if it was created
 * with one; `undefined` if such a session needs none or is not permitted.
 */
export const browsing = (access: ConsoleAccess, scope?: KeyScope): Policy => ({
  ...open,
  authentication: "session",
  rate: "key",
  scope,
  access
})

/**
 * Requests of sessions with this access, of sessions that were created with an API key that has this scope, and of such
 * keys.
 */
export const browsingWithKey = (access: ConsoleAccess, scope: KeyScope): Policy => ({
  ...browsing(access, scope),
  authentication: "keyOrSession"
})

/** The policy of an endpoint. Throws if it has none, which is a mistake in the contract. */
export const of = ({ annotations }: Pick<HttpApiEndpoint.Top, "annotations">): Policy =>
  Context.getUnsafe(annotations, RequestPolicy)
