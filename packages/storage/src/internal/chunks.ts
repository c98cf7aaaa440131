/** The sizes of the chunks of a read. */

/** Maximum size of a chunk in bytes. */
export const chunkBytesMax = 256 * 1024

/** Size of the first chunks in bytes. */
export const firstChunkBytes = 64 * 1024

/**
 * Returns the size of the next chunk of a reader that has read `read` bytes and still has to read `left`.
 *
 * Large chunks take less processor time per byte. The first ones are small, because a reader that stops holds a
 * chunk, and many readers stop early. The buffers of the system take some MiB from a reader that reads nothing.
 */
export const nextChunkBytes = (read: number, left: number): number =>
  Math.min(read < firstBytes ? firstChunkBytes : chunkBytesMax, left)

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

/** Bytes that are read in first chunks. */
const firstBytes = 8 * 1024 ** 2
