/** A video in which each moment has a distinct brightness. */
import { ClipEncoding } from "@kinora/generator-procedural"
import { Effect } from "effect"

/** Seconds. */
export const duration = 60

/**
 * One minute of H.264 in an MP4 of about 12 MB: grey noise of increasing brightness. The noise makes it large, so that
 * a browser does not read all of it before a seek. The index is at the end of the file.
 */
export const make: Effect.Effect<Uint8Array> = Effect.promise(async () => {
  const encoder = await ClipEncoding.createH264Encoder()
  encoder.width = width
  encoder.height = height
  encoder.frameRate = framesPerSecond
  encoder.groupOfPictures = framesPerSecond
  encoder.quantizationParameter = 20
  encoder.speed = 10
  encoder.initialize()
  const picture = new Uint8Array(width * height * 4).fill(255)
  let seed = 1
  for (let frame = 0; frame < framesPerSecond * duration; frame++) {
    const level = brightnessAt(frame / framesPerSecond)
    for (let pixel = 0; pixel < picture.length; pixel += 4) {
      seed = (Math.imul(seed, 1_664_525) + 1_013_904_223) >>> 0
      picture.fill(level - noise + ((seed >>> 24) * noise >> 7), pixel, pixel + 3)
    }
    encoder.addFrameRgba(picture)
  }
  encoder.finalize()
  const file = encoder.FS.readFile(encoder.outputFilename)
  encoder.delete()
  return file
})

/** Average brightness of the picture at a time in seconds, from 0 to 255. */
export const brightnessAt = (seconds: number): number => Math.round(40 + 160 * seconds / duration)

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const width = 320
const height = 240
const framesPerSecond = 5
/** Maximum difference of a pixel from the average. */
const noise = 40
