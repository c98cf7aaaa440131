import { createOpenAI } from "@ai-sdk/openai"
import { generateImage } from "ai"
import { writeFile } from "node:fs/promises"

const { BASE = "http://127.0.0.1:4747", KEY = "" } = process.env
const kinora = createOpenAI({ baseURL: `${BASE}/v1`, apiKey: KEY, headers: { "X-Plan": "studio" } })

const { image } = await generateImage({
  model: kinora.image("kinora-draft"),
  prompt: "a lake at dusk",
  size: "1024x1536"
})
await writeFile("dusk.png", image.uint8Array)
