import { Fingerprint, Idempotency, IdempotencyKey } from "@kinora/idempotency"
import { Console, Effect, Layer } from "effect"
import { Digest } from "effect/crypto"

const program = Effect.gen(function*() {
  const { once } = yield* Idempotency.Idempotency
  const request = {
    scope: "ada/orders",
    key: IdempotencyKey.IdempotencyKey.Explicit({ text: "k-1" }),
    fingerprint: yield* Fingerprint.make({ item: "lamp", count: 2 })
  }
  const place = (id: string) => once({ ...request, reference: id }, Console.log(`${id} is placed`)) // order-1 is placed

  yield* place("order-1")
  const again = yield* place("order-2")
  yield* Console.log(again._tag === "Replay" ? `replay of ${again.reference}` : "new") // replay of order-1
})

const layer = Layer.merge(Idempotency.layerMemory, Digest.layerWebCrypto)

await Effect.runPromise(program.pipe(Effect.provide(layer)))
