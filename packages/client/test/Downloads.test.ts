import { assert, it } from "@effect/vitest"
import { ConnectionError } from "../src/KinoraError.ts"
import { type Answer, refusal, rejection, scene } from "./Scene.ts"

const signed = "v1/generations/gen_1/content?exp=1&sig=s"

/** A response with a part of the file `0123456789` that breaks off after these chunks. */
const breaking = (pieces: ReadonlyArray<string>, headers: Readonly<Record<string, string>>, status = 200) => {
  const left = [...pieces]
  const body = new ReadableStream<Uint8Array>({
    pull: (controller) => {
      const piece = left.shift()
      if (piece === undefined) return controller.error(new TypeError("terminated"))
      controller.enqueue(new TextEncoder().encode(piece))
    }
  })
  return new Response(body, { status, headers })
}

const whole = { "etag": `"a"`, "content-length": "10" }
const from = (first: number, etag = `"a"`) => ({ etag, "content-range": `bytes ${first}-9/10` })

it("sends the range and returns the headers of the response", async () => {
  const { asked, kinora } = scene(
    ["0-3", "0-3", "0-3"].map(() => new Response("0123", { status: 206, headers: from(0) }))
  )
  const response = await kinora.generations.content("gen_1", { range: { start: 0, end: 3 } })
  assert.strictEqual(response.status, 206)
  assert.strictEqual(response.headers.get("content-range"), "bytes 0-9/10")
  await kinora.generations.preview("gen_1", { range: { start: 4 } })
  await kinora.generations.poster("gen_1", { range: { last: 2 } })
  assert.deepStrictEqual(asked.map(({ headers, url }) => [url.split("/").at(-1), headers.get("range")]), [
    ["content", "bytes=0-3"],
    ["preview", "bytes=4-"],
    ["poster", "bytes=-2"]
  ])
})

it("HEAD and 304 return a response without a body", async () => {
  const { asked, kinora } = scene([new Response(null, { headers: whole }), new Response(null, { status: 304 })])
  const head = await kinora.generations.thumb("gen_1", { headersOnly: true })
  assert.strictEqual(head.headers.get("content-length"), "10")
  assert.strictEqual((await kinora.generations.content("gen_1", { ifNoneMatch: `"a"` })).status, 304)
  assert.deepStrictEqual(asked.map(({ headers, method }) => [method, headers.get("if-none-match")]), [
    ["HEAD", null],
    ["GET", `"a"`]
  ])
})

it("a download that breaks off resumes at the next byte if the file has not changed", async () => {
  const { asked, kinora } = scene([
    breaking(["01", "234"], whole),
    new TypeError("fetch failed"),
    breaking(["56"], from(5), 206),
    breaking(["789"], from(7), 206)
  ])
  const response = await kinora.generations.content("gen_1")
  assert.strictEqual(await response.text(), "0123456789")
  assert.deepStrictEqual(asked.map(({ headers }) => [headers.get("range"), headers.get("if-range")]), [
    [null, null],
    ["bytes=5-9", `"a"`],
    ["bytes=5-9", `"a"`],
    ["bytes=7-9", `"a"`]
  ])
})

it("a download can break off any number of times if each connection makes progress", async () => {
  const { kinora } = scene([
    breaking(["0"], whole),
    ...Array.from({ length: 9 }, (_, index) => breaking([`${index + 1}`], from(index + 1), 206))
  ])
  assert.strictEqual(await (await kinora.generations.content("gen_1")).text(), "0123456789")
})

it("a range resumes within the range", async () => {
  const part = { etag: `"a"`, "content-range": "bytes 2-5/10" }
  const rest = new Response("5", { status: 206, headers: { etag: `"a"`, "content-range": "bytes 5-5/10" } })
  const { asked, kinora } = scene([breaking(["234"], part, 206), rest])
  const response = await kinora.generations.content("gen_1", { range: { start: 2, end: 5 } })
  assert.strictEqual(await response.text(), "2345")
  assert.strictEqual(asked[1]?.headers.get("range"), "bytes=5-5")
})

it("a download that ends before its length is resumed", async () => {
  const rest = new Response("56789", { status: 206, headers: from(5) })
  const { kinora } = scene([new Response("01234", { headers: whole }), rest])
  assert.strictEqual(await (await kinora.generations.content("gen_1")).text(), "0123456789")
})

it("a download is not resumed if the file changed, if it has no strong ETag, or for ever", async () => {
  const cases: ReadonlyArray<readonly [ReadonlyArray<Answer>, asked: number]> = [
    [[breaking(["01"], whole), new Response("abcdefghij", { headers: { ...whole, etag: `"b"` } })], 2],
    [[breaking(["01"], { ...whole, etag: `W/"a"` })], 1],
    [[breaking(["01"], { etag: `"a"` })], 1],
    [[breaking(["01"], whole), ...[1, 2, 3, 4].map(() => breaking([], from(2), 206))], 5]
  ]
  for (const [answers, times] of cases) {
    const { asked, kinora } = scene(answers)
    const response = await kinora.generations.content("gen_1")
    assert.instanceOf(await rejection(response.text()), ConnectionError)
    assert.strictEqual(asked.length, times)
  }
})

