/** Complete bodies of almost the maximum length. */
import { type Attack, jsonHeaders, repeating } from "./Attack.ts"
import { models } from "./models.ts"

const callers = 12
/** Just below the maximum of 48 MiB, and of 10 MiB per image before base64. */
const images = 4
const imageCharacters = 12 * 2 ** 20 - 4096

/** Sends bodies whose images are valid base64 but no images. */
export const attack: Attack = async ({ keys: [key = ""], origin }) => {
  const image = `{"data":"${"A".repeat(imageCharacters)}"}`
  const body = Buffer.from(
    `{"plan":"credits","model":"${models.quick.id}","params":{"prompt":"a lake","images":[${
      Array.from({ length: images }, () => image).join()
    }]}}`
  )
  return repeating({
    origin,
    callers,
    requestOf: () => ({ method: "POST", path: "/v1/generations", headers: jsonHeaders(key), body })
  })
}
