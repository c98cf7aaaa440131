/** Reads facts of an MP4 file with one track. */
import { type Box, boxesOf } from "../../src/internal/clip/mp4.ts"

/** The boxes of a file, or of the box at a path. */
export const boxIn = (file: Uint8Array, ...path: ReadonlyArray<string>): ReadonlyArray<Box> =>
  path.reduce((boxes, type) => {
    const box = boxes.find((box) => box.type === type)
    if (box === undefined) throw new Error(`No box ${path.join("/")}`)
    return boxesOf(file, box.content, box.end)
  }, boxesOf(file))

/** Facts of the track: size from its header, duration in seconds, and its times of creation. */
export const trackIn = (file: Uint8Array) => {
  const view = new DataView(file.buffer, file.byteOffset, file.byteLength)
  const find = (type: string, ...path: ReadonlyArray<string>): Box => {
    const box = boxIn(file, ...path).find((box) => box.type === type)
    if (box === undefined) throw new Error(`No box ${type}`)
    return box
  }
  const table = ["moov", "trak", "mdia", "minf", "stbl"]
  const movie = find("mvhd", "moov").content
  const track = find("tkhd", "moov", "trak")
  const samples = find("stsz", ...table).content
  const codec = find("stsd", ...table).content + 12
  return {
    codec: String.fromCharCode(...file.subarray(codec, codec + 4)),
    width: view.getUint32(track.end - 8) / 65_536,
    height: view.getUint32(track.end - 4) / 65_536,
    seconds: view.getUint32(movie + 16) / view.getUint32(movie + 12),
    samples: view.getUint32(samples + 8),
    times: [view.getUint32(movie + 4), view.getUint32(track.content + 4)]
  }
}
