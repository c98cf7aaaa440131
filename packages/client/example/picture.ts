import { Kinora, KinoraError } from "@kinora/client"

const { KEY = null, URL = "http://127.0.0.1:4747" } = process.env
const kinora = new Kinora({ baseUrl: URL, apiKey: KEY })
try {
  const { bytes } = await kinora.generate(
    { plan: "credits", model: "kinora-still", params: { prompt: "a lake", aspect_ratio: "16:9" } },
    { onUpdate: ({ id, status }) => console.log(id, status) }
  )
  console.log((await bytes()).length, "bytes")
} catch (error) {
  if (!(error instanceof KinoraError)) throw error
  console.log(error._tag, error.message)
}
// gen_… queued
// gen_… processing
// gen_… completed
// … bytes
