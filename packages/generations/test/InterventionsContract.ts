import { assert, layer } from "@effect/vitest"
import { ScriptedGenerator } from "@kinora/generator"
import { Ledger } from "@kinora/ledger"
import type { MemoryBackend } from "@kinora/persistence/UnitOfWork"
import { Scheduler } from "@kinora/scheduler"
import { DateTime, Effect, type Layer } from "effect"
import { TestClock } from "effect/testing"
import { GenerationId } from "../src/Generation.ts"
import { Generations } from "../src/Generations.ts"
import { type layerMemory, listen, openAccount, request, startWorker } from "./Assembly.ts"

type Services = Exclude<Layer.Success<typeof layerMemory>, MemoryBackend>

/** A worker that notices within half a second that it has lost a job. */
const startOne = startWorker(1, { lease: "2 seconds" })

const createNew = Effect.fnUntraced(function*(account: Parameters<typeof request>[0], key: string, options = {}) {
  const { create } = yield* Generations
  return (yield* create(yield* request(account, { key, ...options }))).generation
})

const creditsOf = Effect.fnUntraced(function*(account: string) {
  const { balances } = yield* Ledger.Ledger
  return (yield* balances(account, yield* DateTime.now)).credits
})

/** The status that the refusal of a job that has ended names. */
const refusedAs = <A, E>(effect: Effect.Effect<A, E, Generations>) =>
  Effect.map(Effect.flip(effect), (error) => {
    const { reason } = Object(error)
    assert.strictEqual(reason?._tag, "AlreadyEnded")
    return reason.status
  })

/** Interventions of operators on every backend. `StoryContract.ts` mixes them with everything else. */
export const suite = <E>(name: string, services: Layer.Layer<Services, E>) => {
  layer(services)(`Interventions of operators (${name})`, (it) => {
    it.effect("fail a running job once, refund it, stop its worker, and cancel its operation", () =>
      Effect.gen(function*() {
        const { fail, requeue, wait } = yield* Generations
        const control = yield* ScriptedGenerator.Control
        const account = yield* openAccount({ credits: 100 })
        const events = yield* listen(account.id)
        const stuck = yield* createNew(account, "stuck")
        yield* control.script(stuck.id, { delay: "hold" })
        yield* startOne
        yield* control.called("poll", stuck.id)
        const failed = yield* fail(account.id, stuck.id)
        assert.deepStrictEqual([failed.status, failed.refunded], ["failed", true])
        assert.deepInclude(failed.failure, { code: "generation_failed", reason: "internal" })
        assert.strictEqual(yield* creditsOf(account.id), 100)
        assert.deepStrictEqual(yield* fail(account.id, stuck.id), failed)
        assert.strictEqual(yield* refusedAs(requeue(account.id, stuck.id)), "failed")
        yield* control.called("cancel", stuck.id)

        // The only worker runs the next job only after it has stopped the failed one.
        const next = yield* createNew(account, "next")
        yield* control.succeed(next.id)
        assert.strictEqual((yield* wait(account.id, next.id, "30 seconds")).status, "completed")
        assert.strictEqual(yield* refusedAs(fail(account.id, next.id)), "completed")
        assert.strictEqual(yield* refusedAs(requeue(account.id, next.id)), "completed")
        assert.strictEqual(yield* creditsOf(account.id), 92)
        assert.sameMembers((yield* events).map(({ generation, type }) => `${type} ${generation.id}`), [
          `generation.started ${stuck.id}`,
          `generation.failed ${stuck.id}`,
          `generation.started ${next.id}`,
          `generation.completed ${next.id}`
        ])
      }).pipe(Effect.scoped, TestClock.withLive))

    it.effect("fail a job that waits, and not those of other accounts", () =>
      Effect.gen(function*() {
        const { fail, get, requeue } = yield* Generations
        const [account, other] = [yield* openAccount({ credits: 100 }), yield* openAccount({ credits: 100 })]
        const jobs = yield* Effect.forEach([1, 2, 3, 4, 5], (key) => createNew(account, `${key}`))
        assert.deepStrictEqual(jobs.map(({ status }) => status), ["queued", "queued", "queued", "queued", "pending"])
        const [first, , , , last] = jobs
        assert.deepStrictEqual(yield* requeue(account.id, first!.id), first)
        assert.strictEqual((yield* fail(account.id, first!.id)).status, "failed")
        // Its slot goes to the next job.
        assert.strictEqual((yield* get(account.id, last!.id)).status, "queued")
        assert.strictEqual(yield* creditsOf(account.id), 68)
        for (const intervene of [fail, requeue]) {
          assert.deepInclude(yield* Effect.flip(intervene(other.id, last!.id)), { _tag: "GenerationError" })
        }
        // No worker of another test runs them.
        for (const { id } of jobs.slice(1)) yield* fail(account.id, id)
        assert.strictEqual(yield* creditsOf(account.id), 100)
      }))

    it.effect("requeue a running job, whose result only its next run stores", () =>
      Effect.gen(function*() {
        const { get, requeue, wait } = yield* Generations
        const control = yield* ScriptedGenerator.Control
        const scheduler = yield* Scheduler.Scheduler
        const account = yield* openAccount({ credits: 100 })
        const { id } = yield* createNew(account, "stuck")
        yield* control.script(id, { delay: "hold" })
        yield* startOne
        yield* control.called("submit", id)
        assert.strictEqual((yield* requeue(account.id, id)).status, "processing")
        const [job] = yield* scheduler.find([GenerationId.toUuid(id)])
        assert.isAtMost(job!.attempt, 1)
        yield* control.succeed(id)
        const { output, status } = yield* wait(account.id, id, "30 seconds")
        assert.strictEqual(status, "completed")
        assert.match(output!.content.key, /\/2\/content$/)
        assert.strictEqual((yield* get(account.id, id)).refunded, false)
        assert.strictEqual(yield* creditsOf(account.id), 92)
        // The next run continues with the operation.
        const calls = (yield* control.calls).filter((call) => call.id === id)
        assert.notInclude(calls.map(({ method }) => method), "cancel")
        assert.deepStrictEqual(yield* scheduler.verify, [])
      }).pipe(Effect.scoped, TestClock.withLive))
  })
}
