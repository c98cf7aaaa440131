/** Browsers that sign in, and what they send. */
import { assert } from "@effect/vitest"
import { type Session, Sessions } from "@kinora/sessions"
import { Effect, Redacted, Schema } from "effect"
import type * as Host from "./Host.ts"

type Send = Effect.Success<ReturnType<typeof Host.start>>

/** The address of the session. */
export const session = "/console/v1/session"

/** The cookie of the service of the tests, which browsers reach over HTTPS. */
export const cookieName = "__Host-kinora"

/** The headers of a change that a page of the service sends. */
export const samePage = { "sec-fetch-site": "same-origin" }

/** The value of the cookie that a response sets, or `""` if it removes the cookie. */
export const cookieOf = (answer: Host.Answer): string => {
  const value = new RegExp(`^${cookieName}=([^;]*);`).exec(answer.headers["set-cookie"] ?? "")?.[1]
  assert.isDefined(value, answer.text)
  return value ?? ""
}

/** A function that sends requests with a cookie, as a page of the service does. */
export const pageOf = (send: Send, token: string): Send => (method, path, sent = {}) =>
  send(method, path, { ...sent, headers: { ...samePage, cookie: `${cookieName}=${token}`, ...sent.headers } })

/** Creates a sign-in code. */
export const codeOf = Effect.fnUntraced(function*(grant: Session.Grant) {
  const { createCode } = yield* Sessions.Sessions
  return Redacted.value((yield* createCode(grant)).code)
})

/** Signs in with a body, and returns a function that sends requests of that browser, and its token. */
export const signIn = Effect.fnUntraced(function*(send: Send, body: object) {
  const answer = yield* send("POST", session, { headers: samePage, body })
  assert.strictEqual(answer.status, 204, answer.text)
  const token = cookieOf(answer)
  return { page: pageOf(send, token), token, answer }
})

/** Signs in with a link of these rights. */
export const signInAs = Effect.fnUntraced(function*(send: Send, grant: Session.Grant) {
  return yield* signIn(send, { code: yield* codeOf(grant) })
})

/** A session in a response. */
export const sessionOf = Schema.decodeUnknownSync(Schema.Struct({
  id: Schema.String,
  scope: Schema.String,
  role: Schema.String,
  account: Schema.NullOr(Schema.Struct({ id: Schema.String, email: Schema.NullOr(Schema.String) })),
  name: Schema.NullOr(Schema.String),
  created_at: Schema.String,
  expires_at: Schema.String,
  idle_expires_at: Schema.String
}))

/** Sessions in a response. */
export const sessionsOf = Schema.decodeUnknownSync(Schema.Struct({
  data: Schema.Array(Schema.Struct({
    id: Schema.String,
    scope: Schema.String,
    device: Schema.NullOr(Schema.String),
    address: Schema.String,
    current: Schema.Boolean
  }))
}))

/** The link in a response, and its code. */
export const linkOf = (answer: Host.Answer) => {
  assert.strictEqual(answer.status, 201, answer.text)
  const link = Schema.decodeUnknownSync(
    Schema.Struct({ url: Schema.String, role: Schema.String, expires_at: Schema.String })
  )(answer.json)
  const [page = "", code = ""] = link.url.split("#code=")
  return { ...link, page, code }
}
