/** Sends random requests to a host in this process and checks every response. */
import { PlanTable } from "@kinora/accounts"
import { ScriptedGenerator } from "@kinora/generator"
import { AdminOpenApiDocument, ErrorCode, OpenApiDocument } from "@kinora/http-api"
import { Ledger } from "@kinora/ledger"
import { Data, DateTime, Effect, Layer, Option, Redacted, References, Schema } from "effect"
import * as Books from "../src/Books.ts"
import * as Client from "../src/Client.ts"
import * as FuzzedRequests from "../src/FuzzedRequests.ts"
import * as LocalHost from "../src/LocalHost.ts"
import * as Operations from "../src/Operations.ts"
import * as RawHttp from "../src/RawHttp.ts"
import * as SeededRandom from "../src/SeededRandom.ts"
import { image, video } from "./fuzzedModels.ts"

/** Every operation, of clients and of operators. */
export const operations = {
  clients: Operations.read(JSON.parse(JSON.stringify(OpenApiDocument.document))),
  operators: Operations.read(JSON.parse(JSON.stringify(AdminOpenApiDocument.document)))
}

/** A response that violates the contract. */
class Wrong extends Data.TaggedError("Wrong")<{
  readonly problem: string
  readonly request: RawHttp.BytesRequest
  /** The request's number in the run, and how to repeat it. */
  readonly place: string
}> {
  override get message(): string {
    const { body, ...request } = this.request
    const text = body === undefined ? "" : `\n${Buffer.from(body).toString("latin1").slice(0, 2_000)}`
    return `${this.problem}\n${this.place}\n${JSON.stringify(request).slice(0, 4_000)}${text}`
  }
}

const adminToken = "operators-operators-operators-operators"

/** A host whose limits permit thousands of requests. */
export const host = LocalHost.layer({
  models: [image, video],
  generator: ScriptedGenerator.layer.pipe(
    Layer.provide(ScriptedGenerator.layerControl({ pollInterval: "10 millis" }))
  ),
  planTable: {
    ...PlanTable.defaults,
    credits: { ...PlanTable.defaults.credits, business: { ...PlanTable.defaults.credits.business, createRpm: 1e6 } },
    studio: {
      ...PlanTable.defaults.studio,
      scale: { ...PlanTable.defaults.studio.scale, createRpm: 1e6, quota: { images: 1e6, videos: 1e6 } }
    }
  },
  http: {
    keyRequestsPerMinute: 1e9,
    failedAuthenticationsPerMinute: 1e9,
    resultDownloadMultiple: 1e6,
    adminToken: Redacted.make(adminToken)
  }
}).pipe(
  // Every operator request is logged.
  Layer.provide(Layer.succeed(References.MinimumLogLevel, "Warn"))
)

/** Values of requests, and a function that sends one and checks the response. */
export const makeSender = Effect.gen(function*() {
  const baseUrl = yield* LocalHost.baseUrl
  const account = yield* Books.openAccount({ credits: 1_000_000, tier: "business", studio: "scale" })
  const other = yield* Books.openAccount({ credits: 1 })
  const client = Client.make(baseUrl, account.key)
  const { id } = Client.jobOf(yield* client.create({ model: image.id }))
  const { output } = yield* client.awaitEnd(id)
  const { bytes: file } = yield* Client.send(output?.url ?? "")
  const signed = new URL(output?.url ?? "").searchParams

  const known = new Known(id, {
    "accounts.id": [other.id],
    exp: [signed.get("exp") ?? ""],
    sig: [signed.get("sig") ?? ""],
    data: [Buffer.from(file).toString("base64"), `data:image/png;base64,${Buffer.from(file).toString("base64")}`]
  })
  const options: Readonly<Record<keyof typeof operations, FuzzedRequests.FuzzingOptions>> = {
    clients: {
      operations: operations.clients,
      authorization: `Bearer ${account.key}`,
      strangers: [`Bearer ${other.key}`],
      known: known.words,
      file
    },
    operators: {
      operations: operations.operators,
      authorization: `Bearer ${adminToken}`,
      strangers: [`Bearer ${account.key}`],
      known: known.words,
      file
    }
  }

  const ledger = yield* Ledger.Ledger
  const balances = Effect.gen(function*() {
    const now = yield* DateTime.now
    const both = yield* Effect.forEach([account, other], ({ id }) => ledger.balances(id, now))
    return JSON.stringify(both.map(({ credits, quotaUsed }) => [credits, ...quotaUsed]))
  })

  const send = Effect.fnUntraced(function*({ operation, request }: FuzzedRequests.Fuzzed, place: string) {
    const wrong = (problem: string) => new Wrong({ problem, request, place })
    const before = yield* balances
    const answer = yield* RawHttp.sendBytes(baseUrl, request).pipe(
      Effect.mapError(({ message }) => wrong(message)),
      Effect.timeoutOrElse({ duration: "30 seconds", orElse: () => Effect.fail(wrong("There was no answer")) })
    )
    const problem = problemOf(answer, request, operation)
    if (problem !== undefined) {
      return yield* wrong(`${problem}: ${answer.status} ${answer.bytes.toString().slice(0, 1_000)}`)
    }
    if (answer.status >= 400 && (yield* balances) !== before) return yield* wrong("What was refused moved credits")
    known.learn(answer)
    return answer
  })
  return { account, options, send }
})

