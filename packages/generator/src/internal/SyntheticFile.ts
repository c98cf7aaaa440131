/** Valid files of any size, cheap to produce. */
import { Result } from "effect"
import { Base64 } from "effect/encoding"

/** A file whose parts are produced as they are read. */
export interface SyntheticFile {
  readonly facts: { readonly mime: string; readonly width?: number; readonly height?: number }
  readonly partsTotal: number
  readonly parts: Iterable<Uint8Array>
}

/** Returns a grey PNG of 16 x 16 pixels, padded to `bytes` with chunks that readers skip. */
export const picture = (bytes: number): SyntheticFile => {
  const head = concat([Uint8Array.of(0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a), header, pixels])
  const file = padded(
    bytes,
    head,
    chunk("IEND", new Uint8Array(0)),
    (size) => chunk("kiNo", new Uint8Array(size - 12)),
    12
  )
  return { facts: { mime: "image/png", width: side, height: side }, ...file }
}

/** Returns the smallest picture, as the frame of a video. */
export const frame = (): Uint8Array => concat([...picture(0).parts])

/** Returns a grey MP4 of 16 x 16 pixels and one frame that lasts one second, padded to `bytes` with a box that readers skip. */
export const video = (bytes: number): SyntheticFile => {
  const file = padded(bytes, oneFrame, new Uint8Array(0), (size) => box("free", new Uint8Array(size - 8)), 8)
  return { facts: { mime: "video/mp4", width: side, height: side }, ...file }
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const side = 16

/** An MP4 with one frame of H.264, made by `h264-mp4-encoder`. */
const oneFrame = Result.getOrThrow(Base64.decode(
  "AAAAGGZ0eXBtcDQyAAAAAG1wNDJpc29tAAAAEW1kYXQAAAAFZbgRRPAAAAJibW9vdgAAAGxtdmhkAAAAAAAAAAAAAAAAAAFfkAABX5AAAQAAAQAAAAAAAAAAAAAAAAEAAAAAAAAAAAAAAAAAAAABAAAAAAAAAAAAAAAAAABAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAgAAABhpb2RzAAAAABCAgIAHAE////9//wAAAdZ0cmFrAAAAXHRraGQAAAABAAAAAAAAAAAAAAABAAAAAAABX5AAAAAAAAAAAAAAAAAAAAAAAAEAAAAAAAAAAAAAAAAAAAABAAAAAAAAAAAAAAAAAABAAAAAABAAAAAQAAAAAAFybWRpYQAAACBtZGhkAAAAAAAAAAAAAAAAAAFfkAABX5BVxAAAAAAAIWhkbHIAAAAAAAAAAHZpZGUAAAAAAAAAAAAAAAAAAAABKW1pbmYAAAAUdm1oZAAAAAEAAAAAAAAAAAAAACRkaW5mAAAAHGRyZWYAAAAAAAAAAQAAAAx1cmwgAAAAAQAAAOlzdGJsAAAAhXN0c2QAAAAAAAAAAQAAAHVhdmMxAAAAAAAAAAEAAAAAAAAAAAAAAAAAAAAAABAAEABIAAAASAAAAAAAAAABDkpWVC9BVkMgQ29kaW5nAAAAAAAAAAAAAAAAAAAAAAAAGP//AAAAH2F2Y0MBQgAK/+EAB2dCAAqmnkABAAVozgOcgAAAABhzdHRzAAAAAAAAAAEAAAABAAFfkAAAABRzdHN6AAAAAAAAAAkAAAABAAAAHHN0c2MAAAAAAAAAAQAAAAEAAAABAAAAAQAAABRzdGNvAAAAAAAAAAEAAAAg"
))

const partMax = 64 * 1024

/** Pads the file between head and tail. A rest that is too small for padding stays out. */
const padded = (
  bytes: number,
  head: Uint8Array,
  tail: Uint8Array,
  pad: (size: number) => Uint8Array,
  padMin: number
): Pick<SyntheticFile, "parts" | "partsTotal"> => {
  const room = bytes - head.length - tail.length
  const fullTotal = room < partMax + padMin ? 0 : Math.floor((room - padMin) / partMax)
  const rest = room - fullTotal * partMax
  return {
    partsTotal: fullTotal + 3,
    parts: {
      *[Symbol.iterator]() {
        yield head
        const full = fullTotal > 0 ? pad(partMax) : head
        for (let part = 0; part < fullTotal; part++) yield full
        yield rest >= padMin ? pad(rest) : new Uint8Array(0)
        yield tail
      }
    }
  }
}

const uint32 = (value: number): Uint8Array =>
  Uint8Array.of((value >>> 24) & 255, (value >>> 16) & 255, (value >>> 8) & 255, value & 255)

const ascii = (text: string): Uint8Array => Uint8Array.from(text, (letter) => letter.charCodeAt(0))

const concat = (parts: ReadonlyArray<Uint8Array>): Uint8Array => {
  const whole = new Uint8Array(parts.reduce((total, part) => total + part.length, 0))
  let offset = 0
  for (const part of parts) {
    whole.set(part, offset)
    offset += part.length
  }
  return whole
}

const box = (type: string, body: Uint8Array): Uint8Array => concat([uint32(body.length + 8), ascii(type), body])

const crcTable = Uint32Array.from({ length: 256 }, (_, byte) => {
  let value = byte
  for (let bit = 0; bit < 8; bit++) value = value & 1 ? 0xedb88320 ^ (value >>> 1) : value >>> 1
  return value
})

const crc32 = (bytes: Uint8Array): number => {
  let crc = 0xffffffff
  for (const byte of bytes) crc = (crcTable[(crc ^ byte) & 255] ?? 0) ^ (crc >>> 8)
  return ~crc
}

const adler32 = (bytes: Uint8Array): number => {
  let a = 1
  let b = 0
  for (const byte of bytes) {
    a = (a + byte) % 65_521
    b = (b + a) % 65_521
  }
  return (b << 16) | a
}

const chunk = (type: string, body: Uint8Array): Uint8Array => {
  const named = concat([ascii(type), body])
  return concat([uint32(body.length), named, uint32(crc32(named))])
}

/** Eight bits of grey, no interlace. */
const header = chunk("IHDR", concat([uint32(side), uint32(side), Uint8Array.of(8, 0, 0, 0, 0)]))

/** One stored (not compressed) deflate block: a filter byte and grey pixels for each row. */
const pixels = (() => {
  const rows = Uint8Array.from({ length: side * (side + 1) }, (_, index) => index % (side + 1) === 0 ? 0 : 0x80)
  const length = rows.length
  const block = Uint8Array.of(1, length & 255, length >> 8, ~length & 255, (~length >> 8) & 255)
  return chunk("IDAT", concat([Uint8Array.of(0x78, 0x01), block, rows, uint32(adler32(rows))]))
})()
