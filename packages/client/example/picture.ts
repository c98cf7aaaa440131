import { GenerationError, Kinora, ResponseError } from "@kinora/client"

/** A client for an account. Make one and share it. */
export const connect = (apiKey: string, baseUrl = "http://127.0.0.1:4747") => new Kinora({ apiKey, baseUrl })

/** Makes a picture, tells of its progress, and answers with its bytes. */
export const makePicture = async (kinora: Kinora, prompt: string, say: (line: string) => void) => {
  const { bytes } = await kinora.generate(
    { plan: "credits", model: "kinora-canvas-1", params: { prompt, aspect_ratio: "16:9" } },
    { onUpdate: ({ id, status }) => say(`${id} is ${status}`) }
  )
  return bytes()
}

/** What to tell a person about an error. */
export const explain = (error: unknown): string => {
  if (error instanceof GenerationError) return `No picture, and nothing to pay: ${error.message}`
  if (error instanceof ResponseError && error.plan !== null) return `Try another plan than ${error.plan}: ${error.code}`
  throw error
}
