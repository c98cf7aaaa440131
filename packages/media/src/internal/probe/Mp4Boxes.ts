/** Walks the boxes of an MP4 and reads the fields that a probe needs. */
import { Effect } from "effect"
import { malformed, type ProbeError } from "../../ProbeError.ts"
import { type FileReader, partMax } from "./FileReader.ts"

/** Fields of a file. */
export interface MovieBoxes {
  hasHeader: boolean
  /** Units per second of the two durations. */
  timescale: number
  duration: number
  /** Duration with all fragments. */
  fragmentDuration: number
  /** Total length of the media data boxes. */
  dataBytes: number
  readonly tracks: Array<TrackBoxes>
  /** Track of the fragment that is being read. */
  fragmentOf: TrackBoxes | undefined
}

/** Fields of a track. */
export interface TrackBoxes {
  id: number
  /** Units per second of the duration. */
  timescale: number
  duration: number
  handler: string
  format: string
  width: number
  height: number
  samples: number
  sampleBytes: number
  /** Largest offset of a chunk in the file. */
  chunkStart: number
  fragments: number
  lastFragmentStart: number
}

/** Reads the boxes of a file. Fails if one of them ends after its parent. */
export const read = Effect.fnUntraced(function*<E>(reader: FileReader<E>) {
  const movie: MovieBoxes = {
    hasHeader: false,
    timescale: 0,
    duration: 0,
    fragmentDuration: 0,
    dataBytes: 0,
    tracks: [],
    fragmentOf: undefined
  }
  yield* walk(reader, movie, { type: "file", body: 0, end: reader.bytes }, 0)
  return movie
})

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

interface Box {
  readonly type: string
  /** Offset after the header. */
  readonly body: number
  readonly end: number
}

/** Maximum depth of boxes. The deepest that is read is `moov/trak/mdia/minf/stbl/stsd`. */
const depthMax = 8

const parents = new Set(["moov", "trak", "mdia", "minf", "stbl", "mvex", "moof", "traf"])

const walk = <E>(
  reader: FileReader<E>,
  movie: MovieBoxes,
  parent: Box,
  depth: number
): Effect.Effect<void, ProbeError | E> =>
  Effect.gen(function*() {
    if (depth > depthMax) return yield* malformed("its boxes are nested too deeply")
    for (let offset = parent.body; offset < parent.end;) {
      const box = yield* boxAt(reader, offset, parent.end)
      if (box.type === "trak") movie.tracks.push(newTrack())
      if (parents.has(box.type)) yield* walk(reader, movie, box, depth + 1)
      else yield* readLeaf(reader, movie, box)
      offset = box.end
    }
  })

const newTrack = (): TrackBoxes => ({
  id: 0,
  timescale: 0,
  duration: 0,
  handler: "",
  format: "",
  width: 0,
  height: 0,
  samples: 0,
  sampleBytes: 0,
  chunkStart: 0,
  fragments: 0,
  lastFragmentStart: 0
})

const boxAt = Effect.fnUntraced(function*<E>(reader: FileReader<E>, offset: number, parentEnd: number) {
  const header = yield* reader.at(offset, 8)
  const type = header.toString("latin1", 4)
  const short = header.readUInt32BE()
  const body = offset + (short === 1 ? 16 : 8)
  // A size of 1 announces a long size. 0 is the rest of the file.
  const size = short === 1 ? Number((yield* reader.at(offset + 8, 8)).readBigUInt64BE()) : short
  const end = size === 0 ? parentEnd : offset + size
  if (end < body || end > parentEnd) {
    return yield* malformed(
      `the box ${JSON.stringify(type)} at byte ${offset} ends at ${end}, its parent at ${parentEnd}`
    )
  }
  const box: Box = { type, body, end }
  return box
})

/** Reads the fields of one box. Boxes of other types are skipped, and missing fields of a short box are zero. */
const readLeaf = Effect.fnUntraced(function*<E>(reader: FileReader<E>, movie: MovieBoxes, box: Box) {
  if (box.type === "mdat") movie.dataBytes += box.end - box.body
  const leaf = leaves[box.type]
  const track = movie.tracks.at(-1)
  if (leaf === undefined) return
  const fields = Buffer.alloc(fieldsMax)
  fields.set(yield* reader.at(box.body, Math.min(fieldsMax, box.end - box.body)))
  leaf(fields, movie, track ?? newTrack())
  if (track !== undefined) yield* readTable(reader, track, box)
})

