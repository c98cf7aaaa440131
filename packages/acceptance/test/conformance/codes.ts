/** Every error code: its cause, status and headers. */
import { expect } from "@effect/vitest"
import type { ErrorCode } from "@kinora/http-api/ErrorCode"
import type { MemoryOptions } from "../../src/conformance/MemoryStage.ts"
import type { Account, MemoryStage, Stage } from "../../src/conformance/Stage.ts"
import * as Calls from "./calls.ts"
import type { Define } from "./Suite.ts"
import * as Webhooks from "./webhooks.ts"

export const codes = ({ holds, inTime }: Define): void => {
  for (const [code, entry] of entriesOf(everywhere)) holds(`codes.${code}`, (stage) => check(stage, code, entry))
  for (const [code, entry] of entriesOf(inMemory)) {
    inTime(`codes.${code}`, (stage) => check(stage, code, entry), entry.options)
  }
}

/** Cause of a code and the expected response. */
interface Case<On extends Stage> {
  readonly status: number
  readonly cause: (account: Account, stage: On) => Promise<Response>
  /** Headers besides those of the rate limit. */
  readonly headers?: Readonly<Record<string, string | RegExp>>
  /** Plan group of the error. Default: none. */
  readonly plan?: string
  readonly options?: MemoryOptions
}

type Cases<On extends Stage> = Partial<Readonly<Record<ErrorCode, Case<On>>>>

const retrying = { "retry-after": /^[1-9]\d*$/, "retry-after-ms": /^\d+$/ }

const contentOf = async (account: Account, wish?: Calls.Wish) =>
  `/v1/generations/${(await Calls.completed(account, wish)).id}/content`

/** Codes that a request causes on every host. */
const everywhere: Cases<Stage> = {
  invalid_request: { status: 400, cause: (account) => account.post("/v1/generations", {}) },
  invalid_params: { status: 400, cause: (account) => Calls.create(account, { params: { aspect_ratio: "7:1" } }) },
  invalid_image: { status: 400, cause: (account) => Calls.create(account, { params: { images: [{ data: "AAAA" }] } }) },
  invalid_idempotency_key: {
    status: 400,
    cause: (account) => Calls.create(account, { headers: { "idempotency-key": "x".repeat(256) } })
  },
  invalid_range: { status: 400, cause: (account) => account.send("/v1/usage?from=monday") },
  plan_required: { status: 400, cause: (account) => Calls.image(account, { model: "picture" }) },
  plan_conflict: {
    status: 400,
    cause: (account) => Calls.image(account, { plan: "studio" }, { "x-plan": "credits" })
  },
  model_not_in_plan: {
    status: 400,
    cause: (account) => Calls.create(account, { model: "credits-only", plan: "studio" }),
    plan: "studio"
  },
  model_kind_mismatch: { status: 400, cause: (account) => Calls.image(account, { model: "film", plan: "credits" }) },
  key_expired: {
    status: 401,
    cause: async (account, stage) => {
      await stage.admin.post(`/admin/v1/accounts/${account.id}/keys/${account.keyId}/roll`, {
        overlap_seconds: 0
      })
      return account.send("/v1/models")
    }
  },
  scope_missing: {
    status: 403,
    cause: async (account, stage) =>
      (await Calls.restricted(account, stage, { scopes: ["generate"] })).send("/v1/account")
  },
  model_not_allowed: {
    status: 403,
    cause: async (account, stage) => Calls.create(await Calls.restricted(account, stage, { models: ["film"] }))
  },
  address_not_allowed: {
    status: 403,
    cause: async (account, stage) =>
      (await Calls.restricted(account, stage, { ip_ranges: ["192.0.2.0/24"] })).send("/v1/models")
  },
  unauthorized: {
    status: 401,
    cause: (_, stage) => stage.send("/v1/models"),
    headers: { "www-authenticate": /^Bearer\b/ }
  },
  invalid_signature: {
    status: 401,
    cause: async (account, stage) => stage.send(`${await contentOf(account)}?exp=9999999999&sig=AAAA`)
  },
  plan_inactive: {
    status: 402,
    cause: async (_, stage) => Calls.create(await stage.openAccount({ studio: null }), { plan: "studio" }),
    plan: "studio"
  },
  insufficient_credits: {
    status: 402,
    cause: async (_, stage) => Calls.create(await stage.openAccount({ lots: [] })),
    plan: "credits"
  },
  account_suspended: {
    status: 403,
    cause: async (account, stage) => {
      await stage.admin.send(`/admin/v1/accounts/${account.id}/suspend`, { method: "POST" })
      return awaitSuspended(account, stage)
    }
  },
  not_found: { status: 404, cause: (account) => account.send("/v1/generations/nobody") },
  model_not_found: { status: 404, cause: (account) => Calls.create(account, { model: "nobody" }) },
  upload_not_found: { status: 404, cause: (account) => account.send("/v1/uploads/nobody", { method: "DELETE" }) },
  result_not_found: {
    status: 404,
    cause: async (account) => {
      const { id } = await Calls.ended(account, { model: "fails" })
      return account.send(`/v1/generations/${id}/content`)
    }
  },
  method_not_allowed: {
    status: 405,
    cause: (account) => account.send("/v1/models", { method: "DELETE" }),
    headers: { allow: /\bGET\b/ }
  },
  not_cancellable: {
    status: 409,
    cause: async (account) => Calls.cancel(account, (await Calls.ended(account)).id),
    headers: { "x-should-retry": "false" },
    plan: "credits"
  },
  result_not_ready: {
    status: 409,
    cause: async (account) => {
      const { id } = await Calls.createJob(account, { model: "slow" })
      return account.send(`/v1/generations/${id}/content`)
    }
  },
  payload_too_large: {
    status: 413,
    cause: (account) => account.post("/v1/generations", "x".repeat(48 * 1024 * 1024 + 1))
  },
  unsupported_media_type: {
    status: 415,
    cause: (account) => account.post("/v1/generations", "<job/>", { "content-type": "application/xml" })
  },
  precondition_failed: {
    status: 412,
    cause: async (account) => account.send(await contentOf(account), { headers: { "if-match": "\"other\"" } })
  },
  range_not_satisfiable: {
    status: 416,
    cause: async (account) => account.send(await contentOf(account), { headers: { range: "bytes=4096-" } }),
    headers: { "content-range": "bytes */4096" }
  },
  idempotency_key_reused: {
    status: 422,
    cause: async (account) => {
      const headers = { "idempotency-key": "once" }
      await Calls.create(account, { headers })
      return Calls.create(account, { headers, model: "dear" })
    }
  },
  generation_failed: {
    status: 422,
    cause: (account) => Calls.image(account, { model: "fails", plan: "credits" }),
    plan: "credits"
  },
  content_rejected: {
    status: 422,
    cause: (account) => Calls.image(account, { model: "rejects", plan: "credits" }),
    plan: "credits"
  },
  key_budget_exceeded: {
    status: 429,
    cause: async (account, stage) =>
      Calls.create(await Calls.restricted(account, stage, { budget: { jobs_per_month: 0 } })),
    headers: { ...retrying, "x-should-retry": "false" },
    plan: "credits"
  },
  queue_full: {
    status: 429,
    cause: async (_, stage) => {
      const account = await stage.openAccount({ credits: "business" })
      for (const n of Calls.numbers(28)) await Calls.createJob(account, { model: "slow", params: { prompt: `${n}` } })
      return Calls.create(account)
    },
    headers: retrying,
    plan: "credits"
  },
  model_unavailable: {
    status: 503,
    cause: (account) => Calls.create(account, { model: "paused" }),
    headers: retrying
  }
}

