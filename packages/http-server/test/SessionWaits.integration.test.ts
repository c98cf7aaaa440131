import { assert, it } from "@effect/vitest"
import { Accounts } from "@kinora/accounts"
import { Member, Members, type Session } from "@kinora/sessions"
import { Duration, Effect, Fiber, Redacted } from "effect"
import { TestClock } from "effect/testing"
import * as Browsers from "./Browsers.ts"
import * as Host from "./Host.ts"

const { session } = Browsers
const job = { plan: "credits", model: "kinora-still", params: { prompt: "a lake" } }

const memberOf = (account: string): Session.Grant => ({ scope: "account", account, role: "member", member: null })

it.effect("ends the waits and event streams of a session that is signed out, removed, revoked, or not used for too long", () =>
  Effect.gen(function*() {
    const send = yield* Host.start()
    const { account, key } = yield* Host.openAccount()
    const [accounts, members] = [yield* Accounts.Accounts, yield* Members.Members]
    const member = yield* members.add({
      ...Member.invitationOf("ada@example.com"),
      account: account.id,
      email: "ada@example.com",
      role: "member"
    })
    const created = yield* send("POST", "/v1/generations", { key, body: job })
    const path = created.headers["location"]!.replace("https://api.example.com", "")
    const ofMember = { scope: "account", account: account.id, role: "member", member: member.id } as const
    const { key: other, record } = yield* accounts.createKey(account.id, "other")

    const endsWith = Effect.fnUntraced(function*(
      { page }: Effect.Success<ReturnType<typeof Browsers.signIn>>,
      held: string | undefined,
      end: Effect.Effect<unknown, unknown>
    ) {
      const { id } = Browsers.sessionOf((yield* page("GET", session)).json)
      // The image endpoint creates a job with its own wait.
      const image = { model: "kinora-still", prompt: "a lake" }
      const waiting = [
        yield* Effect.forkChild(page("GET", `${path}/events`)),
        yield* Effect.forkChild(page("GET", `${path}?wait=60`)),
        yield* Effect.forkChild(page("GET", "/console/v1/events")),
        yield* Effect.forkChild(page("POST", "/v1/images/generations", { body: image }))
      ]
      yield* Host.held("wait", held ?? id, 3)
      yield* Host.held("images", held ?? id, 1)
      yield* TestClock.adjust("10 seconds")
      assert.isTrue(waiting.every((answer) => answer.pollUnsafe() === undefined))
      yield* Effect.orDie(end)
      yield* TestClock.adjust("5 seconds")
      for (const fiber of waiting) assert.include((yield* Fiber.join(fiber)).text, "gen_")
      yield* Host.held("wait", held ?? id, 0)
    })

    const signedOut = yield* Browsers.signInAs(send, memberOf(account.id))
    yield* endsWith(signedOut, undefined, signedOut.page("DELETE", session))
    const removed = yield* Browsers.signInAs(send, ofMember)
    yield* endsWith(removed, undefined, members.remove(account.id, member.id))
    const revoked = yield* Browsers.signIn(send, { api_key: Redacted.value(other) })
    yield* endsWith(revoked, record.id, accounts.revokeKey(account.id, record.id))
  }).pipe(Effect.scoped, Effect.provide(Host.layer)))

it.effect("ends the event stream of a session that is not used for 12 hours", () =>
  Effect.gen(function*() {
    const send = yield* Host.start({ eventsHeartbeat: Duration.hours(1) })
    const { account } = yield* Host.openAccount()
    const { page } = yield* Browsers.signInAs(send, memberOf(account.id))
    const created = yield* page("POST", "/v1/generations", { body: job })
    const path = `${created.headers["location"]!.replace("https://api.example.com", "")}/events`
    const { id } = Browsers.sessionOf((yield* page("GET", session)).json)
    const following = yield* Effect.forkChild(page("GET", path))
    yield* Host.held("wait", id, 1)
    yield* TestClock.adjust("11 hours")
    assert.isUndefined(following.pollUnsafe())
    yield* TestClock.adjust("1 hour")
    yield* TestClock.adjust("5 seconds")
    assert.include((yield* Fiber.join(following)).text, "\"status\":\"queued\"")
  }).pipe(Effect.scoped, Effect.provide(Host.layer)))