/** Bytes of a box that contain all fields that are read. */
const fieldsMax = 44

type Leaf = (fields: Buffer, movie: MovieBoxes, track: TrackBoxes) => void

/** Box types by the function that reads their fields. `track` is the last one. */
const leaves: Readonly<Record<string, Leaf>> = {
  mvhd: (fields, movie) => void Object.assign(movie, timesOf(fields), { hasHeader: true }),
  mehd: (fields, movie) => void (movie.fragmentDuration = timeAt(fields, 4)),
  tkhd: (fields, _, track) => void (track.id = fields.readUInt32BE(fields[0] === 1 ? 20 : 12)),
  mdhd: (fields, _, track) => void Object.assign(track, timesOf(fields)),
  // QuickTime files have a second one for their data references.
  hdlr: (fields, _, track) => void (track.handler ||= fields.toString("latin1", 8, 12)),
  stsd: (fields, _, track) => {
    track.format = fields.toString("latin1", 12, 16)
    track.width = fields.readUInt16BE(40)
    track.height = fields.readUInt16BE(42)
  },
  stsz: (fields, _, track) => {
    track.samples = fields.readUInt32BE(8)
    // All samples have this size. If it is 0, a table follows.
    track.sampleBytes = fields.readUInt32BE(4) * track.samples
  },
  stz2: (fields, _, track) => void (track.samples = fields.readUInt32BE(8)),
  stco: () => undefined,
  co64: () => undefined,
  tfhd: (fields, movie) => {
    const id = fields.readUInt32BE(4)
    movie.fragmentOf = movie.tracks.find((track) => track.id === id)
    if (movie.fragmentOf !== undefined) movie.fragmentOf.fragments++
  },
  tfdt: (fields, { fragmentOf }) => {
    if (fragmentOf !== undefined) fragmentOf.lastFragmentStart = timeAt(fields, 4)
  }
}

/** Returns the fields of `mvhd` and `mdhd`, which begin with the same fields. */
const timesOf = (fields: Buffer) =>
  fields[0] === 1
    ? { timescale: fields.readUInt32BE(20), duration: timeAt(fields, 24) }
    : { timescale: fields.readUInt32BE(12), duration: timeAt(fields, 16) }

/** Returns a time, or 0 if it is unknown. Version 1 of a box has 64 bits. */
const timeAt = (fields: Buffer, offset: number): number => {
  if (fields[0] !== 1) return known(fields.readUInt32BE(offset), 2 ** 32 - 1)
  return known(Number(fields.readBigUInt64BE(offset)), 2 ** 64)
}

const known = (time: number, unknown: number): number => time === unknown ? 0 : time

/** Adds up the table of sample sizes, and finds the largest offset in a table of chunks. */
const readTable = Effect.fnUntraced(function*<E>(reader: FileReader<E>, track: TrackBoxes, { body, end, type }: Box) {
  if (type === "stsz" && track.sampleBytes === 0) {
    yield* forEachEntry(reader, { start: body + 12, end, length: 4 }, (part, at) => {
      track.sampleBytes += part.readUInt32BE(at)
    })
  }
  if (type === "stco") {
    yield* forEachEntry(reader, { start: body + 8, end, length: 4 }, (part, at) => {
      track.chunkStart = Math.max(track.chunkStart, part.readUInt32BE(at))
    })
  }
  if (type === "co64") {
    yield* forEachEntry(reader, { start: body + 8, end, length: 8 }, (part, at) => {
      track.chunkStart = Math.max(track.chunkStart, Number(part.readBigUInt64BE(at)))
    })
  }
})

interface Table {
  readonly start: number
  readonly end: number
  /** Length of an entry, 4 or 8 bytes. */
  readonly length: number
}

const forEachEntry = Effect.fnUntraced(function*<E>(
  reader: FileReader<E>,
  { end, length, start }: Table,
  add: (part: Buffer, at: number) => void
) {
  for (let offset = start; offset + length <= end;) {
    const whole = Math.min(partMax, end - offset)
    const part = yield* reader.at(offset, whole - whole % length)
    for (let at = 0; at < part.length; at += length) add(part, at)
    offset += part.length
  }
})
