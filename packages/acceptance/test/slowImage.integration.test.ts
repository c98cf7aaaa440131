/**
 * An image that takes 140 seconds, with client libraries in their default settings. Time is real, because the timeouts
 * and retries of the libraries are tested.
 */
import { createOpenAI } from "@ai-sdk/openai"
import { assert, describe, it } from "@effect/vitest"
import { generateImage } from "ai"
import { Clock, Effect } from "effect"
import OpenAI from "openai"
import * as Books from "../src/Books.ts"
import * as Client from "../src/Client.ts"
import * as Drill from "../src/Drill.ts"
import * as Program from "../src/Program.ts"
import { pngSizeOf } from "./imageServer.ts"
import { makeSite } from "./sites.ts"

const model = { ...Drill.model({ id: "drill-140", delay: "140 seconds" }), studio_eligible: false }

describe("an image that takes 140 seconds", () => {
  it.live(
    "is returned by openai and ai in their default settings, as one job each, charged once",
    () =>
      Effect.gen(function*() {
        const site = yield* makeSite("Postgres", [model])
        const server = yield* Program.startServer(site.environment)
        const [first, second] = yield* Books.use(site, Books.openAccounts(2, { credits: 10 }))
        if (first === undefined || second === undefined) return assert.fail("there are two accounts")
        const baseURL = `${server.baseUrl}/v1`
        const began = yield* Clock.currentTimeMillis
        const images = yield* Effect.all([
          Effect.promise(() => askOpenAI({ baseURL, apiKey: first.key })),
          Effect.promise(() => askAi({ baseURL, apiKey: second.key }))
        ], { concurrency: 2 })
        assert.isAtLeast((yield* Clock.currentTimeMillis) - began, 140_000)
        for (const image of images) assert.deepStrictEqual(pngSizeOf(image), [16, 16])
        for (const { id, key } of [first, second]) {
          const jobs = Client.jobsOf(yield* Client.make(server.baseUrl, key).request("/v1/generations"))
          assert.deepStrictEqual(jobs.map(({ cost_credits, status }) => [status, cost_credits]), [["completed", 1]])
          assert.deepStrictEqual(yield* Books.use(site, Books.movementsOf(id)), { charges: 1, refunds: 0, consumed: 1 })
        }
      }),
    600_000
  )
})

interface Access {
  readonly baseURL: string
  readonly apiKey: string
}

const askOpenAI = async (access: Access): Promise<Uint8Array> => {
  const { data } = await new OpenAI(access).images.generate({ model: model.id, prompt: "a lake" })
  const { url = "" } = data?.[0] ?? {}
  return (await fetch(url)).bytes()
}

const askAi = async (access: Access): Promise<Uint8Array> => {
  const { image } = await generateImage({ model: createOpenAI(access).image(model.id), prompt: "a lake" })
  return image.uint8Array
}
