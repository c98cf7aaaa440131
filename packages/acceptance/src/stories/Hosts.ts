/** The hosts of a story: which run, and how they start and end. */
import { VirtualTime } from "@kinora/host-test/VirtualTime"
import * as Faults from "@kinora/testkit/Faults"
import { Effect, Fiber } from "effect"
import type { Database } from "./Backend.ts"
import * as StoryHost from "./StoryHost.ts"
import type { Surroundings } from "./Surroundings.ts"

/** The hosts of a story. */
export interface Hosts {
  /** Starts a host that no step refers to. */
  readonly startOther: (skew: number) => Effect.Effect<StoryHost.StoryHost>
  /** Starts a host at a place, unless one runs there. */
  readonly start: (place: number) => Effect.Effect<void>
  /** Stops or kills one of the running hosts, in the background. */
  readonly end: (pick: number, how: "stop" | "kill") => Effect.Effect<void>
  /** Returns one of the running hosts, or `undefined` if none runs. */
  readonly running: (pick: number) => StoryHost.StoryHost | undefined
  /** Returns the number of calls that faults hit, on all hosts. */
  readonly hits: () => number
  /** Stops all hosts and waits until they have stopped. */
  readonly stopAll: Effect.Effect<void>
}

/** Options of `make`. */
export interface HostsOptions {
  readonly database: Database
  readonly surroundings: Surroundings
  /** The condition of the database and of the files. */
  readonly condition: Faults.Condition
  /** How far the clock of the host at each place is ahead of the database's, in milliseconds. */
  readonly skews: ReadonlyArray<number>
}

/** The maximum number of calls of a story that can hang, one after the other. */
const hangsMax = 18 * 6

/** No host runs at first. When the scope closes, all are killed. */
export const make = Effect.fnUntraced(function*({ condition, database, skews, surroundings }: HostsOptions) {
  const time = yield* VirtualTime
  const hosts = new Map<number, StoryHost.StoryHost>()
  const stopping = new Set<Fiber.Fiber<void>>()
  const everyFaults: Array<Faults.Faults> = []
  const started: Array<StoryHost.StoryHost> = []

  // A story that breaks a promise ends with transactions that wait for virtual time, and block the next story.
  yield* Effect.addFinalizer(() =>
    Effect.gen(function*() {
      const ending = yield* Effect.forEach(started, ({ kill }) => Effect.forkDetach(kill))
      yield* time.advance("1 minute")
      yield* Effect.forEach(ending, Fiber.await)
    })
  )

  const startOther = Effect.fnUntraced(function*(skew: number) {
    const faults = Faults.make(condition)
    const name = `host-${everyFaults.push(faults)}`
    const { shared } = surroundings
    const host = yield* Effect.orDie(
      StoryHost.start({ name, stores: database.stores(faults), shared, faults, skew })
    )
    started.push(host)
    return host
  })
  const placeOf = (pick: number) => Array.from(hosts.keys())[pick % Math.max(1, hosts.size)] ?? -1
  const end = Effect.fnUntraced(function*(pick: number, how: "stop" | "kill") {
    const place = placeOf(pick)
    const host = hosts.get(place)
    hosts.delete(place)
    if (host !== undefined) stopping.add(yield* Effect.forkDetach(host[how]))
  })

  const all: Hosts = {
    startOther,
    start: Effect.fnUntraced(function*(place: number) {
      if (!hosts.has(place)) hosts.set(place, yield* startOther(skews[place] ?? 0))
    }),
    end,
    running: (pick) => hosts.get(placeOf(pick)),
    hits: () => everyFaults.reduce((sum, faults) => sum + faults.hits(), 0),
    stopAll: Effect.gen(function*() {
      for (const { faults } of hosts.values()) faults.clear()
      while (hosts.size > 0) yield* end(0, "stop")
      // Drains wait for running jobs, and for calls that hang.
      yield* time.advance("30 seconds")
      // Connections close in real time. The calls of a host that was stopped with faults hang one after the other.
      const later = Effect.repeat(time.advance("30 seconds"), { times: hangsMax })
      yield* Effect.race(Effect.forEach(stopping, Fiber.await), Effect.andThen(later, Effect.never))
      stopping.clear()
    })
  }
  return all
})
