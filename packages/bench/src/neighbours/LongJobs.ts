/** Jobs that keep workers busy. */
import { setTimeout } from "node:timers/promises"
import { ask, type Attack, jsonHeaders, repeat } from "./Attack.ts"
import { models } from "./models.ts"

const callers = 8

/** Creates as many long jobs as are accepted. Cancels them at the end, and waits for those that run. */
export const attack: Attack = async ({ keys: [key = ""], origin }) => {
  const headers = jsonHeaders(key)
  return async (tally, signal) => {
    const ids: Array<string> = []
    await repeat({
      origin,
      callers,
      tally,
      signal,
      requestOf: (n) => ({
        method: "POST",
        path: "/v1/generations",
        headers,
        body: JSON.stringify({ plan: "credits", model: models.slow.id, params: { prompt: `lake ${n}` } })
      }),
      onBody: (body) => ids.push(JSON.parse(body).id)
    })
    // The newest first, since each that is cancelled makes room for one that waits.
    for (const id of ids.toReversed()) {
      await ask(origin, { method: "POST", path: `/v1/generations/${id}/cancel`, headers }).catch(ignore)
    }
    while (await isBusy(origin, headers)) await setTimeout(500)
  }
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

/** A job that runs cannot be cancelled. */
const ignore = () => {}

const isBusy = async (origin: string, headers: Readonly<Record<string, string>>): Promise<boolean> => {
  const { data } = JSON.parse(await ask(origin, { method: "GET", path: "/v1/generations?limit=100", headers }))
  return data.some(({ status }: { readonly status: string }) => status === "queued" || status === "processing")
}
