/** Memory of the chunks of files, which responses use one after the other. New memory costs page faults. */

/** The memory of one response, which sends one chunk after the other. */
export interface ChunkMemory {
  /** Returns the memory for the next chunk of this size, at most 256 KiB. */
  readonly allocate: (size: number) => Uint8Array
  /** Gives the memory back when neither a file nor a socket uses it any more. */
  readonly giveBack: () => void
}

/** Makes the function that makes the memory of a response. Keeps at most 8 MiB for later responses. */
export const make = (): () => ChunkMemory => {
  const free = new Map<number, Array<Uint8Array>>(sizes.map((size) => [size, []]))
  const put = (memory: Uint8Array) => {
    const kept = free.get(memory.length)
    if (kept !== undefined && kept.length * memory.length < keptBytesMax) kept.push(memory)
  }
  return () => {
    let current: Uint8Array | undefined
    const giveBack = () => {
      if (current !== undefined) put(current)
      current = undefined
    }
    return {
      allocate: (size) => {
        if (current !== undefined && current.length >= size) return current
        giveBack()
        const fitting = sizes.find((one) => one >= size) ?? size
        return current = free.get(fitting)?.pop() ?? new Uint8Array(fitting)
      },
      giveBack
    }
  }
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

/** The sizes of the chunks of a `BlobStore`. */
const sizes = [64 * 1024, 256 * 1024]

/** Bytes that are kept of each size. */
const keptBytesMax = 4 * 1024 ** 2
