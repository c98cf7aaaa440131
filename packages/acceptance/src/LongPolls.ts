/** Measures how soon waiting requests receive the end of a job. */
import { Clock, Effect } from "effect"
import type { TestAccount } from "./Books.ts"
import * as Client from "./Client.ts"
import * as Drill from "./Drill.ts"

/** A model whose jobs run long enough for a request to wait for them. */
export const model = Drill.model({ id: "drill-awaited", delay: "1100 millis" })

/**
 * Creates jobs of all accounts concurrently, one after the other per account, and waits for each. Returns the milliseconds
 * from the end of each job to its response, sorted. Assumes that hosts and this process share a clock.
 *
 * Each is reduced by the duration of a request that does not wait, sent directly afterwards: so long takes any response on
 * this machine, which other programs share.
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
  const received = yield* Clock.currentTimeMillis
  yield* client.get(created.id)
  const request = (yield* Clock.currentTimeMillis) - received
  return Math.max(0, received - Date.parse(finished_at ?? "") - request)
})
