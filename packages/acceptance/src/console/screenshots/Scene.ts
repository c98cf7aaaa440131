/** The account on the screenshots: a person with plans, keys, jobs in all states, and an endpoint that fails at times. */
import { Clock } from "effect"
import type { Account } from "../../conformance/Stage.ts"
import * as Drill from "../../Drill.ts"
import * as RawHttp from "../../RawHttp.ts"
import type { ConsoleHost } from "../ConsoleHost.ts"
import { post, seed, type Seeded, type SeedJob } from "../ConsoleSeed.ts"

/** Models for jobs that run or fail, next to the built-in ones. */
export const models = [
  Drill.model({ id: "portrait-xl", name: "Portrait XL", delay: "30 minutes", time_limit: "1 hour", credits: 12 }),
  Drill.model({ id: "line-art", name: "Line Art", failure: "content_rejected", credits: 3 })
]

/** An account with data, and the address of its receiver. */
export interface Scene extends Seeded {
  readonly endpointUrl: string
}

/** Creates everything. `few` creates two jobs, for a trial of the script. */
export const make = async (host: ConsoleHost, few: boolean): Promise<Scene> => {
  const { admin } = host
  const { id } = await post(admin, "/admin/v1/accounts", { email: "ada@example.com" })
  const path = `/admin/v1/accounts/${id}`
  await change("PUT", admin, `${path}/plans/studio`, { tier: "pro", period_end: hence(19), auto_renew: true })
  await change("PUT", admin, `${path}/plans/credits`, { tier: "pro", period_end: hence(19), auto_renew: true })
  await change("POST", admin, `${path}/lots`, {
    reference: "plan-2026-11",
    kind: "plan",
    credits: 5_000,
    expires_at: hence(19)
  })
  await change("POST", admin, `${path}/lots`, {
    reference: "invoice-1024",
    kind: "addon",
    credits: 400,
    expires_at: hence(5)
  })
  await change("POST", admin, `${path}/deposits`, { reference: "deposit-88", usd_cents: 12_000 })
  const key = await keyOf(admin, path, { name: "Production server" })
  await keyOf(admin, path, {
    name: "Night job",
    scopes: ["generate", "read"],
    expires_at: hence(4),
    budget: { credits_per_day: 500 }
  })
  await keyOf(admin, path, { name: "Dashboard", scopes: ["read", "account:read"] })
  for (const [name, role] of [["Support desk", "support"], ["Bookkeeping", "auditor"]] as const) {
    await post(admin, "/admin/v1/operators", { name, role })
  }
  await post(admin, "/admin/v1/accounts", { email: "grace@example.com" })
  await post(admin, "/admin/v1/accounts", { email: "alan@example.com" })

  const account: Account = {
    ...host.withToken(key),
    id,
    email: "ada@example.com",
    key,
    keyId: ""
  }
  const receiver = await host.receive()
  const inbox = receiver.inbox((_, n) => ({ status: n % 4 === 2 ? 503 : 200 }))
  const seeded = await seed(host, account, { jobs: few ? jobs.slice(-3) : jobs, url: inbox.url })
  await inbox.until(5)
  for (const prompt of ["Portrait of a lighthouse keeper", "Portrait of a violinist, soft window light"]) {
    await post(account, "/v1/generations", { plan: "credits", model: "portrait-xl", params: { prompt } })
  }
  await receiver.close()
  return { ...seeded, endpointUrl: inbox.url }
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const clock = Clock.Clock.defaultValue()
const hence = (days: number): string => new Date(clock.currentTimeMillisUnsafe() + days * 86_400_000).toISOString()

const draft = (prompt: string, aspect_ratio = "1:1"): SeedJob => ({
  model: "kinora-draft",
  plan: "studio",
  prompt,
  params: { aspect_ratio }
})

/** The completed job on the pictures is the first one that completes. */
const jobs: ReadonlyArray<SeedJob> = [
  draft("Marble texture with gold veins"),
  draft("City skyline at night, violet haze", "16:9"),
  draft("Lagoon in the morning, turquoise water", "3:2"),
  draft("Desert dunes, long shadows, golden hour", "3:2"),
  draft("Galaxy above a frozen lake"),
  draft("Abstract waves, ultramarine and coral", "16:9"),
  draft("Misty hills at dawn"),
  { model: "line-art", plan: "credits", prompt: "A crowded market, ink drawing" },
  {
    model: "kinora-motion",
    plan: "studio",
    prompt: "Waves rolling onto a beach at sunset",
    params: { duration: 2, resolution: "480p" }
  },
  {
    model: "kinora-still",
    plan: "credits",
    prompt: "Mountain ridges at dusk, pine forest, warm light",
    params: { aspect_ratio: "3:2" }
  }
]

/** Sends a change whose response has no id. */
const change = (method: "POST" | "PUT", admin: RawHttp.RawClient, path: string, json: object): Promise<string> =>
  RawHttp.sendAccepted(admin, path, { method, json })

const keyOf = async (admin: RawHttp.RawClient, path: string, body: object): Promise<string> =>
  (await post(admin, `${path}/keys`, body)).key ?? ""