it("a stream is read only on demand, and cancelling it ends the connection", async () => {
  let pulled = 0
  const endless = new ReadableStream<Uint8Array>({
    pull: (controller) => {
      pulled++
      controller.enqueue(new Uint8Array(1))
    }
  }, { highWaterMark: 0 })
  const { asked, kinora } = scene([new Response(endless)])
  const { body } = await kinora.generations.content("gen_1")
  const reader = body!.getReader()
  await reader.read()
  assert.strictEqual(pulled, 1)
  await reader.cancel()
  assert.isTrue(asked[0]?.signal.aborted)
})

it("silence between two chunks breaks the download, and a slow reader does not", async () => {
  const stuck = new ReadableStream<Uint8Array>({ start: (controller) => controller.enqueue(new Uint8Array(5)) })
  const rest = () => new Response("56789", { status: 206, headers: from(5) })
  const { asked, kinora, time } = scene([new Response(stuck, { headers: whole }), rest()])
  const reader = (await kinora.generations.content("gen_1")).body!.getReader()
  await reader.read()
  await new Promise<void>((resume) => time.after(600_000, resume))
  assert.strictEqual(asked.length, 1)
  assert.strictEqual((await reader.read()).value?.length, 5)
  assert.strictEqual(asked[1]?.at, 690_000)
})

it("an abort rejects a download with its reason", async () => {
  const controller = new AbortController()
  const stuck = new ReadableStream<Uint8Array>({ start: (controller) => controller.enqueue(new Uint8Array(5)) })
  const { asked, kinora } = scene([new Response(stuck, { headers: whole })])
  const reader = (await kinora.generations.content("gen_1", { signal: controller.signal })).body!.getReader()
  await reader.read()
  const reason = new Error("Enough")
  controller.abort(reason)
  assert.isTrue(asked[0]?.signal.aborted)
  assert.strictEqual(await rejection(reader.read()), reason)
})

it("the key is sent to URLs of the service only", async () => {
  const addresses = [
    `https://api.test/kinora/${signed}`,
    `https://api.test/${signed}`,
    `https://api.test/kinora-other/${signed}`,
    `https://files.test/kinora/${signed}`,
    `http://api.test/kinora/${signed}`
  ]
  const { asked, kinora } = scene(addresses.map(() => new Response("ok")), { baseUrl: "https://api.test/kinora" })
  for (const address of addresses) await kinora.download(address)
  assert.deepStrictEqual(asked.map(({ url }) => url), addresses)
  assert.deepStrictEqual(asked.map(({ headers }) => headers.has("authorization")), [true, false, false, false, false])
})

it("a URL that is not http or https is rejected without a request", async () => {
  const { asked, kinora } = scene([])
  for (const url of ["", "/v1/models", "file:///etc/passwd", "data:,hello"]) {
    assert.instanceOf(await rejection(kinora.download(url)), TypeError)
  }
  assert.strictEqual(asked.length, 0)
})

it("an expired result is rejected with its code", async () => {
  const { kinora } = scene([refusal(410, "result_expired")])
  assert.propertyVal(await rejection(kinora.generations.content("gen_1")), "code", "result_expired")
})

it("uploads accept bytes, blobs and streams and send their media type", async () => {
  const jpeg = new Uint8Array([0xff, 0xd8, 0xff, 0xe0])
  const webp = new TextEncoder().encode("RIFF\x1a\x00\x00\x00WEBPVP8 ")
  const streamed = new Response(webp).body!
  const { asked, kinora } = scene([1, 2, 3, 4, 5].map(() => Response.json({ id: "upl_1" })))
  await kinora.uploads.create(jpeg)
  await kinora.uploads.create(jpeg.buffer, { mime: "image/png" })
  await kinora.uploads.create(new File([webp], "a.webp", { type: "image/webp" }))
  await kinora.uploads.create(streamed)
  await kinora.uploads.create(new Blob(["text"]))
  assert.deepStrictEqual(asked.map(({ headers }) => headers.get("content-type")), [
    "image/jpeg",
    "image/png",
    "image/webp",
    "image/webp",
    "application/octet-stream"
  ])
  const sent = asked[3]?.body
  assert.isTrue(sent instanceof Blob && sent.size === webp.length)
})

it("a stream that exceeds the limit of an upload is not read further", async () => {
  const endless = new ReadableStream<Uint8Array<ArrayBuffer>>({
    pull: (controller) => controller.enqueue(new Uint8Array(16 * 1024 * 1024))
  })
  const { asked, kinora } = scene([])
  assert.instanceOf(await rejection(kinora.uploads.create(endless)), RangeError)
  assert.strictEqual(asked.length, 0)
})
