/** The URL of a result in the output of a job. */
import type { Kind } from "@kinora/generator/GenerationRequest"

/** Returns the URL of the result: the first with an extension of this kind, or the first. */
export const resultUrl = (output: unknown, kind: Kind): string | undefined => {
  const urls = stringsOf(output, outputDepthMax).filter((text) => /^https?:\/\//i.test(text))
  return urls.find((url) => extensions[kind].test(URL.parse(url)?.pathname ?? "")) ?? urls[0]
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

/** Levels of lists and objects that are searched for URLs. */
const outputDepthMax = 3

const stringsOf = (value: unknown, depth: number): ReadonlyArray<string> => {
  if (typeof value === "string") return [value]
  if (typeof value !== "object" || value === null || depth === 0) return []
  return Object.values(value).flatMap((member) => stringsOf(member, depth - 1))
}

const extensions: Readonly<Record<Kind, RegExp>> = { image: /\.(?:png|jpe?g|webp)$/i, video: /\.(?:mp4|webm)$/i }
