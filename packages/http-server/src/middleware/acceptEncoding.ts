/** The encodings that a client accepts, from `Accept-Encoding`. */

/** Returns whether the header accepts an encoding by its name or by `*`, with a weight above 0. */
export const accepts = (acceptEncoding: string | undefined, encoding: "br" | "gzip"): boolean =>
  patterns[encoding].test(acceptEncoding ?? "")

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const patternOf = (encoding: string): RegExp =>
  new RegExp(String.raw`(?:^|,)\s*(?:${encoding}|\*)\s*(?:,|$|;\s*q=(?!0(?:\.0*)?\s*(?:,|$)))`, "i")

const patterns = { br: patternOf("br"), gzip: patternOf("gzip") }
