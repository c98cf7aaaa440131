import { afterEach, assert, beforeEach, it, vi } from "@effect/vitest"
import { Effect } from "effect"
import { readFile } from "node:fs/promises"
import { connected, sizeOfPicture } from "../example/effect.ts"
import { connect, explain, makePicture } from "../example/picture.ts"
import { job, refusal, rejection } from "./Scene.ts"

const answer = vi.fn<(url: string, init: RequestInit) => Promise<Response>>()

beforeEach(() => {
  vi.stubGlobal("fetch", answer.mockReset())
})

afterEach(() => {
  vi.unstubAllGlobals()
})

const failed = job({
  status: "failed",
  error: { code: "content_rejected", message: "No lakes.", reason: "safety" },
  error_code: "content_rejected"
})

it("the README's example runs: a picture", async () => {
  const said: Array<string> = []
  answer.mockResolvedValueOnce(Response.json(job())).mockResolvedValueOnce(new Response("picture"))
  const picture = await makePicture(connect("kin_secret"), "a lake", (line) => said.push(line))
  assert.strictEqual(new TextDecoder().decode(picture), "picture")
  assert.deepStrictEqual(said, ["gen_1 is completed"])
  const [url, { headers }] = answer.mock.calls[0]!
  assert.strictEqual(url, "http://127.0.0.1:4747/v1/generations")
  assert.strictEqual(new Headers(headers).get("authorization"), "Bearer kin_secret")
})

it("the README's example runs: no picture", async () => {
  const explained = async (response: Response) => {
    answer.mockResolvedValueOnce(response)
    return explain(await rejection(makePicture(connect("kin_secret"), "a lake", () => {})))
  }
  assert.strictEqual(
    await explained(Response.json(failed)),
    "No picture, and nothing to pay: content_rejected: No lakes."
  )
  assert.strictEqual(
    await explained(refusal(402, "insufficient_credits", {}, {}, "credits")),
    "Try another plan than credits: insufficient_credits"
  )
})

it.effect("the README's example of Effect runs", () =>
  Effect.gen(function*() {
    answer.mockResolvedValueOnce(Response.json(job())).mockResolvedValueOnce(new Response("picture"))
    assert.strictEqual(yield* sizeOfPicture, 7)
    answer.mockResolvedValueOnce(Response.json(failed))
    assert.strictEqual(yield* sizeOfPicture, 0)
  }).pipe(Effect.provide(connected("kin_secret"))))

it("the README shows the examples as they run", async () => {
  const read = (path: string) => readFile(new URL(path, import.meta.url), "utf8")
  const readme = await read("../README.md")
  for (const example of ["picture", "effect"]) assert.include(readme, await read(`../example/${example}.ts`))
})
