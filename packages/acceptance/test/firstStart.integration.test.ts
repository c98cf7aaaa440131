/** First start of a server, first use, and restart. */
import { assert, describe, it } from "@effect/vitest"
import { Media } from "@kinora/media"
import { Effect } from "effect"
import { lstat, readdir } from "node:fs/promises"
import { join } from "node:path"
import * as Client from "../src/Client.ts"
import * as Program from "../src/Program.ts"
import { databases, makeEmptySite, makeSite } from "./sites.ts"

const pngSignature = [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]
const order: Client.Order = { model: "kinora-draft", plan: "studio", idempotencyKey: "one" }

describe.concurrent("a first start", { timeout: 600_000 }, () => {
  for (const database of databases) {
    it.live(`generates a picture with the printed key and keeps it over a restart (${database})`, () =>
      Effect.gen(function*() {
        const site = yield* makeEmptySite(database)
        const first = yield* Program.startServer(site.environment)
        const key = first.apiKey ?? assert.fail("no key was printed")
        const client = Client.make(first.baseUrl, key)

        const created = yield* client.create(order)
        assert.strictEqual(created.status, 201)
        const { id } = Client.jobOf(created)
        assert.strictEqual(created.headers.get("location"), `${first.baseUrl}/v1/generations/${id}`)
        const done = yield* client.get(id, 60)
        assert.strictEqual(done.status, "completed")
        const content = yield* assertDownload(done)
        const late = yield* client.cancel(id)
        assert.deepStrictEqual([late.status, Client.errorCodeOf(late)], [409, "not_cancellable"])
        const stopped = yield* first.stop
        assert.deepStrictEqual([stopped.code, stopped.stderr], [0, ""])

        const second = yield* Program.startServer(site.environment)
        assert.strictEqual(second.apiKey, key)
        const again = Client.make(second.baseUrl, key)
        const kept = yield* again.get(id)
        assert.deepStrictEqual(withoutUrls(kept), withoutUrls(done))
        assert.deepStrictEqual(yield* assertDownload(kept), content)
        const replayed = yield* again.create(order)
        assert.deepStrictEqual([replayed.status, Client.jobOf(replayed).id], [200, id])
        assert.strictEqual((yield* second.stop).code, 0)
        assert.deepStrictEqual(yield* openToOthers(site.dataDirectory), [])
      }))
  }

  it.live("creates one demo account if two servers start on an empty Postgres at once", () =>
    Effect.gen(function*() {
      const sites = [yield* makeSite("Postgres"), yield* makeSite("PGlite")] as const
      const environments = sites.map(({ environment }) => ({
        ...environment,
        KINORA_DATABASE_URL: sites[0].databaseUrl
      }))
      const servers = yield* Effect.forEach(environments, Program.startServer, { concurrency: 2 })
      const keys = servers.flatMap(({ apiKey }) => apiKey ?? [])
      assert.strictEqual(keys.length, 1)
      for (const { baseUrl } of servers) {
        const models = yield* Client.make(baseUrl, keys[0] ?? "").request("/v1/models")
        assert.strictEqual(models.status, 200)
      }
    }))
})

/** The entries of a directory that other users of the machine can read, write or list. */
const openToOthers = (directory: string) =>
  Effect.promise(async () => {
    const names = [".", ...await readdir(directory, { recursive: true })]
    const modes = await Promise.all(names.map(async (name) => (await lstat(join(directory, name))).mode))
    return names.filter((_, index) => ((modes[index] ?? 0) & 0o077) !== 0)
  })

/** Without URLs, since the second server listens on another port. */
const withoutUrls = (job: Client.Job) => ({ ...job, output: null, preview_url: null, thumb_url: null })

/** Downloads a result by its signed URL in every way and returns its bytes. */
const assertDownload = Effect.fnUntraced(function*({ output }: Client.Job) {
  assert.isNotNull(output)
  const whole = yield* Client.send(output.url)
  assert.deepStrictEqual([whole.status, whole.headers.get("content-type")], [200, "image/png"])
  assert.strictEqual(whole.bytes.length, output.bytes)
  assert.deepStrictEqual([...whole.bytes.subarray(0, 8)], pngSignature)
  const media = yield* Media.Media
  assert.deepInclude(yield* media.normalise(whole.bytes), { mime: "image/png", width: 512, height: 512 })

  const head = yield* Client.send(output.url, { method: "HEAD" })
  assert.deepStrictEqual(
    [head.status, head.headers.get("content-length"), head.bytes.length],
    [200, String(output.bytes), 0]
  )
  const part = yield* Client.send(output.url, { headers: { range: "bytes=1-3" } })
  assert.deepStrictEqual([part.status, new TextDecoder().decode(part.bytes)], [206, "PNG"])
  assert.strictEqual(part.headers.get("content-range"), `bytes 1-3/${output.bytes}`)
  return whole.bytes
}, Effect.provide(Media.layer()))
