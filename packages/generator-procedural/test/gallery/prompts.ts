/** The prompts of the gallery: every scene, aspect ratio and mode. */
import type * as ClipSize from "../../src/ClipSize.ts"
import type * as PictureSize from "../../src/PictureSize.ts"

/** A picture of the gallery. */
export interface Still {
  readonly prompt: string
  readonly aspectRatio: PictureSize.AspectRatio
  readonly seed: number
  /** Indexes of earlier pictures that are its references. Default: none. */
  readonly references?: ReadonlyArray<number>
}

/** A video of the gallery. */
export interface Clip {
  readonly prompt: string
  readonly aspectRatio: ClipSize.AspectRatio
  readonly seed: number
  /** Index of the picture that is its first frame. Default: none. */
  readonly reference?: number
}

/** Pictures, in the order of the sheet. */
export const stills: ReadonlyArray<Still> = [
  { prompt: "misty mountains at sunrise, pine forest", aspectRatio: "16:9", seed: 1 },
  { prompt: "pink peony in soft light", aspectRatio: "1:1", seed: 2 },
  { prompt: "neon tokyo street in the rain", aspectRatio: "9:16", seed: 3 },
  { prompt: "a ringed planet in a violet nebula", aspectRatio: "16:9", seed: 4 },
  { prompt: "dunes of a golden desert at dusk", aspectRatio: "3:2", seed: 5 },
  { prompt: "bauhaus poster \"Blue Hour\" in cobalt", aspectRatio: "3:4", seed: 6 },
  { prompt: "golden silk", aspectRatio: "16:9", seed: 7 },
  { prompt: "a fjord under the stars at midnight", aspectRatio: "2:3", seed: 8 },
  { prompt: "skyline at sunset", aspectRatio: "16:9", seed: 9 },
  { prompt: "sunflowers in a sunny garden", aspectRatio: "4:3", seed: 10 },
  { prompt: "teal galaxy", aspectRatio: "1:1", seed: 11 },
  { prompt: "ink ribbons, monochrome", aspectRatio: "3:2", seed: 12 },
  { prompt: "snowy peaks in winter", aspectRatio: "1:1", seed: 13 },
  { prompt: "poster \"Night Market\" in a cyberpunk city", aspectRatio: "3:4", seed: 14 },
  { prompt: "retro tiles in terracotta", aspectRatio: "4:3", seed: 15 },
  { prompt: "green hills and a meadow in spring", aspectRatio: "16:9", seed: 16 },
  { prompt: "red roses at midnight", aspectRatio: "2:3", seed: 17 },
  { prompt: "liquid fire", aspectRatio: "1:1", seed: 18 },
  { prompt: "mars from orbit, a red planet", aspectRatio: "9:16", seed: 19 },
  { prompt: "minimal pattern in ink", aspectRatio: "3:2", seed: 20 },
  { prompt: "an island in a turquoise lagoon", aspectRatio: "16:9", seed: 21 },
  { prompt: "oil painting in autumn colours", aspectRatio: "3:2", seed: 22, references: [15] },
  { prompt: "neon dream", aspectRatio: "1:1", seed: 23, references: [1] },
  { prompt: "ocean at dusk", aspectRatio: "16:9", seed: 24, references: [8, 3] }
]

/** Videos, in the order of the sheet. */
export const clips: ReadonlyArray<Clip> = [
  { prompt: "mountains at sunset beside a lake", aspectRatio: "16:9", seed: 31 },
  { prompt: "city at night in the rain", aspectRatio: "16:9", seed: 32 },
  { prompt: "saturn in a rose nebula", aspectRatio: "16:9", seed: 33 },
  { prompt: "cherry blossom in the wind", aspectRatio: "16:9", seed: 34 },
  { prompt: "emerald silk, flowing", aspectRatio: "16:9", seed: 35 },
  { prompt: "golden light", aspectRatio: "16:9", seed: 36, reference: 8 }
]
