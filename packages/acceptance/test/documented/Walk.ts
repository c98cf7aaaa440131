/** A service of a test's own that remembers every answer, and what of it is not as documented. */
import { DefaultModels } from "@kinora/catalog"
import type { ModelInput } from "@kinora/catalog/Model"
import { RunningHost, TestHost } from "@kinora/host-test"
import type { Fetch, FetchInit } from "@kinora/host-test/Controls"
import type { TestHostOptions } from "@kinora/host-test/TestHostOptions"
import { Context, Effect, Exit, Layer, Logger, Scope } from "effect"
import * as Documented from "../../src/Documented.ts"

/** An answer, read to its end. */
export interface Answer {
  readonly status: number
  readonly headers: Headers
  /** Empty for bytes, at which nobody looks. */
  readonly text: string
}

/** Sends a request, as the first account unless it says otherwise. */
type Ask = (request: string, init?: FetchInit) => Promise<Answer>

/** What goes with a body. */
interface Sent {
  readonly apiKey?: string
  readonly headers?: Readonly<Record<string, string>>
}

/** What a walk has. */
export interface Walk {
  readonly host: RunningHost.RunningHost
  /** `request` is written `GET /v1/models`. */
  readonly ask: Ask
  /** With a body of JSON, or with text that says that it is JSON unless the headers say otherwise. */
  readonly send: (request: string, body: unknown, init?: Sent) => Promise<Answer>
}

/** What became of walks: which documented answers came about, and what was not as documented. */
export class Findings {
  readonly seen = new Set<string>()
  readonly problems: Array<string> = []
}

/** Walks through a host, which is stopped afterwards. */
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

/** The field of an answer's body. An answer without it is an error that shows it. */
export const fieldOf = ({ status, text }: Answer, name: string): string => {
  const value: unknown = JSON.parse(text)[name]
  if (typeof value !== "string") throw new Error(`No ${name}: ${status} ${text}`)
  return value
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

/** One of the Studio plan, one that takes images, one of videos, and one that takes no jobs. */
const models: ReadonlyArray<ModelInput> = [
  ...DefaultModels.models,
  {
    ...DefaultModels.sketch,
    id: "film",
    name: "Film",
    kind: "video",
    capabilities: ["text_to_video"],
    output_formats: ["video/mp4"]
  },
  { ...DefaultModels.sketch, id: "paused", name: "Paused", status: "paused" }
]

/** Without a log: every operator's step would be a line. */
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
  const answer = Documented.answerOf(exchange)
  if (answer !== undefined) seen.add(answer)
  const found = Documented.problemsOf(exchange)
  if (found.length > 0) problems.push(`${request} ${status}: ${found.join("; ")}. ${text}`)
  return { status, headers, text }
}