/**
 * Sends this many requests that follow from a seed, one after the other. Returns the number of responses by operation
 * and status.
 */
export const run = Effect.fnUntraced(function*(seed: number, count: number, who: keyof typeof operations = "clients") {
  const { options, send } = yield* makeSender
  const chance = SeededRandom.make(seed)
  const seen = new Map<string, number>()
  for (let index = 0; index < count; index++) {
    const fuzzed = FuzzedRequests.next(options[who], chance)
    const { status } = yield* send(fuzzed, `Request ${index} of the ${who}' seed ${seed}`)
    const what = `${fuzzed.operation?.id ?? "elsewhere"} ${status}`
    seen.set(what, (seen.get(what) ?? 0) + 1)
  }
  return seen
})

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

/** Maximum number of ids per kind for later requests. */
const idsMax = 8

/** Texts that are meaningful to the service, and those that responses contain. */
class Known {
  readonly words: Record<string, Array<string>>

  constructor(id: string, more: Readonly<Record<string, ReadonlyArray<string>>>) {
    this.words = {
      "generations.id": [id],
      "keys.key_id": [],
      "lots.lot_id": [],
      endpoint_id: [],
      delivery_id: [],
      // This host sends no webhooks.
      url: ["https://93.184.215.14/inbox", "https://127.0.0.1/inbox"],
      success_url: ["https://example.com/paid"],
      cancel_url: ["https://example.com/cancelled"],
      types: ["generation.completed", "webhook.test"],
      overlap_seconds: ["0", "60", "86401"],
      email: Array.from({ length: 20 }, (_, n) => `account-${n}@example.com`),
      name: ["a key"],
      reference: ["first", "second", "third"],
      period_end: ["2099-01-01T00:00:00Z"],
      since: ["2000-01-01T00:00:00Z"],
      until: ["2099-01-01T00:00:00Z"],
      created_after: ["2000-01-01T00:00:00Z"],
      created_before: ["2099-01-01T00:00:00Z"],
      expires_at: ["2099-01-01T00:00:00.000Z"],
      "models.id": [image.id, video.id],
      "uploads.id": [],
      model: [image.id, video.id],
      plan: ["studio", "credits"],
      prompt: ["a lake", "a sea"],
      mode: ["text_to_image", "image_to_image"],
      aspect_ratio: ["1:1", "16:9"],
      resolution: ["1k", "2k"],
      duration: ["5"],
      n: ["1"],
      size: ["1024x1024", "auto", "16x9"],
      response_format: ["url", "b64_json"],
      quality: ["hd", "standard"],
      mime: ["image/png"],
      wait: ["0", "1"],
      download: ["1"],
      from: ["2026-01-01", "2000-02-29"],
      to: ["2026-01-02"],
      status: ["completed", "queued"],
      Range: ["bytes=0-0", "bytes=-5", "bytes=9999999-"],
      "If-None-Match": ["*", "\"x\""],
      "Idempotency-Key": Array.from({ length: 40 }, (_, n) => `key ${n}`),
      "X-Plan": ["studio", "credits"],
      upload_id: [],
      cursor: [],
      ...Object.fromEntries(Object.entries(more).map(([name, words]) => [name, [...words]]))
    }
  }

