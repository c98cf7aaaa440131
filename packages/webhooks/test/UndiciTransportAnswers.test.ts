import { assert, it } from "@effect/vitest"
import { Effect } from "effect"
import type { Socket } from "node:net"
import { gzipSync } from "node:zlib"
import type { Outcome } from "../src/Delivery.ts"
import { flood, makeRawReceiver, makeReceiver, makeTransport, requestTo } from "./receivers.ts"

it.live.each<readonly [number, Outcome["reason"]]>([
  [200, "ok"],
  [201, "ok"],
  [202, "ok"],
  [204, "ok"],
  [299, "ok"],
  [300, "redirect"],
  [301, "redirect"],
  [302, "redirect"],
  [304, "redirect"],
  [307, "redirect"],
  [308, "redirect"],
  [400, "status_400"],
  [404, "status_404"],
  [410, "status_410"],
  [429, "status_429"],
  [500, "status_500"],
  [503, "status_503"],
  [599, "status_599"]
])("reports the status %d as %s", ([status, reason]) =>
  Effect.gen(function*() {
    const receiver = yield* makeReceiver({ answer: (_, response) => response.writeHead(status).end() })
    const { send } = yield* makeTransport()
    assert.deepStrictEqual(yield* send(requestTo(receiver)), { reason, httpStatus: status })
  }))

it.live("waits for the response after informational ones", () =>
  Effect.gen(function*() {
    const receiver = yield* makeReceiver({
      answer: (_, response) => {
        response.writeProcessing()
        response.writeEarlyHints({ link: "</style.css>; rel=preload" })
        response.writeHead(204).end()
      }
    })
    const { send } = yield* makeTransport()
    assert.deepStrictEqual(yield* send(requestTo(receiver)), { reason: "ok", httpStatus: 204 })
  }))

const head = "HTTP/1.1 200 OK\r\n"
const taken: Outcome = { reason: "ok", httpStatus: 200 }

it.live.each<readonly [string, Outcome, string]>([
  ["is not HTTP", { reason: "protocol", httpStatus: null }, "SSH-2.0-OpenSSH_9.6\r\n"],
  ["has a broken head", { reason: "protocol", httpStatus: null }, `${head}no colon\r\n\r\n`],
  [
    "has two lengths",
    { reason: "protocol", httpStatus: null },
    `${head}Content-Length: 1\r\nContent-Length: 2\r\n\r\nab`
  ],
  [
    "has a head of more than 16 KiB",
    { reason: "protocol", httpStatus: null },
    `${head}X: ${"x".repeat(17_000)}\r\n\r\n`
  ],
  [
    "switches to another protocol",
    { reason: "protocol", httpStatus: null },
    "HTTP/1.1 101 Switching\r\nConnection: upgrade\r\nUpgrade: x\r\n\r\n"
  ],
  ["ends within its head", { reason: "protocol", httpStatus: null }, `${head}X: x`],
  ["has only an informational part", { reason: "protocol", httpStatus: null }, "HTTP/1.1 103 Early Hints\r\n\r\n"],
  [
    "follows more than 16 informational ones",
    { reason: "protocol", httpStatus: null },
    `${"HTTP/1.1 103 Early Hints\r\n\r\n".repeat(17)}${head}Content-Length: 0\r\n\r\n`
  ],
  ["is empty", { reason: "connect", httpStatus: null }, ""],
  ["ends with the connection", { reason: "ok", httpStatus: 200 }, `${head}\r\nbody`],
  ["is of HTTP/1.0", { reason: "ok", httpStatus: 200 }, "HTTP/1.0 200 OK\r\n\r\nbody"]
])("reports the outcome of a response that %s", ([, outcome, bytes]) =>
  Effect.gen(function*() {
    const receiver = yield* makeRawReceiver((socket) => socket.end(bytes))
    const { send } = yield* makeTransport()
    assert.deepStrictEqual(yield* send(requestTo(receiver)), outcome)
    yield* receiver.idle.await
  }))

it.live("reports connections that are refused, reset, or reset within the response head", () =>
  Effect.gen(function*() {
    const { send } = yield* makeTransport()
    const gone = yield* Effect.scoped(makeReceiver())
    assert.deepStrictEqual(yield* send(requestTo(gone)), { reason: "connect", httpStatus: null })
    const resetting = yield* makeRawReceiver((socket) => socket.resetAndDestroy())
    assert.deepStrictEqual(yield* send(requestTo(resetting)), { reason: "connect", httpStatus: null })
    const within = yield* makeRawReceiver((socket) => socket.write(`${head}X: x`, () => socket.resetAndDestroy()))
    assert.deepStrictEqual(yield* send(requestTo(within)), { reason: "connect", httpStatus: null })
  }))

const drip = (socket: Socket) => {
  const timer = setInterval(() => socket.write("x"), 10)
  socket.on("close", () => clearInterval(timer))
}

