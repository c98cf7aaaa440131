import { createBlobStore, createUrlSigner } from "@kinora/storage/promise"
import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"

const directory = await mkdtemp(join(tmpdir(), "blobs-"))
const blobs = await createBlobStore({ directory })
const signer = createUrlSigner({ keys: ["a secret of at least thirty-two bytes"] })

// The body of a response, as it arrives.
const { body } = new Response("a large result")
const blob = await blobs.put("results/1.txt", body!, { bytesMax: 1024, contentType: "text/plain" })
const part = await blobs.get(blob.key, { range: { start: 2, end: 6 } })
console.log(blob.bytes, await new Response(part).text()) // 14 large

const inOneHour = new Date(Date.now() + 3_600_000)
const link = signer.sign("/results/1", inOneHour)
console.log(signer.verify("/results/1", link, new Date()), signer.verify("/results/2", link, new Date())) // Valid Wrong

await blobs.close()
await rm(directory, { recursive: true })
