import { assert, it } from "@effect/vitest"
import { Effect } from "effect"
import { readFileSync } from "node:fs"
import * as Admin from "../src/AdminOpenApiDocument.ts"
import { document } from "../src/OpenApiDocument.ts"

/** `type`, `type?` if optional, `null` as an alternative, `[]` for arrays. */
const tables: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  Generation: {
    id: "string",
    model: "string",
    kind: "string",
    mode: "string",
    plan: "string",
    status: "string",
    prompt: "string|null",
    params: "PublicParams",
    cost_credits: "int64|null",
    quota_kind: "string|null",
    watermark: "boolean",
    refunded: "boolean",
    error_code: "string|null",
    error: "PublicError|null",
    output: "PublicOutput|null",
    preview_url: "string|null",
    thumb_url: "string|null",
    poster_url: "string|null",
    result_expires_at: "date-time|null",
    queued_at: "date-time",
    started_at: "date-time|null",
    finished_at: "date-time|null",
    created_at: "date-time",
    next: "Next?"
  },
  Next: { action: "string", after_seconds: "int64" },
  PublicParams: { aspect_ratio: "string?", duration: "int64?", resolution: "string?", images: "PublicImage[]|null?" },
  PublicImage: { index: "int64", mime: "string", width: "int64", height: "int64" },
  PublicOutput: { url: "string", mime: "string", bytes: "int64", expires_at: "date-time" },
  PublicError: { code: "string", message: "string", reason: "string|null" },
  CreateGenerationRequest: { plan: "string", model: "string", params: "Params" },
  Params: {
    prompt: "string",
    aspect_ratio: "string?",
    duration: "int64?",
    mode: "string?",
    resolution: "string?",
    images: "InputImage[]|null?"
  },
  InputImage: { data: "string?", mime: "string?", upload_id: "string?" },
  PublicModel: {
    id: "string",
    name: "string",
    kind: "string",
    studio_eligible: "boolean",
    status: "string",
    capabilities: "string[]|null",
    max_reference_images: "int64",
    max_prompt_chars: "int64",
    params_schema: "PublicSchemaParam[]|null",
    price_table: "PublicPrice[]|null"
  },
  PublicSchemaParam: {
    name: "string",
    type: "string",
    default: "any?",
    min: "int64?",
    max: "int64?",
    values: "any[]|null?"
  },
  PublicPrice: { params: "object", credits: "int64" },
  ModelList: { data: "PublicModel[]|null" },
  ImageRequest: {
    model: "string",
    prompt: "string",
    n: "int64|null?",
    plan: "string|null?",
    quality: "string|null?",
    response_format: "string|null?",
    output_format: "string|null?",
    size: "string|null?",
    user: "string|null?",
    stream: "boolean|null?"
  },
  ImageResponse: { created: "int64", data: "ImageData[]|null" },
  ImageData: { url: "string?", b64_json: "string?" },
  Account: {
    user: "object",
    balance_usd_cents: "int64",
    plans: "object",
    api: "object",
    results: "object"
  },
  StudioPlan: {
    active: "boolean",
    tier: "string|null",
    period_end: "date-time|null",
    auto_renew: "boolean",
    quota: "StudioQuota|null",
    concurrency: "int64",
    create_rpm: "int64"
  },
  StudioQuota: { day: "string", resets_at: "date-time", video: "QuotaCount", image: "QuotaCount" },
  QuotaCount: { limit: "int64", used: "int64", remaining: "int64" },
  CreditsPlan: {
    active: "boolean",
    tier: "string|null",
    period_end: "date-time|null",
    auto_renew: "boolean",
    credits_remaining: "int64",
    lots: "CreditLot[]|null",
    concurrency: "int64",
    create_rpm: "int64"
  },
  CreditLot: {
    kind: "string",
    remaining: "int64",
    expires_at: "date-time",
    images_only: "boolean",
    watermark: "boolean"
  },
  DownloadLimits: { user_gib_per_day: "int64", used_bytes_today: "int64|null", job_download_multiple: "int64" },
  UsageReport: { from: "string", to: "string", data: "UsageRow[]|null", totals: "object" },
  UsageKey: { id: "string", name: "string|null" },
  UsageRow: {
    day: "string",
    plan: "string",
    model: "string",
    kind: "string",
    key: "UsageKey|null?",
    completed: "int64",
    failed: "int64",
    cancelled: "int64",
    credits: "int64"
  },
  Upload: {
    id: "string",
    mime: "string",
    bytes: "int64",
    width: "int64",
    height: "int64",
    expires_at: "date-time"
  },
  GenerationList: { data: "Generation[]", next_cursor: "string|null" },
  WebhookEvent: { id: "string", type: "string", created_at: "date-time", data: "object" },
  WebhookTest: { id: "string", type: "string", created_at: "date-time", data: "object" }
}

