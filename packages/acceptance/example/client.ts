import { Kinora } from "@kinora/client"
import { writeFile } from "node:fs/promises"

const { BASE = "http://127.0.0.1:4747", KEY = "" } = process.env
const kinora = new Kinora({ baseUrl: BASE, apiKey: KEY })

const harbour = await kinora.generate({
  plan: "studio",
  model: "kinora-draft",
  params: { prompt: "a harbour at night", aspect_ratio: "16:9" }
})
await writeFile("harbour.png", harbour.stream())
