import { Sessions } from "@kinora/sessions"
import { Console, Effect, Option } from "effect"

const program = Effect.gen(function*() {
  const sessions = yield* Sessions.Sessions

  // `code` is redacted. Put it into the fragment of a link, which servers and proxies do not log.
  const { code } = yield* sessions.createCode({ scope: "account", account: "acct-1", role: "member", member: null })

  // Set `token` as an HttpOnly cookie. It cannot be read again.
  const { token } = yield* sessions.redeem(code, { device: Option.some("Firefox"), address: "192.0.2.1" })
  const { grant } = yield* sessions.authenticate(token)
  const listed = yield* sessions.list(grant)

  yield* sessions.signOut(token)
  const rejected = yield* Effect.flip(sessions.authenticate(token))
  yield* Console.log(grant.scope, listed.length, rejected.message)
})

await Effect.runPromise(Effect.provide(program, Sessions.layerMemory))
// account 1 The session was rejected: unknown
