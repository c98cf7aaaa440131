/** Definitions of the settings for images, for the verification of results and for the first frames of videos. */
import { Schema } from "effect"
import { between } from "./between.ts"

/** Definitions by key of the file. See `definitions`. */
export const mediaDefinitions = {
  input_images: {
    schema: between(1, 64),
    default: "2",
    expected: "a number of images from 1 to 64",
    about:
      "Maximum number of input images that a process decodes at the same time. An account has at most half of them, and so have images of more than 16 megapixels."
  },
  input_megapixels_per_minute: {
    schema: between(160, 1_000_000),
    default: "500",
    expected: "a number of megapixels from 160 to 1000000",
    about: "Maximum size of the input images of an account per minute in megapixels."
  },
  result_images: {
    schema: between(1, 64),
    default: "2",
    expected: "a number of images from 1 to 64",
    about: "Maximum number of results whose images a process decodes at the same time."
  },
  probe_mib: {
    schema: between(1, 2_048),
    default: "2048",
    expected: "a number of MiB from 1 to 2048",
    about: "Maximum length of a result in MiB."
  },
  probe_side_max: {
    schema: between(16, 65_535),
    default: "16384",
    expected: "a number of pixels from 16 to 65535",
    about: "Maximum width and height of a result in pixels."
  },
  probe_pixels_max: {
    schema: between(256, 4_294_967_296),
    default: "134217728",
    expected: "a number of pixels from 256 to 4294967296",
    about: "Maximum number of pixels of an image or of a frame of a result."
  },
  probe_duration_seconds: {
    schema: between(1, 86_400),
    default: "3600",
    expected: "a number of seconds from 1 to 86400",
    about: "Maximum duration of a video."
  },
  probe_tracks_max: {
    schema: between(1, 64),
    default: "8",
    expected: "a number of tracks from 1 to 64",
    about: "Maximum number of tracks of a video."
  },
  probe_reads_max: {
    schema: between(100, 1_000_000),
    default: "100000",
    expected: "a number of reads from 100 to 1000000",
    about: "Maximum number of parts of 16 KiB that are read to verify a result."
  },
  frame_program: {
    schema: Schema.NonEmptyString,
    default: "ffmpeg",
    expected: "a path, or the name of a program in /usr/bin or /bin",
    about: "Program that extracts the first frames of videos."
  },
  frame_directory: {
    schema: Schema.NonEmptyString,
    default: undefined,
    expected: "a directory",
    about: "Directory of temporary copies of videos. If unset, that of the system."
  },
  frame_mib: {
    schema: between(1, 2_048),
    default: "512",
    expected: "a number of MiB from 1 to 2048",
    about: "Maximum length in MiB of a video whose first frame is extracted."
  },
  frame_pixels_max: {
    schema: between(256, 134_217_728),
    default: "40000000",
    expected: "a number of pixels from 256 to 134217728",
    about: "Maximum number of pixels of a frame that is extracted."
  },
  frame_seconds: {
    schema: between(1, 300),
    default: "20",
    expected: "a number of seconds from 1 to 300",
    about: "Maximum time to extract one frame."
  }
} as const
