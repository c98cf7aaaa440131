/**
 * An account cannot see or use anything of another account. Every operation of the OpenAPI document is covered; an
 * unknown one fails the test.
 */
import { assert, describe, it } from "@effect/vitest"
import { ScriptedGenerator } from "@kinora/generator"
import { OpenApiDocument } from "@kinora/http-api"
import { Ledger } from "@kinora/ledger"
import { DateTime, Effect, Layer } from "effect"
import * as Books from "../src/Books.ts"
import * as Client from "../src/Client.ts"
import * as LocalHost from "../src/LocalHost.ts"
import * as Operations from "../src/Operations.ts"
import { image } from "./fuzzedModels.ts"

const operations = Operations.read(JSON.parse(JSON.stringify(OpenApiDocument.document)))

const held = { ...image, id: "held", driver: { name: "local", options: {} } }

const host = LocalHost.layer({
  models: [image, held],
  generator: ScriptedGenerator.layer.pipe(
    Layer.provide(ScriptedGenerator.layerControl({
      script: ({ model }) => model.name === held.id ? { delay: "hold" } : {},
      pollInterval: "10 millis"
    }))
  )
})

/** Texts that only the owner's resources contain. */
const secrets = { prompt: "a lake that nobody else knows", idempotencyKey: "the owner's own key" }

/** Owners of the ids in paths. Ids of `everybody` are public. */
const ownersOfIds: Readonly<Record<string, "account" | "everybody">> = {
  generations: "account",
  uploads: "account",
  models: "everybody"
}

describe("another account's key", { timeout: 600_000 }, () => {
  it.live("receives the response of an unknown id for every id of the owner", () =>
    Effect.gen(function*() {
      const { owner, stranger } = yield* makeAccounts
      for (const operation of operations) {
        const segment = /(\w+)\/\{id\}/.exec(operation.path)?.[1]
        if (segment === undefined) continue
        const whose = ownersOfIds[segment] ??
          assert.fail(`Add the owner of the ids of ${operation.path} to ownersOfIds`)
        if (whose === "everybody") continue
        const ids = segment === "uploads" ? [owner.upload] : [owner.finished, owner.running]
        for (const id of ids) {
          const found = yield* ask(stranger, operation, id)
          // The ids differ in a few digits, so nothing else differs.
          const unknown = yield* ask(stranger, operation, `${id.slice(0, -6)}zzzzzz`)
          assert.strictEqual(found.status, 404, `${operation.id} of ${id}`)
          assert.deepStrictEqual(comparable(found), comparable(unknown), operation.id)
        }
      }
      yield* assertUntouched(owner)
    }).pipe(Effect.provide(host)))

  it.live("finds nothing of the owner in operations without ids", () =>
    Effect.gen(function*() {
      const { owner, stranger } = yield* makeAccounts
      const words = [...Object.values(secrets), owner.id, owner.key, owner.finished, owner.running, owner.upload]
      for (const operation of operations) {
        if (operation.path.includes("{") || operation.bodies.length > 0) continue
        // The cursor is the owner's. The stranger's list contains only jobs of the stranger.
        const takesCursor = operation.parameters.some(({ name }) => name === "cursor")
        for (const query of takesCursor ? ["", `?cursor=${owner.cursor}`] : [""]) {
          const { bytes, headers, status } = yield* stranger.request(`${operation.path}${query}`, {
            method: operation.method
          })
          assert.strictEqual(status, 200, operation.id)
          const answer = `${new TextDecoder().decode(bytes)}${JSON.stringify([...headers])}`
          for (const word of words) assert.notInclude(answer, word, `${operation.id}${query}`)
        }
      }
      yield* assertUntouched(owner)
    }).pipe(Effect.provide(host)))

  it.live("cannot use the owner's uploads and idempotency keys", () =>
    Effect.gen(function*() {
      const { owner, stranger } = yield* makeAccounts
      const uses: Readonly<Record<string, Effect.Effect<void, Client.NoAnswer>>> = {
        "generations.create": Effect.gen(function*() {
          const params = { prompt: "a sea", images: [{ upload_id: owner.upload }] }
          const refused = yield* post(stranger, "/v1/generations", { plan: "credits", model: image.id, params })
          assert.deepStrictEqual([refused.status, Client.errorCodeOf(refused)], [404, "upload_not_found"])
          const unknown = { ...params, images: [{ upload_id: `${owner.upload.slice(0, -6)}zzzzzz` }] }
          const other = yield* post(stranger, "/v1/generations", { plan: "credits", model: image.id, params: unknown })
          assert.deepStrictEqual(comparable(refused), comparable(other))
          const created = yield* stranger.create(ownersOrder)
          assert.deepStrictEqual([created.status, created.headers.get("idempotent-replayed")], [201, "false"])
          assert.notInclude([owner.finished, owner.running], Client.jobOf(created).id)
        }),
        "images.generate": Effect.gen(function*() {
          const body = { model: image.id, prompt: secrets.prompt, plan: "credits" }
          const mine = yield* post(owner.client, "/v1/images/generations", body)
          const theirs = yield* post(stranger, "/v1/images/generations", body)
          assert.deepStrictEqual([mine.status, theirs.status], [200, 200])
          assert.notStrictEqual(urlIn(mine), urlIn(theirs))
        }),
        // It accepts a file and names no resource.
        "uploads.create": Effect.void
      }
      for (const { bodies, id } of operations) {
        if (bodies.length === 0) continue
        yield* uses[id] ?? assert.fail(`Add an attempt to use what another account owns with ${id}`)
      }
    }).pipe(Effect.provide(host)))

  it.live("is required by every operation except those without authentication", () =>
    Effect.gen(function*() {
      const { owner } = yield* makeAccounts
      const baseUrl = yield* LocalHost.baseUrl
      for (const operation of operations) {
        const target = Operations.fill(operation, { id: owner.finished })
        const { headers, status } = yield* Client.send(`${baseUrl}${target}`, { method: operation.method })
        if (!operation.isSecured) assert.isBelow(status, 300, operation.id)
        else assert.deepStrictEqual([status, headers.get("www-authenticate")], [401, "Bearer"], operation.id)
      }
    }).pipe(Effect.provide(host)))
})

