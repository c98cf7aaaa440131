/** Jobs of several accounts, created through a second server. */
import { type Attack, jsonHeaders, repeat } from "./Attack.ts"
import { models } from "./models.ts"

/** Creates jobs of each key, one per second. */
export const attack: Attack = async ({ keys, origin }) => (tally, signal) =>
  repeat({
    origin,
    callers: keys.length,
    intervalMillis: 1000,
    tally,
    signal,
    requestOf: (n) => ({
      method: "POST",
      path: "/v1/generations",
      headers: jsonHeaders(keys[n % keys.length] ?? ""),
      body: JSON.stringify({ plan: "credits", model: models.quick.id, params: { prompt: `shared lake ${n}` } })
    })
  })