/** Schemas that accept other properties. */
const open = new Set(["ImageRequest"])

interface Node {
  readonly $ref?: string
  readonly type?: string
  readonly format?: string
  readonly anyOf?: ReadonlyArray<Node>
  readonly items?: Node
  readonly properties?: Readonly<Record<string, Node>>
  readonly required?: ReadonlyArray<string>
  readonly additionalProperties?: unknown
}

/** A webhook in the document. */
interface Webhook {
  readonly parameters: ReadonlyArray<{ readonly name: string; readonly schema: { readonly const?: string } }>
  readonly requestBody: { readonly content: unknown }
}

const schemaOf = (content: object | undefined): Node => Object(content)["application/json"]?.schema ?? {}

const typeOf = (node: Node): string =>
  node.$ref?.replace("#/components/schemas/", "") ??
    node.anyOf?.map(typeOf).join("|") ??
    (node.type === "array" ? `${typeOf(node.items ?? {})}[]` : undefined) ??
    node.format ??
    node.type ??
    "any"

it.effect("openapi.json is up to date", () =>
  Effect.sync(() => {
    const written = readFileSync(new URL("../openapi.json", import.meta.url), "utf8")
    assert.strictEqual(
      written,
      `${JSON.stringify(document, null, 2)}\n`,
      "run: npm run openapi -w @kinora/http-api"
    )
  }))

for (const [name, fields] of Object.entries(tables)) {
  it.effect(`${name} has exactly its documented properties`, () =>
    Effect.sync(() => {
      const schema = document.components.schemas[name] as Node
      const found = Object.fromEntries(
        Object.entries(schema.properties ?? {}).map(([field, node]) => [
          field,
          typeOf(node) + (schema.required?.includes(field) === true ? "" : "?")
        ])
      )
      assert.deepStrictEqual(found, fields)
      if (open.has(name)) assert.notStrictEqual(schema.additionalProperties, false)
      else assert.isFalse(schema.additionalProperties)
    }))
}

it.effect("documents HEAD, partial content and the range error of every file", () =>
  Effect.sync(() => {
    for (const file of ["content", "preview", "thumb", "poster"]) {
      const item = document.paths[`/v1/generations/{id}/${file}`]
      assert.includeMembers(Object.keys(item?.get?.responses ?? {}), ["200", "206", "304", "410", "416"])
      assert.includeMembers(Object.keys(item?.head?.responses ?? {}), ["200", "304", "410"])
      assert.isUndefined(item?.head?.responses[200]?.content)
      assert.deepStrictEqual(item?.get?.security, [{ bearer: [] }, { signed: [] }])
    }
  }))

it.effect("documents the limit headers of every response below /v1, and the request id of every response", () =>
  Effect.sync(() => {
    for (const [path, item] of Object.entries(document.paths)) {
      for (const operation of [item.get, item.head, item.post, item.delete]) {
        for (const { headers } of Object.values(operation?.responses ?? {})) {
          assert.property(headers, "X-Request-Id")
          assert.strictEqual("X-RateLimit-Reset" in (headers ?? {}), path.startsWith("/v1/"))
        }
      }
    }
  }))

it.effect("documents integers in headers and queries as integers", () =>
  Effect.sync(() => {
    const text = JSON.stringify(document)
    assert.notInclude(text, "^[+-]?(?:")
    assert.deepInclude(document.paths["/v1/generations/{id}"]?.get?.parameters ?? [], {
      name: "wait",
      in: "query",
      required: false,
      schema: { type: "integer", format: "int64", minimum: 0, examples: [30] },
      description: "How many seconds to wait until the job has ended. Values above 60 count as 60."
    })
  }))

it.effect("documents event streams and forms as clients see them", () =>
  Effect.sync(() => {
    const events = document.paths["/v1/generations/{id}/events"]?.get?.responses[200]?.content
    assert.deepStrictEqual(Object.keys(events ?? {}), ["text/event-stream"])
    const upload = document.paths["/v1/uploads"]?.post?.requestBody?.content
    assert.sameMembers(Object.keys(upload ?? {}), ["image/png", "image/jpeg", "image/webp", "multipart/form-data"])
    assert.notInclude(JSON.stringify(document), "x-effect-stream")
  }))

it.effect("documents 504 of the image endpoint with its wait", () =>
  Effect.sync(() => {
    const { headers } = document.paths["/v1/images/generations"]?.post?.responses[504] ?? {}
    assert.includeMembers(Object.keys(headers ?? {}), ["Retry-After", "retry-after-ms"])
  }))

