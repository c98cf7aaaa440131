/**
 * Reads the facts of an MP4 (ISO/IEC 14496-12) and checks that it is complete: every box
 * ends inside the file, every chunk starts inside it, and its media data is at least as
 * long as its samples.
 */
import { Effect } from "effect"
import { malformed } from "../../ProbeError.ts"
import type { Container, Track } from "./Container.ts"
import type { FileReader } from "./FileReader.ts"
import * as Mp4Boxes from "./Mp4Boxes.ts"

/** Reads an MP4 of at most `tracksMax` tracks. Fails if it is truncated. */
export const read = Effect.fnUntraced(function*<E>(reader: FileReader<E>) {
  const movie = yield* Mp4Boxes.read(reader)
  if (!movie.hasHeader) return yield* malformed("an MP4 has no movie box")
  const beyond = movie.tracks.find(({ chunkStart }) => chunkStart >= reader.bytes)
  if (beyond !== undefined) return yield* malformed(`a chunk starts at byte ${beyond.chunkStart}, after the end`)
  const sampleBytes = movie.tracks.reduce((sum, track) => sum + track.sampleBytes, 0)
  if (sampleBytes > movie.dataBytes) {
    return yield* malformed(`samples of ${sampleBytes} bytes are in ${movie.dataBytes} bytes of media data`)
  }
  const container: Container = { tracks: movie.tracks.map((track) => trackOf(track, movie)) }
  return container
})

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const trackOf = (track: Mp4Boxes.TrackBoxes, movie: Mp4Boxes.MovieBoxes): Track => ({
  isVideo: track.handler === "vide",
  codec: track.format,
  width: track.width,
  height: track.height,
  hasFrames: track.samples > 0 || track.fragments > 0,
  seconds: secondsOf(track, movie)
})

/** A fragmented file states no duration in its tracks, and not always one in its movie. */
const secondsOf = (track: Mp4Boxes.TrackBoxes, movie: Mp4Boxes.MovieBoxes): number =>
  [
    track.duration / track.timescale,
    movie.fragmentDuration / movie.timescale,
    movie.duration / movie.timescale,
    track.lastFragmentStart / track.timescale
  ].find((seconds) => Number.isFinite(seconds) && seconds > 0) ?? 0
