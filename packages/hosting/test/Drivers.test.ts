import { assert, it } from "@effect/vitest"
import { Catalog, DefaultModels, type Model } from "@kinora/catalog"
import { Effect, Layer } from "effect"
import * as Drivers from "../src/Drivers.ts"

/** What a start with the default model changed like this would say. */
const problemsWith = (changes: Partial<Model.ModelInput>) =>
  Effect.flip(Drivers.check).pipe(
    Effect.map(({ message }) => message),
    Effect.provide(Layer.mergeAll(Catalog.layer([{ ...DefaultModels.sketch, ...changes }]), Drivers.layer))
  )

it.effect("serves the default models", () =>
  Drivers.check.pipe(Effect.provide(Layer.mergeAll(Catalog.layer(DefaultModels.models), Drivers.layer))))

it.effect("refuses a driver that there is not, and names those that there are", () =>
  Effect.gen(function*() {
    assert.strictEqual(
      yield* problemsWith({ driver: { name: "painter" } }),
      "The model kinora-sketch-1 names the driver \"painter\"; there are procedural, scripted"
    )
  }))

it.effect("refuses options that the scripted driver does not understand", () =>
  Effect.gen(function*() {
    assert.match(
      yield* problemsWith({ driver: { name: "scripted", options: { delay: "soon" } } }),
      /options that the driver scripted does not understand/
    )
  }))

it.effect("refuses reference images, which would be dropped in silence", () =>
  Effect.gen(function*() {
    const changes = { capabilities: ["text_to_image", "image_to_image"], max_reference_images: 1 } as const
    assert.match(yield* problemsWith(changes), /max_reference_images must be 0/)
  }))
