import { assert, layer } from "@effect/vitest"
import { DatabaseTime, StorageError, type UnitOfWork } from "@kinora/persistence"
import { SkewedClock } from "@kinora/testkit"
import { DateTime, Duration, Effect, Layer, Option, Redacted } from "effect"
import { SecureRandom } from "effect/crypto"
import { TestClock } from "effect/testing"
import { SessionId } from "../src/Session.ts"
import { SessionStore } from "../src/SessionStore.ts"
import * as SessionToken from "../src/SessionToken.ts"
import { browser, keyOf, makeHost, memberOf, operatorOf, reasonOf, resultOf, viewerOf } from "./Hosts.ts"

/** The contract of sessions, for every store. */
export const suite = <E>(name: string, backend: Layer.Layer<SessionStore | UnitOfWork.UnitOfWork, E>) =>
  layer(Layer.merge(backend, SecureRandom.layerWebCrypto))(`Sessions (${name})`, (it) => {
    it.effect("authenticate on every host", () =>
      Effect.gen(function*() {
        const [here, there] = [yield* makeHost(), yield* makeHost()]
        for (const grant of [keyOf("s-1", "key-1"), memberOf("s-1"), viewerOf("s-1"), operatorOf("opr-1")]) {
          const { session, token } = yield* here.start(grant, browser)
          assert.deepStrictEqual(session.grant, grant)
          assert.deepStrictEqual(yield* there.authenticate(token), session)
          assert.deepStrictEqual(yield* there.peek(token), session)
        }
      }))

    it.effect("are rejected with unknown and malformed tokens", () =>
      Effect.gen(function*() {
        const host = yield* makeHost()
        const { token } = yield* host.start(memberOf("s-2"), browser)
        const text = Redacted.value(token)
        for (
          const wrong of ["", text.slice(1), `${text}0`, text.toUpperCase().replace(/^\d*/, "A"), `\0${text.slice(1)}`]
        ) {
          assert.strictEqual(yield* resultOf(host, Redacted.make(wrong)), "unknown", wrong)
        }
        assert.strictEqual(yield* resultOf(host, yield* SessionToken.make), "unknown")
      }))

    it.effect("of operators view an account on every host, until the view ends by itself or is ended", () =>
      Effect.gen(function*() {
        const [here, there] = [yield* makeHost(), yield* makeHost({ viewMaxAge: "20 minutes" })]
        const { session, token } = yield* here.start(operatorOf("opr-view"), browser)
        const other = yield* here.start(operatorOf("opr-view"), browser)
        const viewOf = Effect.map(there.peek(token), ({ view }) => Option.getOrUndefined(view))
        assert.isUndefined(yield* viewOf)
        const first = yield* here.startView(session, "s-view")
        assert.deepStrictEqual(first, { account: "s-view", until: DateTime.add(session.createdAt, { hours: 1 }) })
        assert.deepStrictEqual(yield* viewOf, first)
        assert.deepStrictEqual((yield* here.peek(other.token)).view, Option.none())
        const second = yield* there.startView(session, "s-other")
        assert.deepStrictEqual(second, { account: "s-other", until: DateTime.add(session.createdAt, { minutes: 20 }) })
        yield* TestClock.adjust("1199999 millis")
        assert.deepStrictEqual(yield* viewOf, second)
        yield* TestClock.adjust("1 millis")
        assert.isUndefined(yield* viewOf)
        yield* here.startView(session, "s-view")
        for (const _ of ["once", "again"]) yield* here.endView(session)
        assert.isUndefined(yield* viewOf)
        yield* here.signOut(token)
        assert.strictEqual(yield* reasonOf(here.startView(session, "s-view")), "SessionNotFound")
      }))

    it.effect("end their views with them", () =>
      Effect.gen(function*() {
        const host = yield* makeHost({ viewMaxAge: "2 days" })
        const { session } = yield* host.start(operatorOf("opr-view-2"), browser)
        assert.deepStrictEqual((yield* host.startView(session, "s-view")).until, session.expiresAt)
      }))

    it.effect("store the device without control characters and cut it", () =>
      Effect.gen(function*() {
        const host = yield* makeHost()
        const device = Option.some(`\0Fire\nfox${"\ud83d\ude00".repeat(200)}`)
        const { token } = yield* host.start(memberOf("s-3"), { ...browser, device })
        const stored = Option.getOrThrow((yield* host.peek(token)).device)
        assert.isTrue(stored.startsWith("Firefox"))
        assert.isTrue(stored.isWellFormed())
        assert.strictEqual(stored.length, 256)
      }))

    it.effect("end after the idle time unless they are used", () =>
      Effect.gen(function*() {
        const host = yield* makeHost()
        const idle = yield* host.start(memberOf("s-4"), browser)
        const used = yield* host.start(memberOf("s-4"), browser)
        yield* TestClock.adjust("6 hours")
        yield* host.authenticate(used.token)
        yield* TestClock.adjust("21599999 millis")
        assert.strictEqual(yield* resultOf(host, idle.token), idle.session.id)
        yield* TestClock.adjust("1 millis")
        assert.strictEqual(yield* resultOf(host, idle.token), "idle")
        assert.strictEqual(yield* resultOf(host, used.token), used.session.id)
        assert.deepStrictEqual((yield* host.list(memberOf("s-4"))).map(({ id }) => id), [used.session.id])
        // A use that comes too late does not revive it.
        assert.strictEqual((yield* Effect.flip(host.authenticate(idle.token)))._tag, "SessionRejected")
        assert.strictEqual(yield* resultOf(host, idle.token), "idle")
      }))

    it.effect("end at their maximum age although they are used", () =>
      Effect.gen(function*() {
        const host = yield* makeHost({ idle: "1 day", maxAge: "36 hours" })
        const { session, token } = yield* host.start(memberOf("s-5"), browser)
        yield* TestClock.adjust("20 hours")
        yield* host.authenticate(token)
        yield* TestClock.adjust("57599999 millis")
        assert.strictEqual(yield* resultOf(host, token), session.id)
        yield* TestClock.adjust("1 millis")
        assert.strictEqual(yield* resultOf(host, token), "expired")
      }))

    it.effect("of operators end earlier, and none lives longer than notAfter", () =>
      Effect.gen(function*() {
        const host = yield* makeHost()
        const now = yield* DateTime.now
        const { session } = yield* host.start(operatorOf("opr-6"), browser)
        assert.deepStrictEqual(session.idleUntil, DateTime.add(now, { hours: 1 }))
        assert.deepStrictEqual(session.expiresAt, DateTime.add(now, { hours: 12 }))
        const notAfter = DateTime.add(now, { hours: 2 })
        const short = yield* host.start(keyOf("s-6", "key-6"), { ...browser, notAfter })
        assert.deepStrictEqual(short.session.expiresAt, notAfter)
        const late = DateTime.add(now, { days: 30 })
        const long = yield* host.start(keyOf("s-6", "key-6"), { ...browser, notAfter: late })
        assert.deepStrictEqual(long.session.expiresAt, DateTime.add(now, { days: 7 }))
      }))

    it.effect("record a use at most once a minute, and never with peek", () =>
      Effect.gen(function*() {
        const host = yield* makeHost()
        const { session, token } = yield* host.start(memberOf("s-7"), browser)
        const seenAfter = Effect.fnUntraced(function*(millis: number) {
          yield* TestClock.adjust(millis)
          yield* host.authenticate(token)
          return (yield* host.peek(token)).seenAt
        })
        assert.deepStrictEqual(yield* seenAfter(59_999), session.createdAt)
        const first = yield* seenAfter(1)
        assert.deepStrictEqual(first, DateTime.add(session.createdAt, { minutes: 1 }))
        const store = yield* SessionStore
        yield* TestClock.adjust("59 seconds")
        yield* store.noteUse(session.id, Duration.days(1))
        yield* TestClock.adjust("1 hour")
        assert.deepStrictEqual((yield* host.peek(token)).seenAt, first)
      }))

    it.effect("authenticate if the use cannot be recorded, and fail if the store cannot be read", () =>
      Effect.gen(function*() {
        const store = yield* SessionStore
        const failure = new StorageError.StorageError({ operation: "test", reason: "unavailable", cause: "test" })
        const over = (store: SessionStore["Service"]) => Effect.provideService(makeHost(), SessionStore, store)
        const noting = yield* over({ ...store, noteUse: () => Effect.fail(failure) })
        const { session, token } = yield* noting.start(memberOf("s-8"), browser)
        yield* TestClock.adjust("1 hour")
        assert.strictEqual((yield* noting.authenticate(token)).id, session.id)
        const reading = yield* over({ ...store, findSession: () => Effect.fail(failure) })
        assert.strictEqual(yield* Effect.flip(reading.authenticate(token)), failure)
      }))

    it.effect("replace the session of the same browser with a new token", () =>
      Effect.gen(function*() {
        const host = yield* makeHost()
        const first = yield* host.start(keyOf("s-9", "key-9"), browser)
        const second = yield* host.start(memberOf("s-9"), { ...browser, replaces: first.token })
        assert.notStrictEqual(Redacted.value(second.token), Redacted.value(first.token))
        assert.strictEqual(yield* resultOf(host, first.token), "unknown")
        assert.strictEqual(yield* resultOf(host, second.token), second.session.id)
        for (const wrong of ["", "x", "0".repeat(64)]) {
          yield* host.start(memberOf("s-9"), { ...browser, replaces: Redacted.make(wrong) })
        }
        assert.strictEqual((yield* host.list(memberOf("s-9"))).length, 4)
      }))

    it.effect("never exceed sessionsMax of a subject: the least recently used one ends", () =>
      Effect.gen(function*() {
        const hosts = [yield* makeHost({ sessionsMax: 3 }), yield* makeHost({ sessionsMax: 3 })] as const
        const start = Effect.andThen(TestClock.adjust("2 minutes"), hosts[0].start(memberOf("s-10"), browser))
        const [first, second, third] = [yield* start, yield* start, yield* start]
        const other = yield* hosts[0].start(viewerOf("s-10"), browser)
        yield* TestClock.adjust("2 minutes")
        yield* hosts[0].authenticate(first.token)
        const fourth = yield* start
        const ids = (yield* hosts[1].list(memberOf("s-10"))).map(({ id }) => id)
        assert.sameMembers(ids, [fourth, first, third, other].map(({ session }) => session.id))
        assert.strictEqual(yield* resultOf(hosts[1], second.token), "unknown")
        yield* Effect.forEach(
          Array.from({ length: 8 }, (_, index) => hosts[index % 2]!),
          (host) => host.start(keyOf("s-10", "key-10"), browser),
          { concurrency: "unbounded" }
        )
        assert.strictEqual((yield* hosts[0].list(keyOf("s-10", "key-10"))).length, 3)
      }))

    it.effect("are listed and ended within their reach only", () =>
      Effect.gen(function*() {
        const host = yield* makeHost()
        const grants = {
          member: memberOf("s-11"),
          viewer: viewerOf("s-11"),
          key: keyOf("s-11", "key-11"),
          otherKey: keyOf("s-11", "key-12"),
          otherAccount: memberOf("s-12"),
          operator: operatorOf("opr-11"),
          otherOperator: operatorOf("opr-12")
        }
        type Name = keyof typeof grants
        const names = Object.keys(grants) as ReadonlyArray<Name>
        const ids = new Map<string, Name>()
        for (const name of names) ids.set((yield* host.start(grants[name], browser)).session.id, name)
        const reached: Record<Name, ReadonlyArray<Name>> = {
          member: ["member", "viewer", "key", "otherKey"],
          viewer: ["viewer"],
          key: ["key"],
          otherKey: ["otherKey"],
          otherAccount: ["otherAccount"],
          operator: ["operator"],
          otherOperator: ["otherOperator"]
        }
        for (const name of names) {
          const listed = (yield* host.list(grants[name])).map(({ id }) => ids.get(id))
          assert.sameMembers(listed, [...reached[name]], name)
          for (const [id, target] of ids) {
            if (reached[name].includes(target)) continue
            assert.strictEqual(yield* reasonOf(host.end(grants[name], SessionId.parse(id)!)), "SessionNotFound")
          }
        }
        const [viewer] = yield* host.list(grants.viewer)
        yield* host.end(grants.member, viewer!.id)
        assert.isEmpty(yield* host.list(grants.viewer))
        assert.strictEqual(yield* reasonOf(host.end(grants.member, viewer!.id)), "SessionNotFound")
      }))

    it.effect("end with sign-out, with all others, and with their account or subject", () =>
      Effect.gen(function*() {
        const [here, there] = [yield* makeHost(), yield* makeHost()]
        const start = (grant = memberOf("s-13")) => here.start(grant, browser)
        const [first, second, third] = [yield* start(), yield* start(), yield* start(keyOf("s-13", "key-13"))]
        assert.strictEqual(Option.getOrThrow(yield* there.signOut(first.token)).id, first.session.id)
        assert.isTrue(Option.isNone(yield* there.signOut(first.token)))
        assert.isTrue(Option.isNone(yield* there.signOut(Redacted.make("x"))))
        assert.strictEqual(yield* resultOf(here, first.token), "unknown")
        const { code } = yield* here.createCode(memberOf("s-13"))
        yield* there.endOthers(second.session)
        assert.strictEqual(yield* resultOf(here, second.token), second.session.id)
        assert.strictEqual(yield* resultOf(here, third.token), "unknown")
        assert.strictEqual((yield* Effect.flip(here.redeem(code, browser)))._tag, "CodeRejected")
        const fourth = yield* start(keyOf("s-13", "key-13"))
        yield* there.endAll({ account: "s-13" })
        for (const { token } of [second, fourth]) assert.strictEqual(yield* resultOf(here, token), "unknown")
        const fifth = yield* start(operatorOf("opr-13"))
        yield* there.endAll({ subject: "operator:opr-13" })
        assert.strictEqual(yield* resultOf(here, fifth.token), "unknown")
      }))

    it.effect("are deleted in limited sets after they have ended, with expired codes", () =>
      Effect.gen(function*() {
        const host = yield* makeHost()
        const store = yield* SessionStore
        const grant = operatorOf("opr-14")
        const subject = "operator:opr-14"
        const stored = Effect.gen(function*() {
          const sessions = yield* store.listSessions({ subject })
          return { sessions: sessions.length, codes: yield* store.countCodes(subject) }
        })
        const sweep = Effect.gen(function*() {
          for (let count = 2; count > 0;) {
            count = yield* host.deleteEnded(2)
            assert.isAtMost(count, 2)
          }
        })
        const kept = yield* host.start(memberOf("s-14"), browser)
        for (let made = 0; made < 3; made++) {
          yield* host.start(grant, browser)
          yield* host.createCode(grant)
        }
        yield* sweep
        assert.deepStrictEqual(yield* stored, { sessions: 3, codes: 3 })
        yield* TestClock.adjust("10 minutes")
        yield* sweep
        assert.deepStrictEqual(yield* stored, { sessions: 3, codes: 0 })
        yield* TestClock.adjust("50 minutes")
        assert.isEmpty(yield* host.list(grant))
        yield* sweep
        assert.deepStrictEqual(yield* stored, { sessions: 0, codes: 0 })
        assert.strictEqual(yield* resultOf(host, kept.token), kept.session.id)
      }))

    for (const millis of [-3_600_000, 3_600_000]) {
      it.effect(`and codes end at the same time on hosts whose clock is off by ${millis} ms`, () =>
        Effect.gen(function*() {
          const onHost = SkewedClock.onHost(DatabaseTime.DatabaseClock, millis)
          const [right, skewed] = [yield* makeHost(), yield* makeHost()]
          const grant = operatorOf(`skewed-${millis}`)
          const session = yield* onHost(skewed.start(grant, browser))
          const other = yield* right.start(grant, browser)
          const { code } = yield* onHost(skewed.createCode(grant))
          const { code: late } = yield* right.createCode(grant)
          yield* TestClock.adjust("599999 millis")
          yield* onHost(skewed.deleteEnded(100))
          yield* right.redeem(code, browser)
          yield* TestClock.adjust("1 millis")
          const rejected = yield* Effect.flip(onHost(skewed.redeem(late, browser)))
          assert.strictEqual(rejected._tag === "CodeRejected" ? rejected.reason : rejected._tag, "expired")
          yield* TestClock.adjust("49 minutes")
          yield* onHost(skewed.authenticate(other.token))
          yield* TestClock.adjust("59999 millis")
          assert.strictEqual(yield* resultOf(right, session.token), session.session.id)
          assert.strictEqual(yield* onHost(resultOf(skewed, session.token)), session.session.id)
          yield* TestClock.adjust("1 millis")
          for (const host of [right, skewed]) {
            assert.strictEqual(yield* onHost(resultOf(host, session.token)), "idle")
            assert.strictEqual(yield* resultOf(host, other.token), other.session.id)
          }
        }))
    }
  })