  learn({ bytes, headers, status }: RawHttp.BytesResponse): void {
    if (status >= 400 || headers["content-type"] !== "application/json") return
    const { id, next_cursor } = Option.getOrElse(
      decodeLearned(bytes.toString()),
      () => ({ id: null, next_cursor: null })
    )
    if (typeof id === "string" && id.startsWith("gen_")) this.#add("generations.id", id)
    if (typeof id === "string" && id.startsWith("acct_")) this.#add("accounts.id", id)
    if (typeof id === "string" && id.startsWith("lot_")) this.#add("lots.lot_id", id)
    if (typeof id === "string" && id.startsWith("key_")) this.#add("keys.key_id", id)
    if (typeof id === "string" && id.startsWith("whep_")) this.#add("endpoint_id", id)
    if (typeof id === "string" && id.startsWith("dlv_")) this.#add("delivery_id", id)
    if (typeof id === "string" && id.startsWith("upl_")) {
      this.#add("uploads.id", id)
      this.#add("upload_id", id)
    }
    if (typeof next_cursor === "string") this.#add("cursor", next_cursor)
  }

  #add(name: string, word: string): void {
    const words = this.words[name] ??= []
    if (words.includes(word)) return
    words.push(word)
    if (words.length > idsMax) words.splice(1, 1)
  }
}

const decodeLearned = Schema.decodeUnknownOption(
  Schema.fromJsonString(Schema.Struct({
    id: Schema.optionalKey(Schema.Unknown),
    next_cursor: Schema.optionalKey(Schema.Unknown)
  }))
)

const problemOf = (
  { bytes, headers, status }: RawHttp.BytesResponse,
  request: RawHttp.BytesRequest,
  operation: Operations.Operation | undefined
): string | undefined => {
  if (status === 500) return "It was a 500"
  if (operation !== undefined && !operation.statuses.includes(status)) {
    // Node rejects these before a request exists that could be authenticated.
    if (![400, 408, 413, 417, 431].includes(status)) return `${operation.id} does not list this status`
  }
  const requestId = headers["x-request-id"] ?? ""
  if (!/^[\x20-\x7e]{1,128}$/.test(requestId)) return "There is no X-Request-Id"
  const ids = (request.headers ?? []).filter(([name]) => name.toLowerCase() === "x-request-id")
  const [given] = ids.map(([, value]) => value.trim())
  if (
    ids.length === 1 && status < 400 && given !== undefined && /^[\x20-\x7e]{1,128}$/.test(given) && given !== requestId
  ) {
    return "X-Request-Id is not the caller's"
  }
  if (status < 400) return undefined
  if (request.method === "HEAD" && bytes.length === 0) return undefined
  // Node does not detect that an unreadable request was a HEAD. No route has added a date to its response.
  if (request.method === "HEAD" && headers["date"] !== undefined) return "An answer to HEAD has a body"
  if (headers["content-type"] !== "application/json") return "An error is not JSON"
  const error = Option.getOrUndefined(decodeEnvelope(bytes.toString()))?.error
  if (error === undefined) return "An error is not an envelope"
  const fields = Object.keys(JSON.parse(bytes.toString()).error)
  if (fields.toSorted().join() !== "code,details,message,plan") return `The envelope has the fields ${fields.join()}`
  if (statusOf(error.code) !== status) return `The code ${error.code} has another status`
  return undefined
}

const decodeEnvelope = Schema.decodeUnknownOption(
  Schema.fromJsonString(Schema.Struct({
    error: Schema.Struct({
      code: Schema.String,
      message: Schema.NonEmptyString,
      plan: Schema.NullOr(Schema.Literals(["studio", "credits"])),
      details: Schema.Record(Schema.String, Schema.Unknown)
    })
  }))
)

const statusOf = (code: string): number | undefined =>
  Object.entries(ErrorCode.definitions).find(([known]) => known === code)?.[1].status
