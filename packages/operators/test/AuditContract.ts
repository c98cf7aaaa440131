import { assert, layer } from "@effect/vitest"
import { UnitOfWork } from "@kinora/persistence"
import { DateTime, Effect, Exit, Layer } from "effect"
import { SecureRandom } from "effect/crypto"
import { TestClock } from "effect/testing"
import { type AuditChange, type AuditQuery, AuditRole, valueBytesMax } from "../src/AuditEntry.ts"
import type { OperatorStore } from "../src/OperatorStore.ts"
import { makeHost, makeLog, reasonOf } from "./Hosts.ts"

/** A change that an operator made. */
export const change: AuditChange = {
  actor: "owner",
  role: "owner",
  address: "192.0.2.1",
  requestId: "req-1",
  action: "suspendAccount",
  subject: "acct-1",
  before: { status: "active" },
  after: { status: "suspended" }
}

/** The contract of the audit log, for every store. */
export const suite = <E>(name: string, backend: Layer.Layer<OperatorStore | UnitOfWork.UnitOfWork, E>) =>
  layer(Layer.merge(backend, SecureRandom.layerWebCrypto))(`AuditLog (${name})`, (it) => {
    it.effect("returns entries as they were appended", () =>
      Effect.gen(function*() {
        const log = yield* makeLog
        const values = [null, "text", 1.5, [], { z: [null, "\0\ud800", { "": true }], a: "é" }]
        for (const value of values) {
          const entry = yield* log.append({ ...change, subject: null, before: value, after: [value] })
          yield* TestClock.adjust("1 second")
          assert.deepStrictEqual(yield* log.list({ limit: 1 }), [entry])
        }
      }))

    it.effect("has entries of operators, of members, and of nobody", () =>
      Effect.gen(function*() {
        const log = yield* makeLog
        for (const role of [...AuditRole.literals, null]) {
          const entry = yield* log.append({ ...change, role })
          assert.deepStrictEqual(yield* log.list({ limit: 1 }), [entry])
          yield* TestClock.adjust("1 second")
        }
      }))

    it.effect("appends in the unit of work of the change", () =>
      Effect.gen(function*() {
        const { atomically } = yield* UnitOfWork.UnitOfWork
        const [log, host] = [yield* makeLog, yield* makeHost()]
        const run = (fails: boolean) =>
          atomically(Effect.gen(function*() {
            const { operator } = yield* host.create({ name: "Ada", role: "owner" })
            yield* log.append({ ...change, action: "inUnit", subject: operator.id })
            return fails ? yield* Effect.fail("refused") : operator.id
          }))
        const id = yield* run(false)
        assert.isTrue(Exit.isFailure(yield* Effect.exit(run(true))))
        const entries = yield* log.list({ action: "inUnit", limit: 10 })
        assert.deepStrictEqual(entries.map(({ subject }) => subject), [id])
      }))

    it.effect("rejects values above 16 KiB, measured as UTF-8", () =>
      Effect.gen(function*() {
        const log = yield* makeLog
        // Two bytes per character, and the quotes.
        const largest = "é".repeat(valueBytesMax / 2 - 1)
        yield* log.append({ ...change, action: "large", before: largest, after: largest })
        for (const field of ["before", "after"]) {
          assert.strictEqual(
            yield* reasonOf(log.append({ ...change, action: "large", [field]: `${largest}a` })),
            "AuditValueTooLarge"
          )
        }
        assert.strictEqual((yield* log.list({ action: "large", limit: 10 })).length, 1)
      }))

    it.effect("lists by actor, action, subject and time, newest first, page by page", () =>
      Effect.gen(function*() {
        const log = yield* makeLog
        // After the entries of the other tests.
        yield* TestClock.setTime(Date.UTC(2040, 0))
        const start = yield* DateTime.now
        for (const index of [0, 1, 2, 3]) {
          yield* log.append({
            ...change,
            actor: index < 2 ? "list-one" : "list-two",
            action: index % 2 === 0 ? "list-even" : "list-odd",
            subject: `list-${index}`
          })
          yield* TestClock.adjust("1 second")
        }
        const subjects = (query: Partial<AuditQuery>) =>
          Effect.map(log.list({ limit: 10, since: start, ...query }), (entries) =>
            entries.map(({ subject }) => Number(subject?.slice(-1))))
        assert.deepStrictEqual(yield* subjects({}), [3, 2, 1, 0])
        assert.deepStrictEqual(yield* subjects({ actor: "list-one" }), [1, 0])
        assert.deepStrictEqual(yield* subjects({ action: "list-odd" }), [3, 1])
        assert.deepStrictEqual(yield* subjects({ subject: "list-2" }), [2])
        assert.deepStrictEqual(yield* subjects({ actor: "list-one", action: "list-odd" }), [1])
        assert.deepStrictEqual(yield* subjects({ since: DateTime.add(start, { seconds: 1 }) }), [3, 2, 1])
        assert.deepStrictEqual(yield* subjects({ until: DateTime.add(start, { seconds: 1 }) }), [0])
        assert.deepStrictEqual(yield* subjects({ actor: "list-one\0" }), [])
        const [, second] = yield* log.list({ limit: 2, since: start })
        assert.deepStrictEqual(yield* subjects({ after: second!.id, limit: 1 }), [1])
      }))

    it.effect("deletes entries older than the retention, in sets", () =>
      Effect.gen(function*() {
        const log = yield* makeLog
        yield* TestClock.setTime(Date.UTC(2050, 0))
        // Deletes the entries of the other tests.
        yield* log.deleteOlder({ age: "1 hour", limit: 1_000 })
        yield* Effect.forEach([1, 2, 3], () => log.append({ ...change, action: "old" }))
        yield* TestClock.adjust("1 hour")
        yield* log.append({ ...change, action: "new" })
        assert.strictEqual(yield* log.deleteOlder({ age: "1 hour", limit: 10 }), 0)
        yield* TestClock.adjust("1 millis")
        assert.strictEqual(yield* log.deleteOlder({ age: "1 hour", limit: 2 }), 2)
        assert.strictEqual(yield* log.deleteOlder({ age: "1 hour", limit: 2 }), 1)
        assert.deepStrictEqual((yield* log.list({ limit: 10 })).map(({ action }) => action), ["new"])
      }))

    it.effect("deletes only entries of an action, oldest first", () =>
      Effect.gen(function*() {
        const log = yield* makeLog
        yield* TestClock.setTime(Date.UTC(2060, 0))
        // Deletes the entries of the other tests.
        yield* log.deleteOlder({ age: "1 hour", limit: 1_000 })
        for (const action of ["short", "long", "short", "short"]) {
          yield* log.append({ ...change, action })
          yield* TestClock.adjust("1 second")
        }
        const left = Effect.map(log.list({ limit: 10 }), (entries) => entries.map(({ action }) => action).toReversed())
        // The last one is not old enough.
        yield* TestClock.adjust("58 seconds")
        assert.strictEqual(yield* log.deleteOlder({ age: "1 minute", limit: 1, action: "short" }), 1)
        assert.deepStrictEqual(yield* left, ["long", "short", "short"])
        assert.strictEqual(yield* log.deleteOlder({ age: "1 minute", limit: 10, action: "short" }), 0)
        yield* TestClock.adjust("1 second")
        assert.strictEqual(yield* log.deleteOlder({ age: "1 minute", limit: 10, action: "short" }), 1)
        assert.deepStrictEqual(yield* left, ["long", "short"])
      }))
  })
