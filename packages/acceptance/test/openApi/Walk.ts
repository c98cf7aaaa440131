/** A host that checks and records every response. */
import { DefaultModels } from "@kinora/catalog"
import type { ModelInput } from "@kinora/catalog/Model"
import { RunningHost, TestHost } from "@kinora/host-test"
import type { Fetch, FetchInit } from "@kinora/host-test/Controls"
import type { TestHostOptions } from "@kinora/host-test/TestHostOptions"
import { Context, Effect, Exit, Layer, Logger, Scope } from "effect"
import * as OpenApiCheck from "../../src/OpenApiCheck.ts"

/** A response, read to its end. */
export interface Answer {
  readonly status: number
  readonly headers: Headers
  /** Empty for binary bodies. */
  readonly text: string
}

/** Sends a request as the first account unless `init` has another key. */
type Ask = (request: string, init?: FetchInit) => Promise<Answer>

/** Options of a request with a body. */
interface Sent {
  readonly apiKey?: string
  readonly headers?: Readonly<Record<string, string>>
}

/** A running host and ways to send requests to it. */
export interface Walk {
  readonly host: RunningHost.RunningHost
  /** `request` is written `GET /v1/models`. */
  readonly ask: Ask
  /** Sends JSON, or a string unchanged. The content type is JSON unless the headers set another one. */
  readonly send: (request: string, body: unknown, init?: Sent) => Promise<Answer>
}

/** Results of walks: the described responses that occurred, and differences from the documents. */
export class Findings {
  readonly seen = new Set<string>()
  readonly problems: Array<string> = []
}

/** Runs steps on a host and stops it. */
export const walk = async (
  findings: Findings,
  options: TestHostOptions,
  steps: (walk: Walk) => Promise<unknown>
): Promise<void> => {
  await using host = await start({ models, ...options })
  const ask = askOf(host.fetch, findings)
  const send: Walk["send"] = (request, body, { headers, ...init } = {}) =>
    ask(request, {
      ...init,
      headers: { "content-type": "application/json", ...headers },
      body: typeof body === "string" ? body : JSON.stringify(body)
    })
  await steps({ host, ask, send })
}

/** The field of a JSON body. Throws if there is none. */
export const fieldOf = ({ status, text }: Answer, name: string): string => {
  const value: unknown = JSON.parse(text)[name]
  if (typeof value !== "string") throw new Error(`No ${name}: ${status} ${text}`)
  return value
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

/** A model of the Studio plan, one with input images, one for videos, and a paused one. */
const models: ReadonlyArray<ModelInput> = [
  ...DefaultModels.models,
  {
    ...DefaultModels.draft,
    id: "film",
    name: "Film",
    kind: "video",
    capabilities: ["text_to_video"],
    output_formats: ["video/mp4"]
  },
  { ...DefaultModels.draft, id: "paused", name: "Paused", status: "paused" }
]

/** Starts a host without a log, because every operator request is logged. */
const start = (options: TestHostOptions): Promise<RunningHost.RunningHost> =>
  Effect.runPromise(
    Effect.gen(function*() {
      const scope = yield* Scope.make()
      const context = yield* Layer.buildWithScope(TestHost.layer(options), scope)
      return RunningHost.make(Context.get(context, TestHost.TestHost), context, Scope.close(scope, Exit.void))
    }).pipe(Effect.provide(Logger.layer([])))
  )

const askOf = (fetch: Fetch, { problems, seen }: Findings): Ask => async (request, init) => {
  const [method = "", url = ""] = request.split(" ")
  const response = await fetch(url, { ...init, method })
  const { headers, status } = response
  const isText = /json|event-stream/.test(headers.get("content-type") ?? "")
  const text = isText || method === "HEAD" ? await response.text() : ""
  if (!isText) await response.body?.cancel()
  const exchange = { method, url, status, headers, body: text }
  const answer = OpenApiCheck.answerOf(exchange)
  if (answer !== undefined) seen.add(answer)
  const found = OpenApiCheck.problemsOf(exchange)
  if (found.length > 0) problems.push(`${request} ${status}: ${found.join("; ")}. ${text}`)
  return { status, headers, text }
}
