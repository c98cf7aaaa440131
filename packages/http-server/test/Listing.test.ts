import { assert, it } from "@effect/vitest"
import { Generation } from "@kinora/http-api"
import { DateTime, Effect, Schema } from "effect"
import { TestClock } from "effect/testing"
import { errorOf, limitOf } from "./Envelope.ts"
import * as Host from "./Host.ts"

const strictly = Schema.decodeUnknownSync(Generation.GenerationList, { onExcessProperty: "error" })
const idOf = ({ json }: Host.Answer) => Schema.decodeUnknownSync(Generation.Generation)(json).id

/** An account with jobs of both plan groups, oldest first. */
const createSome = Effect.fnUntraced(function*() {
  const send = yield* Host.start()
  const { account, key } = yield* Host.openAccount()
  const ids: Array<string> = []
  for (const [plan, model] of [["credits", "kinora-still"], ["studio", "kinora-draft"]] as const) {
    for (const prompt of ["a lake", "a sea"]) {
      ids.push(idOf(yield* send("POST", "/v1/generations", { key, body: { plan, model, params: { prompt } } })))
      yield* TestClock.adjust("1 second")
    }
  }
  const list = Effect.fnUntraced(function*(query: string) {
    const answer = yield* send("GET", `/v1/generations${query}`, { key })
    assert.strictEqual(answer.status, 200, answer.text)
    assert.strictEqual(limitOf(answer).limit, 300)
    return strictly(answer.json)
  })
  return { account, ids, key, list, send }
})

it.effect("lists the jobs of the account page by page, newest first", () =>
  Effect.gen(function*() {
    const { ids, key, list, send } = yield* createSome()
    const { key: other } = yield* Host.openAccount({ email: "other@example.com" })
    const newestFirst = ids.toReversed()
    const all = yield* list("")
    assert.deepStrictEqual(all.data.map(({ id }) => id), newestFirst)
    assert.isNull(all.next_cursor)
    const whole = yield* send("GET", `/v1/generations/${ids[0]}`, { key })
    assert.deepStrictEqual(all.data.at(-1), Schema.decodeUnknownSync(Generation.Generation)(whole.json))

    const first = yield* list("?limit=3")
    assert.deepStrictEqual(first.data.map(({ id }) => id), newestFirst.slice(0, 3))
    const last = yield* list(`?limit=3&cursor=${first.next_cursor}`)
    assert.deepStrictEqual(last.data.map(({ id }) => id), newestFirst.slice(3))
    assert.isNull(last.next_cursor)
    assert.deepStrictEqual((yield* send("GET", "/v1/generations", { key: other })).json, {
      data: [],
      next_cursor: null
    })
  }).pipe(Effect.scoped, Effect.provide(Host.layer)))

it.effect("filters the list by status, kind and plan", () =>
  Effect.gen(function*() {
    const { account, ids, list } = yield* createSome()
    const { id } = yield* Host.addCompleted(account, new Uint8Array(1))
    assert.deepStrictEqual((yield* list("?status=completed")).data.map(({ id }) => id), [id])
    assert.deepStrictEqual((yield* list("?plan=studio&status=queued")).data.map(({ id }) => id), [ids[3], ids[2]])
    assert.deepStrictEqual((yield* list("?kind=video")).data, [])
  }).pipe(Effect.scoped, Effect.provide(Host.layer)))

it.effect("filters the list by model, time and prompt", () =>
  Effect.gen(function*() {
    const { ids, list } = yield* createSome()
    const { data: [last] } = yield* list("?limit=1")
    const found = (query: string) => Effect.map(list(query), ({ data }) => data.map(({ id }) => id))
    assert.deepStrictEqual(yield* found("?model=kinora-draft"), [ids[3], ids[2]])
    assert.deepStrictEqual(yield* found("?q=SEA"), [ids[3], ids[1]])
    assert.deepStrictEqual(yield* found("?q=lake&model=kinora-still"), [ids[0]])
    const at = DateTime.formatIso(last!.created_at)
    assert.deepStrictEqual(yield* found(`?from=${at}`), [ids[3]])
    assert.deepStrictEqual(yield* found(`?to=${at}&model=kinora-draft`), [ids[2]])
  }).pipe(Effect.scoped, Effect.provide(Host.layer)))

it.effect("rejects invalid cursors, page sizes and filters", () =>
  Effect.gen(function*() {
    const { key, send } = yield* createSome()
    const queries = [
      "cursor=next",
      "cursor=",
      "limit=0",
      "limit=101",
      "limit=ten",
      "status=done",
      "kind=sound",
      "plan=free",
      `model=${"m".repeat(129)}`,
      "from=2026-11-21",
      "to=now",
      "q="
    ]
    for (const query of queries) {
      const { details } = errorOf(yield* send("GET", `/v1/generations?${query}`, { key }), "invalid_params")
      const [issue] = details["issues"] as ReadonlyArray<{ readonly path: string }>
      assert.strictEqual(issue?.path, query.split("=")[0], query)
    }
  }).pipe(Effect.scoped, Effect.provide(Host.layer)))
