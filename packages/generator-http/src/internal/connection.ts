/** The connection of a driver to its upstream. */
import { Duration, Effect, Redacted } from "effect"
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

/** Options of a driver whose address and time between two polls have defaults. */
export interface JobOptions extends UpstreamOptions {
  readonly api_key?: Redacted.Redacted | undefined
  readonly base_url?: string | undefined
  readonly poll_interval?: Duration.Duration | undefined
}

/** Defaults of such a driver. */
export interface JobDefaults {
  readonly baseUrl: string
  /** Default 2 seconds. */
  readonly pollInterval?: Duration.Duration | undefined
  /** See `Target`. */
  readonly scheme?: Target["scheme"]
}

/** Connects to an upstream that runs jobs. Also returns the time between two polls. */
export const connectToJobs = Effect.fnUntraced(
  function*({ api_key, base_url, poll_interval, ...limits }: JobOptions, defaults: JobDefaults) {
    const target = { baseUrl: base_url ?? defaults.baseUrl, apiKey: api_key, scheme: defaults.scheme }
    const { download, upstream } = yield* connect(target, limits)
    return { download, upstream, pollInterval: poll_interval ?? defaults.pollInterval ?? Duration.seconds(2) }
  }
)

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
