/** Runs random stories on the product and checks its promises. */
import * as VirtualTime from "@kinora/host-test/VirtualTime"
import { Arbitrary, Cause, Data, Effect, Layer, Logger, Random, References } from "effect"
import type { Backend } from "./Backend.ts"
import * as Ending from "./Ending.ts"
import * as Story from "./Story.ts"
import * as World from "./World.ts"

/** A story after which a promise of the product does not hold. */
export class BrokenPromise extends Data.TaggedError("BrokenPromise")<{ readonly problems: ReadonlyArray<string> }> {
  override get message(): string {
    return this.problems.join("\n")
  }
}

/** A seed whose story breaks a promise. */
export class BrokenSeed extends Data.TaggedError("BrokenSeed")<{
  readonly seed: number
  /** The shortest story that was found and breaks a promise too. */
  readonly story: Story.Story
  readonly problems: ReadonlyArray<string>
}> {
  override get message(): string {
    const { problems, seed, story } = this
    return [`The seed ${seed} breaks a promise:`, ...problems, "Shortest story:", Story.format(story)].join("\n")
  }
}

/**
 * Turns of the event loop after which a host counts as one that never comes to rest, which breaks a promise. Hosts
 * that do take less than a hundred.
 */
const turnsMax = 10_000

/** Maximum length of lists in a story. */
const sizeMax = 18

/** Facts about a story that show that it had an effect. */
export interface Told {
  /** Number of calls that faults hit. */
  readonly hits: number
  /** Final statuses of its jobs. */
  readonly statuses: ReadonlyArray<string>
  /** Responses to requests that created no job, in the order of the requests. */
  readonly refusals: ReadonlyArray<string>
  /** Number of polls and downloads that failed. */
  readonly failedReads: number
}

/** Runs a story from its beginning to its end. Fails if a promise does not hold, or if something dies. */
export const run = (story: Story.Story, backend: Backend): Effect.Effect<Told, BrokenPromise> =>
  Effect.gen(function*() {
    const world = yield* World.make(story, backend)
    const problems: Array<string> = []
    for (const step of story.steps) {
      yield* world.take(step)
      if (step._tag === "pass") problems.push(...yield* Ending.checkLimitsNow(world))
    }
    const ended = yield* Ending.run(world)
    problems.push(...world.problems, ...ended.problems)
    if (problems.length > 0) return yield* new BrokenPromise({ problems })
    const told: Told = {
      hits: world.hosts.hits(),
      statuses: ended.statuses,
      refusals: world.requests().flatMap(({ refusals }) => refusals),
      failedReads: world.failedReads()
    }
    return told
  }).pipe(
    Effect.scoped,
    Random.withSeed("story"),
    // Spans would be a third of the work.
    Effect.provideService(References.TracerEnabled, false),
    Effect.provide(Layer.merge(VirtualTime.layer(startsAt, { turnsMax }), Logger.layer([]))),
    Effect.catchCause((cause) => {
      const error = Cause.squash(cause)
      return Effect.fail(
        error instanceof BrokenPromise ? error : new BrokenPromise({ problems: [Cause.pretty(cause)] })
      )
    })
  )

/** Options of `check`. */
export interface CheckOptions {
  readonly backend: Backend
  /** Number of stories that are tried to shorten a failing one. Default: `shrinksMax` of the backend. */
  readonly shrinksMax?: number | undefined
  /** Runs before each story that is tried to shorten a failing one. */
  readonly onShrink?: ((shrink: Shrink) => Effect.Effect<void>) | undefined
}

/** A story that is about to be tried, to shorten a failing one. */
export interface Shrink {
  /** Seed of the failing story. */
  readonly seed: number
  /** Its number, from 1. */
  readonly number: number
  readonly shrinksMax: number
}

/** Runs the story of a seed. Fails with a short story that breaks a promise as well. */
export const check = Effect.fnUntraced(function*(seed: number, options: CheckOptions) {
  const { backend, onShrink = () => Effect.void, shrinksMax = backend.shrinksMax } = options
  let told: Told = { hits: 0, statuses: [], refusals: [], failedReads: 0 }
  let stories = 0
  const announced = Effect.suspend(() =>
    stories++ === 0 ? Effect.void : onShrink({ seed, number: stories - 1, shrinksMax })
  )
  const result = yield* Arbitrary.checkEffect(
    Story.arbitrary,
    (story) =>
      Effect.map(Effect.andThen(announced, withoutStacks(run(story, backend))), (facts) => {
        told = facts
        return true
      }),
    { seed, runs: 1, size: sizeMax, maxShrinks: shrinksMax }
  )
  if (result._tag === "Passed") return told
  if (result._tag !== "Falsified" || result.failure._tag === "ReturnedFalse") {
    return yield* Effect.die(new Error(`The seed ${seed} has no story: ${result._tag}`))
  }
  const { failure, shrunkInput: story } = result
  const problems = yield* Effect.match(run(story, backend), {
    onFailure: ({ problems }) => problems,
    onSuccess: () => failure.error.problems
  })
  return yield* new BrokenSeed({ seed, story, problems })
})

/** Options of `checkAll`. */
export interface CheckAllOptions extends CheckOptions {
  /** Seed of the first story. The others follow. */
  readonly first: number
  readonly count: number
  readonly onBroken?: ((broken: BrokenSeed) => Effect.Effect<void>) | undefined
  /** Runs after each story with the number of stories so far. */
  readonly onProgress?: ((told: number) => Effect.Effect<void>) | undefined
}

/** Facts about many stories. */
export interface Total {
  readonly stories: number
  /** Seeds whose stories break a promise. */
  readonly broken: ReadonlyArray<number>
  /** Number of calls that faults hit. */
  readonly hits: number
  /** Number of jobs by final status. */
  readonly jobs: Readonly<Record<string, number>>
}

/** Runs the stories of many seeds, one after the other. */
export const checkAll = Effect.fnUntraced(function*(options: CheckAllOptions) {
  const { count, first, onBroken = () => Effect.void, onProgress = () => Effect.void } = options
  const broken: Array<number> = []
  const jobs: Record<string, number> = {}
  let hits = 0
  for (let seed = first; seed < first + count; seed++) {
    const told = yield* Effect.catchTag(check(seed, options), "BrokenSeed", (failure) => {
      broken.push(seed)
      return Effect.as(onBroken(failure), undefined)
    })
    hits += told?.hits ?? 0
    for (const status of told?.statuses ?? []) jobs[status] = (jobs[status] ?? 0) + 1
    yield* onProgress(seed - first + 1)
  }
  const total: Total = { stories: count, broken, hits, jobs }
  return total
})

/** Returns one line. */
export const formatTotal = ({ broken, hits, jobs, stories }: Total): string =>
  [
    `${stories} stories`,
    broken.length === 0 ? "every promise holds" : `broken seeds: ${broken.join(" ")}`,
    `${hits} calls were hit by faults`,
    ...Object.entries(jobs).map(([status, count]) => `${count} jobs ${status}`)
  ].join(", ")

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

/**
 * Runs an effect whose errors and calls record no stacks, which is a large part of the work of a story. The story that is
 * reported runs once more with them.
 */
const withoutStacks = <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
  Effect.acquireUseRelease(
    Effect.sync(() => {
      const limit = Error.stackTraceLimit
      Error.stackTraceLimit = 0
      return limit
    }),
    () => effect,
    (limit) =>
      Effect.sync(() => {
        Error.stackTraceLimit = limit
      })
  )

/** A day of UTC ends in the middle of most stories, so that charges count on both. */
const startsAt = Date.UTC(2030, 0, 30, 23, 59, 30)
