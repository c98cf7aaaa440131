/**
 * Reads the facts of a WebM (RFC 8794, RFC 9559) and checks that it is complete: every
 * element ends inside the file. A live recording states no sizes, so that truncation
 * between two of its elements is not detected.
 */
import { Effect } from "effect"
import { malformed } from "../../ProbeError.ts"
import type { Container, Track } from "./Container.ts"
import type { FileReader } from "./FileReader.ts"

/** Reads a WebM. Fails if it is truncated. */
export const read = Effect.fnUntraced(function*<E>(reader: FileReader<E>) {
  const movie: Movie = { docType: "", scale: 1_000_000, duration: 0, lastCluster: 0, clusters: 0, tracks: [] }
  for (let offset = 0; offset < reader.bytes;) {
    const element = yield* elementAt(reader, offset)
    yield* readElement(reader, movie, element)
    // A cluster begins with its timestamp. Its frames are skipped if it states its size.
    if (element.id === ids.cluster && element.end > element.body) {
      yield* readElement(reader, movie, yield* elementAt(reader, element.body))
    }
    // Elements of entered parents are read like those of the file: their ids are unique.
    offset = entered.has(element.id) || element.isOpen ? element.body : element.end
  }
  if (movie.docType !== "webm") return yield* malformed(`the document type is ${JSON.stringify(movie.docType)}`)
  const container: Container = { tracks: movie.tracks.map((track) => trackOf(track, movie)) }
  return container
})

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

interface Movie {
  docType: string
  /** Nanoseconds of a time unit. */
  scale: number
  /** Time units. 0 if the file does not state it. */
  duration: number
  /** Time units. */
  lastCluster: number
  clusters: number
  readonly tracks: Array<TrackEntry>
}

interface TrackEntry {
  type: number
  codec: string
  width: number
  height: number
}

interface Element {
  readonly id: number
  /** Offset after the header. */
  readonly body: number
  readonly end: number
  /** `true` if the element states no size. */
  readonly isOpen: boolean
}

const ids = {
  header: 0x1a45dfa3,
  docType: 0x4282,
  segment: 0x18538067,
  info: 0x1549a966,
  scale: 0x2ad7b1,
  duration: 0x4489,
  tracks: 0x1654ae6b,
  track: 0xae,
  trackType: 0x83,
  codec: 0x86,
  video: 0xe0,
  width: 0xb0,
  height: 0xba,
  cluster: 0x1f43b675,
  timestamp: 0xe7
}

const entered = new Set([ids.header, ids.segment, ids.info, ids.tracks, ids.track, ids.video])

/** Only a segment and its clusters can be written before their size is known. */
const openable = new Set([ids.segment, ids.cluster])

const elementAt = Effect.fnUntraced(function*<E>(reader: FileReader<E>, offset: number) {
  const header = yield* reader.at(offset, Math.min(headerMax, reader.bytes - offset))
  const idLength = Math.clz32(header.readUInt8(0)) - 23
  const sizeLength = idLength < header.length ? Math.clz32(header.readUInt8(idLength)) - 23 : sizeLengthMax + 1
  if (idLength > 4 || sizeLength > sizeLengthMax || idLength + sizeLength > header.length) {
    return yield* malformed(`there is no element at byte ${offset}`)
  }
  const id = header.readUIntBE(0, idLength)
  const size = sizeOf(header.subarray(idLength, idLength + sizeLength))
  const body = offset + idLength + sizeLength
  const isOpen = size === undefined
  if (isOpen && !openable.has(id)) return yield* malformed(`the element at byte ${offset} has no size`)
  const end = body + (size ?? 0)
  if (end > reader.bytes) return yield* malformed(`the element at byte ${offset} ends at ${end}`)
  const element: Element = { id, body, end, isOpen }
  return element
})

const sizeLengthMax = 8
const headerMax = 4 + sizeLengthMax

/** Returns the size in a variable-length integer, or `undefined` if all its bits are ones. */
const sizeOf = (bytes: Buffer): number | undefined => {
  const bits = 7 * bytes.length
  const size = BigInt(`0x${bytes.toString("hex")}`) & ((1n << BigInt(bits)) - 1n)
  return size === (1n << BigInt(bits)) - 1n ? undefined : Number(size)
}

const readElement = Effect.fnUntraced(function*<E>(reader: FileReader<E>, movie: Movie, { body, end, id }: Element) {
  if (id === ids.track) movie.tracks.push({ type: 0, codec: "", width: 0, height: 0 })
  if (id === ids.cluster) movie.clusters++
  const field = fields[id]
  if (field === undefined) return
  if (end - body > valueMax) return yield* malformed(`the value at byte ${body} is too long`)
  field(yield* reader.at(body, end - body), movie, movie.tracks.at(-1) ?? { type: 0, codec: "", width: 0, height: 0 })
})

/** Maximum length of a value that is read. */
const valueMax = 64

type Field = (value: Buffer, movie: Movie, track: TrackEntry) => void

/** Element ids by the function that reads their values. `track` is the last one. */
const fields: Readonly<Record<number, Field>> = {
  [ids.docType]: (value, movie) => void (movie.docType = textOf(value)),
  [ids.scale]: (value, movie) => void (movie.scale = integerOf(value)),
  [ids.duration]: (value, movie) => void (movie.duration = floatOf(value)),
  [ids.timestamp]: (value, movie) => void (movie.lastCluster = integerOf(value)),
  [ids.trackType]: (value, _, track) => void (track.type = integerOf(value)),
  [ids.codec]: (value, _, track) => void (track.codec = textOf(value)),
  [ids.width]: (value, _, track) => void (track.width = integerOf(value)),
  [ids.height]: (value, _, track) => void (track.height = integerOf(value))
}

const textOf = (value: Buffer): string => value.toString("latin1").replace(/\0+$/, "")

const integerOf = (value: Buffer): number => value.length === 0 ? 0 : Number(BigInt(`0x${value.toString("hex")}`))

const floatOf = (value: Buffer): number => {
  if (value.length === 4) return value.readFloatBE()
  return value.length === 8 ? value.readDoubleBE() : 0
}

const trackOf = ({ codec, height, type, width }: TrackEntry, movie: Movie): Track => ({
  isVideo: type === 1,
  codec,
  width,
  height,
  hasFrames: movie.clusters > 0,
  seconds: (movie.duration > 0 ? movie.duration : movie.lastCluster) * movie.scale / 1e9
})