/** Codes that need time to pass or a small limit. */
const inMemory: Cases<MemoryStage> = {
  quota_exceeded: {
    status: 402,
    cause: async (_, stage) => {
      const account = await stage.openAccount({ studio: "starter" })
      const film = (n: number) => Calls.create(account, { plan: "studio", model: "film", params: { prompt: `${n}` } })
      for (const n of Calls.numbers(5)) await film(n)
      return film(6)
    },
    plan: "studio"
  },
  signature_expired: {
    status: 403,
    cause: async (account, stage) => {
      const { output } = await Webhooks.announced(stage, account)
      await stage.advance("2 hours")
      return stage.send(output?.url ?? "/nothing")
    }
  },
  result_expired: {
    status: 410,
    cause: async (account, stage) => {
      const path = await contentOf(account)
      await stage.advance("25 hours")
      return account.send(path)
    }
  },
  rate_limited: {
    status: 429,
    cause: async (account) => {
      await account.send("/v1/models")
      return account.send("/v1/models")
    },
    headers: retrying,
    options: { http: { keyRequestsPerMinute: 1 } }
  },
  download_limited: {
    status: 429,
    cause: async (account) => account.send(await contentOf(account)),
    headers: { ...retrying, "x-should-retry": "false" },
    options: { http: { downloadBytesPerDay: 1_000 } }
  },
  request_timeout: {
    status: 408,
    cause: async (account, stage) => {
      const headers = { "content-type": "application/json" }
      const body = new ReadableStream()
      const answer = account.send("/v1/generations", { method: "POST", headers, body, duplex: "half" })
      await stage.advance("1 minute")
      return answer
    },
    headers: { connection: "close" }
  },
  generation_pending: {
    status: 504,
    cause: async (account, stage) => {
      const asked = Calls.image(account, { model: "slow", plan: "credits" })
      await stage.advance("1 minute")
      return asked
    },
    headers: { "retry-after": "1", "retry-after-ms": "1000" }
  },
  unavailable: {
    status: 503,
    // The host accepts fewer bytes than this body has.
    cause: (account) => Calls.create(account),
    headers: retrying,
    options: { http: { bodiesBytesMax: 10 } }
  }
}

/** Entries of a table. `Object.entries` widens its keys to `string`. */
const entriesOf = <On extends Stage>(table: Cases<On>) => Object.entries(table) as ReadonlyArray<[ErrorCode, Case<On>]>

/** Repeats the request until the suspension takes effect, for at most 5 seconds. */
const awaitSuspended = async (account: Account, stage: Stage): Promise<Response> => {
  const until = stage.now().getTime() + 5_000
  let response = await account.send("/v1/models")
  while (response.status === 200 && stage.now().getTime() < until) {
    await stage.elapse("1 second")
    response = await account.send("/v1/models")
  }
  return response
}

const check = async <On extends Stage>(stage: On, code: ErrorCode, { cause, headers = {}, plan, status }: Case<On>) => {
  const response = await cause(await stage.openAccount(), stage)
  for (const [name, value] of Object.entries(headers)) {
    const expected = typeof value === "string" ? value : expect.stringMatching(value)
    expect([name, response.headers.get(name)]).toEqual([name, expected])
  }
  for (const name of ["x-request-id", "x-ratelimit-limit", "x-ratelimit-remaining", "x-ratelimit-reset"]) {
    expect([name, response.headers.get(name)]).toEqual([name, expect.stringMatching(/./)])
  }
  expect((await Calls.refusalOf(response, status, code)).plan).toBe(plan ?? null)
}
