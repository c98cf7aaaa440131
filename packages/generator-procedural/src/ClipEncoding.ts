/** The encoding of videos in WebAssembly, for programs that compare with it. */

/** Size and speed of a video. */
export interface Footage {
  /** Pixels. Even. */
  readonly width: number
  /** Pixels. Even. */
  readonly height: number
  /** Frames per second. */
  readonly frameRate: number
}

/** Returns the settings of an encoder of `h264-mp4-encoder`. */
export const h264Settings = ({ frameRate, height, width }: Footage) => ({
  width,
  height,
  frameRate,
  speed: 10,
  quantizationParameter: 26,
  groupOfPictures: 2 * frameRate
})