it.effect("documents the webhooks with their headers and bodies", () =>
  Effect.sync(() => {
    const { webhooks } = document as { readonly webhooks?: Readonly<Record<string, { readonly post: Webhook }>> }
    assert.deepStrictEqual(Object.keys(webhooks ?? {}), [
      "generation.started",
      "generation.completed",
      "generation.failed",
      "webhook.test"
    ])
    for (const [type, { post: { parameters, requestBody } }] of Object.entries(webhooks ?? {})) {
      assert.deepStrictEqual(parameters.map(({ name }) => name), [
        "User-Agent",
        "X-Service-Event",
        "X-Service-Delivery",
        "X-Service-Signature"
      ])
      assert.strictEqual(parameters[1]?.schema.const, type)
      const name = type === "webhook.test" ? "WebhookTest" : "WebhookEvent"
      const body = { schema: { $ref: `#/components/schemas/${name}` } }
      assert.deepStrictEqual(requestBody.content, { "application/json": body })
    }
    const event = document.components.schemas["WebhookEvent"] as Node
    const data = event.properties?.["data"]?.properties
    assert.deepStrictEqual(Object.keys(data ?? {}), ["generation"])
    assert.strictEqual(data?.["generation"]?.$ref, "#/components/schemas/Generation")
  }))

it.effect("documents exactly the codes of every error response, with the details of each", () =>
  Effect.sync(() => {
    const codesOf = (path: string, method: "get" | "post", status: number) => {
      const { error } = schemaOf(document.paths[path]?.[method]?.responses[status]?.content).properties ?? {}
      return (error?.anyOf ?? [error]).map((node) => node?.$ref?.replace("#/components/schemas/", ""))
    }
    assert.deepStrictEqual(codesOf("/v1/generations/{id}", "get", 404), ["NotFoundError"])
    assert.deepStrictEqual(codesOf("/v1/generations/{id}/cancel", "post", 409), ["NotCancellableError"])
    assert.deepStrictEqual(codesOf("/v1/generations", "post", 429), [
      "RateLimitedError",
      "KeyBudgetExceededError",
      "QueueFullError"
    ])
    assert.deepStrictEqual(codesOf("/v1/models", "get", 429), ["RateLimitedError"])
    assert.deepStrictEqual(codesOf("/v1/generations/{id}/content", "get", 403), [
      "SignatureExpiredError",
      "AccountSuspendedError",
      "ScopeMissingError",
      "AddressNotAllowedError"
    ])
    const { properties } = document.components.schemas["InsufficientCreditsError"] as Node
    assert.strictEqual(typeOf(properties?.["plan"] ?? {}), "string")
    assert.deepStrictEqual(Object.keys(properties?.["details"]?.properties ?? {}), ["required", "available"])
  }))

for (
  const [name, { components, paths }] of [["openapi.json", document], ["admin-openapi.json", Admin.document]] as const
) {
  it.effect(`${name} describes every property, parameter and header`, () =>
    Effect.sync(() => {
      const check = (node: unknown, path: string): void => {
        if (typeof node !== "object" || node === null) return
        for (const [key, value] of Object.entries(node)) check(value, `${path}/${key}`)
        if (!("properties" in node)) return
        for (const [key, property] of Object.entries(Object(node.properties))) {
          assert.match(Object(property).description, /^.+\.$/s, `${path}/properties/${key}`)
        }
      }
      check(components.schemas, "")
      for (const [path, item] of Object.entries(paths)) {
        for (const operation of [item.get, item.head, item.post, item.put, item.patch, item.delete]) {
          if (operation === undefined) continue
          const name = `${operation.operationId} ${path}`
          assert.match(operation.summary ?? "", /^[A-Z].*[^.]$/, name)
          for (const parameter of operation.parameters) {
            assert.match(parameter.description ?? "", /^.+\.$/, `${parameter.name} of ${name}`)
          }
          for (const [status, { headers }] of Object.entries(operation.responses)) {
            for (const [header, { description }] of Object.entries(headers ?? {})) {
              assert.match(description ?? "", /^.+\.$/, `${header} of ${name} ${status}`)
            }
          }
        }
      }
    }))
}

it("shows a created job in the queue, and a cancelled one with its refund", () => {
  const exampleOf = (path: string, status: string): unknown =>
    Object(document.paths[path]?.post?.responses[Number(status)]?.content?.["application/json"]).example
  assert.deepInclude(exampleOf("/v1/generations", "201"), {
    status: "queued",
    output: null,
    started_at: null,
    finished_at: null,
    next: { action: "poll", after_seconds: 2 }
  })
  assert.deepInclude(exampleOf("/v1/generations", "200"), { status: "completed" })
  const cancelled = exampleOf("/v1/generations/{id}/cancel", "200")
  assert.deepInclude(cancelled, { status: "cancelled", output: null, started_at: null, refunded: true })
  assert.notProperty(cancelled, "next")
})
