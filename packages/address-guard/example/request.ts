import { AddressGuard } from "@kinora/address-guard"
import { Effect } from "effect"
import type { IncomingMessage } from "node:http"
import { get } from "node:https"

/** Returns the status of a URL that a user gave. The connection uses only the addresses that were checked. */
export const statusOf = Effect.fn("statusOf")(function*(url: string, ca?: string) {
  const { check } = yield* AddressGuard.AddressGuard
  const target = yield* check(url)
  return yield* Effect.callback<number | undefined, Error>((resume) => {
    const onResponse = (response: IncomingMessage) => resume(Effect.succeed(response.resume().statusCode))
    get(target.url, { ca, lookup: AddressGuard.lookupOf(target), agent: false }, onResponse)
      .on("error", (error) => resume(Effect.fail(error)))
  })
})
