/** The connection of a driver to its upstream. */
import { Effect, Redacted } from "effect"
import type { UpstreamOptions } from "../UpstreamOptions.ts"
import { makeDownload } from "./download.ts"
import * as Upstream from "./upstream.ts"

/** An upstream with the API key of this service. */
export interface Target {
  /** See `UpstreamOptions.BaseUrl`. */
  readonly baseUrl: string
  /** Sent in the header `authorization`. Default: none. */
  readonly apiKey: Redacted.Redacted | undefined
  /** Scheme of the header. Default `Bearer`. */
  readonly scheme?: "Bearer" | "Key" | undefined
}

/** Connects to an upstream. Returns its calls and its downloads, which have the same limits. Closes with the scope. */
export const connect = Effect.fnUntraced(
  function*({ apiKey, baseUrl, scheme = "Bearer" }: Target, limits: UpstreamOptions) {
    const credentials = apiKey === undefined
      ? {}
      : { authorization: Redacted.make(`${scheme} ${Redacted.value(apiKey)}`) }
    const upstream = yield* Upstream.make({ baseUrl, credentials }, limits)
    return { upstream, download: yield* makeDownload(upstream, limits) }
  }
)
