/** Probes a file: detects its type, reads its facts, and checks that it is complete. */
import { Duration, Effect } from "effect"
import type { ImageMime } from "../../MediaError.ts"
import type { Codec, Facts, ImageFacts, MediaFile, ProbeLimits, VideoFacts } from "../../MediaFile.ts"
import {
  ContentMismatch,
  LimitExceeded,
  malformed,
  type MediaMime,
  ProbeError,
  UnknownFormat,
  UnsupportedCodec
} from "../../ProbeError.ts"
import * as ImageContent from "../ImageContent.ts"
import type { Container } from "./Container.ts"
import * as FileReader from "./FileReader.ts"
import * as ImageHeader from "./ImageHeader.ts"
import * as Mp4 from "./Mp4.ts"
import * as WebM from "./WebM.ts"

/** Makes the function that probes files. */
export const make = (limits: ProbeLimits) => {
  const bounds = boundsOf(limits)

  const imageOf = Effect.fnUntraced(function*<E>(reader: FileReader.FileReader<E>, mime: ImageMime) {
    const facts: ImageFacts = { kind: "image", mime, ...yield* ImageHeader.read(reader, mime) }
    return facts
  })

  const videoOf = Effect.fnUntraced(function*<E>(reader: FileReader.FileReader<E>, mime: VideoFacts["mime"]) {
    const { tracks }: Container = yield* mime === "video/mp4" ? Mp4.read(reader) : WebM.read(reader)
    yield* check(bounds, "tracksMax", tracks.length)
    const [largest] = tracks.filter(({ isVideo }) => isVideo).toSorted((a, b) =>
      b.width * b.height - a.width * a.height
    )
    if (largest === undefined || !largest.hasFrames) return yield* malformed("it has no frames")
    const codec = codecs.get(largest.codec)
    if (codec === undefined) return yield* new ProbeError({ reason: new UnsupportedCodec({ codec: largest.codec }) })
    const { height, seconds, width } = largest
    if (width === 0 || height === 0) return yield* malformed("its frames have no pixels")
    yield* check(bounds, "durationMax", seconds)
    const facts: VideoFacts = { kind: "video", mime, codec, width, height, duration: Duration.seconds(seconds) }
    return facts
  })

  return Effect.fnUntraced(function*<E>(file: MediaFile<E>, declared?: string) {
    yield* check(bounds, "bytesMax", file.bytes)
    const reader = FileReader.make(file, bounds.readsMax)
    const found = mimeOf(yield* reader.at(0, Math.min(file.bytes, signatureBytes)))
    if (found === undefined) return yield* new ProbeError({ reason: new UnknownFormat() })
    if (declared !== undefined && declared.toLowerCase() !== found) {
      return yield* new ProbeError({ reason: new ContentMismatch({ declared, found }) })
    }
    const facts: Facts = yield* isVideo(found) ? videoOf(reader, found) : imageOf(reader, found)
    yield* check(bounds, "sideMax", Math.max(facts.width, facts.height))
    yield* check(bounds, "pixelsMax", facts.width * facts.height)
    return facts
  })
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

type Bounds = Readonly<Record<LimitExceeded["limit"], number>>

/** Durations in seconds. */
const boundsOf = (limits: ProbeLimits): Bounds => ({
  bytesMax: limits.bytesMax ?? 2 * 1024 ** 3,
  sideMax: limits.sideMax ?? 16_384,
  pixelsMax: limits.pixelsMax ?? 2 ** 27,
  durationMax: Duration.toSeconds(limits.durationMax ?? "1 hour"),
  tracksMax: limits.tracksMax ?? 8,
  readsMax: limits.readsMax ?? 100_000
})

const check = (bounds: Bounds, limit: LimitExceeded["limit"], value: number) =>
  value > bounds[limit]
    ? Effect.fail(new ProbeError({ reason: new LimitExceeded({ limit, value, max: bounds[limit] }) }))
    : Effect.void

/** Bytes that identify a type. */
const signatureBytes = 12

const ebml = Buffer.from([0x1a, 0x45, 0xdf, 0xa3])

const mimeOf = (head: Buffer): MediaMime | undefined => {
  if (head.toString("latin1", 4, 8) === "ftyp") return "video/mp4"
  return head.subarray(0, 4).equals(ebml) ? "video/webm" : ImageContent.mimeOf(head)
}

const isVideo = (mime: MediaMime): mime is VideoFacts["mime"] => mime === "video/mp4" || mime === "video/webm"

/** Codecs by the sample entries of MP4 and the codec ids of WebM. */
const codecs: ReadonlyMap<string, Codec> = new Map([
  ["avc1", "h264"],
  ["avc3", "h264"],
  ["hvc1", "hevc"],
  ["hev1", "hevc"],
  ["vp08", "vp8"],
  ["vp09", "vp9"],
  ["av01", "av1"],
  ["V_VP8", "vp8"],
  ["V_VP9", "vp9"],
  ["V_AV1", "av1"]
])
