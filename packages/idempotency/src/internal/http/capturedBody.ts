/** The bytes of a response body up to a maximum. */

/** A body that is collected while it is sent. */
export interface CapturedBody {
  /** Adds a chunk. Beyond the maximum, all are dropped. */
  readonly add: (chunk: Uint8Array) => void
  readonly isTooLarge: () => boolean
  /** Returns the body, or `undefined` if it is too large. */
  readonly bytes: () => Uint8Array<ArrayBuffer> | undefined
}

/** Creates an empty body. */
export const makeCapturedBody = (sizeMax: number): CapturedBody => {
  let chunks: Array<Uint8Array> = []
  let size = 0
  return {
    add: (chunk) => {
      size += chunk.length
      if (size > sizeMax) chunks = []
      // A program may use the memory of a chunk again.
      else chunks.push(chunk.slice())
    },
    isTooLarge: () => size > sizeMax,
    bytes: () => {
      if (size > sizeMax) return undefined
      const bytes = new Uint8Array(size)
      let offset = 0
      for (const chunk of chunks) {
        bytes.set(chunk, offset)
        offset += chunk.length
      }
      return bytes
    }
  }
}
