/** Limits of images and videos, from the settings. */
import { Duration } from "effect"
import type { Values } from "./definitions.ts"

/** Returns the limits of images and of the verification of results, and the options for the first frames of videos. */
export const mediaOf = (values: Values) => ({
  concurrency: values.result_images,
  inputConcurrency: values.input_images,
  probe: {
    bytesMax: values.probe_mib * 1024 ** 2,
    sideMax: values.probe_side_max,
    pixelsMax: values.probe_pixels_max,
    durationMax: Duration.seconds(values.probe_duration_seconds),
    tracksMax: values.probe_tracks_max,
    readsMax: values.probe_reads_max
  },
  frame: {
    program: values.frame_program,
    directory: values.frame_directory,
    fileBytesMax: values.frame_mib * 1024 ** 2,
    pixelsMax: values.frame_pixels_max,
    secondsMax: values.frame_seconds
  }
})
