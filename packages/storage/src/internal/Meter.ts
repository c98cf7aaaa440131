/** Counts and hashes a blob on its way into storage, and refuses what is over the cap. */
import { createHash } from "node:crypto"
import { BlobError, TooLarge } from "../BlobError.ts"
import type { Blob, PutOptions } from "../BlobStore.ts"

/** What was measured so far. */
export interface Meter {
  /** Measures the next bytes. The answer is the refusal, if they are too many: keep none of them. */
  readonly add: (bytes: Uint8Array) => BlobError | undefined
  /** The measured blob. Call it once, at the end. */
  readonly finish: () => Blob
}

/** Starts at zero. */
export const make = (key: string, { bytesMax, contentType }: PutOptions): Meter => {
  const hash = createHash("sha256")
  let total = 0
  return {
    add: (bytes) => {
      total += bytes.length
      if (total > bytesMax) return new BlobError({ reason: new TooLarge({ key, bytesMax }) })
      hash.update(bytes)
      return undefined
    },
    finish: () => ({ key, bytes: total, sha256: hash.digest("hex"), contentType })
  }
}
