/** Hosts over the store of a suite, and what tests do with them. */
import { Context, Effect, Layer, Option, type Redacted } from "effect"
import * as Members from "../src/Members.ts"
import type { Grant } from "../src/Session.ts"
import * as Sessions from "../src/Sessions.ts"

/** One host over the store of the suite. */
export const makeHost = (options: Sessions.SessionsOptions = {}) =>
  Effect.map(Layer.build(Sessions.layerWith(options)), Context.get(Sessions.Sessions))

/** The members of one host. */
export const makeMembers = (options: Members.MembersOptions = {}) =>
  Effect.map(Layer.build(Members.layerWith(options)), Context.get(Members.Members))

/** A sign-in from a browser. */
export const browser: Sessions.SignIn = { device: Option.some("Firefox"), address: "192.0.2.1" }

export const keyOf = (account: string, key: string): Grant => ({ scope: "key", account, key })

export const memberOf = (account: string): Grant => ({ scope: "account", account, role: "member", member: null })

export const viewerOf = (account: string): Grant => ({ scope: "account", account, role: "viewer", member: null })

export const operatorOf = (operator: string): Grant => ({ scope: "operator", operator, role: "support" })

export const reasonOf = <A>(effect: Effect.Effect<A, Sessions.Failure>) =>
  Effect.map(Effect.flip(effect), (error) => error._tag === "SessionsError" ? error.reason._tag : error._tag)

/** Returns why a token is rejected, or the id of its session. */
export const resultOf = (host: Sessions.Sessions["Service"], token: Redacted.Redacted) =>
  host.peek(token).pipe(
    Effect.map(({ id }): string => id),
    Effect.catchTag("SessionRejected", ({ reason }) => Effect.succeed(reason))
  )