it.live.each<readonly [string, (socket: Socket) => void]>([
  ["is reset", (socket) => socket.write("ab", () => socket.resetAndDestroy())],
  ["ends before its length", (socket) => socket.end("ab")],
  ["does not begin", () => {}],
  ["drips", drip],
  ["is too long", (socket) => flood(socket, "x".repeat(900))]
])(
  "returns the status if a body %s, and closes the connection",
  ([, write]) =>
    Effect.gen(function*() {
      const answerWith = (status: number) =>
        makeRawReceiver((socket) => {
          socket.write(`HTTP/1.1 ${status} Some\r\nContent-Length: 1000000\r\n\r\n`, () => write(socket))
        })
      const { send } = yield* makeTransport({ timeout: "1 minute", bodyTimeout: "100 millis" })
      const [taking, failing] = [yield* answerWith(200), yield* answerWith(500)]
      const outcomes = yield* Effect.all([send(requestTo(taking)), send(requestTo(failing))], { concurrency: 2 })
      assert.deepStrictEqual(outcomes, [
        { reason: "ok", httpStatus: 200 },
        { reason: "status_500", httpStatus: 500 }
      ])
      yield* taking.idle.await
      yield* failing.idle.await
    })
)

it.live("returns the status if the body is malformed", () =>
  Effect.gen(function*() {
    const receiver = yield* makeRawReceiver((socket) => socket.write(`${head}Transfer-Encoding: chunked\r\n\r\nzz\r\n`))
    const { send } = yield* makeTransport()
    assert.deepStrictEqual(yield* send(requestTo(receiver)), taken)
    yield* receiver.idle.await
  }))

it.live("returns the status if the time limit ends within the body", () =>
  Effect.gen(function*() {
    const receiver = yield* makeRawReceiver((socket) => {
      socket.write(`${head}Content-Length: 1000\r\n\r\n`)
      drip(socket)
    })
    const { send } = yield* makeTransport({ timeout: "1 second", bodyTimeout: "1 minute" })
    assert.deepStrictEqual(yield* send(requestTo(receiver)), taken)
    yield* receiver.idle.await
  }))

it.live("times out on a response head that never ends", () =>
  Effect.gen(function*() {
    const receiver = yield* makeRawReceiver((socket) => {
      socket.write(head)
      flood(socket, `X-More: ${"x".repeat(1_000)}\r\n`)
    })
    const { send } = yield* makeTransport()
    assert.deepStrictEqual(yield* send(requestTo(receiver)), { reason: "protocol", httpStatus: null })
    yield* receiver.idle.await
  }))

const chunked = `${head}Transfer-Encoding: chunked\r\n\r\n`

it.live.each<readonly [string, Outcome, string, string]>([
  ["body", taken, chunked, `1000\r\n${"x".repeat(4_096)}\r\n`],
  ["extension of a chunk", taken, `${chunked}1;`, "x".repeat(4_096)],
  ["row of trailers", taken, `${chunked}1\r\na\r\n0\r\n`, `X: ${"x".repeat(4_000)}\r\n`],
  [
    "row of announcements",
    { reason: "protocol", httpStatus: null },
    "",
    `HTTP/1.1 103 Early Hints\r\nLink: ${"x".repeat(8_000)}\r\n\r\n`
  ]
])(
  "reads 64 KiB of a response with an endless %s, and closes the connection",
  ([, outcome, first, more]) =>
    Effect.gen(function*() {
      let written = 0
      const receiver = yield* makeRawReceiver((socket) => {
        socket.on("close", () => {
          written = socket.bytesWritten
        })
        socket.write(first)
        flood(socket, more)
      })
      const { send } = yield* makeTransport({ bodyTimeout: "1 minute" })
      assert.deepStrictEqual(yield* send(requestTo(receiver)), outcome)
      yield* receiver.idle.await
      // Bytes in transit fill the buffers of both ends.
      assert.isBelow(written, 16 * 1024 ** 2)
    })
)

it.live("counts the bytes of each response separately", () =>
  Effect.gen(function*() {
    const receiver = yield* makeReceiver({
      answer: (_, response) => response.writeHead(200).end("x".repeat(60_000))
    })
    const { send } = yield* makeTransport()
    for (let nth = 0; nth < 5; nth++) assert.deepStrictEqual(yield* send(requestTo(receiver)), taken)
    assert.strictEqual(receiver.connections(), 1)
  }))

it.live("does not decompress bodies", () =>
  Effect.gen(function*() {
    const packed = gzipSync(Buffer.alloc(32 * 1024 ** 2))
    const receiver = yield* makeReceiver({
      answer: (_, response) => response.writeHead(200, { "content-encoding": "gzip" }).end(packed)
    })
    const { send } = yield* makeTransport({ answerBytesMax: packed.length + 1_024 })
    assert.deepStrictEqual(yield* send(requestTo(receiver)), taken)
    assert.deepStrictEqual(yield* send(requestTo(receiver)), taken)
    assert.strictEqual(receiver.connections(), 1)
  }))
