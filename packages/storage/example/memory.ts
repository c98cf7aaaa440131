import { BlobStore, UrlSigner } from "@kinora/storage"
import { Console, DateTime, Effect, Layer, Redacted, Stream } from "effect"

const program = Effect.gen(function*() {
  const blobs = yield* BlobStore.BlobStore
  const signer = yield* UrlSigner.UrlSigner
  const text = Stream.make(new TextEncoder().encode("a large result"))
  const blob = yield* blobs.put("results/1.txt", text, { bytesMax: 1024, contentType: "text/plain" })
  const part = yield* Stream.mkString(Stream.decodeText(blobs.get(blob.key, { start: 2, end: 6 })))

  const now = yield* DateTime.now
  const link = signer.sign("/results/1", DateTime.add(now, { hours: 1 }))
  const tomorrow = DateTime.add(now, { days: 1 })
  yield* Console.log(
    blob.bytes,
    part,
    signer.verify("/results/1", link, now),
    signer.verify("/results/1", link, tomorrow)
  )
})

const layer = Layer.merge(
  BlobStore.layerMemory,
  UrlSigner.layer({ keys: [Redacted.make("a secret of at least thirty-two bytes")] })
)

await Effect.runPromise(Effect.provide(program, layer))
// 14 large Valid Expired
