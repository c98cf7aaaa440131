/** A valid MP4 of any length, which a server sends without having it in memory. */
import type { Handler } from "@kinora/testkit/upstreams/Listener"
import { mp4 } from "@kinora/testkit/upstreams/Results"

/** Sends an MP4 of this length in bytes: one frame, followed by zeros that no frame uses. */
export const sends = (length: number): Handler => (_, response) => {
  response.writeHead(200, { "content-type": mp4.mime, "content-length": length })
  const zeros = length - mp4.bytes.length
  const head = Buffer.from(mp4.bytes.subarray(0, media.end))
  head.writeUInt32BE(media.end - media.start + zeros, media.start)
  response.write(head)
  let left = zeros
  const send = (): void => {
    if (response.destroyed) return
    if (left === 0) return void response.end(mp4.bytes.subarray(media.end))
    const part = part64KiB.subarray(0, left)
    left -= part.length
    response.write(part, send)
  }
  send()
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

/** The box `mdat` of the small video. The index follows it, so offsets of frames do not change when it becomes longer. */
const media = { start: 24, end: 41 } as const

const part64KiB = Buffer.alloc(64 * 1024)
