/** Messages over a pipe: a line of JSON, and the bytes that follow it. */
import type { Readable, Writable } from "node:stream"

/** A message. */
export interface Frame {
  /** A value of JSON. */
  readonly message: unknown
  readonly data: Uint8Array
}

/** Writes a message. */
export const write = (pipe: Writable, { data, message }: Frame): void => {
  pipe.write(`${JSON.stringify({ message, bytes: data.length })}\n`)
  pipe.write(data)
}

/** Reads messages until the pipe ends. Throws if a line or its data are longer than `bytesMax`. */
export const read = async function*(pipe: Readable, bytesMax: number): AsyncGenerator<Frame, undefined> {
  let parts: Array<Uint8Array> = []
  let length = 0
  let head: { readonly message: unknown; readonly bytes: number } | undefined
  const takeUntil = (end: number, next: number): Buffer => {
    const all = Buffer.concat(parts)
    parts = [all.subarray(next)]
    length -= next
    return all.subarray(0, end)
  }
  for await (const part of pipe) {
    parts.push(part)
    length += part.length
    if (head === undefined) {
      const end = Buffer.concat(parts).indexOf(0x0a)
      if (end >= 0) head = JSON.parse(takeUntil(end, end + 1).toString())
    }
    if ((head?.bytes ?? length) > bytesMax) throw new RangeError(`A message has more than ${bytesMax} bytes`)
    if (head !== undefined && length >= head.bytes) {
      // Each side waits for the response of the other, so nothing follows.
      yield { message: head.message, data: takeUntil(head.bytes, head.bytes) }
      head = undefined
    }
  }
  return undefined
}
