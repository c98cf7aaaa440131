import { afterEach, assert, beforeEach, it, vi } from "@effect/vitest"
import { Effect } from "effect"
import { readFile } from "node:fs/promises"
import { connected, sizeOfPicture } from "../example/effect.ts"
import { explain } from "../example/errors.ts"
import * as Client from "../src/index.ts"
import { job, refusal, rejection, request } from "./Scene.ts"

const answer = vi.fn<(url: string, init: RequestInit) => Promise<Response>>()

beforeEach(() => {
  vi.stubGlobal("fetch", answer.mockReset())
})

afterEach(() => {
  vi.unstubAllGlobals()
  vi.unstubAllEnvs()
  vi.restoreAllMocks()
})

const failed = job({
  status: "failed",
  error: { code: "content_rejected", message: "No lakes.", reason: "safety" },
  error_code: "content_rejected"
})

it("prints what the first example of the README shows", async () => {
  const log = vi.spyOn(console, "log").mockReturnValue()
  await import("../example/memory.ts")
  assert.deepStrictEqual(log.mock.calls, [["gen_1", "completed", 9]])
})

it("prints the status and the size of a picture", async () => {
  const log = vi.spyOn(console, "log").mockReturnValue()
  vi.stubEnv("KEY", "kin_secret")
  vi.stubEnv("URL", "http://kinora.test")
  answer.mockResolvedValueOnce(Response.json(job())).mockResolvedValueOnce(new Response("picture"))
  await import("../example/picture.ts")
  assert.deepStrictEqual(log.mock.calls, [["gen_1", "completed"], [7, "bytes"]])
  const [url, { headers }] = answer.mock.calls[0]!
  assert.strictEqual(url, "http://kinora.test/v1/generations")
  assert.strictEqual(new Headers(headers).get("authorization"), "Bearer kin_secret")
})

it("explains errors", async () => {
  const explained = async (response: Response) => {
    answer.mockResolvedValueOnce(response)
    const kinora = new Client.Kinora({ baseUrl: "http://kinora.test", apiKey: null })
    return explain(await rejection(kinora.generate(request)))
  }
  assert.strictEqual(
    await explained(Response.json(failed)),
    "The job failed and was refunded: content_rejected: No lakes."
  )
  assert.strictEqual(
    await explained(refusal(402, "insufficient_credits", {}, {}, "credits")),
    "Try the other plan: insufficient_credits"
  )
})

it.effect("returns the size of a picture as an effect", () =>
  Effect.gen(function*() {
    answer.mockResolvedValueOnce(Response.json(job())).mockResolvedValueOnce(new Response("picture"))
    assert.strictEqual(yield* sizeOfPicture, 7)
    answer.mockResolvedValueOnce(Response.json(failed))
    assert.strictEqual(yield* sizeOfPicture, 0)
  }).pipe(Effect.provide(connected("kin_secret"))))

const read = (path: string) => readFile(new URL(path, import.meta.url), "utf8")

it("shows the examples in the README", async () => {
  const readme = await read("../README.md")
  for (const example of ["memory", "picture", "errors", "effect"]) {
    assert.include(readme, await read(`../example/${example}.ts`))
  }
})
