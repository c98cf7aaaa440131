import { assert, it } from "@effect/vitest"
import { createH264Encoder } from "../src/ClipEncoding.ts"

it("creates an encoder without the handlers with which its module ends the process", async () => {
  const handlers = () => ["uncaughtException", "unhandledRejection"].map((event) => process.rawListeners(event))
  const before = handlers()
  const encoder = await createH264Encoder()
  encoder.delete()
  assert.deepStrictEqual(handlers(), before)
})
