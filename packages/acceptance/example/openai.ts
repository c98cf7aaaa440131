import { writeFile } from "node:fs/promises"
import OpenAI from "openai"

const { BASE = "http://127.0.0.1:4747", KEY = "" } = process.env
const client = new OpenAI({ baseURL: `${BASE}/v1`, apiKey: KEY, defaultHeaders: { "X-Plan": "studio" } })

const { data } = await client.images.generate({ model: "kinora-draft", prompt: "a lake at dawn", size: "1536x1024" })
for (const { url = "" } of data ?? []) {
  const picture = await fetch(url)
  await writeFile("dawn.png", await picture.bytes())
}
