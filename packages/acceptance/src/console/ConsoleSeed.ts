/** Data of an account as pages show it: jobs, keys, endpoints, operators. Created over HTTP. */
import { Schema } from "effect"
import { isFinal } from "../Client.ts"
import type { Account } from "../conformance/Stage.ts"
import * as RawHttp from "../RawHttp.ts"
import type { ConsoleHost } from "./ConsoleHost.ts"
import type { PageIds } from "./ConsolePages.ts"

/** A job to create. */
export interface SeedJob {
  readonly model: string
  readonly plan: "studio" | "credits"
  readonly prompt: string
  readonly params?: Readonly<Record<string, string | number>>
}

/** An account with data. */
export interface Seeded extends PageIds {
  readonly key: string
}

/** Creates the jobs and waits until they end, a webhook endpoint at `url` that receives their events, and a test event. */
export const seed = async (
  { admin }: ConsoleHost,
  account: Account,
  { jobs, url }: { readonly jobs: ReadonlyArray<SeedJob>; readonly url: string }
): Promise<Seeded> => {
  const endpoint = await post(admin, `/admin/v1/accounts/${account.id}/webhook-endpoints`, { url })
  const created = await Promise.all(
    jobs.map(({ model, params, plan, prompt }) =>
      post(account, "/v1/generations", { plan, model, params: { prompt, ...params } })
    )
  )
  const ended = await Promise.all(created.map(({ id }) => awaitEnd(account, id)))
  await post(admin, `/admin/v1/accounts/${account.id}/webhook-endpoints/${endpoint.id}/test`, {})
  const completed = ended.find(({ status }) => status === "completed")
  if (completed === undefined) throw new Error("No job of the seed completed")
  return { account: account.id, key: account.key, job: completed.id, endpoint: endpoint.id }
}

/** Sends a body and returns the created object. Throws if the service rejects it. */
export const post = async (client: RawHttp.RawClient, path: string, json: object): Promise<Created> =>
  Schema.decodeSync(CreatedJson)(await RawHttp.sendAccepted(client, path, { method: "POST", json }))

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const CreatedJson = Schema.fromJsonString(
  Schema.Struct({
    id: Schema.String,
    status: Schema.optionalKey(Schema.String),
    /** Of a new API key. */
    key: Schema.optionalKey(Schema.String)
  })
)
type Created = typeof CreatedJson.Type

const awaitEnd = async (client: RawHttp.RawClient, id: string): Promise<Created> => {
  while (true) {
    const job = Schema.decodeSync(CreatedJson)(await RawHttp.sendAccepted(client, `/v1/generations/${id}?wait=60`))
    if (isFinal({ status: job.status ?? "" })) return job
  }
}
