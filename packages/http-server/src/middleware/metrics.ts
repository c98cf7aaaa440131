/** Metrics of requests. Labels are words of the contract, never text of a client. */
import { type Clock, type Context, type Effect, Metric } from "effect"
import type { HttpServerResponse } from "effect/http"

/** A path of the contract and the metrics of its requests. */
export class Route {
  readonly path: string
  readonly methods: ReadonlyArray<string>
  readonly #pattern: RegExp
  readonly #series = new Map<string, Series>()

  constructor(path: string, methods: ReadonlyArray<string>) {
    this.path = path
    this.methods = methods
    this.#pattern = new RegExp(
      `^${path.replaceAll(".", "\\.").replace("/*", "(?:/[^?]*)?").replaceAll(/:\w+/g, parameterPattern)}(?:\\?|$)`
    )
  }

  /** Whether a request target is this path as the contract spells it, with or without a query. */
  isSpelled(target: string): boolean {
    return this.#pattern.test(target)
  }

  /** Returns the metrics of a method. Methods that the path does not support share one. */
  seriesOf(asked: string): Series {
    const method = this.methods.includes(asked) ? asked : "other"
    const known = this.#series.get(method)
    if (known !== undefined) return known
    const made = makeSeries({ route: this.path, method })
    this.#series.set(method, made)
    return made
  }
}

/** Measures one request. Call `answered` when it has a response, and `ended` when it is over. */
export class Measured {
  readonly #context: Context.Context<never>
  readonly #clock: Clock.Clock
  readonly #series: Series
  readonly #startedAt: bigint
  #isAnswered = false

  constructor(context: Context.Context<never>, clock: Clock.Clock, series: Series) {
    this.#context = context
    this.#clock = clock
    this.#series = series
    this.#startedAt = clock.monotonicTimeNanosUnsafe()
    inFlight.modifyUnsafe(1, context)
  }

  /** Counts the response before it is sent. `isTimed`: whether its duration is a measure of the service. */
  answered(response: HttpServerResponse.HttpServerResponse, isTimed: boolean): void {
    const context = this.#context
    this.#isAnswered = true
    this.#series.requests[classOf(response.status)].updateUnsafe(1, context)
    if (isTimed) {
      const nanos = this.#clock.monotonicTimeNanosUnsafe() - this.#startedAt
      this.#series.duration.updateUnsafe(Number(nanos) / 1e9, context)
    }
    if (response.status >= 400) refusalsOf(codeOf(response)).updateUnsafe(1, context)
  }

  /** Ends the measurement: the body is sent, or the client has disconnected. */
  ended(): void {
    inFlight.modifyUnsafe(-1, this.#context)
    if (!this.#isAnswered) this.#series.requests.aborted.updateUnsafe(1, this.#context)
  }
}

/** Counts bytes of results before they are sent. */
export const countBytes = (bytes: number): Effect.Effect<void> => Metric.update(resultBytes, bytes)

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

/**
 * A segment that is an id: not a dot segment, without characters that end a path for some
 * readers of a URL, and without their percent-encodings.
 */
const parameterPattern = String.raw`(?!\.\.?(?:[/?]|$))(?:[^/?#;\\%]|%(?!2[EFef]|5[Cc])[\dA-Fa-f]{2})+`

/** The metrics of a method of a path. */
interface Series {
  readonly duration: Metric.Histogram<number>
  readonly requests: Readonly<Record<StatusClass, Metric.Counter<number>>>
}

type StatusClass = "1xx" | "2xx" | "3xx" | "4xx" | "5xx" | "aborted"

const makeSeries = (attributes: { readonly route: string; readonly method: string }): Series => {
  const requests = (status: StatusClass) =>
    Metric.counter("kinora_http_requests_total", {
      description: "Requests by outcome. `aborted`: the client disconnected before the response.",
      attributes: { ...attributes, status },
      incremental: true
    })
  return {
    duration: Metric.histogram("kinora_http_request_duration_seconds", {
      description: "Time from the request to the headers of the response, without requests that wait for a job.",
      attributes,
      boundaries: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10]
    }),
    requests: {
      "1xx": requests("1xx"),
      "2xx": requests("2xx"),
      "3xx": requests("3xx"),
      "4xx": requests("4xx"),
      "5xx": requests("5xx"),
      aborted: requests("aborted")
    }
  }
}

const classes = ["1xx", "2xx", "3xx", "4xx", "5xx"] as const
const classOf = (status: number): StatusClass => classes[Math.floor(status / 100) - 1] ?? "5xx"

const inFlight = Metric.gauge("kinora_http_requests_in_flight", {
  description: "Requests whose response is not completely sent."
})

const resultBytes = Metric.counter("kinora_result_bytes_sent_total", {
  description: "Bytes sent of results, previews, thumbnails and posters.",
  incremental: true
})

const refusals = new Map<string, Metric.Counter<number>>()

const refusalsOf = (code: string): Metric.Counter<number> => {
  const known = refusals.get(code)
  if (known !== undefined) return known
  const made = Metric.counter("kinora_http_refusals_total", {
    description: "Error responses by code.",
    attributes: { code },
    incremental: true
  })
  refusals.set(code, made)
  return made
}

/** The code of an error response. The envelope begins with it. */
const codeOf = ({ body }: HttpServerResponse.HttpServerResponse): string => {
  const text = body._tag === "Uint8Array" ? body.text : undefined
  return envelopePattern.exec(text ?? "")?.[1] ?? "none"
}

const envelopePattern = /^\{"error":\{"code":"([a-z_]+)"/