const ownersOrder: Client.Order = { model: image.id, prompt: secrets.prompt, idempotencyKey: secrets.idempotencyKey }

/** Two equal accounts. The owner has one of every resource. */
const makeAccounts = Effect.gen(function*() {
  const baseUrl = yield* LocalHost.baseUrl
  const [{ id, key }, other] = [
    yield* Books.openAccount({ credits: 100 }),
    yield* Books.openAccount({ credits: 100 })
  ]
  const client = Client.make(baseUrl, key)
  const finished = Client.jobOf(yield* client.create(ownersOrder))
  const { output } = yield* client.awaitEnd(finished.id)
  const running = Client.jobOf(yield* client.create({ model: held.id, prompt: secrets.prompt }))
  yield* Effect.repeat(client.get(running.id), { until: ({ status }) => status === "processing" })
  const { bytes: file } = yield* Client.send(output?.url ?? "")
  const uploaded = yield* client.request("/v1/uploads", {
    method: "POST",
    headers: { "content-type": "image/png" },
    body: Buffer.from(file)
  })
  const listed = yield* client.request("/v1/generations?limit=1")
  const ledger = yield* Ledger.Ledger
  const owner = {
    id,
    key,
    client,
    finished: finished.id,
    running: running.id,
    upload: textIn(uploaded, "id"),
    cursor: encodeURIComponent(textIn(listed, "next_cursor")),
    credits: Effect.flatMap(DateTime.now, (now) => Effect.map(ledger.balances(id, now), ({ credits }) => credits)),
    before: { credits: 98 }
  }
  assert.strictEqual(yield* owner.credits, owner.before.credits)
  return { owner, stranger: Client.make(baseUrl, other.key) }
})

type Owner = Effect.Success<typeof makeAccounts>["owner"]

/** Asserts that all of the owner's resources exist and are unused. */
const assertUntouched = Effect.fnUntraced(function*({ before, client, credits, finished, running, upload }: Owner) {
  assert.strictEqual((yield* client.get(finished)).status, "completed")
  assert.strictEqual((yield* client.get(running)).status, "processing")
  assert.strictEqual((yield* client.request(`/v1/generations/${finished}/content`)).status, 200)
  assert.strictEqual(yield* credits, before.credits)
  assert.strictEqual((yield* client.request(`/v1/uploads/${upload}`, { method: "DELETE" })).status, 204)
  assert.deepStrictEqual((yield* Books.verify).problems, [])
})

const ask = (client: Client.Client, operation: Operations.Operation, id: string) =>
  client.request(Operations.fill(operation, { id }), { method: operation.method })

const post = (client: Client.Client, path: string, body: object) =>
  client.request(path, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(body)
  })

/** A response without the parts that differ between any two. */
const comparable = ({ bytes, headers, status }: Client.Answer) => ({
  status,
  text: new TextDecoder().decode(bytes),
  headers: [...headers].filter(([name]) =>
    !["date", "x-request-id", "x-ratelimit-remaining", "x-ratelimit-reset"].includes(name)
  )
})

const textIn = (answer: Client.Answer, field: "id" | "next_cursor"): string =>
  String(JSON.parse(new TextDecoder().decode(answer.bytes))[field])

const urlIn = (answer: Client.Answer): string =>
  new URL(JSON.parse(new TextDecoder().decode(answer.bytes)).data[0].url).pathname
