/** Requests of the attackers of the benchmarks, received by a server that refuses everything. */
import { assert, it } from "@effect/vitest"
import { Effect } from "effect"
import { once, setMaxListeners } from "node:events"
import { createServer, type IncomingMessage } from "node:http"
import { buffer } from "node:stream/consumers"
import sharp from "sharp"
import { type AttackName, attacks } from "../src/neighbours/attacks.ts"

interface Received {
  readonly request: IncomingMessage
  readonly body: Buffer
}

const key = "the key"

/** Runs an attack until it has counted a refusal of each of its callers. Returns the requests. */
const run = (name: AttackName, callers: number) =>
  Effect.promise(async () => {
    const received: Array<Received> = []
    const server = createServer(async (request, response) => {
      // Longer bodies are not read, and some never arrive.
      const isSmall = Number(request.headers["content-length"]) < 2 ** 20
      received.push({ request, body: isSmall ? await buffer(request) : Buffer.alloc(0) })
      response.writeHead(429).end()
    })
    server.listen(0, "127.0.0.1")
    await once(server, "listening")
    const address = server.address()
    const port = typeof address === "object" ? address?.port : undefined
    const attack = await attacks[name]({ origin: `http://127.0.0.1:${port}`, database: "", keys: [key] })
    const stop = new AbortController()
    setMaxListeners(0, stop.signal)
    const outcomes: Array<string> = []
    await attack((outcome) => {
      if (outcomes.push(outcome) === callers) stop.abort()
    }, stop.signal)
    server.closeAllConnections()
    server.close()
    assert.deepStrictEqual(outcomes, Array.from({ length: callers }, () => "429"))
    for (const { request } of received) assert.strictEqual(request.headers.authorization, `Bearer ${key}`)
    return received
  })

it.live("uploads alternate between a large image of few bytes and a small one", () =>
  Effect.gen(function*() {
    const received = yield* run("uploads", 16)
    const sizes = yield* Effect.forEach(received, ({ body }) => Effect.promise(() => sharp(body).metadata()))
    assert.sameMembers([...new Set(sizes.map(({ width }) => width))], [12_000, 64])
    // Less than a hundredth of the pixels.
    for (const { body } of received) assert.isBelow(body.length, 12_000 * 1_600 * 3 / 100)
  }))

it.live("images have 40 megapixels", () =>
  Effect.gen(function*() {
    const received = yield* run("images", 16)
    const image = received.find(({ request }) => request.url === "/v1/uploads")
    const { height, width } = yield* Effect.promise(() => sharp(image?.body).metadata())
    assert.deepStrictEqual([width, height], [6324, 6324])
    const created = received.find(({ request }) => request.url === "/v1/generations")
    const { params } = JSON.parse(String(created?.body))
    assert.strictEqual(params.images[0].data, image?.body.toString("base64"))
  }))

it.live("bodies are announced and stop after a byte", () =>
  Effect.gen(function*() {
    const received = yield* run("bodies", 16)
    const lengths = new Set(received.map(({ request }) => request.headers["content-length"] ?? "chunked"))
    assert.sameMembers([...lengths], ["50331648", "10485760", "chunked"])
  }))

it.live("large bodies have almost 48 MiB", () =>
  Effect.gen(function*() {
    const [first] = yield* run("json", 12)
    const length = Number(first?.request.headers["content-length"])
    assert.isAbove(length, 47 * 2 ** 20)
    assert.isBelow(length, 48 * 2 ** 20)
  }))
