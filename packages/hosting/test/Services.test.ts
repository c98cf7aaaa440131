import { assert, it } from "@effect/vitest"
import { Media } from "@kinora/media"
import { Effect, Layer, Redacted } from "effect"
import * as Drivers from "../src/Drivers.ts"
import * as Host from "../src/Host.ts"
import * as Webhook from "../src/Webhook.ts"

const keys = [Redacted.make("at least 32 bytes that only the service has")] as const

/** A PNG of one red pixel. */
const pixel = Buffer.from(
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAIAAACQd1PeAAAADElEQVR4nGP4z8AAAAMBAQDJ/pLvAAAAAElFTkSuQmCC",
  "base64"
)

it.effect("limits results by its options", () =>
  Effect.gen(function*() {
    const { probe } = yield* Media.Media
    const read = (start: number, length: number) => Effect.succeed(pixel.subarray(start, start + length))
    const { reason } = yield* Effect.flip(probe({ bytes: pixel.length, read }))
    assert.deepInclude(reason, { _tag: "LimitExceeded", limit: "bytesMax", max: 60 })
  }).pipe(Effect.provide(
    Host.layerMemory({ media: { probe: { bytesMax: 60 } }, urlSigningKeys: keys }).pipe(
      Layer.provide([Drivers.layer(), Webhook.layerProtection({ keys })])
    )
  )))
