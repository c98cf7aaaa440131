/** Rewrites MP4 files: the index before the media, no times of creation, and the name of the tool. */

/** A box of an MP4 file, by its place in the bytes. */
export interface Box {
  readonly type: string
  readonly start: number
  /** First byte of the content. */
  readonly content: number
  readonly end: number
}

/** Returns the boxes between two places. Throws an `Error` if one is truncated or reaches beyond the end. */
export const boxesOf = (bytes: Uint8Array, start = 0, end = bytes.length): ReadonlyArray<Box> => {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const boxes: Array<Box> = []
  for (let place = start; place < end;) {
    if (place + 8 > end) throw new Error(`The MP4 box at byte ${place} is truncated`)
    const type = String.fromCharCode(...bytes.subarray(place + 4, place + 8))
    const short = view.getUint32(place)
    const header = short === 1 ? 16 : 8
    if (place + header > end) throw new Error(`The MP4 box ${type} at byte ${place} is truncated`)
    const size = short === 1 ? Number(view.getBigUint64(place + 8)) : short === 0 ? end - place : short
    if (size < header || place + size > end) throw new Error(`The MP4 box ${type} at byte ${place} has a wrong size`)
    boxes.push({ type, start: place, content: place + header, end: place + size })
    place += size
  }
  return boxes
}

/**
 * Returns the file with the index before the media, so that it plays before it is loaded
 * whole. Sets the times of creation to zero, so that the same video has the same bytes,
 * and `tool` as the encoding tool. Throws an `Error` if the file is not an MP4 file with
 * one index and one part of media.
 */
export const finished = (file: Uint8Array, tool: string): Uint8Array<ArrayBuffer> => {
  const boxes = boxesOf(file)
  const only = (type: string): Uint8Array => {
    const [box, ...others] = boxes.filter((box) => box.type === type)
    if (box === undefined || others.length > 0) throw new Error(`The MP4 file needs exactly one box ${type}`)
    return file.subarray(box.start, box.end)
  }
  const [ftyp, moov, mdat] = [only("ftyp"), only("moov"), only("mdat")]
  const kept = boxesOf(moov, 8).filter(({ type }) => type !== "udta").map(({ end, start }) => moov.slice(start, end))
  const index = boxOf("moov", ...kept, toolOf(tool))
  const moved = ftyp.length + index.length - (mdat.byteOffset - file.byteOffset)
  moveChunks(index, 8, index.length, moved)
  return joined(ftyp, index, mdat)
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const timed = new Set(["mvhd", "tkhd", "mdhd"])
const nested = new Set(["trak", "mdia", "minf", "stbl"])

/** Zeroes the times and adds `moved` to the offset of every chunk of media. */
const moveChunks = (bytes: Uint8Array, start: number, end: number, moved: number): void => {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  for (const box of boxesOf(bytes, start, end)) {
    const { content, type } = box
    // Version 1 has times of 8 bytes, version 0 of 4.
    if (timed.has(type)) bytes.fill(0, content + 4, content + (bytes[content] === 1 ? 20 : 12))
    if (nested.has(type)) moveChunks(bytes, content, box.end, moved)
    if (type !== "stco" && type !== "co64") continue
    const count = view.getUint32(content + 4)
    for (let chunk = 0; chunk < count; chunk++) {
      const place = content + 8 + chunk * (type === "co64" ? 8 : 4)
      if (type === "co64") view.setBigUint64(place, view.getBigUint64(place) + BigInt(moved))
      else view.setUint32(place, view.getUint32(place) + moved)
    }
  }
}

/** The name of the tool where players and `ffprobe` look for it: `moov/udta/meta/ilst/©too`. */
const toolOf = (tool: string): Uint8Array => {
  const none = new Uint8Array(4)
  const handler = joined(none, none, ascii("mdirappl"), none, none, Uint8Array.of(0))
  const text = boxOf("data", Uint8Array.of(0, 0, 0, 1), none, new TextEncoder().encode(tool))
  return boxOf("udta", boxOf("meta", none, boxOf("hdlr", handler), boxOf("ilst", boxOf("\u00a9too", text))))
}

const boxOf = (type: string, ...parts: ReadonlyArray<Uint8Array>): Uint8Array<ArrayBuffer> => {
  const header = new Uint8Array(8)
  const size = parts.reduce((total, { length }) => total + length, header.length)
  new DataView(header.buffer).setUint32(0, size)
  header.set(ascii(type), 4)
  return joined(header, ...parts)
}

const ascii = (text: string): Uint8Array => Uint8Array.from(text, (letter) => letter.charCodeAt(0))

const joined = (...parts: ReadonlyArray<Uint8Array>): Uint8Array<ArrayBuffer> => {
  const whole = new Uint8Array(parts.reduce((total, { length }) => total + length, 0))
  let place = 0
  for (const part of parts) {
    whole.set(part, place)
    place += part.length
  }
  return whole
}
