/** Measures how soon those who wait for a job hear of its end (D37). */
import { Clock, Effect } from "effect"
import type { TestAccount } from "./Books.ts"
import * as Client from "./Client.ts"
import * as Drill from "./Drill.ts"

/** The model that is waited for: it takes long enough for the wait to begin before the end. */
export const model = Drill.model({ id: "drill-awaited", delay: "1100 millis" })

/**
 * Creates jobs of all accounts at once, one after the other for each, waits for
 * them, and answers with the milliseconds from each job's end to its answer, sorted.
 * The hosts' clock has to be this machine's.
 */
export const latencies = Effect.fn("LongPolls.latencies")(
  function*(baseUrl: string, accounts: ReadonlyArray<TestAccount>, jobsEach: number) {
    const prompts = Array.from({ length: jobsEach }, (_, n) => `lake ${n}`)
    const found = yield* Effect.forEach(accounts, ({ key }) => {
      const client = Client.make(baseUrl, key)
      return Effect.forEach(prompts, (prompt) => latency(client, prompt))
    }, { concurrency: accounts.length })
    return found.flat().toSorted((a, b) => a - b)
  }
)

/** The value below which this share of the sorted values lies. */
export const quantile = (sorted: ReadonlyArray<number>, share: number): number =>
  sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const latency = Effect.fnUntraced(function*(client: Client.Client, prompt: string) {
  const created = Client.jobOf(yield* client.create({ model: model.id, prompt }))
  const { finished_at } = yield* client.awaitEnd(created.id)
  return (yield* Clock.currentTimeMillis) - Date.parse(finished_at ?? "")
})
