/** Checks by signed probes: the keys of the servers behind an address, and how long its proxy waits for responses. */
import type { Probes } from "@kinora/hosting"
import { Clock, Duration, Effect, Option } from "effect"
import { HttpClient } from "effect/http"
import * as Output from "../Output.ts"
import { isLoopback } from "./address.ts"
import * as Finding from "./Finding.ts"

/** Options for `checkProbes`. */
export interface ProbeOptions {
  /** Address of the service for clients. */
  readonly url: string
  /** Makes the URLs of probes; `None` if this host has no URL signing key. */
  readonly probeUrl: Option.Option<Probes.ProbeUrl>
  /** Whether to skip the probe that takes a minute. */
  readonly quick: boolean
}

/** Checks that every server accepts the keys of this host, and that long polls get their response. */
export const checkProbes = Effect.fnUntraced(function*({ probeUrl, quick, url }: ProbeOptions) {
  if (Option.isNone(probeUrl)) {
    const missing = "this host has no URL signing key; run the command where a host is configured"
    return [Finding.skipped("signing keys", missing), Finding.skipped("long polls", missing)]
  }
  const probe = makeProbe(url, probeUrl.value)
  const keys = yield* checkKeys(probe, url)
  const reason = keys.status !== "ok"
    ? "need the signing keys of the service"
    : isLoopback(url)
    ? `${url} has no proxy`
    : quick
    ? "take a minute; leave out --quick"
    : undefined
  return [keys, reason === undefined ? yield* checkLongPolls(probe) : Finding.skipped("long polls", reason)]
})

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

/** Requests, which reach several servers if the proxy distributes them. */
const keyProbes = 8

/** The longest `wait` of a request. */
const longPollSeconds = 60

/** The result of a probe: the status, or `undefined` without a response, and its time in seconds. */
interface Answer {
  readonly status: number | undefined
  readonly seconds: number
}

type Probe = (seconds: number) => Effect.Effect<Answer, never, HttpClient.HttpClient>

const makeProbe = (url: string, probeUrl: Probes.ProbeUrl): Probe =>
  Effect.fnUntraced(function*(seconds) {
    const start = yield* Clock.currentTimeMillis
    const status = yield* HttpClient.get(yield* probeUrl(url, seconds)).pipe(
      Effect.map(({ status }) => status),
      Effect.timeout(Duration.seconds(seconds + 10)),
      Effect.orElseSucceed(() => undefined)
    )
    return { status, seconds: ((yield* Clock.currentTimeMillis) - start) / 1000 }
  })

const checkKeys = Effect.fnUntraced(function*(probe: Probe, url: string) {
  for (let sent = 0; sent < keyProbes; sent++) {
    const { status } = yield* probe(0)
    if (status === 204) continue
    return status === 404
      ? Finding.failure(
        "signing keys",
        `a server at ${url} does not have the URL signing keys of this host`,
        "Set KINORA_URL_SIGNING_KEYS to the same keys for all servers and workers, and for this command"
      )
      : Finding.failure(
        "signing keys",
        status === undefined ? `${url} does not respond` : `a signed request to ${url} returns ${status}`,
        "Let the proxy pass every path to the server, and try again in a minute"
      )
  }
  return Finding.ok("signing keys", `all servers that responded have the keys of this host (${keyProbes} requests)`)
})

const checkLongPolls = Effect.fnUntraced(function*(probe: Probe) {
  yield* Output.progress(`Waiting ${longPollSeconds} s for a response, as long polls do`)
  const { seconds, status } = yield* probe(longPollSeconds)
  return status === 204
    ? Finding.ok("long polls", `a response arrives after ${longPollSeconds} s`)
    : Finding.failure(
      "long polls",
      `the proxy gives up after ${Math.round(seconds)} s${status === undefined ? "" : ` with HTTP ${status}`}`,
      "Let the proxy wait at least 65 s for a response, for example with proxy_read_timeout 65s in nginx"
    )
})
