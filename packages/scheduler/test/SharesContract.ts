/** The cap of shares: of the jobs before a job in its lane, at most 16 count. */
import { assert, layer } from "@effect/vitest"
import { Effect, type Layer } from "effect"
import { makeWorld } from "../src/internal/contract/world.ts"
import { Scheduler } from "../src/Scheduler.ts"
import type { Backend } from "./Fixture.ts"

/** Jobs of a lane, more than the cap. */
const jobCount = 20

/** A queued job with a number of jobs before it in its lane. */
interface Place {
  readonly name: string
  readonly ahead: number
  readonly weight: number
}

/** The order in which the jobs are claimed. Those with the same share are in the order of their slots, as given. */
const inOrder = (places: ReadonlyArray<Place>) =>
  places.toSorted((a, b) => Math.min(a.ahead, 16) / a.weight - Math.min(b.ahead, 16) / b.weight)
    .map(({ name }) => name)

const numbers = (from: number) => Array.from({ length: jobCount - from }, (_, n) => n + from)

/** Two lanes. A job is named by its lane and its number. */
const makeLanes = Effect.gen(function*() {
  const scheduler = yield* Scheduler
  const world = yield* makeWorld
  const names = new Map<string, string>()
  const laneOf = (name: string) => ({ lane: `${world.lane}-${name}`, group: world.group })
  return {
    scheduler,
    laneOf,
    enqueue: (name: string, cap: number) =>
      Effect.forEach(numbers(0), (n) => {
        const job = world.job({ ...laneOf(name), cap, waitingMax: jobCount })
        names.set(job.job, `${name}${n}`)
        return scheduler.enqueue(job)
      }),
    claim: (limit: number) =>
      Effect.map(world.claim({ limit }), (jobs) => jobs.map((job) => ({ ...job, name: names.get(job.job) })))
  }
})

export const suite = <E>(name: string, backend: Layer.Layer<Backend, E>) =>
  layer(backend)(`Shares (${name})`, (it) => {
    it.effect("serves lanes in turns for 16 jobs of each, then the lane whose jobs got their slots first", () =>
      Effect.gen(function*() {
        const { claim, enqueue, laneOf, scheduler } = yield* makeLanes
        yield* enqueue("a", jobCount)
        // These get their slots when the cap is raised.
        yield* enqueue("b", 1)
        yield* scheduler.setCap({ ...laneOf("b"), cap: jobCount })
        const claimed = yield* claim(2 * jobCount)
        const last = "a14 b14 a15 b15 a16 a17 a18 a19 b16 b17 b18 b19"
        assert.strictEqual(claimed.slice(28).map(({ name }) => name).join(" "), last)
        assert.deepStrictEqual(yield* scheduler.verify, [])
      }))

    it.effect("counts as many after a job has ended, and with another weight", () =>
      Effect.gen(function*() {
        const { claim, enqueue, laneOf, scheduler } = yield* makeLanes
        for (const name of ["a", "b"]) yield* enqueue(name, jobCount)
        const [first, second] = yield* claim(2)
        assert.deepStrictEqual([first?.name, second?.name], ["a0", "b0"])
        yield* scheduler.settle(first!)
        yield* scheduler.setCap({ ...laneOf("b"), cap: jobCount, weight: 2 })
        const claimed = yield* claim(2 * jobCount)
        assert.deepStrictEqual(
          claimed.map(({ name }) => name),
          inOrder([
            ...numbers(1).map((n) => ({ name: `a${n}`, ahead: n - 1, weight: 1 })),
            ...numbers(1).map((n) => ({ name: `b${n}`, ahead: n, weight: 2 }))
          ])
        )
        assert.deepStrictEqual(yield* scheduler.verify, [])
      }))
  })
