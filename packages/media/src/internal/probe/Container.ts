/** Tracks of a video file, in the terms of both MP4 and WebM. */

/** The tracks of a video file. */
export interface Container {
  readonly tracks: ReadonlyArray<Track>
}

/** A track of a video file. */
export interface Track {
  readonly isVideo: boolean
  /** Name of the codec in the container. */
  readonly codec: string
  /** Pixels. 0 unless the track is a video. */
  readonly width: number
  /** Pixels. 0 unless the track is a video. */
  readonly height: number
  readonly hasFrames: boolean
  /** Duration. If the file does not state it, the start of its last fragment. */
  readonly seconds: number
}
